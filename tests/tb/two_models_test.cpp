// Two Verilated NPUs of a library, beside each other: Verilator keeps a context for each, and the thread's.
#include "tb/npu_model.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>

namespace gradweave::tb {
namespace {

class Driven {
public:
  Driven() {
    for (int i = 0; i < 3; ++i)
      cycle(false);
  }
  void cycle(bool reset_n = true) {
    NpuOutputs out{csr_out_, memory_out_, events_};
    model_->cycle({reset_n, csr_in_, memory_in_}, out);
  }
  /// An assertion of the store engine is against it.
  void answer_what_nobody_asked() {
    memory_in_[0].b.valid = true;
    cycle();
    cycle();
  }

private:
  std::unique_ptr<NpuModel> model_ = make_npu_model();
  AxiLiteMasterPins csr_in_;
  AxiSlavePorts memory_in_;
  AxiLiteSlavePins csr_out_;
  AxiMasterPorts memory_out_;
  NpuEvents events_;
};

TEST(TwoModels, AnAssertionFailsInItsOwn) {
  Driven a, b;
  EXPECT_THROW(a.answer_what_nobody_asked(), std::runtime_error);
  EXPECT_NO_THROW(b.cycle());
  EXPECT_NO_THROW(Driven().cycle());
}

TEST(TwoModels, AnAssertionFailsAfterTheOtherIsGone) {
  Driven a;
  Driven().cycle();
  EXPECT_THROW(a.answer_what_nobody_asked(), std::runtime_error);
}

TEST(TwoModels, AnAssertionFailsInAThreadThatMadeNone) {
  Driven a, b;
  std::thread([&] { EXPECT_THROW(a.answer_what_nobody_asked(), std::runtime_error); }).join();
  EXPECT_NO_THROW(b.cycle());
}

} // namespace
} // namespace gradweave::tb
