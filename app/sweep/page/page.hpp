// A sweep as one HTML page.
#pragma once

#include "app/sweep/table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gradweave::sweep {

/// A page that needs nothing else and asks nobody: what was swept, each workload's front of the columns `by`, a plot of
/// any two numbers with filters, and a table that can be sorted. Well-formed XML. Of studies too large for
/// page::kMostPageBytes it shows the fronts and an even choice of the rest, and says so.
std::string page(const Table &table, const std::string &command, const std::vector<std::size_t> &by);

} // namespace gradweave::sweep
