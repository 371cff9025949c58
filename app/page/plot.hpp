// Draws points and lines over two axes as SVG.
#pragma once

#include "app/page/chart.hpp"

#include <string>

namespace gradweave::page {

/// A stand-alone SVG element; its description says the ends of each series. `number` makes its ids unique in a page.
/// Axes begin at 0, or are logarithmic.
std::string draw(const Plot &plot, std::size_t number);

/// The ends of each series in words: "In: from 24, 11.2 to 1000, 3.1; ...".
std::string describe(const Plot &plot);

} // namespace gradweave::page
