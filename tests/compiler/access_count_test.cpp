// What streams access, by formula, against a count by hand and against what the timing model's engines count.
#include "compiler/cost/access_count.hpp"
#include "sw_models/energy/energy.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/compiler/layer_run.hpp"

namespace gradweave {

/// For messages of tests.
void PrintTo(const AccessCounts &counts, std::ostream *out) {
  for (const AccessCountForm &form : access_count_forms())
    *out << form.name << ' ' << counts.*form.count << ' ';
}

namespace compiler {
namespace {

isa::Command dma(bool store, bool fp32, std::uint64_t address, std::uint32_t pitch, std::uint32_t rows,
                 std::uint32_t cols, isa::SpmTile tile) {
  isa::Decoded d;
  d.op = isa::DmaCommand{store, fp32, address, pitch, rows, cols, tile};
  return isa::encode(d);
}

isa::Command gemm(bool acc, bool out_bf16, std::uint32_t cout) {
  isa::Decoded d;
  isa::GemmCommand g;
  g.a_col = true; // A is 3 x 5, B 5 x 10
  g.acc = acc;
  g.out_bf16 = out_bf16;
  g.m = 3;
  g.n = 10;
  g.k = 5;
  g.a = {0, 8, 0};
  g.b = {16, 8, 0};
  if (acc) g.cin = {64, 8, 0};
  g.cout = {cout, 8, 0};
  d.op = g;
  return isa::encode(d);
}

/// On test8: 8 x 8 PEs, lines of 8 lanes, beats and accesses of 16 bytes.
std::vector<isa::Command> small_stream() {
  isa::Decoded sum;
  isa::AddCommand add;
  add.m = 3;
  add.n = 10;
  add.a = add.cin = {64, 8, 0};
  add.cout = {128, 8, 0};
  sum.op = add;
  return {
      dma(false, false, 0x1000, 32, 3, 5, {0, 8, 0}),   // A
      dma(false, false, 0x200e, 32, 5, 10, {16, 8, 0}), // B
      gemm(false, false, 64),                           // fp32
      gemm(true, true, 96),                             // from there on, bf16
      isa::encode(sum),
      dma(true, false, 0x3000, 32, 3, 10, {96, 8, 0}),
  };
}

// By hand.
//   LOAD A     3 rows of 10 bytes are 30 bytes of the scratchpad. A row lies in one beat: 3 x 16 = 48 of bus and DRAM.
//   LOAD B     5 rows of 20 bytes are 100. From byte 14 of a beat on a row covers three: 5 x 3 x 16 = 240.
//   GEMM       10 columns are two blocks of 8 x 8, 5 line pairs each: 10 pairs. Lines of A and B, 8 lanes of 2 bytes:
//              10 x 2 x 16 = 320. 3 x 10 x 5 = 150 multiply-adds; the other 10 x 64 - 150 = 490 steps of PEs are idle.
//              3 x 10 results of 4 bytes: 120.
//   GEMM       The same, and for each of 2 blocks 3 lines of initial values, 8 lanes of 4 bytes: 2 x 3 x 32 = 192.
//              Results of 2 bytes: 60.
//   ADD        3 rows of 10 columns in two chunks of 8: 6 lines of each operand: 2 x 6 x 32 = 384. 30 sums, 120 bytes.
//   STORE      3 rows of 20 bytes are 60; two beats each: 3 x 2 x 16 = 96.
//   commands   6 x 64 = 384 bytes, whole beats.
AccessCounts by_hand() {
  AccessCounts c;
  c.macs = 150 + 150;
  c.idle_macs = 490 + 490;
  c.adds = 30;
  c.operand_read_bytes = 320 + 320;
  c.sum_read_bytes = 192 + 384;
  c.result_write_bytes = 120 + 60 + 120;
  c.load_write_bytes = 30 + 100;
  c.store_read_bytes = 60;
  c.bus_bytes = 48 + 240 + 96 + 384;
  c.dram_read_bytes = 48 + 240 + 384;
  c.dram_write_bytes = 96;
  return c;
}

TEST(AccessCount, OfASmallStreamIsThatByHand) {
  const Machine npu = load_config("test8");
  EXPECT_EQ(count_accesses(small_stream(), npu), by_hand());
  EXPECT_EQ(timing::run(npu, small_stream()).accesses, by_hand());
}

// array       300 x 2 + 980 x 0 + 30 x 0.9            =    627
// scratchpad  8 KB: 1.25 pJ a byte. 640 + 576 + 60 = 1276 read, 300 + 130 = 430 written: 1706 x 1.25 = 2132.5
// bus         768 x 4.4                               =   3379.2
// DRAM        768 x 162.5                             = 124800
//                                                       130938.7
TEST(AccessCount, EnergyOfASmallStreamIsThatByHand) {
  Machine npu = load_config("test8");
  const timing::RunResult run = timing::run(npu, small_stream());
  const Energy e = energy_of(count_accesses(small_stream(), npu), run.cycles(), npu);
  EXPECT_EQ(e.array, 627.0);
  EXPECT_EQ(e.spm, 2132.5);
  EXPECT_EQ(e.bus, 3379.2000000000003); // 4.4 is no binary fraction: the product's nearest double
  EXPECT_EQ(e.dram, 124800.0);
  EXPECT_EQ(e.leakage, 0.0);
  EXPECT_EQ(fmt::format("{:.1f}", e.total()), "130938.7");
  npu.energy.static_mw = 0.5; // at 1 GHz half a pJ a cycle
  EXPECT_EQ(energy_of(run.accesses, run.cycles(), npu).leakage, static_cast<double>(run.cycles()) / 2);
}

TEST(AccessCount, AccessesOfTheDramMayBeSmallerThanBeats) {
  Machine npu = load_config("test8");
  npu.memory.access_bytes = 4;
  AccessCounts c = by_hand();
  // Rows of A take 3 accesses of 4 bytes, of B 14 .. 33 is 12 .. 35: 6, of the result 5.
  c.dram_read_bytes = 3 * 12 + 5 * 24 + 384;
  c.dram_write_bytes = 3 * 20;
  EXPECT_EQ(count_accesses(small_stream(), npu), c);
  EXPECT_EQ(timing::run(npu, small_stream()).accesses, c);
}

TEST(AccessCount, TheStreamsPlaceCountsIfABeatHoldsSeveralCommands) {
  const Machine npu = load_config("test2x64c8"); // 1,024 bytes a beat, 16 commands
  ASSERT_EQ(npu.bus_bytes, 1024U);
  const std::vector<isa::Command> stream(3, dma(false, false, 0x1000, 0, 1, 1, {0, 64, 0}));
  for (const auto &[address, beats] : {std::pair(0U, 1U), std::pair(832U, 1U), std::pair(896U, 2U)}) {
    const AccessCounts counts = count_accesses(stream, npu, address);
    EXPECT_EQ(counts.bus_bytes, (3 + beats) * 1024U) << address;
    timing::RunOptions options;
    options.stream_addr = address;
    EXPECT_EQ(timing::run(npu, stream, options).accesses, counts) << address;
  }
}

/// What the engines of the timing model count is what the commands say, and what compile() keeps.
void expect_equal_counts(const Layer &layer, const Machine &npu, CompileOptions options) {
  options.plans = 10;
  const Compiled compiled = compile_known(layer, npu, options);
  const timing::RunResult run = timing::run(npu, compiled.stream);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.accesses, compiled.accesses) << npu.name << ' ' << layer.name << ' ' << to_string(options.schedule);
  EXPECT_EQ(count_accesses(compiled.stream, npu), compiled.accesses);
  std::uint64_t pairs = 0;
  for (std::uint32_t core = 0; core < npu.cores; ++core)
    pairs += run.counter(isa::Counter::COMPUTE_ACTIVE, core);
  EXPECT_EQ(compiled.accesses.macs + compiled.accesses.idle_macs, pairs * npu.rows * npu.cols);
  if (!layer.image) EXPECT_EQ(compiled.accesses.macs, compiled.useful_macs) << layer.name;
  options.stream = false;
  EXPECT_EQ(compile_known(layer, npu, options).accesses, compiled.accesses);
}

TEST(AccessCount, OfLayersIsWhatTheTimingModelCounts) {
  Layer grouped = make_layer(20, 9, 8);
  grouped.groups = 6;
  for (const char *name : {"test8", "test6x10", "test8x3", "test8c2", "small"})
    for (const Layer &layer : {make_layer(17, 33, 29), make_layer(1, 50, 7), make_layer(100, 100, 100), grouped})
      for (const Schedule schedule : {Schedule::kSequential, Schedule::kRearrange})
        expect_equal_counts(layer, load_config(name), {schedule, Pass::kBoth});
}

TEST(AccessCount, OfCutLayersWithReductionPlansIsWhatTheTimingModelCounts) {
  for (const char *name : {"test8", "test8c2", "test6x10c3"})
    for (const Partition partition : {Partition::kWeightSharing, Partition::kDySharing, Partition::kIfmapSharing}) {
      CompileOptions options{Schedule::kRearrange, Pass::kBackward};
      options.partition = partition;
      options.reduction = Reduction::kAdd;
      expect_equal_counts(make_layer(64, 24, 40), load_config(name), options);
    }
}

} // namespace
} // namespace compiler
} // namespace gradweave
