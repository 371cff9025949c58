// What a user asks of the compiler.
#pragma once

#include "compiler/ir/names.hpp"

#include <cstdint>
#include <functional>

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
  /// With several cores, `none` uses the first one only; forward products are cut along M or N, whichever is faster,
  /// unless it is `none`.
  Partition partition = Partition::kNone;
  std::uint32_t parts = 0; ///< 0: one a core, or two on one core; 1 if partition is `none`
  Reduction reduction = Reduction::kChain;
  /// Changes of good plans that are simulated for every layer and order, tuning apart. Fewer take less time.
  std::uint64_t plans = 300;
  /// Whether to emit the stream and verify every pass. Without, all else is the same, but `stream` and `info` stay
  /// empty.
  bool stream = true;
};

} // namespace gradweave::compiler
