// Draws a chart of grouped bars as SVG.
#pragma once

#include "app/page/chart.hpp"

#include <string>

namespace gradweave::page {

/// A stand-alone SVG element with a title and a description that says all values in words. `number` makes its ids
/// unique in a page. NaN values have no bar, but a mark that says so.
std::string draw(const Chart &chart, std::size_t number);

/// The values in words: "rcnn: Interleaving 0.990, ...".
std::string describe(const Chart &chart);

} // namespace gradweave::page
