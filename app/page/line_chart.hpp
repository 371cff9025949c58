// Draws a line over steps as SVG.
#pragma once

#include <string>
#include <vector>

namespace gradweave::page {

struct LineChart {
  std::string title;
  std::string value;          ///< what is drawn, for the axis: "loss"
  std::vector<double> values; ///< of steps 1, 2, ...
  std::size_t mean_over = 1;  ///< more than 1: beside them the means of as many values, up to each
};

/// A stand-alone SVG document, `number` of its page; what is not finite is left out. Its description says first, last
/// and smallest value.
std::string draw(const LineChart &chart, std::size_t number = 1);

} // namespace gradweave::page
