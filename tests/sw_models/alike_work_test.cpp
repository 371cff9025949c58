// Many bursts, or blocks, in one step are the same as one by one. A run with a progress log follows each beat and
// block; a run without takes the short way wherever it can: every command's times and every counter have to agree, on
// random memories.
#include "base/random/dice.hpp"
#include "sw_models/timing/npu_timing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

namespace gradweave::timing {
namespace {

/// A memory somewhere between one that starves the bus and one that waits for it.
Machine draw_machine(Dice &dice) {
  constexpr const char *kNames[] = {"small", "test8", "test5x2", "test8c4", "large"};
  Machine npu = load_machine(fmt::format("configs/{}.toml", kNames[dice.below(std::size(kNames))]));
  npu.outstanding = dice.chance(0.3) ? npu.outstanding : dice.between(1, 80);
  MemoryConfig &memory = npu.memory;
  memory.latency_cycles = dice.chance(0.2) ? dice.between(0, 3) : dice.between(0, 300);
  memory.turnaround_cycles = dice.between(0, 20);
  memory.batch_bytes = dice.chance(0.3) ? 1 : dice.between(64, 20000);
  memory.bytes_num = dice.between(1, 1000);
  memory.bytes_den = dice.between(1, 40);
  if (dice.chance(0.4)) {
    memory.refresh_cycles = dice.between(1, 100);
    memory.refresh_interval_cycles = dice.between(memory.refresh_cycles + 100, 3000);
  }
  return npu;
}

isa::Command encoded(isa::Decoded d, const isa::Sync &sync) {
  d.sync = sync;
  return isa::encode(d);
}

/// A tile of up to 300 rows; rows of one length and of several bursts, on one page or across two, few of them or many.
isa::DmaCommand draw_transfer(Dice &dice, const Machine &npu) {
  isa::DmaCommand dma;
  dma.store = dice.chance(0.4);
  dma.fp32 = dice.chance(0.2);
  const std::uint32_t element = dma.fp32 ? 4 : 2;
  dma.cols = dice.chance(0.1) ? dice.between(1, 3000) : dice.between(1, 2 * npu.lanes());
  dma.rows = dice.chance(0.3) ? dice.between(1, 6) : dice.between(1, 300);
  const std::uint32_t row = dma.cols * element, beat = npu.bus_bytes;
  dma.pitch = dice.chance(0.3) ? (row + element - 1) / element * element + element * dice.between(0, 100)
                               : (row + beat - 1) / beat * beat + beat * dice.between(0, 100);
  if (dice.chance(0.2)) dma.pitch = (dma.pitch + 4095) / 4096 * 4096;
  dma.dram_addr = 0x100000 + std::uint64_t{element} * dice.between(0, 10000);
  if (dice.chance(0.5)) dma.dram_addr -= dma.dram_addr % beat;
  // Nothing that the scratchpad cannot hold.
  const std::uint32_t panels = (dma.cols + npu.lanes() - 1) / npu.lanes(), words = dma.fp32 ? 2 : 1;
  dma.rows = std::min(dma.rows, npu.spm_rows() / (panels * words));
  if (dma.rows == 0) {
    dma.rows = 1;
    dma.cols = 1;
  }
  dma.spm.pstride = dma.rows * words;
  return dma;
}

/// Of up to 400 blocks, some with initial values; operands in banks of their own or, a third of the time, not.
isa::GemmCommand draw_product(Dice &dice, const Machine &npu) {
  isa::GemmCommand gemm;
  gemm.m = dice.between(1, 20 * npu.rows);
  gemm.n = dice.between(1, 20 * npu.cols);
  gemm.k = dice.between(1, dice.chance(0.5) ? 3 * npu.lanes() : 2 * npu.lanes() + npu.rows);
  gemm.acc = dice.chance(0.4);
  gemm.out_bf16 = dice.chance(0.5);
  const auto panels = [&](std::uint32_t cols) { return (cols + npu.lanes() - 1) / npu.lanes(); };
  const std::uint32_t quarter = npu.spm_rows() / 4;
  const auto place = [&](std::uint32_t &rows, std::uint32_t &cols, std::uint32_t words, std::uint32_t at) {
    cols = std::min(cols, npu.lanes() * std::max(1U, quarter / words / std::max(1U, rows)));
    rows = std::min(rows, quarter / words / panels(cols));
    return isa::SpmTile{dice.chance(0.1) ? 0 : at * quarter, rows * words, 0};
  };
  gemm.a = place(gemm.k, gemm.m, 1, 0);
  gemm.cout = place(gemm.m, gemm.n, 2, 3);
  gemm.b = place(gemm.k, gemm.n, 1, 1);
  if (gemm.acc) gemm.cin = place(gemm.m, gemm.n, 2, 2);
  return gemm;
}

/// LOADs and STOREs that wait for one another now and then, and products that take the channel's attention off them.
std::vector<isa::Command> draw_stream(Dice &dice, const Machine &npu) {
  std::vector<isa::Command> stream;
  std::uint32_t posted = 0; // of semaphore 0, by LOADs, for STOREs
  for (std::uint32_t i = dice.between(1, 40); i-- > 0;) {
    isa::Decoded d;
    isa::Sync sync;
    if (dice.chance(0.3)) {
      d.op = draw_product(dice, npu);
    } else {
      const isa::DmaCommand dma = draw_transfer(dice, npu);
      if (dma.store && posted > 0 && dice.chance(0.5)) {
        sync.waits[0] = {0, 1};
        --posted;
      } else if (!dma.store && dice.chance(0.5)) {
        sync.posts[0] = 0;
        ++posted;
      }
      d.op = dma;
    }
    stream.push_back(encoded(d, sync));
  }
  return stream;
}

RunResult follow(const Machine &npu, const std::vector<isa::Command> &stream, bool every_beat) {
  ProgressLog log(every_beat);
  return NpuTiming(npu, stream.data(), stream.size(), {}, kNever, log).run();
}

TEST(AlikeWork, IsDoneInOneStepAsOneByOne) {
  std::size_t commands = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Dice dice(seed);
    const Machine npu = draw_machine(dice);
    const std::vector<isa::Command> stream = draw_stream(dice, npu);
    const RunResult by_beats = follow(npu, stream, true), at_once = follow(npu, stream, false);
    ASSERT_EQ(at_once.error, by_beats.error) << "seed " << seed;
    ASSERT_TRUE(at_once.ok()) << "seed " << seed << ": " << isa::kErrorNames[static_cast<std::size_t>(at_once.error)]
                              << " at " << at_once.error_index;
    for (std::size_t i = 0; i < stream.size(); ++i)
      ASSERT_EQ(at_once.commands[i], by_beats.commands[i])
          << "seed " << seed << " command " << i << ": done in " << at_once.commands[i].done << ", by beats in "
          << by_beats.commands[i].done;
    ASSERT_EQ(at_once.counters, by_beats.counters) << "seed " << seed;
    ASSERT_EQ(at_once.accesses, by_beats.accesses) << "seed " << seed;
    commands += stream.size();
  }
  EXPECT_GT(commands, 15000U);
}

} // namespace
} // namespace gradweave::timing
