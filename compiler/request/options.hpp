// What a user asks of the compiler.
#pragma once

#include "base/key/fingerprint.hpp"
#include "compiler/request/flexer_policy.hpp"
#include "compiler/request/names.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::compiler {

struct CompileOptions {
  Schedule schedule = Schedule::kRearrange;
  Pass pass = Pass::kBackward;
  /// Plans to try beyond the usual search; 0: none. The result is never slower than without, nor than `rearrange`: if
  /// the requested schedule stays behind that one, its plan is taken, and `chosen` says so.
  std::uint64_t tune = 0;
  /// Called after every plan that the search tries, with changes tried and changes to try: none of them while the first
  /// plans are looked for. May throw, which abandons the search.
  std::function<void(std::uint64_t, std::uint64_t)> progress = nullptr;
  /// Of a schedule that can say why it is as it is (Scheduler::explains): called with its text, a step of the schedule
  /// at a time.
  std::function<void(const std::string &)> explain = nullptr;
  /// With several cores, `none` uses the first one only; forward products are cut along M or N, whichever is faster,
  /// unless it is `none`.
  Partition partition = Partition::kNone;
  std::uint32_t parts = 0; ///< 0: one a core, or two on one core; 1 if partition is `none`
  Reduction reduction = Reduction::kChain;
  /// Of a layer that is cut.
  Sharing sharing = Sharing::kParts;
  /// Changes of good plans that are simulated for every layer and order, tuning apart. Fewer take less time.
  std::uint64_t plans = 300;
  /// Of these changes, for each layer and order by itself: other seeds find other plans, and show by how much cycles
  /// depend on luck.
  std::uint64_t search_seed = 1;
  /// What the search for each layer's plan minimises. The first plans, which it changes, are those of the fewest cycles
  /// by estimate, whatever the objective.
  Objective objective = Objective::kCycles;
  /// Of `flexer`, and, as far as they choose among tilings, of the schedules that it is compared to.
  flexer::Policy flexer_policy = {};
  /// Whether to emit the stream and verify every pass. Without, all else is the same, but `stream` and `info` stay
  /// empty.
  bool stream = true;
};

/// What results depend on.
Fingerprint fingerprint(const CompileOptions &options);
/// What the plans that a search finds for a layer depend on, beside the layer, its phases, its cut, and `tune`.
Fingerprint plan_fingerprint(const CompileOptions &options);

/// One of the options as users write it: a name, or a whole number.
struct OptionForm {
  std::string_view name; ///< on command lines, behind dashes
  std::string help;
  std::uint64_t least = 0, most = 0; ///< of a number; of a name both are 0
  std::uint64_t usual = 0;           ///< the number meant if the option stands without one; 0: it may not
  /// Throws std::invalid_argument listing the names that there are. Of a number: it is one, from `least` to `most`.
  void (*set)(CompileOptions &options, const std::string &text);
  std::string (*text)(const CompileOptions &options);

  bool is_number() const { return most != 0; }
};
/// All that users may give but schedule and pass, in the order in which help lists them.
const std::vector<OptionForm> &option_forms();

} // namespace gradweave::compiler
