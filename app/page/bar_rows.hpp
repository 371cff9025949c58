// Draws bars that lie, in rows with a name each, as SVG.
#pragma once

#include "app/page/chart.hpp"

#include <string>

namespace gradweave::page {

/// A stand-alone SVG element with a title and a description that says the values in words. `number` makes its ids
/// unique in a page. Its height grows with the rows. A name that is too long is cut; all of it is shown when pointed
/// at.
std::string draw(const BarRows &chart, std::size_t number);

} // namespace gradweave::page
