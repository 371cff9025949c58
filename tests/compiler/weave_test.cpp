// Several jobs in one stream: sets, orders, bounds, and the check that holds jobs apart.
#include "compiler/weave/balance.hpp"
#include "compiler/weave/weave.hpp"
#include "compiler/weave/woven_order.hpp"

#include "compiler/cost/bounds.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/search/plan_change.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/layer_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

WeaveJob job_of(const std::string &name, Pass pass, std::uint32_t m) {
  Layer one = make_layer(m, 24, 20), two = make_layer(m, 20, 12);
  one.name = "fc1";
  two.name = "fc2";
  two.input = "fc1";
  return {name, {one, two}, pass};
}

std::string message_of(std::vector<WeaveJob> jobs, const Machine &npu) {
  try {
    const JobSet set(std::move(jobs), npu);
  } catch (const std::exception &error) {
    return error.what();
  }
  return {};
}

TEST(JobSet, LayersBearTheNamesOfTheirJobs) {
  const JobSet set({job_of("a", Pass::kForward, 30), job_of("b", Pass::kBoth, 17)}, load_config("test8"));
  ASSERT_EQ(set.layers().size(), 4U);
  EXPECT_EQ(set.layers()[1].name, "a/fc2");
  EXPECT_EQ(set.layers()[1].input, "a/fc1");
  EXPECT_EQ(set.layers()[2].name, "b/fc1");
  EXPECT_EQ(set.jobs().job_of(1), 0U);
  EXPECT_EQ(set.jobs().job_of(2), 1U);
  EXPECT_EQ(set.jobs().pass_of(3), Pass::kBoth);
  EXPECT_EQ(set.sections(0).size(), 2U);
  ASSERT_EQ(set.sections(1).size(), 4U);
  EXPECT_EQ(set.sections(1)[2].layer, 3U); // backward from the last layer on
  EXPECT_EQ(set.layout().place(0, Tensor::kDW), Layout::kNone);
  EXPECT_EQ(set.layout().place(1, Tensor::kX), set.layout().place(0, Tensor::kY));
  EXPECT_NE(set.layout().place(2, Tensor::kDW), Layout::kNone);
}

TEST(JobSet, RefusesWhatCannotBeWoven) {
  Machine npu = load_config("test8");
  EXPECT_EQ(message_of({}, npu), "no jobs to weave; name at least one");
  EXPECT_EQ(message_of({{"a", {}, Pass::kForward}}, npu), "job 'a' has no layers");
  EXPECT_EQ(message_of({job_of("a", Pass::kForward, 9), job_of("a", Pass::kBoth, 9)}, npu),
            "two jobs are called 'a'; give each a name of its own");
  npu.memory.size_bytes = 4096;
  const std::string memory = message_of({job_of("a", Pass::kForward, 9), job_of("b", Pass::kForward, 9)}, npu);
  EXPECT_NE(memory.find("the tensors of 2 jobs need "), std::string::npos) << memory;
  EXPECT_NE(memory.find("raise memory.size_bytes, or name fewer jobs"), std::string::npos) << memory;
  const std::string cores = message_of({job_of("a", Pass::kForward, 9)}, load_config("test8c2"));
  EXPECT_NE(cores.find("jobs are woven on one core; NPU 'test8c2' has 2"), std::string::npos) << cores;
}

TEST(JobPlans, RefuseALayerOfWhichNoTileFits) {
  Machine npu = load_config("test8");
  npu.spm_bytes = 16 * 2 * npu.spm_banks / 4; // not even an operand and a sum a bank
  const JobSet set({job_of("a", Pass::kForward, 9), job_of("b", Pass::kForward, 9)}, npu);
  try {
    const JobPlans plans(set, 2, 1);
    ADD_FAILURE() << "there is room";
  } catch (const CompileError &error) {
    EXPECT_NE(std::string(error.what()).find("layer 'a/fc1'"), std::string::npos) << error.what();
  }
}

TEST(WeavePolicy, HasANameEach) {
  for (const char *name : {"one_by_one", "round_robin", "ai_mt", "layerweaver", "bounded", "tiles"})
    EXPECT_EQ(to_string(parse_weave_policy(name)), name);
  EXPECT_THROW(parse_weave_policy("best"), std::invalid_argument);
}

