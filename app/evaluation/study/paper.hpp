// A paper as what can be computed of it: its figures, tables and numbers, each by its own function.
#pragma once

#include "app/evaluation/study/context.hpp"

#include <string_view>
#include <vector>

namespace gradweave::evaluation {

struct FigureMaker {
  const char *id; ///< as --figure takes it
  Figure (*make)(const Context &context);
};

struct Paper {
  std::string_view name;                        ///< of its folder, and what a study calls it
  const std::vector<FigureMaker> &(*figures)(); ///< in the order of the paper
};

} // namespace gradweave::evaluation
