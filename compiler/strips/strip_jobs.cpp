#include "compiler/strips/strip_jobs.hpp"

#include "compiler/vector_stream/stage/stage.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace gradweave::compiler {
namespace {

using Kind = StripTile::Kind;
using PassKind = StripPass::Kind;

bool has_matrix(const std::vector<StripTile> &tiles) {
  return std::any_of(tiles.begin(), tiles.end(), [](const StripTile &t) { return t.kind == Kind::kMatrix; });
}

class Reading {
public:
  explicit Reading(const OpJobs &jobs) : jobs_(jobs) {}

  std::optional<StripJobs> run() {
    std::size_t at = 0;
    while (at < jobs_.steps.size() && !begins(at))
      ++at;
    all_.begin = at;
    while (at < jobs_.steps.size() && add(at))
      ++at;
    for (; !all_.passes.empty() && all_.passes.back().kind != PassKind::kElements; all_.passes.pop_back())
      at -= all_.passes.back().stages.size();
    all_.end = at;
    if (all_.passes.empty()) return std::nullopt;
    find_in_memory();
    return std::move(all_);
  }

private:
  /// Whether the job sums over the rows of a matrix, from its first row on: this says how large it is.
  bool begins(std::size_t at) {
    const auto *job = std::get_if<VectorJob>(&jobs_.steps[at]);
    if (job == nullptr) return false;
    const Stage stage = stage_of(jobs_, *job);
    if (stage.elementwise || stage.lanes < 2 || stage.steps < 2) return false;
    for (const StridedTile &t : stage.operands)
      if (t.lane == 1 && t.step == stage.lanes && t.first == 0 && t.elements % stage.lanes == 0) {
        all_.cols = stage.lanes;
        all_.part_rows = stage.steps;
        all_.rows = t.elements / stage.lanes;
        return true;
      }
    return false;
  }

  bool add(std::size_t at) {
    const auto *job = std::get_if<VectorJob>(&jobs_.steps[at]);
    if (job == nullptr) return false;
    Stage stage = stage_of(jobs_, *job);
    if (stage.elementwise && has_columns(stage)) stage = exchanged(stage);
    if (stage.elementwise && stage.lanes != all_.cols) {
      const std::size_t elements = stage.lanes * stage.steps;
      if (!is_flat(stage) || (elements != all_.cols && elements != all_.rows * all_.cols)) return false;
      stage = flat_part(stage, 0, elements, all_.cols);
    }
    if (stage.lanes != all_.cols) return false;
    StripStage strip{stage.program, 0, stage.steps, stage.elementwise, {}, {}};
    for (const StridedTile &t : stage.operands)
      if (!add_tile(t, stage, strip, strip.operands)) return false;
    for (const StridedTile &t : stage.results)
      if (!add_tile(t, stage, strip, strip.results)) return false;
    const bool of_matrix = has_matrix(strip.operands) || has_matrix(strip.results);
    if (of_matrix && !std::all_of(strip.operands.begin(), strip.operands.end(),
                                  [this](const StripTile &t) { return has_whole_line(t); }))
      return false;
    if (of_matrix) return stage.elementwise ? add_elements(std::move(strip)) : add_sums(std::move(strip));
    return add_lines(std::move(strip));
  }

  /// Whether rows of a matrix can read it: of a line there are copies only if its value has no other line.
  bool has_whole_line(const StripTile &t) const {
    return t.kind != Kind::kLine || (t.index == 0 && several_lines_.count(t.value) == 0);
  }

  /// Whether its lanes are the rows of a matrix.
  static bool has_columns(const Stage &stage) {
    const auto is_column = [](const StridedTile &t) { return t.step == 1 && t.lane > 1; };
    return std::any_of(stage.operands.begin(), stage.operands.end(), is_column) ||
           std::any_of(stage.results.begin(), stage.results.end(), is_column);
  }

  bool add_tile(const StridedTile &t, const Stage &stage, StripStage &strip, std::vector<StripTile> &tiles) const {
    const bool of_one_step = t.step == 0, is_number = t.lane == 0 && of_one_step;
    if (t.period != 0) return false;
    // Of what the strips give only lines are at hand, and matrices row by row.
    if ((of_one_step && matrices_.count(t.value) != 0) || (is_number && lines_.count(t.value) != 0)) return false;
    if (is_number) {
      tiles.push_back({Kind::kNumber, t.value, t.first});
    } else if (t.lane != 1 || t.first % all_.cols != 0) {
      return false;
    } else if (of_one_step) {
      tiles.push_back({Kind::kLine, t.value, t.first / all_.cols});
    } else if (t.step != all_.cols) {
      return false;
    } else if (lines_.count(t.value) != 0) {
      if (t.first != 0) return false;
      tiles.push_back({Kind::kLines, t.value, 0});
    } else {
      if (t.elements != all_.rows * all_.cols || (has_matrix(strip.operands) && strip.row != t.first / all_.cols))
        return false;
      strip.row = t.first / all_.cols;
      tiles.push_back({Kind::kMatrix, t.value, 0});
    }
    return of_one_step || stage.steps > 1;
  }

