#include "compiler/epilogue/matrix_stages.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Lanes become columns and steps rows, if the stage has as many elements.
std::optional<Stage> on_matrix(const Stage &stage, const ResultMatrix &matrix) {
  if (!stage.elementwise) return std::nullopt;
  if (is_flat(stage) && stage.lanes * stage.steps == matrix.rows * matrix.cols)
    return flat_part(stage, 0, matrix.rows * matrix.cols, matrix.cols);
  if (stage.lanes == matrix.cols && stage.steps == matrix.rows) return stage;
  if (stage.lanes == matrix.rows && stage.steps == matrix.cols) return exchanged(stage);
  return std::nullopt;
}

bool is_of_matrix(const StridedTile &t, const ResultMatrix &matrix) { return t.lane == 1 && t.step == matrix.cols; }

bool is_local(const StridedTile &t, const ResultMatrix &matrix) {
  return is_of_matrix(t, matrix) || (t.step == 0 && t.lane <= 1) || (t.lane == 0 && t.step == 1);
}

/// Whether each value that the stages write is one tile, whoever writes and reads it, and is written once, before it is
/// read.
class Handing {
public:
  explicit Handing(const ResultMatrix &matrix) : matrix_(matrix) { written_.insert(matrix.value); }

  bool add(const Stage &stage) {
    for (const StridedTile &t : stage.operands) {
      if (!is_local(t, matrix_)) return false;
      if (written_.count(t.value) != 0 && !is_whole(t)) return false;
      read_.push_back(t.value);
    }
    for (const StridedTile &t : stage.results) {
      const bool was_read = std::find(read_.begin(), read_.end(), t.value) != read_.end();
      if (!is_whole(t) || was_read || !written_.insert(t.value).second) return false;
    }
    return true;
  }

private:
  bool is_whole(const StridedTile &t) const { return is_of_matrix(t, matrix_) && t.first == 0; }

  const ResultMatrix &matrix_;
  std::set<std::size_t> written_;
  std::vector<std::size_t> read_;
};

} // namespace

std::vector<Stage> stages_on_matrix(const OpJobs &jobs, const ResultMatrix &matrix) {
  if (matrix.rows < 2 || matrix.cols < 2) return {};
  std::vector<Stage> stages;
  Handing handing(matrix);
  for (const JobStep &step : jobs.steps) {
    const auto *job = std::get_if<VectorJob>(&step);
    if (job == nullptr) return {};
    std::optional<Stage> stage = on_matrix(stage_of(jobs, *job), matrix);
    if (!stage || !handing.add(*stage)) return {};
    stages.push_back(std::move(*stage));
  }
  return stages;
}

} // namespace gradweave::compiler