/// Each item of each job once, those of a job ascending, under every rule.
TEST(Merge, KeepsTheOrderOfEachJob) {
  const Machine npu = load_config("test8");
  const std::vector<std::vector<TileCost>> costs{{{10, 90}, {40, 3}, {0, 5}}, {{70, 1}, {70, 1}, {5, 50}, {9, 9}}};
  for (const WeavePolicy policy : {WeavePolicy::kOneByOne, WeavePolicy::kRoundRobin, WeavePolicy::kAiMt,
                                   WeavePolicy::kLayerweaver, WeavePolicy::kBounded, WeavePolicy::kTiles})
    for (const weave_model::Rule &rule : rules_of(policy)) {
      std::vector<std::size_t> next(2, 0);
      for (const Turn &turn : merge(costs, rule, npu))
        EXPECT_EQ(turn.item, next.at(turn.job)++) << to_string(policy);
      EXPECT_EQ(next, (std::vector<std::size_t>{3, 4})) << to_string(policy);
    }
  std::vector<std::size_t> jobs;
  for (const Turn &turn : merge(costs, rules_of(WeavePolicy::kRoundRobin).front(), npu))
    jobs.push_back(turn.job);
  EXPECT_EQ(jobs, (std::vector<std::size_t>{0, 1, 0, 1, 0, 1, 1}));
}

std::vector<std::size_t> jobs_in(const std::vector<Turn> &turns) {
  std::vector<std::size_t> jobs;
  for (const Turn &turn : turns)
    jobs.push_back(turn.job);
  return jobs;
}

/// Each item of each job once, those of a job ascending, however many pieces there are and jobs.
TEST(Balance, KeepsTheOrderOfEachJob) {
  const std::vector<std::vector<TileCost>> costs{
      {{10, 90}, {40, 3}, {0, 5}}, {{70, 1}, {70, 1}, {5, 50}, {9, 9}}, {{0, 0}}};
  for (const std::uint32_t pieces : {1U, 2U, 5U, 100U}) {
    std::vector<std::size_t> next(3, 0);
    for (const Turn &turn : balance(costs, pieces))
      EXPECT_EQ(turn.item, next.at(turn.job)++) << pieces;
    EXPECT_EQ(next, (std::vector<std::size_t>{3, 4, 1})) << pieces;
  }
  EXPECT_EQ(jobs_in(balance({{{1, 0}, {1, 0}}}, 4)), (std::vector<std::size_t>{0, 0}));
}

/// Two jobs that first compute and then move: one computes alone, moves while the other one computes, and that moves
/// alone. No order that takes the jobs evenly has anything to overlap.
TEST(Balance, PutsWhatMovesBesideWhatComputes) {
  const std::vector<TileCost> job{{10, 0}, {10, 0}, {0, 10}, {0, 10}};
  const std::vector<Turn> turns = balance({job, job}, 8);
  const std::vector<std::size_t> jobs = jobs_in(turns);
  const std::size_t lead = jobs.front(), behind = 1 - lead;
  EXPECT_EQ(std::vector<std::size_t>(jobs.begin(), jobs.begin() + 2), (std::vector<std::size_t>{lead, lead}));
  EXPECT_EQ(std::vector<std::size_t>(jobs.end() - 2, jobs.end()), (std::vector<std::size_t>{behind, behind}));
}

/// fc2 reads what fc1 computes: its K is cut like fc1's N, and both have the lines.
TEST(Align, CutsWhatTwoLayersShareAlike) {
  const WeaveJob job = job_of("a", Pass::kForward, 9);
  PhasePlan one, other;
  one.tile = {3, 5, 7};
  other.tile = {9, 4, 6};
  std::vector<PhasePlan> plans{other};
  align(plans, job.layers[1], one, job.layers[0]);
  EXPECT_TRUE(plans.front().tile == (TileShape{3, 7, 6}));
  plans = {one};
  align(plans, job.layers[0], other, job.layers[1]);
  EXPECT_TRUE(plans.front().tile == (TileShape{9, 5, 4}));
}

/// A plan is found again by what it decides, and by nothing less.
TEST(JobPlans, AreFoundByTheirDecisions) {
  const Machine npu = load_config("test8");
  const JobSet set({job_of("a", Pass::kForward, 9)}, npu);
  JobPlans plans(set, 2, 1);
  for (std::size_t i = 0; i < plans.of(0).size(); ++i)
    EXPECT_EQ(plans.find(0, plans.of(0)[i].phases), i);
  std::vector<PhasePlan> other = plans.of(0).front().phases;
  other.front().window += 100;
  const std::size_t all = plans.of(0).size();
  EXPECT_EQ(plans.find(0, other), all);
  plans.add(0, price_plan(other, plans.layer_of(0), plans.pass_of(0), npu));
  EXPECT_EQ(plans.find(0, other), all);
}

