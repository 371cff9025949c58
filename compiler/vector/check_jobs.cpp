#include "compiler/vector/check_jobs.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

using graph::GraphDefect;
using isa::vector::kOutputs;
using isa::vector::kTiles;

/// The element behind the last one that the tile has.
std::size_t end_of(const JobTile &tile, const VectorJob &job) { return tile.element(job.lanes - 1, job.steps - 1) + 1; }

bool same_place(const JobTile &a, const JobTile &b) {
  return a.first == b.first && a.pitch == b.pitch && a.line == b.line && a.lanes_move == b.lanes_move &&
         a.steps_move == b.steps_move;
}

class Checker {
public:
  Checker(const OpJobs &jobs, const std::string &node) : jobs_(jobs), node_(node), written_(jobs.values.size()) {}

  void run() {
    for (const isa::vector::Program &program : jobs_.programs)
      if (const auto fault = isa::vector::check(isa::vector::encode(program))) fail(fault->text);
    for (; step_ < jobs_.steps.size(); ++step_)
      if (const auto *job = std::get_if<VectorJob>(&jobs_.steps[step_]))
        check(*job);
      else
        check(std::get<MoveJob>(jobs_.steps[step_]));
  }

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw GraphDefect(fmt::format("{}: step {} of its jobs: {}", node_, step_, what));
  }

  void check(const VectorJob &job) {
    if (job.operands.size() > kTiles || job.results.size() > kOutputs)
      fail(fmt::format("{} operands and {} results; there are {} and {} tiles", job.operands.size(), job.results.size(),
                       kTiles, kOutputs));
    if (job.lanes == 0 || job.steps == 0) fail("no lanes, or no steps");
    unsigned used = 0;
    for (const auto &section : jobs_.programs[job.program].sections)
      used |= isa::vector::mask_of(section);
    const unsigned reads = used & ((1U << kTiles) - 1U), writes = used >> kTiles;
    if (reads >> job.operands.size() != 0 || writes != (1U << job.results.size()) - 1U)
      fail("the program reads or writes other tiles than the job has");
    for (const JobTile &tile : job.operands)
      check_read(tile.value, end_of(tile, job));
    for (std::size_t o = 0; o < job.results.size(); ++o)
      check_result(job, o);
    for (const JobTile &tile : job.results)
      written_[tile.value] = true;
  }

  void check(const MoveJob &move) {
    check_read(move.from, move.from_first + (move.rows - 1) * move.from_pitch + move.length);
    if (jobs_.values[move.from].type != jobs_.values[move.to].type)
      fail(fmt::format("it moves {} to {}; a move changes no type", to_string(jobs_.values[move.from].type),
                       to_string(jobs_.values[move.to].type)));
    check_end(move.to, move.to_first + (move.rows - 1) * move.to_pitch + move.length);
    written_[move.to] = true;
  }

  /// Rounding belongs to the edge of the operator: what it reads again is not to be rounded.
  void check_read(std::size_t value, std::size_t end) const {
    check_end(value, end);
    if (written_[value] && jobs_.values[value].type == graph::ElementType::kBf16)
      fail(fmt::format("it reads '{}', which the operator has rounded to bf16", jobs_.values[value].name));
  }

  void check_end(std::size_t value, std::size_t end) const {
    if (end > jobs_.values[value].elements)
      fail(fmt::format("it reaches element {} of '{}', which has {}", end - 1, jobs_.values[value].name,
                       jobs_.values[value].elements));
  }

  void check_result(const VectorJob &job, std::size_t o) const {
    const JobTile &result = job.results[o];
    const JobValue &value = jobs_.values[result.value];
    check_end(result.value, end_of(result, job));
    if (job.lanes > 1 && !result.lanes_move) fail(fmt::format("all lanes write one element of '{}'", value.name));
    const auto overlaps = [&](const JobTile &other) {
      return other.value == result.value && other.first < end_of(result, job) && result.first < end_of(other, job);
    };
    for (const JobTile &operand : job.operands)
      if (overlaps(operand) && !same_place(operand, result))
        fail(fmt::format("it writes '{}', and reads it elsewhere", value.name));
    for (std::size_t other = 0; other < o; ++other)
      if (overlaps(job.results[other])) fail(fmt::format("two results overlap in '{}'", value.name));
  }

  const OpJobs &jobs_;
  const std::string &node_;
  std::vector<bool> written_;
  std::size_t step_ = 0;
};

} // namespace

void check_jobs(const OpJobs &jobs, const std::string &node) { Checker(jobs, node).run(); }

} // namespace gradweave::compiler
