// Two recordings of one signal.
#pragma once

#include "trace/fst/change_list.hpp"

#include <cstdint>
#include <string>

namespace gradweave::wave {

/// Times of `a`, both ends included; `b` is looked at `offset` later.
struct Window {
  std::uint64_t from = 0, to = 0;
  std::int64_t offset = 0;
};

struct SignalDifference {
  std::uint64_t first = 0, last = 0; ///< times of a: where it begins for the first time, and is seen for the last time
  std::uint64_t intervals = 0;       ///< stretches of time in which the values differ; 0: equal
  std::string a, b;                  ///< values at `first`; empty: none yet
  std::uint64_t a_changes = 0, b_changes = 0; ///< in the window
};

/// How values are compared. Values of different length differ.
struct ValueRule {
  bool ignore_unknown = false; ///< a bit that is neither '0' nor '1' on one side matches whatever the other has
};

/// Where values differ within the window; they hold from their change on. A signal that has no value yet (in a list
/// that begins later) differs from one that has.
SignalDifference compare(const ChangeList &a, const ChangeList &b, const Window &window, const ValueRule &rule = {});

} // namespace gradweave::wave
