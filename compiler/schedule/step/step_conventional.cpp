// Conventional plans of layers by themselves that are found when a walk has ended: what is not woven in it can take
// them.
#include "compiler/schedule/step/step_walk.hpp"

#include <tuple>
#include <vector>

namespace gradweave::compiler {

void StepWalk::try_conventional() {
  const auto surroundings = [this](std::size_t s) {
    return std::tuple{sections_[s].choice, is_woven(s), guests_of(s), sections_[s].later};
  };
  std::vector<bool> tried(sections_.size());
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    if (sections_[s].unit || tried[s]) continue;
    if (progress_) progress_();
    const std::vector<Section> before = sections_;
    const auto [first, end] = around(s);
    const std::uint64_t apart = cost(first, end, kNoPlan);
    for (std::size_t like = s; like < sections_.size(); ++like)
      if (surroundings(like) == surroundings(s)) {
        set(sections_[like], sections_[s].choice->conventional.phases);
        tried[like] = true;
      }
    if (cost(first, end, apart) >= apart || !improves()) sections_ = before;
  }
  around_.clear();
}

} // namespace gradweave::compiler