/// Each job turns from its forward to its backward pass at a time of its own, and may then have all of the scratchpad.
TEST(JobBounds, EachJobHasTheScratchpadAtItsTurn) {
  const Machine npu = load_config("test8");
  const WeaveJob one = job_of("a", Pass::kBoth, 60), other = job_of("b", Pass::kBoth, 60);
  const JobSet a({one}, npu), b({other}, npu), both({one, other}, npu);
  const auto bounds = [&](const JobSet &set) { return lower_bounds(set.layers(), set.jobs(), set.layout(), npu); };
  EXPECT_EQ(bounds(both).compute_cycles, bounds(a).compute_cycles + bounds(b).compute_cycles);
  const std::uint64_t sum = bounds(a).traffic_cycles + bounds(b).traffic_cycles;
  EXPECT_LE(bounds(both).traffic_cycles, sum);
  EXPECT_GE(bounds(both).traffic_cycles + 1, sum); // parts of a cycle
}

/// Sums that are not complete stay when a section of another job begins alone, in the middle of its turns.
TEST(WovenOrder, ASectionAloneLeavesTheSumsOfOthers) {
  const Machine npu = load_config("test8");
  Layer deep = make_layer(40, 400, 40);
  deep.name = "fc";
  const JobSet set({{"a", {deep}, Pass::kForward}, {"b", {deep}, Pass::kForward}}, npu);
  const JobPlans plans(set, 2, 1);
  const OrderPlayer player(set, plans);
  for (std::size_t plan = 0; plan < plans.of(0).size(); ++plan)
    for (const double turn : {0.0, HUGE_VAL}) {
      WovenOrder order;
      order.rule = rules_of(WeavePolicy::kTiles).back();
      order.turn = turn;
      SectionChoice choice;
      choice.plan = plan;
      choice.areas = Areas::kAlone;
      order.sections.assign(2, {choice});
      Woven woven;
      woven.plan = player.time(order);
      EXPECT_EQ(woven.plan.cycles, player.cycles(order, ~std::uint64_t{0}));
      EXPECT_NO_THROW(compile_woven(set, woven)) << "plan " << plan << ", turn " << turn;
    }
}

class VerifyJobs : public ::testing::Test {
protected:
  VerifyJobs() {
    JobPlans plans(set_, 2, 1);
    WeaveOptions options;
    options.changes = 0;
    compiled_ = compile_woven(set_, weave(set_, plans, options));
  }
  /// The first command of the job that `is` one, from `from` on.
  template <typename Is> std::size_t find(std::size_t job, Is is, std::size_t from = 0) const {
    for (std::size_t i = from; i < compiled_.stream.size(); ++i)
      if (compiled_.jobs.job_of(compiled_.info[i].layer) == job && is(*isa::decode(compiled_.stream[i]))) return i;
    ADD_FAILURE() << "there is no such command";
    return 0;
  }
  static bool is_load(const isa::Decoded &d) {
    const auto *dma = std::get_if<isa::DmaCommand>(&d.op);
    return dma != nullptr && !dma->store;
  }
  static bool is_store(const isa::Decoded &d) {
    const auto *dma = std::get_if<isa::DmaCommand>(&d.op);
    return dma != nullptr && dma->store;
  }
  static bool is_gemm(const isa::Decoded &d) { return std::get_if<isa::GemmCommand>(&d.op) != nullptr; }

  Machine npu_ = load_config("test8");
  JobSet set_{{job_of("a", Pass::kForward, 30), job_of("b", Pass::kBoth, 17)}, npu_};
  Compiled compiled_;
};

TEST_F(VerifyJobs, FindsNothingWrongWithAWovenStream) { EXPECT_EQ(verify_jobs(compiled_, npu_), ""); }

/// An operand that lies where the other job's tile is: legal for each command, and wrong.
TEST_F(VerifyJobs, SeesARowOfAnotherJob) {
  const std::size_t theirs = find(0, is_load), mine = find(1, is_load);
  const std::size_t product = find(1, is_gemm, std::max(theirs, mine));
  isa::Decoded load = *isa::decode(compiled_.stream[theirs]);
  const isa::SpmTile place = std::get<isa::DmaCommand>(load.op).spm;
  // Right before the product the other job loads its tile once more.
  load.sync = {};
  compiled_.stream.insert(compiled_.stream.begin() + static_cast<std::ptrdiff_t>(product), isa::encode(load));
  compiled_.info.insert(compiled_.info.begin() + static_cast<std::ptrdiff_t>(product), compiled_.info[theirs]);
  isa::Decoded gemm = *isa::decode(compiled_.stream[product + 1]);
  std::get<isa::GemmCommand>(gemm.op).a = place;
  compiled_.stream[product + 1] = isa::encode(gemm);
  EXPECT_EQ(
      verify_jobs(compiled_, npu_),
      fmt::format("command {}: a command of job 1 uses scratchpad row {}, which is job 0's", product + 1, place.row));
}

