// A whole evaluation: what was asked for, and all that came out of it.
#pragma once

#include "app/evaluation/page/report.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::evaluation {

/// A unit that was run on the RTL as well.
struct RtlCheck {
  std::string network, layer, variant;
  std::uint64_t model_cycles = 0, rtl_cycles = 0;
  std::uint64_t elements = 0; ///< results compared with the golden model
  std::string problem;        ///< why it is wrong; empty: all bits and cycles are equal
  bool passed() const { return problem.empty(); }
};

struct Evaluation {
  std::string study, title;
  std::string command; ///< that repeats it
  std::string tool;    ///< version of compiler and models
  std::string policy;  ///< of baseline (a)
  std::vector<Figure> figures;
  std::vector<std::string> problems; ///< units without a result
  std::vector<RtlCheck> rtl;
  std::string rtl_note; ///< why nothing was run on the RTL; or which units were
  std::uint64_t units = 0;
};

} // namespace gradweave::evaluation