  static bool same_words(const StripStage &a, const StripStage &b) {
    return isa::vector::encode(*a.program) == isa::vector::encode(*b.program);
  }

  bool add_sums(StripStage &&stage) {
    const auto is_sum = [](const StripTile &t) { return t.kind == Kind::kLine; };
    if (!std::all_of(stage.results.begin(), stage.results.end(), is_sum)) return false;
    for (const StripTile &t : stage.operands)
      if (t.kind == Kind::kMatrix && matrices_.count(t.value) != 0) return false; // an earlier pass gives it
    if (stage.row == 0) {
      if (!all_.passes.empty() && !finished(all_.passes.back())) return false;
      all_.passes.push_back({PassKind::kSums, {}});
    } else {
      if (all_.passes.empty() || all_.passes.back().kind != PassKind::kSums) return false;
      const StripStage &before = all_.passes.back().stages.back();
      if (before.row + before.rows != stage.row || before.rows != all_.part_rows || !same_words(before, stage))
        return false;
    }
    if (stage.rows != std::min(all_.part_rows, all_.rows - stage.row)) return false;
    note_lines(stage);
    all_.passes.back().stages.push_back(std::move(stage));
    return true;
  }

  bool finished(const StripPass &pass) const {
    return pass.kind != PassKind::kSums || pass.stages.back().row + pass.stages.back().rows == all_.rows;
  }

  bool add_lines(StripStage &&stage) {
    if (all_.passes.empty() || !finished(all_.passes.back())) return false;
    note_lines(stage);
    all_.passes.push_back({PassKind::kLines, {std::move(stage)}});
    return true;
  }

  bool add_elements(StripStage &&stage) {
    if (stage.row != 0 || stage.rows != all_.rows || all_.passes.empty() || !finished(all_.passes.back())) return false;
    const auto is_matrix = [](const StripTile &t) { return t.kind == Kind::kMatrix; };
    if (!std::all_of(stage.results.begin(), stage.results.end(), is_matrix)) return false;
    const bool goes_on = all_.passes.back().kind == PassKind::kElements;
    const std::vector<std::size_t> summed = all_.summed();
    for (const StripTile &t : stage.operands)
      if (t.kind == Kind::kMatrix && matrices_.count(t.value) != 0 && (!goes_on || of_pass_.count(t.value) == 0))
        return false;
    for (const StripTile &t : stage.results)
      if (std::find(summed.begin(), summed.end(), t.value) != summed.end() || matrices_.count(t.value) != 0)
        return false;
    if (!goes_on) {
      of_pass_.clear();
      all_.passes.push_back({PassKind::kElements, {}});
    }
    for (const StripTile &t : stage.results) {
      matrices_.insert(t.value);
      of_pass_.insert(t.value);
    }
    all_.passes.back().stages.push_back(std::move(stage));
    return true;
  }

  void note_lines(const StripStage &stage) {
    for (const StripTile &t : stage.results) {
      lines_.insert(t.value);
      if (t.index > 0) several_lines_.insert(t.value);
    }
  }

  void find_in_memory() {
    for (const JobValue &value : jobs_.values)
      all_.in_memory.push_back(value.tensor != graph::kNone);
    for (std::size_t at = 0; at < jobs_.steps.size(); ++at) {
      if (at >= all_.begin && at < all_.end) continue;
      if (const auto *move = std::get_if<MoveJob>(&jobs_.steps[at]))
        all_.in_memory[move->from] = true;
      else
        for (const JobTile &t : std::get<VectorJob>(jobs_.steps[at]).operands)
          all_.in_memory[t.value] = true;
    }
  }

  const OpJobs &jobs_;
  StripJobs all_;
  std::set<std::size_t> lines_, matrices_, of_pass_; ///< values that are given as such; by the last pass of elements
  std::set<std::size_t> several_lines_;              ///< those of lines_ that have more than one
};

} // namespace

std::vector<std::size_t> StripJobs::summed() const {
  std::set<std::size_t> values;
  for (const StripPass &pass : passes)
    if (pass.kind == PassKind::kSums)
      for (const StripTile &t : pass.stages.front().operands)
        if (t.kind == Kind::kMatrix) values.insert(t.value);
  return {values.begin(), values.end()};
}

std::optional<StripJobs> strip_jobs(const OpJobs &jobs) { return Reading(jobs).run(); }

} // namespace gradweave::compiler
