// The names that single edges get.
#include "tests/coverage/functional.hpp"

#include "tests/coverage/bins.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace gradweave::coverage {
namespace {

constexpr std::uint32_t kIdle = 0, kPrepare = 2, kRun = 3;

class Functional : public testing::Test {
protected:
  Functional() {
    sample_.reset_n = true;
    sample_.state = kRun;
    sample_.room = 7;
    sample_.fifo_room = 0x3ff;
    sample_.head_index = sample_.done_index = sample_.oldest_index = {0, 0, 0};
    sample_.semaphores.assign(64, 0);
  }
  void expect(const std::string &bin, std::uint64_t count) {
    const auto found = coverage_.bins().find(bin);
    EXPECT_EQ(found == coverage_.bins().end() ? 0 : found->second, count) << bin;
  }
  /// Dispatch checks a LOAD, command 0.
  void check_load(std::uint32_t row, isa::ErrorCode error = isa::ErrorCode::NONE) {
    isa::DmaCommand d;
    d.fp32 = true;
    d.rows = 3;
    d.cols = 12;
    d.spm = {row, 6, 7};
    sample_.checking = true;
    sample_.error = error;
    sample_.command = isa::encode({d, {}, 0});
    coverage_.sample(sample_);
    sample_.checking = false;
  }

