// Jobs with layers that the vector unit computes: sections among products, and the checks that see them broken.
#include "compiler/cost/bounds.hpp"
#include "compiler/ir/fused.hpp"
#include "compiler/ir/vector_section.hpp"
#include "compiler/verify/verify.hpp"
#include "compiler/weave/weave.hpp"
#include "tests/compiler/depthwise_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

WeaveJob job_around(const Convolution &conv, const std::string &name, Pass pass, const Machine &npu) {
  WeaveJob job{name, layers_around(depthwise_layer(conv)), pass};
  take_vector_unit(job.layers, pass, npu);
  return job;
}

/// Too large to be fused.
WeaveJob depthwise_job(const std::string &name, Pass pass, const Machine &npu) {
  return job_around(depthwise_conv(12, 6, pass == Pass::kForward ? 3 : 2), name, pass, npu);
}

/// Fused in a forward pass.
WeaveJob fused_job(const std::string &name, Pass pass, const Machine &npu) {
  Convolution conv = depthwise_conv(7, 6, 3);
  conv.width = 4;
  return job_around(conv, name, pass, npu);
}

/// Two such jobs, woven once for all tests.
struct WovenJobs {
  Machine npu = load_config("test8v2");
  JobSet set;
  Woven woven;
  Compiled compiled;

  using MakeJob = WeaveJob (*)(const std::string &, Pass, const Machine &);
  WovenJobs(MakeJob make, Pass first, Pass second) : set({make("a", first, npu), make("b", second, npu)}, npu) {
    JobPlans plans(set, 2, 1);
    WeaveOptions options;
    options.policy = WeavePolicy::kRoundRobin;
    woven = weave(set, plans, options);
    compiled = compile_woven(set, woven);
  }
};
const WovenJobs &woven_jobs() {
  static const WovenJobs jobs(depthwise_job, Pass::kForward, Pass::kBoth);
  return jobs;
}
const WovenJobs &fused_jobs() {
  static const WovenJobs jobs(fused_job, Pass::kBoth, Pass::kForward);
  return jobs;
}

class VectorSections : public ::testing::Test {
protected:
  isa::Decoded decoded(std::size_t i) const { return *isa::decode(compiled_.stream[i]); }
  /// The first command of the vector unit's layer of job 0 that `is` one.
  template <typename Is> std::size_t find(Is is) const {
    for (std::size_t i = 0; i < compiled_.stream.size(); ++i)
      if (compiled_.info[i].layer == 1 && is(decoded(i))) return i;
    throw std::logic_error("there is no such command");
  }
  std::size_t find_transfer(bool store) const {
    return find([store](const isa::Decoded &d) {
      const auto *dma = std::get_if<isa::DmaCommand>(&d.op);
      return dma != nullptr && dma->store == store;
    });
  }
  std::size_t find_action(Action::Kind kind) const {
    const std::vector<Action> &all = woven_.plan.program.actions;
    const auto found = std::find_if(all.begin(), all.end(), [kind](const Action &a) { return a.kind == kind; });
    if (found == all.end()) throw std::logic_error("there is no such action");
    return static_cast<std::size_t>(found - all.begin());
  }
  std::string problem_of(const Program &program) const { return verify_program(program, set_.layout(), npu_); }

  const Machine &npu_ = woven_jobs().npu;
  const JobSet &set_ = woven_jobs().set;
  const Woven &woven_ = woven_jobs().woven;
  Compiled compiled_ = woven_jobs().compiled;
};

TEST_F(VectorSections, AreFoundRight) {
  ASSERT_TRUE(set_.layers()[1].vector);
  EXPECT_EQ(verify_stream(compiled_, npu_), "");
  EXPECT_EQ(verify_jobs(compiled_, npu_), "");
  EXPECT_EQ(problem_of(woven_.plan.program), "");
}

TEST_F(VectorSections, HaveRowsThatNoTileIsIn) {
  const std::uint32_t first = set_.vector_room().first_row;
  EXPECT_EQ(first, set_.tile_npu().spm_rows());
  for (std::size_t i = 0; i < compiled_.stream.size(); ++i)
    if (const isa::Decoded d = decoded(i); const auto *dma = std::get_if<isa::DmaCommand>(&d.op)) {
      const Tensor tensor = compiled_.info[i].tensor;
      const bool of_a_tile = !dma->store && (tensor == Tensor::kY || tensor == Tensor::kDX); // another layer's operand
      EXPECT_EQ(dma->spm.row >= first, set_.layers()[compiled_.info[i].layer].vector && !of_a_tile) << i;
    }
}

