// The changes of one signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::wave {

/// Values of a signal over time, each kept from its change on: times rise strictly and neighbouring values differ.
/// A value is the text of its bits, most significant first ('0', '1', 'x', 'z' and the other letters of VHDL), the 8
/// bytes of a double, or a string.
class ChangeList {
public:
  /// `time` not below the last one. Of several values at one time the last counts: what a signal does within a time
  /// step is a glitch of the simulator. A value that is no change is dropped.
  void append(std::uint64_t time, std::string_view value);

  std::size_t size() const { return times_.size(); }
  bool empty() const { return times_.empty(); }
  std::uint64_t time(std::size_t i) const { return times_[i]; }
  std::string_view value(std::size_t i) const;

  /// Number of changes at or before `time`; the value then is that of the change before this index.
  std::size_t upper_bound(std::uint64_t time) const;

private:
  void pop();

  std::vector<std::uint64_t> times_;
  std::vector<std::size_t> ends_; ///< of the values in bytes_
  std::string bytes_;
};

/// What a register that is clocked by `clock` would have seen of `signal`: its value just before each rising edge ("1"
/// after anything else). Times of the result are numbers of edges, from 0.
ChangeList sample(const ChangeList &signal, const std::vector<std::uint64_t> &edges);

/// Times at which a one-bit signal becomes '1', its first value not counted.
std::vector<std::uint64_t> rising_edges(const ChangeList &clock);

} // namespace gradweave::wave
