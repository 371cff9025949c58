// Clocks of one simulation: each runs for its host as if it were alone.
#include "tb/bus/clock_reset.hpp"
#include "tb/bus/kernel_scope.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

namespace gradweave::tb {
namespace {

/// A clock, and a process of it.
class Bench : public sc_core::sc_module {
public:
  SC_HAS_PROCESS(Bench);
  Bench(const sc_core::sc_module_name &name, std::uint64_t period_ps) : sc_module(name), clock("clock", period_ps) {
    SC_METHOD(on_posedge);
    dont_initialize();
    sensitive << clock.posedge();
  }
  ClockReset clock;
  std::function<void()> at_edge = [] {};

private:
  void on_posedge() { clock.guard(at_edge); }
};

class Clocks : public testing::Test {
protected:
  Clocks() {
    const KernelScope kernel(context_.get());
    a_.emplace("a", 1000);
    b_.emplace("b", 2000);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  ~Clocks() override {
    const KernelScope kernel(context_.get());
    b_.reset();
    a_.reset();
    context_.reset();
  }

private:
  std::unique_ptr<sc_core::sc_simcontext> context_ = std::make_unique<sc_core::sc_simcontext>();
  std::optional<Bench> a_, b_;

protected:
  ClockReset &a() { return a_->clock; }
  ClockReset &b() { return b_->clock; }
  void at_edge_of_b(std::function<void()> body) { b_->at_edge = std::move(body); }
};

TEST_F(Clocks, ShareTheTime) {
  a().run(10);
  EXPECT_EQ(a().cycle(), 10U);
  EXPECT_EQ(b().cycle(), 5U);
  b().run(2);
  EXPECT_EQ(b().cycle(), 7U);
  EXPECT_EQ(a().cycle(), 14U);
}

TEST_F(Clocks, StopForTheirOwnHostOnly) {
  at_edge_of_b([&] { b().stop(); });
  a().run(10);
  EXPECT_EQ(a().cycle(), 10U);
  b().run(3);
  EXPECT_EQ(b().cycle(), 6U);
}

TEST_F(Clocks, StandStillWithAFailureUntilTheirHostKnows) {
  at_edge_of_b([&] {
    if (b().cycle() == 2) throw std::runtime_error("failed");
  });
  a().run(10);
  EXPECT_EQ(a().cycle(), 10U);
  EXPECT_EQ(b().cycle(), 2U);
  EXPECT_THROW(b().run(1), std::runtime_error);
  EXPECT_EQ(b().cycle(), 2U);
  b().run(1);
  EXPECT_EQ(b().cycle(), 3U);
}

TEST_F(Clocks, AreHaltedForGood) {
  b().run(3);
  b().halt();
  a().run(10);
  EXPECT_EQ(b().cycle(), 3U);
  EXPECT_THROW(b().run(1), std::logic_error);
}

} // namespace
} // namespace gradweave::tb
