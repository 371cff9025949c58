// What each operator takes on `small`, from the scratchpad and from memory: the table of docs/operators-cycles.md.
#include "compiler/pooling/pooling.hpp"
#include "compiler/strips/job_sections.hpp"
#include "compiler/vector/lower_op.hpp"
#include "compiler/vector_stream/section.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/compiler/vector_stream/section_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace gradweave::compiler {
namespace {

constexpr std::uint64_t kTableSeed = 27;

/// Sums over ops.
struct OperatorCycles {
  double operations = 0, elements = 0, bytes = 0;
  double lines = 0, unit = 0, cycles = 0;
};

double operations_of(const OpJobs &jobs) {
  double operations = 0;
  for (const JobStep &step : jobs.steps)
    if (const auto *job = std::get_if<VectorJob>(&step)) {
      const auto &sections = jobs.programs[job->program].sections;
      for (std::size_t s = 0; s < sections.size(); ++s)
        operations += static_cast<double>(sections[s].size()) * job->lanes * (s % 2 == 1 ? job->steps : 1.0);
    }
  return operations;
}

class Table {
public:
  explicit Table(const Machine &npu) : npu_(npu), sections_(npu, {0, 0}) {}

  void add(const StepOp &op) {
    Dice dice(kTableSeed);
    const OpJobs jobs = lowered(op.step->graph, *op.op, random_indices(op.step->graph, *op.op, dice));
    OperatorCycles &sum = rows_[std::string(op.op->type->name)];
    OperatorCycles one;
    one.operations = operations_of(jobs);
    double largest = 0;
    for (const JobValue &value : jobs.values) {
      if (value.tensor == graph::kNone) continue;
      largest = std::max(largest, static_cast<double>(value.elements));
      one.bytes += static_cast<double>(value.elements * SectionPlaces::bytes(value));
    }
    one.elements = largest;
    for (const std::vector<isa::Command> &section : fastest(op, jobs)) {
      const timing::RunResult run = timing::run(npu_, section);
      ASSERT_TRUE(run.ok());
      one.lines += static_cast<double>(
          std::max(run.counter(isa::Counter::VECTOR_READS), run.counter(isa::Counter::VECTOR_WRITES)));
      one.unit += static_cast<double>(run.counter(isa::Counter::VECTOR_ACTIVE) +
                                      run.counter(isa::Counter::VECTOR_PORT) + run.counter(isa::Counter::VECTOR_DRAIN));
      one.cycles += static_cast<double>(run.cycles());
    }
    if (std::getenv("GW_EACH"))
      print(op.step->name.substr(0, 6) + " " + std::string(op.op->type->name) + " " + op.op->name, one);
    sum.operations += one.operations, sum.elements += one.elements, sum.bytes += one.bytes;
    sum.lines += one.lines, sum.unit += one.unit, sum.cycles += one.cycles;
  }

  void print() const {
    for (const auto &[name, sum] : rows_)
      print(name, sum);
  }

private:
  using Sections = std::vector<std::vector<isa::Command>>;

  void print(const std::string &name, const OperatorCycles &c) const {
    const double lanes = c.operations / (npu_.lanes() * npu_.vector_groups), bound = std::max(lanes, c.lines);
    const double memory = c.bytes * static_cast<double>(npu_.memory.bytes_den) / npu_.memory.bytes_num;
    fmt::print("| {} | {:.0f} | {:.1f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} % | {:.0f} | {:.0f} % |\n", name,
               c.elements, c.operations / c.elements, lanes, c.lines, c.unit, memory, 100 * bound / c.unit, c.cycles,
               100 * std::max(memory, bound) / c.cycles);
  }

  std::uint64_t cycles(const Sections &sections) const {
    std::uint64_t all = 0;
    for (const auto &section : sections)
      all += timing::run(npu_, section).cycles();
    return all;
  }

  Sections fastest(const StepOp &op, const OpJobs &jobs) {
    const std::vector<std::uint64_t> addresses = SectionPlaces(jobs).addresses;
    Sections best = sections_.of(jobs, addresses);
    if (op.op->attributes.has("kernel_shape"))
      if (const auto areas = pooling_areas(op.step->graph, *op.op, npu_)) {
        Sections other{section_commands(*areas, addresses, npu_, 0)};
        if (cycles(other) < cycles(best)) best = std::move(other);
      }
    return best;
  }

  const Machine &npu_;
  JobSections sections_;
  std::map<std::string, OperatorCycles, std::less<>> rows_;
};

TEST(OperatorsTable, IsThatOfTheDocs) {
  const Machine npu = vector_machine("small");
  Table table(npu);
  const std::vector<NetworkStep> networks = full_network_steps();
  for (const StepOp &op : distinct_ops(networks))
    if (has_jobs(*op.op->type)) ASSERT_NO_FATAL_FAILURE(table.add(op));
  table.print();
}

} // namespace
} // namespace gradweave::compiler
