// Jobs as commands: each operator of whole training steps gives golden execution's bits on the functional model, and
// the check of hazards finds none.
#include "compiler/vector/lower_op.hpp"
#include "tests/compiler/vector_stream/section_run.hpp"

#include "sw_models/timing/timing_model.hpp"
#include <cstdlib>
#include <gtest/gtest.h>

namespace gradweave::compiler {
namespace {

constexpr std::uint64_t kSeed = 271;

const std::vector<NetworkStep> &steps() {
  static const std::vector<NetworkStep> all = network_steps();
  return all;
}

std::size_t elements_of(const OpJobs &jobs) {
  std::size_t elements = 0;
  for (const JobValue &value : jobs.values)
    elements += value.elements;
  return elements;
}

class JobCommands : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = vector_machine(GetParam());
};

TEST_P(JobCommands, GiveTheBitsOfGoldenExecution) {
  constexpr std::size_t kMany = 100'000; // which take long on a small machine
  std::size_t compared = 0;
  for (const StepOp &op : distinct_ops(steps())) {
    if (!has_jobs(*op.op->type)) continue;
    for (const Values values : {Values::kTame, Values::kSpecial}) {
      Dice dice(kSeed);
      const OpData data = random_data(op.step->graph, *op.op, values, dice);
      const OpJobs jobs = lowered(op.step->graph, *op.op, data);
      if (npu_.name != "small" && elements_of(jobs) > kMany) continue;
      std::vector<isa::Command> stream;
      try {
        stream = job_commands(jobs, SectionPlaces(jobs).addresses, npu_);
      } catch (const JobCommandsError &e) {
        fmt::print("{} {} {}\n", op.step->name, op.op->type->name, e.what());
        continue;
      }
      const std::string found = section_difference(npu_, op, data, jobs, stream);
      EXPECT_EQ(found, "") << op.step->name << ", " << op.op->type->name << " " << op.op->name << ", seed " << kSeed;
      ++compared;
    }
  }
  EXPECT_GT(compared, 300U);
}

TEST(JobCommandsOfWholeNetworks, FitSmall) {
  const Machine npu = vector_machine("small");
  const std::vector<NetworkStep> networks = full_network_steps();
  for (const StepOp &op : distinct_ops(networks)) {
    if (!has_jobs(*op.op->type)) continue;
    Dice dice(kSeed);
    const OpJobs jobs = lowered(op.step->graph, *op.op, random_indices(op.step->graph, *op.op, dice));
    if (getenv("JOBS") && op.op->type->name == std::string_view(getenv("JOBS"))) {
      fmt::print("== {} {}\n", op.step->name, op.op->type->name);
      int n = 0;
      for (auto &st : jobs.steps) {
        if (++n > 12) break;
        if (auto *j = std::get_if<VectorJob>(&st)) {
          fmt::print("  job program {} lanes {} steps {} {}\n", j->program, j->lanes, j->steps,
                     j->elementwise ? "elementwise" : "");
          for (auto *l : {&j->operands, &j->results})
            for (auto &t : *l)
              fmt::print("     {} '{}' {} first {} pitch {} {} lanes {} steps {}\n", l == &j->operands ? "in" : "out",
                         jobs.values[t.value].name, to_string(jobs.values[t.value].type), t.first, t.pitch,
                         t.line == LineOf::kRow ? "row" : "col", t.lanes_move, t.steps_move);
        } else {
          auto &m = std::get<MoveJob>(st);
          fmt::print("  move {} -> {} rows {} length {} pitches {} {} first {} {}\n", jobs.values[m.from].name,
                     jobs.values[m.to].name, m.rows, m.length, m.from_pitch, m.to_pitch, m.from_first, m.to_first);
        }
      }
    }
    const auto stream = job_commands(jobs, SectionPlaces(jobs).addresses, npu);
    const auto result = timing::run(npu, stream);
    EXPECT_TRUE(result.ok());
    if (getenv("SHOW")) {
      std::size_t el = 0;
      for (auto &v : jobs.values)
        el = std::max(el, v.elements);
      fmt::print("{} {} {} elements {} jobs {} commands {} cycles\n", op.step->name, op.op->type->name, el,
                 jobs.steps.size(), stream.size(), result.cycles());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Npus, JobCommands, testing::Values("small", "test8v2", "test6x10v1", "test8c2v8"));

} // namespace
} // namespace gradweave::compiler
