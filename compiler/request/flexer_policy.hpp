// The choices of flexer_cgo23's list scheduler that have a name: those that it compares (table 2, figure 9), and those
// that it leaves open or prints in two ways.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradweave::compiler::flexer {

/// Which set of operations is issued next (section 4.3 and table 2).
enum class SetPriority {
  kBenefit,     ///< reused less spilled data, then the fuller scratchpad, then fewer bytes moved
  kMinTransfer, ///< fewest bytes moved
  kMinSpilling  ///< least data that loses its place
};

/// Which blocks give way where no free ones are large enough (section 4.1 and table 2).
enum class Victims {
  kAlgorithm2, ///< the run of neighbours that leaves the smallest gap, then costs the fewest uses, then has fewest
               ///< blocks
  kFirstFit,   ///< the first block that is large enough
  kSmallest    ///< the smallest blocks, one after the other, until there is room
};

/// What data that loses its place counts for in a set's benefit: size divided by the references that it could have had
/// at a time, as the formula says, or multiplied, which is what the text wants: to keep what is used often.
enum class SpillWeight { kDivided, kMultiplied };

/// Of what the best schedule has least (algorithm 1, line 5; figure 9).
enum class Metric { kLatencyTimesData, kLatency, kData };

/// The defaults are the paper's.
struct Policy {
  SetPriority priority = SetPriority::kBenefit;
  Victims victims = Victims::kAlgorithm2;
  SpillWeight weight = SpillWeight::kDivided;
  Metric metric = Metric::kLatencyTimesData;
  /// Whether free rows between blocks belong to a run of victims, as blocks without uses; else they end it.
  bool gaps_count = true;
};

/// "benefit", "min_transfer", "min_spilling"; likewise below. What a policy is given by.
std::string_view to_string(SetPriority p);
std::string_view to_string(Victims v);
std::string_view to_string(SpillWeight w);
std::string_view to_string(Metric m);
/// "priority=benefit,victims=algorithm2,...": all choices, as parse_policy() takes them.
std::string to_string(const Policy &policy);

/// Throws std::invalid_argument that lists the names that there are, of "priority=min_transfer,victims=first_fit": keys
/// priority, victims, weight, metric and gaps, each once at most; what is left out is as in Policy.
Policy parse_policy(std::string_view text);
/// "priority: benefit, min_transfer, min_spilling; victims: ...": what parse_policy() accepts.
std::string policy_names();

} // namespace gradweave::compiler::flexer
