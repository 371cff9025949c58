// The queue against std::deque, for one depth: random pushes and pops, clears, and the promise that neither side's
// outputs follow the other side's inputs within the cycle.
#include GW_MODEL_HEADER

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>

namespace {

class FifoTest : public testing::Test {
protected:
  FifoTest() {
    model_.rst_ni = 0;
    cycle(false, 0, false);
    model_.rst_ni = 1;
  }
  void settle() {
    model_.clk_i = 0;
    model_.eval();
  }
  /// Sets the inputs, checks the outputs against the model, and clocks both.
  void cycle(bool push, std::uint32_t value, bool pop) {
    model_.in_valid_i = push;
    model_.in_data_i = value;
    model_.out_ready_i = pop;
    settle();
    if (model_.rst_ni) {
      ASSERT_EQ(model_.count_o, expected_.size());
      ASSERT_EQ(model_.in_ready_o, expected_.size() < GW_DEPTH);
      ASSERT_EQ(model_.out_valid_o, !expected_.empty());
      if (!expected_.empty()) {
        ASSERT_EQ(model_.out_data_o, expected_.front());
      }
    }
    bool pushed = push && expected_.size() < GW_DEPTH;
    if (pop && !expected_.empty()) expected_.pop_front();
    if (pushed) expected_.push_back(value);
    if (model_.clear_i) expected_.clear();
    model_.clk_i = 1;
    model_.eval();
  }

  GW_MODEL model_;
  std::deque<std::uint32_t> expected_;
};

TEST_F(FifoTest, KeepsOrderUnderRandomTraffic) {
  std::mt19937 rng(1);
  for (int phase = 0; phase < 60; ++phase) {
    std::uint32_t push_chance = rng() % 101, pop_chance = rng() % 101;
    for (int i = 0; i < 200; ++i) {
      model_.clear_i = rng() % 97 == 0;
      ASSERT_NO_FATAL_FAILURE(cycle(rng() % 100 < push_chance, rng() & 0xFFU, rng() % 100 < pop_chance));
    }
  }
}

TEST_F(FifoTest, HasNoPathFromInputsToOutputs) {
  for (std::uint32_t fill = 0; fill <= GW_DEPTH; ++fill) {
    model_.in_valid_i = model_.out_ready_i = 0;
    settle();
    auto valid = model_.out_valid_o, ready = model_.in_ready_o, data = model_.out_data_o;
    model_.in_valid_i = model_.out_ready_i = 1;
    model_.in_data_i = 0x5A;
    settle();
    EXPECT_EQ(model_.out_valid_o, valid);
    EXPECT_EQ(model_.in_ready_o, ready);
    EXPECT_EQ(model_.out_data_o, data);
    cycle(true, fill, false);
  }
}

} // namespace
