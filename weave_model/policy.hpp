// Which model's layer comes next.
#pragma once

#include "weave_model/schedule_state.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace gradweave::weave_model {

enum class Policy : std::uint8_t {
  kOneByOne,   ///< the request that came first, to its end: the paper's baseline
  kRoundRobin, ///< a layer of each model in turn
  kAiMt,       ///< as AI-MT (E. Baek et al., ISCA 2020) in spirit: what fetches most for its computing, if computing
               ///< that is scheduled hides the fetch; else what computes most for its fetch
  kGreedy,     ///< the paper's: the least idle time
  kBounded,    ///< the least idle time among models that lead the one furthest behind by `lead` at most
};
std::string_view to_string(Policy policy);

/// Idle time that greedy policies compare. The text that is stored of the paper ends before its formula.
enum class Idle : std::uint8_t {
  kSum,      ///< of PEs and memory, seconds
  kRelative, ///< the same over the time by which the schedule grows
};
std::string_view to_string(Idle idle);

/// Which of the models with equal idle time is next. Not in the text, either.
enum class Ties : std::uint8_t {
  kFurthestBehind, ///< that has been served the least
  kLeastAhead,     ///< whose computing ends the soonest after its fetch
  kFirst,          ///< the one named first
};
std::string_view to_string(Ties ties);

struct Rule {
  Policy policy = Policy::kGreedy;
  Idle idle = Idle::kSum;
  Ties ties = Ties::kFurthestBehind;
  double lead = 0; ///< of kBounded: seconds of service
};

/// The next layer of a model.
struct Candidate {
  std::size_t model = 0;
  Layer layer;
  Effect effect;      ///< if it is next
  double service = 0; ///< seconds that the model's layers so far take if they are alone
  double arrival = 0; ///< of the request that it belongs to
};

/// The index of the one that is next among candidates, of which there is one at least, in the order of models. `last`:
/// the model whose layer was scheduled last.
std::size_t select(const Rule &rule, const std::vector<Candidate> &candidates, const ScheduleState &state,
                   const Npu &npu, std::optional<std::size_t> last);

} // namespace gradweave::weave_model
