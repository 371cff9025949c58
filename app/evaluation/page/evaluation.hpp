// A whole evaluation: what was asked for, and all that came out of it.
#pragma once

#include "app/evaluation/page/report.hpp"

#include <cstdint>
#include <string>
#include <utility>
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

/// A column of our numbers.
struct Column {
  std::string title; ///< on the page
  std::string brief; ///< on a terminal
  std::string field; ///< of results.json and rows.csv
};

/// What a paper's page says beside the numbers.
struct Presentation {
  std::vector<Column> columns;
  std::string purpose;                                       ///< the page's first sentences
  std::string work;                                          ///< what the work was made of: "evaluations of a layer"
  std::string method;                                        ///< how numbers and averages are to be read
  std::vector<std::string> terms;                            ///< of columns
  std::vector<std::pair<std::string, std::string>> settings; ///< that all numbers depend on, by name
  std::string left_out;                                      ///< what comes of work without a result
};

struct Evaluation {
  std::string study, title;
  Presentation presentation;
  std::string command; ///< that repeats it
  std::string tool;    ///< version of compiler and models
  std::vector<Figure> figures;
  std::vector<std::string> problems; ///< units without a result
  std::vector<RtlCheck> rtl;
  std::string rtl_note; ///< why nothing was run on the RTL; or which units were
  std::uint64_t units = 0;
  std::vector<std::pair<std::string, std::string>> files; ///< that go beside the page: name and text
};

} // namespace gradweave::evaluation
