// Registers that count for hours: each begins just below every power of two up to its width and has to go on beyond it.
#include "Vwide_cmd_dispatch.h"
#include "Vwide_cmd_dispatch___024root.h"
#include "Vwide_csr.h"
#include "Vwide_perf_counters.h"
#include "Vwide_perf_counters___024root.h"
#include "Vwide_run_ctrl.h"
#include "Vwide_run_ctrl___024root.h"

#include "isa/command.hpp"
#include "isa/counters.hpp"
#include "tests/rtl/make_model.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace {

using namespace gradweave;

template <class Model> void cycle(Model &model) {
  model.clk_i = 0;
  model.eval();
  model.clk_i = 1;
  model.eval();
}

template <class Model> void look(Model &model) {
  model.clk_i = 0;
  model.eval();
}

std::uint64_t power(unsigned bit) { return std::uint64_t{1} << bit; }

// --- run_ctrl --------------------------------------------------------------------------------------

class RunControl {
public:
  RunControl(std::uint32_t commands, std::uint32_t watchdog) : model_(test::make_model<Vwide_run_ctrl>()) {
    model_->quiet_i = 1;
    model_->cmd_count_i = commands;
    model_->watchdog_i = watchdog;
    cycle(*model_);
    model_->rst_ni = 1;
    model_->start_i = 1;
    cycle(*model_); // to PREPARE
    model_->start_i = 0;
    cycle(*model_); // to RUN
    look(*model_);
    EXPECT_TRUE(model_->run_o);
  }
  Vwide_run_ctrl &operator*() { return *model_; }
  Vwide_run_ctrl *operator->() { return model_.get(); }

  void set_still(std::uint32_t cycles) { model_->rootp->run_ctrl__DOT__still_q = cycles; }
  void set_retired(std::uint32_t commands) { model_->rootp->run_ctrl__DOT__retired_q = commands; }

private:
  std::unique_ptr<Vwide_run_ctrl> model_;
};

TEST(Widths, TheWatchdogCountsToEachOfItsBits) {
  for (unsigned bit = 2; bit < 32; ++bit) {
    const std::uint32_t watchdog = static_cast<std::uint32_t>(power(bit)) + 2;
    RunControl ctrl(1, watchdog);
    ctrl.set_still(watchdog - 5);
    for (int left = 5; left > 0; --left) {
      look(*ctrl);
      ASSERT_TRUE(ctrl->run_o) << "bit " << bit << ": " << left << " cycles too early";
      cycle(*ctrl);
    }
    look(*ctrl);
    EXPECT_FALSE(ctrl->run_o) << "bit " << bit;
    EXPECT_EQ(ctrl->err_code_o, static_cast<std::uint32_t>(isa::ErrorCode::WATCHDOG)) << "bit " << bit;
  }
}

TEST(Widths, ALongStopEndsWithTheWatchdogToo) {
  for (unsigned bit = 2; bit < 32; ++bit) {
    const std::uint32_t watchdog = static_cast<std::uint32_t>(power(bit)) + 2;
    RunControl ctrl(1, watchdog);
    ctrl->quiet_i = 0;
    ctrl->load_err_valid_i = 1;
    cycle(*ctrl); // to STOP
    ctrl->load_err_valid_i = 0;
    ctrl.set_still(watchdog - 5);
    for (int left = 5; left > 0; --left) {
      look(*ctrl);
      ASSERT_TRUE(ctrl->busy_o) << "bit " << bit << ": " << left << " cycles too early";
      cycle(*ctrl);
    }
    look(*ctrl);
    EXPECT_TRUE(ctrl->error_o) << "bit " << bit;
  }
}

TEST(Widths, RetiredCommandsCountToEachBit) {
  for (unsigned bit = 3; bit < 32; ++bit) {
    const auto end = static_cast<std::uint32_t>(power(bit) + 4);
    RunControl ctrl(end, 0);
    ctrl.set_retired(end - 7);
    ctrl->done_i = 7; // three engines at once
    cycle(*ctrl);
    look(*ctrl);
    EXPECT_EQ(ctrl->retired_o, end - 4) << "bit " << bit;
    cycle(*ctrl);
    look(*ctrl);
    EXPECT_EQ(ctrl->retired_o, end - 1) << "bit " << bit;
    EXPECT_TRUE(ctrl->run_o) << "bit " << bit;
    ctrl->done_i = 1;
    cycle(*ctrl);
    look(*ctrl);
    EXPECT_EQ(ctrl->retired_o, end) << "bit " << bit;
    EXPECT_TRUE(ctrl->done_o) << "bit " << bit;
  }
}

/// A command count that differs from what has retired in one bit only is another.
TEST(Widths, ARunEndsWithAllBitsOfItsCommandCount) {
  for (unsigned bit = 1; bit < 32; ++bit) {
    RunControl ctrl(static_cast<std::uint32_t>(power(bit)) + 1, 0);
    ctrl->done_i = 1;
    cycle(*ctrl);
    look(*ctrl);
    EXPECT_FALSE(ctrl->done_o) << "bit " << bit;
  }
}

TEST(Widths, ErrorsNameAnyIndex) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    RunControl ctrl(0xFFFFFFFF, 4);
    const auto index = static_cast<std::uint32_t>(power(bit));
    ctrl->dispatch_index_i = 0xFFFFFFFF;
    ctrl->head_valid_i = 2;
    ctrl->head_index_i[1] = index;
    ctrl->oldest_valid_i = 4;
    ctrl->oldest_index_i[2] = index + 1;
    for (int i = 0; i < 6; ++i)
      cycle(*ctrl);
    look(*ctrl);
    EXPECT_EQ(ctrl->err_index_o, index);
  }
}

