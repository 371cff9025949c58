#include "compiler/search/effort.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/request/options.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Of a single pass: nothing but sizes, splits, windows and policies tells its plans apart.
constexpr LayerEffort kOfOnePass{kUsualWork, 12, 2, 1, 16, false, 300, false};
/// Of both passes: a forward and a backward phase that cut X or W alike find tiles of each other in the scratchpad,
/// which gains more than the last plans of either phase do (docs/search.md).
constexpr LayerEffort kOfBoth{kUsualWork / 2, 5, 3, 3, 7, true, 180, true};

} // namespace

bool turns(PhaseKind one, PhaseKind other) { return form_of(one).forward() != form_of(other).forward(); }

const LayerEffort &effort_for(const std::vector<PhaseKind> &kinds) {
  return !kinds.empty() && turns(kinds.front(), kinds.back()) ? kOfBoth : kOfOnePass;
}

std::uint64_t changes_of(std::uint64_t asked, const LayerEffort &effort) {
  return std::max(std::min(asked, effort.changes), asked * effort.changes / CompileOptions{}.plans);
}

} // namespace gradweave::compiler
