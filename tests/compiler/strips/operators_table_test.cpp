// What each operator takes on `small`, in the vector unit and from memory to memory: prints the table of
// docs/vector-cycles.md.
#include "compiler/pooling/pooling.hpp"
#include "compiler/strips/job_sections.hpp"
#include "compiler/vector/lower_op.hpp"
#include "compiler/vector_stream/group/group.hpp"
#include "compiler/vector_stream/section.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/compiler/vector_stream/section_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <map>

namespace gradweave::compiler {
namespace {

constexpr std::uint64_t kTableSeed = 27;

/// An op of an operator, the one with most elements.
struct OperatorRow {
  double elements = 0;          ///< of its largest tensor
  double operations = 0;        ///< of all lanes
  double lanes = 0, memory = 0; ///< what bounds it, in cycles
  double reads = 0, writes = 0; ///< lines, of full ones
  double programs = 0;          ///< its programs' cycles on full lines, without begin and end
  double unit = 0, cycles = 0;  ///< with a command in the unit; in all
  double moved = 0;             ///< what crosses the bus, in cycles of the memory

  double bound() const { return std::max({lanes, reads, writes}); }
  double of_programs() const { return bound() / programs; }
  double of_all() const { return std::max(bound(), memory) / cycles; }
  /// How busy that one is which has more to do.
  double busier() const { return std::max(unit, moved) / cycles; }
};

class OperatorTable {
public:
  explicit OperatorTable(const Machine &npu) : npu_(npu), sections_(npu, {0, 0}) {}

  /// Keeps what the op takes if it is larger than the operator's other ops so far.
  void add(const StepOp &op) {
    Dice dice(kTableSeed);
    const OpJobs jobs = lowered(op.step->graph, *op.op, random_indices(op.step->graph, *op.op, dice));
    OperatorRow row;
    for (const JobValue &value : jobs.values) {
      if (value.tensor == graph::kNone) continue;
      row.elements = std::max(row.elements, static_cast<double>(value.elements));
      row.memory += static_cast<double>(value.elements * SectionPlaces::bytes(value) * npu_.memory.bytes_den) /
                    npu_.memory.bytes_num;
    }
    add_programs(row, jobs);
    OperatorRow &largest = rows_[std::string(op.op->type->name)];
    if (row.operations == 0 || row.elements <= largest.elements) return;
    for (const std::vector<isa::Command> &section : fastest(op, jobs)) {
      const timing::RunResult run = timing::run(npu_, section);
      ASSERT_TRUE(run.ok());
      const auto counted = [&run](isa::Counter counter) { return static_cast<double>(run.counter(counter)); };
      row.unit += counted(isa::Counter::VECTOR_ACTIVE) + counted(isa::Counter::VECTOR_PORT) +
                  counted(isa::Counter::VECTOR_DRAIN);
      row.cycles += static_cast<double>(run.cycles());
      row.moved += static_cast<double>(run.accesses.dram_bytes() * npu_.memory.bytes_den) / npu_.memory.bytes_num;
    }
    largest = row;
  }

  std::map<std::string, OperatorRow> rows() const {
    std::map<std::string, OperatorRow> with_programs;
    for (const auto &[name, row] : rows_)
      if (row.operations > 0) with_programs.emplace(name, row);
    return with_programs;
  }

private:
  using Sections = std::vector<std::vector<isa::Command>>;

  void add_programs(OperatorRow &row, const OpJobs &jobs) const {
    const std::size_t strips = std::size_t{4} * npu_.vector_groups, lanes = strips * npu_.lanes();
    for (const JobStep &step : jobs.steps) {
      const auto *job = std::get_if<VectorJob>(&step);
      if (job == nullptr) continue;
      const Stage stage = stage_of(jobs, *job);
      const StageWalk walk = walk_of(stage, lanes, job->steps, npu_);
      const double lines = static_cast<double>(job->lanes) / npu_.lanes();
      row.programs += static_cast<double>(walk.cycles) * lines / static_cast<double>(strips);
      const WalkedStage walked = walked_stage(stage, walk);
      const std::bitset<isa::vector::kTiles> same(same_in_lanes(walked.stage));
      for (std::size_t s = 0; s < walked.program.sections.size(); ++s) {
        const double runs = lines * (s % 2 == 1 ? job->steps : 1.0);
        row.operations += static_cast<double>(stage.program->sections[s].size()) * npu_.lanes() * runs;
        const auto mask = isa::vector::mask_of(walked.program.sections[s]);
        const std::bitset<isa::vector::kTiles> read(mask);
        const double shared = static_cast<double>((read & same).count()) / static_cast<double>(strips);
        row.reads += (static_cast<double>((read & ~same).count()) + shared) * runs;
        row.writes +=
            static_cast<double>(std::bitset<isa::vector::kOutputs>(mask >> isa::vector::kTiles).count()) * runs;
      }
    }
    row.lanes = row.operations / (npu_.lanes() * npu_.vector_groups);
  }

  std::uint64_t cycles(const Sections &sections) const {
    std::uint64_t all = 0;
    for (const auto &section : sections)
      all += timing::run(npu_, section).cycles();
    return all;
  }

  /// As a step has it: by strips, or areas of windows, where that is faster.
  Sections fastest(const StepOp &op, const OpJobs &jobs) {
    const std::vector<std::uint64_t> addresses = SectionPlaces(jobs).addresses;
    Sections best = sections_.of(jobs, addresses);
    if (!op.op->attributes.has("kernel_shape")) return best;
    const auto areas = pooling_areas(op.step->graph, *op.op, npu_, [&](const AreaPlan &plan) {
      return timing::run(npu_, section_commands(plan, addresses, npu_, 0)).cycles();
    });
    if (!areas) return best;
    Sections other{section_commands(*areas, addresses, npu_, 0)};
    return cycles(other) < cycles(best) ? other : best;
  }

  const Machine &npu_;
  JobSections sections_;
  std::map<std::string, OperatorRow> rows_;
};

/// Of operators that keep neither memory nor the unit busy for 95 % of their cycles, how much they do. Tanh and its
/// gradient, here, are of 1,248 elements.
const std::map<std::string, double> kWait = {{"Softmax", 0.92}, {"Tanh", 0.45}, {"TanhGradient", 0.53}};

/// Of the greater of lanes and lines, from the scratchpad: at most a tenth more cycles.
constexpr double kFromScratchpad = 0.91;

TEST(OperatorsTable, OfWholeNetworksOnSmall) {
  const Machine npu = vector_machine("small");
  OperatorTable table(npu);
  const std::vector<NetworkStep> networks = full_network_steps();
  for (const StepOp &op : distinct_ops(networks))
    if (has_jobs(*op.op->type)) ASSERT_NO_FATAL_FAILURE(table.add(op));
  for (const auto &[name, row] : table.rows()) {
    fmt::print("| {} | {:.0f} | {:.1f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} % | {:.0f} | {:.0f} | {:.0f} | {:.0f} | "
               "{:.0f} % | {:.1f} % |\n",
               name, row.elements, row.operations / row.elements, row.lanes, std::max(row.reads, row.writes),
               row.programs, 100 * row.of_programs(), row.unit, row.memory, row.moved, row.cycles, 100 * row.of_all(),
               100 * row.busier());
    EXPECT_GE(row.unit, row.bound()) << name;
    EXPECT_GE(row.of_programs(), kFromScratchpad) << name;
    const auto waits = kWait.find(name);
    EXPECT_GE(row.busier(), waits == kWait.end() ? 0.95 : waits->second) << name;
  }
}

} // namespace
} // namespace gradweave::compiler
