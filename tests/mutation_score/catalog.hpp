// The list of mutants that a tree was built with, as a file.
#pragma once

#include "tests/mutation_score/mutant.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gradweave::mutation {

struct Catalog {
  std::uint64_t seed = 0;
  std::map<std::string, std::size_t> possible; ///< language -> faults that the sources could be given
  std::vector<Mutant> mutants;                 ///< those built in
};

/// Writes the file as JSON. Throws std::runtime_error naming the file if that fails.
void write_catalog(const std::string &file, const Catalog &catalog);
/// Reads it again. Throws std::runtime_error naming the file and what is wrong.
Catalog read_catalog(const std::string &file);

/// "rtl" or "cpp".
std::string language_name(const std::string &file);

} // namespace gradweave::mutation