// --- perf_counters ---------------------------------------------------------------------------------

constexpr std::uint32_t kBytes = 4096; // the bytes of two of the widest beats

struct Place {
  std::size_t index;
  std::uint64_t step; ///< of a cycle
  QData *value;
};

/// One counter of each sort; the rest are other copies of the same block.
std::vector<Place> places(Vwide_perf_counters &model) {
  static_assert(static_cast<int>(isa::Counter::READ_BYTES) == 23 && static_cast<int>(isa::Counter::WRITE_BYTES) == 24);
  static_assert(static_cast<int>(isa::Counter::BLOCKS) == 25 && isa::kCounters.size() == 26);
  auto &r = *model.rootp;
  return {
      {0, 1, &r.perf_counters__DOT__gen_counter__BRA__0__KET____DOT__u_counter__DOT__value_q},
      {23, kBytes, &r.perf_counters__DOT__gen_counter__BRA__23__KET____DOT__u_counter__DOT__value_q},
      {24, kBytes, &r.perf_counters__DOT__gen_counter__BRA__24__KET____DOT__u_counter__DOT__value_q},
      {25, 1, &r.perf_counters__DOT__gen_counter__BRA__25__KET____DOT__u_counter__DOT__value_q},
      {33, 1,
       &r.perf_counters__DOT__gen_core__BRA__1__KET____DOT__gen_counter__BRA__7__KET____DOT__u_counter__DOT__value_q}};
}

TEST(Widths, PerformanceCountersCountToEachBit) {
  const auto model = test::make_model<Vwide_perf_counters>();
  cycle(*model);
  model->rst_ni = 1;
  model->load_i = model->store_i = model->fetch_i = 8;
  model->compute_i = 1U << 7U | 1U; // of each core, its first
  model->block_i = 3;
  model->read_bytes_i = model->write_bytes_i = kBytes;
  for (unsigned bit = 1; bit < 64; ++bit) {
    for (const Place &p : places(*model))
      *p.value = power(bit) - p.step;
    for (const bool counting : {true, true, true, false, false}) {
      model->count_i = counting;
      cycle(*model);
    }
    for (const Place &p : places(*model)) {
      model->index_i = static_cast<std::uint8_t>(p.index);
      look(*model);
      EXPECT_EQ(model->value_o, power(bit) + 2 * p.step) << "counter " << p.index << " bit " << bit;
    }
  }
}

// --- cmd_dispatch ----------------------------------------------------------------------------------

TEST(Widths, CommandsAreNumberedToEachBit) {
  const isa::Command sync = isa::encode({isa::SyncCommand{0}, {}, 0});
  const auto model = test::make_model<Vwide_cmd_dispatch>();
  cycle(*model);
  model->rst_ni = 1;
  model->run_i = 1;
  model->cmd_valid_i = 1;
  for (std::size_t w = 0; w < isa::kCommandWords; ++w)
    model->cmd_i[w] = sync.words[w];
  for (unsigned bit = 1; bit < 32; ++bit) {
    model->rootp->cmd_dispatch__DOT__index_q = static_cast<std::uint32_t>(power(bit)) - 1;
    cycle(*model); // check
    look(*model);
    EXPECT_EQ(model->push_o, 1U);
    EXPECT_EQ(model->index_o, power(bit) - 1);
    cycle(*model); // move
    look(*model);
    EXPECT_EQ(model->index_o, power(bit));
  }
}

// --- csr -------------------------------------------------------------------------------------------

std::uint32_t read_register(Vwide_csr &model, std::uint32_t addr) {
  model.s_axil_arvalid_i = 1;
  model.s_axil_araddr_i = static_cast<std::uint16_t>(addr);
  model.s_axil_rready_i = 0;
  cycle(model);
  model.s_axil_arvalid_i = 0;
  cycle(model);
  look(model);
  EXPECT_TRUE(model.s_axil_rvalid_o) << addr;
  const std::uint32_t data = model.s_axil_rdata_o;
  model.s_axil_rready_i = 1;
  cycle(model);
  return data;
}

TEST(Widths, RegistersShowAllBits) {
  const auto model = test::make_model<Vwide_csr>();
  cycle(*model);
  model->rst_ni = 1;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto low = static_cast<std::uint32_t>(power(bit)), high = static_cast<std::uint32_t>(power(bit) >> 32U);
    model->counter_value_i = power(bit);
    model->retired_i = low;
    model->err_index_i = ~low;
    // The last counter of the last of eight cores.
    const std::uint32_t counter = static_cast<std::uint32_t>(isa::counter_index(isa::Counter::BLOCKS, 7));
    EXPECT_EQ(read_register(*model, isa::kCounterBase + 8 * counter), low);
    EXPECT_EQ(model->counter_index_o, counter);
    EXPECT_EQ(read_register(*model, isa::kCounterBase + 8 * counter + 4), high);
    EXPECT_EQ(read_register(*model, static_cast<std::uint32_t>(isa::Csr::RETIRED)), low);
    EXPECT_EQ(read_register(*model, static_cast<std::uint32_t>(isa::Csr::ERR_INDEX)), ~low);
  }
}

} // namespace
