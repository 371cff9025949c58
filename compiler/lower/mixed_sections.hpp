// Sections of the vector unit that may not run together.
#pragma once

#include "compiler/ir/program.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::compiler {

/// Whether run_order() may let sections of the vector unit stand in one another, piece by piece, which no program can
/// have: two run together, and one of them is woven. Such plans must not be lowered.
inline bool mixes_sections(const std::vector<PhasePlan> &plans) {
  std::size_t sections = 0; // of the phases that run together, so far
  bool woven = false;       // one of these sections is
  for (const PhasePlan &plan : plans) {
    if (!plan.woven && !plan.joined) {
      sections = 0;
      woven = false;
    }
    if (!plan.section) continue;
    ++sections;
    woven = woven || plan.woven;
    if (sections > 1 && woven) return true;
  }
  return false;
}

} // namespace gradweave::compiler