TEST_F(VectorSections, BoundsCountLanes) {
  const Layer layer = set_.layers()[1];
  const Bounds bounds = lower_bounds({layer}, Pass::kForward, make_layout({layer}, Pass::kForward, npu_), npu_);
  EXPECT_EQ(bounds.compute_cycles, (6U * 6 * 12 * 9 + 15) / 16); // 8 lanes in two groups
}

TEST_F(VectorSections, StandBehindTheStoresOfTheirOperands) {
  const std::size_t gate = find([](const isa::Decoded &d) {
    const auto *sync = std::get_if<isa::SyncCommand>(&d.op);
    return sync != nullptr && sync->engine == static_cast<std::uint8_t>(isa::Engine::LOAD) && d.sync.waits[0].count > 0;
  });
  isa::Decoded open = decoded(gate);
  const std::uint8_t semaphore = open.sync.waits[0].semaphore;
  open.sync = {};
  compiled_.stream[gate] = isa::encode(open);
  for (std::size_t i = gate; i-- > 0;) { // and whoever posts for it
    isa::Decoded d = decoded(i);
    const auto post = std::find(d.sync.posts.begin(), d.sync.posts.end(), semaphore);
    if (post == d.sync.posts.end()) continue;
    *post = isa::Sync{}.posts[0];
    compiled_.stream[i] = isa::encode(d);
    break;
  }
  const std::string problem = verify_stream(compiled_, npu_);
  EXPECT_NE(problem.find("without waiting for its STORE"), std::string::npos) << problem;
}

TEST_F(VectorSections, StoreTheirOwnRows) {
  const std::size_t store = find_transfer(true);
  isa::Decoded moved = decoded(store);
  std::get<isa::DmaCommand>(moved.op).spm.row = 0;
  compiled_.stream[store] = isa::encode(moved);
  const std::string problem = verify_stream(compiled_, npu_);
  EXPECT_NE(problem.find("not all of which the vector unit wrote"), std::string::npos) << problem;
}

TEST_F(VectorSections, OfAnotherJobMayNotBeStored) {
  const std::size_t store = find_transfer(true);
  for (CommandInfo &info : compiled_.info)
    if (&info != &compiled_.info[store] && info.layer == 1) info.layer = 4; // job b's
  const std::string problem = verify_jobs(compiled_, npu_);
  EXPECT_NE(problem.find("job"), std::string::npos) << problem;
}

TEST_F(VectorSections, StoreEachElementOnce) {
  const std::size_t store = find_transfer(true);
  isa::Decoded moved = decoded(store);
  moved.op = isa::SyncCommand{static_cast<std::uint8_t>(isa::Engine::STORE)};
  compiled_.stream[store] = isa::encode(moved);
  EXPECT_NE(verify_stream(compiled_, npu_), "");
}

TEST_F(VectorSections, LoadTheOperandsOfTheLayer) {
  const std::size_t load = find_transfer(false);
  isa::Decoded moved = decoded(load);
  auto &dma = std::get<isa::DmaCommand>(moved.op);
  dma.dram_addr = set_.layout().tensors.front().offset; // X of the first layer
  dma.rows = dma.cols = 1;
  compiled_.stream[load] = isa::encode(moved);
  const std::string problem = verify_stream(compiled_, npu_);
  EXPECT_NE(problem.find("which is no operand of the layer"), std::string::npos) << problem;
}

TEST_F(VectorSections, ProgramsBeginWithAGateAndEndWithAllPieces) {
  Program program = woven_.plan.program;
  program.actions.erase(program.actions.begin() + static_cast<std::ptrdiff_t>(find_action(Action::Kind::kGate)));
  EXPECT_NE(problem_of(program).find("without a gate for each operand"), std::string::npos) << problem_of(program);
  program = woven_.plan.program;
  program.actions.erase(program.actions.begin() + static_cast<std::ptrdiff_t>(find_action(Action::Kind::kDone)));
  EXPECT_NE(problem_of(program).find("the vector unit"), std::string::npos) << problem_of(program);
  program = woven_.plan.program;
  const std::size_t piece = find_action(Action::Kind::kPiece);
  program.products[program.actions[piece].product].m += 1;
  EXPECT_NE(problem_of(program), "");
}

