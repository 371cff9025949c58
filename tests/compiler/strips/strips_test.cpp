// Strips of columns: golden execution's bits whatever the cut, no hazard, and what is not loaded again.
#include "tests/compiler/strips/strip_run.hpp"

#include "compiler/strips/job_sections.hpp"

namespace gradweave::compiler {
namespace {

class Strips : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = vector_machine(GetParam());
};

TEST_P(Strips, AnyCutGivesTheBitsOfGoldenExecution) {
  const bool small = std::string(GetParam()) == "small"; // whose scratchpad has parts of 1,024 rows
  std::size_t compared = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= (small ? 24U : 150U); ++seed) {
    Dice dice(seed);
    const std::uint32_t rows = small ? dice.between(2, 4500) : random_rows(dice);
    Normalisation n(npu_, Normalisation::kKinds[seed % 3], rows, dice.between(2, small ? 70 : 3 * npu_.lanes()));
    const StripCut cut = random_cut(dice, npu_, rows);
    const std::vector<isa::Command> stream = n.commands(cut);
    if (stream.empty()) {
      ++refused;
      continue;
    }
    ++compared;
    SCOPED_TRACE(fmt::format("seed {}, {} rows, {} columns a strip", seed, rows, cut.columns));
    ASSERT_NO_FATAL_FAILURE(n.check(stream));
  }
  EXPECT_GT(compared, refused);
}

INSTANTIATE_TEST_SUITE_P(Npus, Strips, testing::Values("test8v2", "test6x10v1", "test8c2v8", "small"));

std::uint64_t bytes_loaded(const std::vector<isa::Command> &stream) {
  std::uint64_t bytes = 0;
  for (const isa::Command &command : stream) {
    const isa::Decoded d = *isa::decode(command);
    if (const auto *dma = std::get_if<isa::DmaCommand>(&d.op); dma != nullptr && !dma->store)
      bytes += std::uint64_t{dma->rows} * dma->cols * (dma->fp32 ? 4 : 2);
  }
  return bytes;
}

/// Of ResNet-50: four parts of a strip of both operands have room, and of thirteen some; of one operand all thirteen,
/// two abreast.
TEST(StripsOfResNet, PartsThatAreKeptAreLoadedOnce) {
  const Machine npu = vector_machine("small");
  const std::uint64_t operands = 2 * 2 * 3136 * 64;
  Normalisation whole(npu, Normalisation::Kind::kGradient, 3136, 64);
  EXPECT_LT(bytes_loaded(whole.commands({32, 360, 4})), operands * 101 / 100);
  const std::uint64_t x = 2 * 12544 * 64;
  Normalisation longer(npu, Normalisation::Kind::kForward, 12544, 64);
  EXPECT_LT(bytes_loaded(longer.commands({16, 360, 12, 2})), x * 101 / 100);
  Normalisation gradient(npu, Normalisation::Kind::kGradient, 12544, 64);
  const std::uint64_t loaded = bytes_loaded(gradient.commands({16, 180, 4, 2}));
  EXPECT_GT(loaded, 2 * x);
  EXPECT_LT(loaded, 2 * x * 3 / 2);
}

TEST(StripJobs, AreSumsAndElementsOfOneMatrix) {
  const Machine npu = vector_machine("small");
  const OpJobs jobs = Normalisation(npu, Normalisation::Kind::kOfASum, 2100, 50).jobs();
  const std::optional<StripJobs> strips = strip_jobs(jobs);
  ASSERT_TRUE(strips);
  EXPECT_EQ(strips->rows, 2100U);
  EXPECT_EQ(strips->cols, 50U);
  EXPECT_EQ(strips->parts(), 3U);
  EXPECT_EQ(strips->summed().size(), 2U);
  ASSERT_EQ(strips->passes.back().kind, StripPass::Kind::kElements);
  EXPECT_EQ(strips->passes.back().stages.size(), 4U); // both normalised, the sum, what is active of it
  OpGroup gelu(npu);
  gelu.add("Gelu", {gelu.input("x", graph::ElementType::kBf16, {40, 50})}, graph::ElementType::kBf16, "y");
  EXPECT_FALSE(strip_jobs(gelu.jobs()));
}

TEST(StripSections, StandWhereTheyTakeFewerCycles) {
  const Machine npu = vector_machine("small");
  JobSections sections(npu, {0, 7});
  const auto all_cycles = [&](const OpJobs &jobs) {
    std::uint64_t sum = 0;
    for (const std::vector<isa::Command> &section : sections.of(jobs, SectionPlaces(jobs).addresses))
      sum += timing::run(npu, section).cycles();
    return sum;
  };
  const OpJobs fewer = Normalisation(npu, Normalisation::Kind::kForward, 3136, 128).jobs();
  EXPECT_LT(all_cycles(fewer) * 10,
            8 * timing::run(npu, job_commands(fewer, SectionPlaces(fewer).addresses, npu)).cycles());
  OpGroup gelu(npu);
  gelu.add("Gelu", {gelu.input("x", graph::ElementType::kBf16, {40, 50})}, graph::ElementType::kBf16, "y");
  EXPECT_EQ(all_cycles(gelu.jobs()), gelu.time().cycles());
}

/// A stream of which one command is changed.
class StripFaults : public testing::Test {
protected:
  StripFaults() : stream_(normalisation_.commands({5, 16, 2})) {}

  template <typename Op, typename F> void change(std::size_t which, const F &f) {
    for (isa::Command &command : stream_) {
      isa::Decoded d = *isa::decode(command);
      auto *op = std::get_if<Op>(&d.op);
      if (op == nullptr || which-- > 0) continue;
      f(d, *op);
      command = isa::encode(d);
      return;
    }
    FAIL() << "there are fewer";
  }

  Machine npu_ = vector_machine("test8v2");
  Normalisation normalisation_{npu_, Normalisation::Kind::kGradient, 40, 12};
  std::vector<isa::Command> stream_;
};

TEST_F(StripFaults, AMissingWaitIsSeen) {
  ASSERT_EQ(first_hazard(npu_, stream_), "");
  change<isa::VectorCommand>(0, [](isa::Decoded &d, auto &) { d.sync.waits[0] = {}; });
  EXPECT_NE(first_hazard(npu_, stream_), "");
}

TEST_F(StripFaults, APlaceThatIsInUseIsSeen) {
  std::size_t loads = 0;
  std::uint32_t first_row = 0;
  for (const isa::Command &command : stream_) { // the LOAD of the next strip goes where this one's still lies
    const isa::Decoded d = *isa::decode(command);
    const auto *dma = std::get_if<isa::DmaCommand>(&d.op);
    if (dma == nullptr || dma->store || dma->rows == 1) continue;
    if (loads++ == 0) first_row = dma->spm.row;
  }
  ASSERT_GT(loads, 2U);
  std::size_t at = 0;
  for (isa::Command &command : stream_) {
    isa::Decoded d = *isa::decode(command);
    auto *dma = std::get_if<isa::DmaCommand>(&d.op);
    if (dma == nullptr || dma->store || dma->rows == 1 || at++ != 2) continue;
    dma->spm.row = first_row;
    command = isa::encode(d);
  }
  EXPECT_NE(first_hazard(npu_, stream_), "");
}

} // namespace
} // namespace gradweave::compiler
