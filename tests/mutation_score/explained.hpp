// Survivors that are explained: faults that change nothing that the design promises.
#pragma once

#include "tests/mutation_score/mutant.hpp"

#include <map>
#include <string>
#include <vector>

namespace gradweave::mutation {

struct Explanation {
  std::string file, fault; ///< "original -> mutated", as the report prints it
  std::string why;
};

/// "original -> mutated"
std::string fault_text(const Mutant &mutant);

/// Explanations by id, of a TOML file with one [[mutant]] each: id, file, fault, why.
/// Throws std::runtime_error naming file, line and what is wrong.
std::map<std::string, Explanation> read_explained(const std::string &file);

/// One message for each explanation of a file in `sources` whose mutant does not exist there any more, or is another
/// one.
std::vector<std::string> stale_explanations(const std::map<std::string, Explanation> &explained,
                                            const std::vector<Source> &sources);

} // namespace gradweave::mutation