class FusedSections : public ::testing::Test {
protected:
  /// The last product of the array that fused layers have.
  std::size_t last_product() const {
    for (std::size_t i = compiled_.stream.size(); i-- > 0;)
      if (is_fused(compiled_.info[i].layer) &&
          std::holds_alternative<isa::GemmCommand>(isa::decode(compiled_.stream[i])->op))
        return i;
    throw std::logic_error("there is no such command");
  }
  bool is_fused(std::uint32_t layer) const { return fused_with(set_.layers(), layer).size() > 1; }
  /// What verify_stream() says of a product that is another one.
  template <typename Change> std::string problem_of(Change change) {
    const std::size_t at = last_product();
    isa::Decoded d = *isa::decode(compiled_.stream[at]);
    change(std::get<isa::GemmCommand>(d.op));
    compiled_.stream[at] = isa::encode(d);
    return verify_stream(compiled_, npu_);
  }

  const Machine &npu_ = fused_jobs().npu;
  const JobSet &set_ = fused_jobs().set;
  Compiled compiled_ = fused_jobs().compiled;
};

TEST_F(FusedSections, AreFoundRight) {
  EXPECT_FALSE(set_.layers()[1].fused || set_.layers()[2].fused) << "a backward pass reads intermediates";
  EXPECT_TRUE(set_.layers()[4].fused && set_.layers()[5].fused);
  EXPECT_EQ(verify_stream(compiled_, npu_), "");
  EXPECT_EQ(verify_jobs(compiled_, npu_), "");
}

TEST_F(FusedSections, KeepIntermediatesOutOfMemory) {
  std::size_t moves = 0;
  for (std::size_t i = 0; i < compiled_.stream.size(); ++i) {
    const CommandInfo &info = compiled_.info[i];
    const isa::Decoded d = *isa::decode(compiled_.stream[i]);
    if (!is_fused(info.layer) || !std::holds_alternative<isa::DmaCommand>(d.op)) continue;
    ++moves;
    EXPECT_TRUE(info.tensor == Tensor::kW || (info.layer == 3 && info.tensor == Tensor::kX) ||
                (info.layer == 5 && info.tensor == Tensor::kY))
        << i;
  }
  EXPECT_GT(moves, 0U);
}

TEST_F(FusedSections, TakeAllTermsOfTheirSums) {
  const std::string problem = problem_of([](isa::GemmCommand &g) { g.k -= 1; });
  EXPECT_NE(problem.find("terms"), std::string::npos) << problem;
}

TEST_F(FusedSections, ReadNoTiles) {
  std::set<std::uint32_t> rows; // of tiles that are there before; of some a hazard is seen first
  for (std::size_t i = 0; i < last_product(); ++i)
    if (const isa::Decoded d = *isa::decode(compiled_.stream[i]);
        !is_in_section(set_.layers(), compiled_.info[i].layer))
      if (const auto *g = std::get_if<isa::GemmCommand>(&d.op)) rows.insert({g->a.row, g->b.row, g->cout.row});
  std::string problems;
  for (const std::uint32_t row : rows)
    problems += problem_of([row](isa::GemmCommand &g) { g.a.row = row; }) + "; ";
  EXPECT_NE(problems.find("that a tile is in"), std::string::npos) << problems;
}

TEST_F(FusedSections, WaitForTheirOperands) {
  const std::size_t at = last_product();
  isa::Decoded d = *isa::decode(compiled_.stream[at]);
  d.sync.waits = {};
  compiled_.stream[at] = isa::encode(d);
  EXPECT_NE(verify_stream(compiled_, npu_), "");
}

TEST(FuseLayers, NeedsOneReaderOfEachIntermediate) {
  const Machine npu = load_config("test8v2");
  WeaveJob job = fused_job("a", Pass::kForward, npu);
  for (Layer &layer : job.layers)
    layer.fused = false;
  Layer other = job.layers.back();
  other.name = "other";
  job.layers.push_back(other); // reads the depthwise layer's result, too
  take_vector_unit(job.layers, Pass::kForward, npu);
  EXPECT_TRUE(job.layers[1].fused);
  EXPECT_FALSE(job.layers[2].fused || job.layers[3].fused);
}

TEST(TakeVectorUnit, NeedsAUnitAndRows) {
  EXPECT_TRUE(depthwise_job("a", Pass::kBoth, load_config("test8v2")).layers[1].vector);
  EXPECT_FALSE(depthwise_job("a", Pass::kBoth, load_config("test8")).layers[1].vector);
  Machine small = load_config("test8v2");
  small.spm_bytes = 1024;
  EXPECT_FALSE(depthwise_job("a", Pass::kBoth, small).layers[1].vector);
}

} // namespace
} // namespace gradweave::compiler
