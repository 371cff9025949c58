// The list of functional bins (bins.toml) and what runs hit of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gradweave::coverage {

struct Bin {
  std::string name, group;
  std::string excluded; ///< reason; empty: the bin must be hit
  std::uint64_t count = 0;
  std::string first; ///< stimulus that hit it first
};

struct BinGroup {
  std::string name, doc;
};

struct BinList {
  std::vector<BinGroup> groups;
  std::vector<Bin> bins; ///< in the order of the file, crosses expanded
};

/// Expands the crosses of a file; docs/coverage.md describes it. Throws std::runtime_error, naming file and group or
/// rule, for a list that is not well formed, a bin that is there twice and a rule that excludes nothing.
BinList load_bins(const std::string &file);

/// Hits of the runs of one stimulus, "count name" lines (FunctionalCoverage::write()), added to the bins. Names that
/// the list does not have are returned. Throws std::runtime_error, with file and line, for other lines.
std::vector<std::string> add_hits(BinList &list, const std::string &stimulus, const std::vector<std::string> &files);

} // namespace gradweave::coverage
