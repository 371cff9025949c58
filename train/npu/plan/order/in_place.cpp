#include "train/npu/plan/order/in_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>

namespace gradweave::runtime::train {
namespace {

using compiler::JobTile;
using compiler::MoveJob;
using compiler::OpJobs;
using compiler::VectorJob;

bool same_elements(const JobTile &a, const JobTile &b) {
  return a.first == b.first && a.pitch == b.pitch && a.line == b.line && a.lanes_move == b.lanes_move &&
         a.steps_move == b.steps_move;
}

/// Of elements of a value.
struct Extent {
  std::size_t value = 0, begin = 0, end = 0;
};

class InPlace {
public:
  InPlace(OpJobs &jobs, const std::vector<std::uint64_t> &addresses, const std::string &node)
      : jobs_(jobs), node_(node), masks_(jobs.programs.size()), sharing_(jobs.values.size()),
        written_(jobs.values.size()) {
    std::map<std::uint64_t, std::vector<std::size_t>> by_address; // tensors alone share places
    for (std::size_t v = 0; v < jobs.values.size(); ++v)
      if (jobs.values[v].tensor != graph::kNone) by_address[addresses[v]].push_back(v);
    for (const auto &[address, values] : by_address)
      for (const std::size_t v : values)
        std::copy_if(values.begin(), values.end(), std::back_inserter(sharing_[v]),
                     [v](std::size_t other) { return other != v; });
  }

  void run() {
    const auto onto_itself = [this](const compiler::JobStep &step) {
      const auto *move = std::get_if<MoveJob>(&step);
      return move != nullptr && share(move->from, move->to) && move->from_first == move->to_first &&
             (move->rows == 1 || move->from_pitch == move->to_pitch);
    };
    jobs_.steps.erase(std::remove_if(jobs_.steps.begin(), jobs_.steps.end(), onto_itself), jobs_.steps.end());
    for (const compiler::JobStep &step : jobs_.steps)
      if (const auto *job = std::get_if<VectorJob>(&step))
        check(*job);
      else
        check(std::get<MoveJob>(step));
  }

private:
  /// Two values, in one place.
  bool share(std::size_t a, std::size_t b) const {
    return std::find(sharing_[a].begin(), sharing_[a].end(), b) != sharing_[a].end();
  }

  void check(const VectorJob &job) {
    for (const JobTile &operand : job.operands)
      refuse_overwritten(extent_of(operand, job));
    for (std::size_t o = 0; o < job.results.size(); ++o)
      for (std::size_t t = 0; t < job.operands.size(); ++t)
        if (share(job.operands[t].value, job.results[o].value) && !reads_before(job, t, o))
          fail(job.operands[t].value, job.results[o].value);
    for (const JobTile &result : job.results)
      written_[result.value].push_back(extent_of(result, job));
  }

  void check(const MoveJob &move) {
    refuse_overwritten({move.from, move.from_first, move.from_first + (move.rows - 1) * move.from_pitch + move.length});
    if (share(move.from, move.to)) fail(move.from, move.to);
    written_[move.to].push_back(
        {move.to, move.to_first, move.to_first + (move.rows - 1) * move.to_pitch + move.length});
  }

  static Extent extent_of(const JobTile &tile, const VectorJob &job) {
    return {tile.value, tile.first, tile.element(job.lanes - 1, job.steps - 1) + 1};
  }

  /// What each section of a program reads and writes. Thousands of jobs run the same program.
  using Masks = std::array<isa::vector::Mask, isa::vector::kSections>;
  const Masks &masks_of(std::size_t program) {
    std::optional<Masks> &masks = masks_[program];
    if (!masks) {
      const auto &sections = jobs_.programs[program].sections;
      std::transform(sections.begin(), sections.end(), masks.emplace().begin(), isa::vector::mask_of);
    }
    return *masks;
  }

  /// Whether the program has read each element of the operand when it writes the result's in its place.
  bool reads_before(const VectorJob &job, std::size_t operand, std::size_t result) {
    const JobTile &tile = job.operands[operand];
    if (!same_elements(tile, job.results[result])) return false;
    const Masks &masks = masks_of(job.program);
    std::size_t last_read = 0, first_write = masks.size();
    for (std::size_t s = 0; s < masks.size(); ++s) {
      const unsigned mask = masks[s];
      if ((mask >> operand & 1U) != 0) last_read = s;
      if ((mask >> (isa::vector::kTiles + result) & 1U) != 0) first_write = std::min(first_write, s);
    }
    const bool loop = last_read % 2 == 1;
    return last_read < first_write || (last_read == first_write && (!loop || tile.steps_move || job.steps == 1));
  }

  /// What is read may have been written by itself, not by another in its place.
  void refuse_overwritten(const Extent &read) const {
    for (const std::size_t value : sharing_[read.value])
      for (const Extent &written : written_[value])
        if (written.begin < read.end && read.begin < written.end) fail(read.value, value);
  }

  [[noreturn]] void fail(std::size_t read, std::size_t written) const {
    throw InPlaceConflict(fmt::format("{}: the plan of the step reads '{}' where it has written '{}' before; please "
                                      "report this, with the graph",
                                      node_, jobs_.values[read].name, jobs_.values[written].name),
                          jobs_.values[written].tensor);
  }

  OpJobs &jobs_;
  const std::string &node_;
  std::vector<std::optional<Masks>> masks_;       ///< by program, as far as they were asked for
  std::vector<std::vector<std::size_t>> sharing_; ///< of each value: others in its place
  std::vector<std::vector<Extent>> written_;      ///< of each value
};

} // namespace

void fit_in_place(OpJobs &jobs, const std::vector<std::uint64_t> &addresses, const std::string &node) {
  InPlace(jobs, addresses, node).run();
}

} // namespace gradweave::runtime::train