TEST_F(VerifyJobs, SeesATensorOfAnotherJob) {
  for (const bool store : {false, true}) {
    const Compiled before = compiled_;
    const auto is = store ? is_store : is_load;
    const std::size_t mine = find(1, is), theirs = find(0, is);
    const isa::Decoded other = *isa::decode(compiled_.stream[theirs]);
    isa::Decoded moved = *isa::decode(compiled_.stream[mine]);
    const std::uint64_t address = std::get<isa::DmaCommand>(other.op).dram_addr;
    std::get<isa::DmaCommand>(moved.op).dram_addr = address;
    compiled_.stream[mine] = isa::encode(moved);
    EXPECT_EQ(verify_jobs(compiled_, npu_),
              fmt::format("command {}: a command of job 1 uses address {:#x}, which is job 0's", mine, address));
    compiled_ = before;
  }
}

/// It begins in a tensor of the job, and goes on behind that.
TEST_F(VerifyJobs, SeesATensorThatIsLeft) {
  for (const bool store : {false, true}) {
    const Compiled before = compiled_;
    const std::size_t mine = find(1, store ? is_store : is_load);
    isa::Decoded moved = *isa::decode(compiled_.stream[mine]);
    auto &dma = std::get<isa::DmaCommand>(moved.op);
    const auto tensor =
        std::find_if(compiled_.layout.tensors.begin(), compiled_.layout.tensors.end(), [&](const TensorBinding &t) {
          return dma.dram_addr >= t.offset && dma.dram_addr < t.offset + std::uint64_t{t.rows} * t.pitch;
        });
    ASSERT_NE(tensor, compiled_.layout.tensors.end());
    dma.dram_addr = tensor->offset + std::uint64_t{tensor->rows - dma.rows} * tensor->pitch;
    compiled_.stream[mine] = isa::encode(moved);
    EXPECT_EQ(verify_jobs(compiled_, npu_), "") << "the last rows";
    dma.dram_addr += dma.pitch;
    compiled_.stream[mine] = isa::encode(moved);
    const std::uint64_t end =
        dma.dram_addr + std::uint64_t{dma.rows - 1} * dma.pitch + std::uint64_t{dma.cols} * (dma.fp32 ? 4U : 2U);
    EXPECT_EQ(verify_jobs(compiled_, npu_),
              fmt::format("command {}: a command of job 1 uses addresses {:#x} to {:#x}, not all of which are a job's",
                          mine, dma.dram_addr, end - 1));
    compiled_ = before;
  }
}

/// Spill space of two jobs, a byte of which is both's.
TEST_F(VerifyJobs, SeesSpillSpaceOfAnotherJob) {
  const TensorBinding &last = compiled_.layout.tensors.back();
  const std::uint64_t behind = last.offset + std::uint64_t{last.rows} * last.pitch;
  const std::size_t theirs = find(0, is_store), mine = find(1, is_store);
  const auto move = [&](std::size_t index, std::uint64_t address) {
    isa::Decoded moved = *isa::decode(compiled_.stream[index]);
    auto &dma = std::get<isa::DmaCommand>(moved.op);
    dma.dram_addr = address;
    dma.rows = 1;
    compiled_.stream[index] = isa::encode(moved);
    return address + std::uint64_t{dma.cols} * (dma.fp32 ? 4U : 2U);
  };
  const std::uint64_t end = move(theirs, behind);
  move(mine, end);
  EXPECT_EQ(verify_jobs(compiled_, npu_), "") << "one beside the other";
  move(mine, end - 1);
  const std::string problem = verify_jobs(compiled_, npu_);
  EXPECT_NE(problem.find(fmt::format("uses address {:#x}, which is job ", end - 1)), std::string::npos) << problem;
}

TEST_F(VerifyJobs, SeesAProductSaidToBeAnotherJobs) {
  const std::size_t product = find(0, is_gemm);
  compiled_.info[product].layer = 2;
  const std::string problem = verify_jobs(compiled_, npu_);
  EXPECT_NE(problem.find(fmt::format("command {}: a command of job 1 uses scratchpad row", product)), std::string::npos)
      << problem;
}

} // namespace
} // namespace gradweave::compiler
