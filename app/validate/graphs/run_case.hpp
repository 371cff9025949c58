// What becomes of a random graph: every tensor of its steps is compared with the golden one.
#pragma once

#include "app/validate/graphs/graph_case.hpp"

#include <string>
#include <string_view>

namespace gradweave::graphs {

enum class Outcome : std::uint8_t {
  kOk,
  kRefused,       ///< for a reason that the compiler documents (legal_refusals())
  kNotCompiled,   ///< refused for another reason: a legal graph that should run
  kWrong,         ///< a bit is wrong
  kLost,          ///< an element that nobody stored
  kContradiction, ///< the compiler contradicts itself
  kFailed,        ///< the NPU stopped with an error, or its counters are wrong
  kCrashed,
  kSlow, ///< longer than a case may take
};
constexpr std::size_t kOutcomes = 9;
std::string_view to_string(Outcome outcome);
inline bool is_failure(Outcome outcome) { return outcome > Outcome::kRefused; }

struct Verdict {
  Outcome outcome = Outcome::kOk;
  std::string message; ///< of what is not kOk
};

/// Trains as the request says. Catches all that the compiler and the device throw.
Verdict run_case(const GraphCase &graph_case);

/// The message without names and numbers: two failures of one kind have one text.
std::string kind_of(const Verdict &verdict);

} // namespace gradweave::graphs
