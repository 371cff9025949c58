// Where a source file can be given a fault, and which faults.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gradweave::mutation {

/// One fault: what kind, and what stands in the source instead; nothing if a statement is left out.
struct Fault {
  std::string kind; ///< "operator", "constant", "condition", "width", "reset", "hold", "result", "drop"
  std::string text;
};

/// Characters [begin, end) of a file, an expression or a statement. Places of a file are nested or disjoint.
struct Place {
  std::size_t begin = 0, end = 0;
  std::string scope; ///< module, package or function around it
  std::vector<Fault> faults;
};

/// Adds `fault` at [begin, end), to the place that is there already if there is one.
void add_fault(std::vector<Place> &places, std::size_t begin, std::size_t end, const std::string &scope, Fault fault);

} // namespace gradweave::mutation
