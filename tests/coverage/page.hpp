// The report: an index page and pages of bins, toggles and lines.
#pragma once

#include "tests/coverage/gates.hpp"

#include <string>
#include <vector>

namespace gradweave::coverage {

struct Report {
  std::vector<Gate> gates;
  std::vector<FileShare> toggles, cxx;
  BinList bins;
  RtlPoints points;
  Waivers waivers;
  std::string measured; ///< NPUs and stimuli, one paragraph
};

/// Writes index.html, bins.html, toggles.html and waivers.html into an existing directory. Throws std::runtime_error if
/// a file cannot be written.
void write_pages(const Report &report, const std::string &directory);

} // namespace gradweave::coverage