  FunctionalCoverage coverage_{{1, 64, 8, 512, 4, 16}};
  Sample sample_;
};

TEST_F(Functional, ATileAtTheEndOfTheScratchpad) {
  check_load(512 - 12);
  for (const char *edge :
       {"ends_scratchpad", "several_panels", "panels_adjacent", "last_panel_in_part", "rotated_most"})
    expect(std::string("spm.LOAD.") + edge, 1);
  expect("flags.LOAD.1", 1);
  expect("spm.LOAD.crosses_banks", 0);
  expect("spm.LOAD.ends_bank", 0);
}

TEST_F(Functional, ATileThatEndsARowBeyondIsNoOther) {
  check_load(512 - 10, isa::ErrorCode::SPM_RANGE);
  expect("spm.LOAD.ends_one_row_beyond", 1);
  expect("spm.LOAD.rotated", 0);
  expect("command.LOAD", 0);
}

/// PACKED is a field of one bit, and no flag: what a CONV hits is listed with it and without.
TEST_F(Functional, PackedPhasesAreAWalksOwn) {
  const BinList list = load_bins("tests/coverage/bins.toml");
  for (const std::uint8_t stride : {1, 2, 3})
    for (const bool packed : {false, true}) {
      isa::ConvCommand v;
      v.image.taps_y = 3;
      v.image.stride = stride;
      v.image.packed = packed;
      v.product.a_col = true;
      v.product.m = v.product.n = v.product.k = 1;
      v.image.grid_w = v.image.grid_h = v.image.img_w = v.image.img_h = 1;
      sample_.checking = true;
      sample_.command = isa::encode({v, {}, 0});
      coverage_.sample(sample_);
      expect(fmt::format("walk.stride_{}.{}", stride, packed ? "packed" : "planes"), 1);
    }
  expect("flags.CONV.0.0.0", 6);
  std::set<std::string> listed;
  for (const Bin &bin : list.bins)
    listed.insert(bin.name);
  for (const auto &[bin, count] : coverage_.bins())
    EXPECT_EQ(listed.count(bin), 1U) << bin;
}

TEST_F(Functional, AStallIsOfTheOldestCommandOfItsEngine) {
  check_load(0);
  sample_.oldest_valid = 1;
  sample_.load_counters = 2;
  sample_.fetch_counters = 4;
  coverage_.sample(sample_);
  expect("stall.LOAD.LOAD_DRAM", 1);
  expect("flag_stall.LOAD.FP32.1.LOAD_DRAM", 1);
  expect("stall.NONE.FETCH_BLOCKED", 1);
  sample_.oldest_valid = 0;
  sample_.load_counters = 8;
  coverage_.sample(sample_);
  expect("stall.NONE.LOAD_EMPTY", 1);
}

TEST_F(Functional, AnErrorIsCrossedWithItsCommandAndTheQueues) {
  check_load(0);
  sample_.err_valid = true;
  sample_.err_code = isa::ErrorCode::READ_DECERR;
  sample_.oldest_valid = 1;
  sample_.room = 5;
  coverage_.sample(sample_);
  expect("error.LOAD.READ_DECERR", 1);
  expect("flag_error.LOAD.FP32.1.READ_DECERR", 1);
  expect("stopped.READ_DECERR.LOAD.busy", 1);
  expect("stopped.READ_DECERR.STORE.queue_full", 1);
  expect("stopped.READ_DECERR.COMPUTE0.idle", 1);
}

TEST_F(Functional, CommandsOfARunAreForgottenByTheNext) {
  check_load(0);
  sample_.state = kPrepare;
  coverage_.sample(sample_);
  sample_.state = kRun;
  sample_.oldest_valid = 1;
  sample_.load_counters = 2;
  coverage_.sample(sample_);
  expect("stall.LOAD.LOAD_DRAM", 0);
  expect("state.RUN.PREPARE", 1);
}

TEST_F(Functional, AResetIsNoTransition) {
  coverage_.sample(sample_);
  sample_.reset_n = false;
  coverage_.sample(sample_);
  sample_.reset_n = true;
  sample_.state = kIdle;
  coverage_.sample(sample_);
  expect("reset_pin.RUN", 1);
  expect("state.RUN.IDLE", 0);
}

TEST_F(Functional, BurstsAreNamedWhenTheyAreTaken) {
  sample_.read = {true, false, false, 0x1008, 2, 4, 31};
  coverage_.sample(sample_);
  expect("burst.LOAD.held_back", 1);
  expect("burst.LOAD.several_beats", 0);
  sample_.read = {true, true, false, 0x1fe0, 2, 4, 31};
  coverage_.sample(sample_);
  for (const char *shape : {"ends_page", "several_beats", "first_beat_in_part", "last_beat_whole"})
    expect(std::string("burst.LOAD.") + shape, 1);
}

TEST_F(Functional, QueuesFillAndDrain) {
  check_load(0);
  sample_.moving = true;
  sample_.room = 6;
  sample_.head_valid = 1;
  sample_.fifo_valid = 1;
  coverage_.sample(sample_);
  expect("queue.LOAD.full", 1);
  expect("queue.LOAD.holds_dispatch", 1);
  sample_.head_valid = sample_.fifo_valid = 0;
  coverage_.sample(sample_);
  expect("queue.LOAD.drained", 1);
  expect("queue.FETCH_BUFFER.drained", 1);
}

TEST_F(Functional, ARingAndItsMarks) {
  const auto host = [](std::initializer_list<HostBit> bits) {
    std::uint32_t set = 0;
    for (const HostBit bit : bits)
      set |= 1U << bit;
    return set;
  };
  sample_.ring_size = sample_.count = 32;
  sample_.retired = 4;
  sample_.host = host({kRing, kOpen, kTailWritten, kLogHasRoom, kWraps});
  coverage_.sample(sample_); // nothing has come
  sample_.received = sample_.retired = 32;
  sample_.tail = 31;
  sample_.host = host({kRing, kOpen, kTailRefused, kMarkThere, kIrq, kTaken, kMarkCompletes});
  coverage_.sample(sample_); // all is done, and the log full
  sample_.tail = 100;
  coverage_.sample(sample_);
  sample_.reset_n = false;
  coverage_.sample(sample_);
  for (const char *bin : {"ring.tail_while_busy", "ring.wraps", "ring.full", "ring.tail_that_falls", "ring.tail_beyond",
                          "ring.reset", "mark.interrupt"})
    expect(bin, 1);
  for (const char *bin : {"ring.idle", "mark.behind_others", "mark.taken_from_full", "mark.taken_as_one_completes"})
    expect(bin, 2);
  for (const char *bin : {"ring.tail_while_idle", "mark.taken", "mark.first", "mark.left_at_the_end"})
    expect(bin, 0);
}

} // namespace
} // namespace gradweave::coverage
