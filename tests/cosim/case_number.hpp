// Numbers that tell the cases of a suite apart.
#pragma once

#include "compiler/request/names.hpp"

#include <algorithm>
#include <cstddef>

namespace gradweave::runtime {

/// Place of a schedule among those of the paper.
inline std::size_t number_of(compiler::Schedule schedule) {
  const auto &all = compiler::all_schedules();
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), schedule) - all.begin());
}

} // namespace gradweave::runtime
