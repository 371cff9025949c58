#include "compiler/vector_stream/cut/join_layouts.hpp"

#include "compiler/vector_stream/stage/ranges.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace gradweave::compiler {
namespace {

template <typename T, typename Same> bool all_same(const std::vector<T> &a, const std::vector<T> &b, const Same &same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

/// Whether both have their tiles at the same rows. A tile may be wider than the other's: it ends before the next one of
/// its own area, which begins where the other's does.
bool lie_alike(const Area &a, const Area &b) {
  const auto at_the_same_rows = [](const auto &s, const auto &t) {
    return s.spm.row == t.spm.row && s.spm.pstride == t.spm.pstride;
  };
  const auto runs = [&](const AreaRun &s, const AreaRun &t) { return all_same(s.tiles, t.tiles, at_the_same_rows); };
  return all_same(a.loaded, b.loaded, at_the_same_rows) && all_same(a.stored, b.stored, at_the_same_rows) &&
         all_same(a.runs, b.runs, runs);
}

/// Whether a result is stored from where an operand was loaded to: this must not be loaded again before.
bool stores_over(const Area &area) {
  return std::any_of(area.stored.begin(), area.stored.end(), [&](const AreaTile &s) {
    return std::any_of(area.loaded.begin(), area.loaded.end(),
                       [&s](const AreaTile &t) { return t.spm.row == s.spm.row; });
  });
}

class LayoutJoining {
public:
  explicit LayoutJoining(std::vector<Area> &areas) : areas_(areas) {}

  void run() {
    for (std::size_t begin = 0, end = 0; begin < areas_.size(); begin = end) {
      while (end < areas_.size() && areas_[end].layout == areas_[begin].layout)
        ++end;
      if (!goes_on(begin, end)) {
        ++layout_;
        stored_.clear();
      }
      for (std::size_t n = begin; n < end; ++n)
        for (const AreaTile &s : areas_[n].stored)
          stored_[s.value].add(s.first, s.end());
      layouts_.resize(end, layout_);
    }
    for (std::size_t n = 0; n < areas_.size(); ++n)
      areas_[n].layout = layouts_[n];
  }

private:
  /// Whether these areas, of one layout, may be of that of the areas before.
  bool goes_on(std::size_t begin, std::size_t end) const {
    if (begin == 0 || areas_[begin].runs.empty() || stores_over(areas_[begin])) return false;
    if (!lie_alike(areas_[begin - 1], areas_[begin])) return false;
    for (std::size_t n = begin; n < end; ++n)
      for (const AreaTile &t : areas_[n].loaded)
        if (const auto found = stored_.find(t.value); found != stored_.end() && found->second.overlap(t.first, t.end()))
          return false;
    return true;
  }

  std::vector<Area> &areas_;
  std::vector<std::size_t> layouts_; ///< of each area, so far
  std::size_t layout_ = 0;
  std::map<std::size_t, Ranges> stored_; ///< of each value, by all of that layout
};

} // namespace

void join_layouts(AreaPlan &plan) { LayoutJoining(plan.areas).run(); }

} // namespace gradweave::compiler
