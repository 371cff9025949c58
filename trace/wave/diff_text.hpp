// A comparison of waveforms as text.
#pragma once

#include "trace/wave/diff.hpp"

#include <cstdint>
#include <string>

namespace gradweave::wave {

/// A value for people: a bit as it is, several as hexadecimal digits (binary if any is unknown), "none" before the
/// first.
std::string value_text(const std::string &value, SignalKind kind);

/// How times are told.
struct TimeFormat {
  int timescale = 0;        ///< power of ten of a second of a unit
  std::uint64_t period = 0; ///< units of a cycle; 0: no cycles
  bool edges = false;       ///< times are numbers of clock edges

  /// "cycle 1234", "edge 1234" or "1234000 ps"
  std::string operator()(std::uint64_t time) const;
  /// The same without what is left of a cycle.
  std::string rough(std::uint64_t time) const { return (*this)(period == 0 ? time : time - time % period); }
};
TimeFormat time_format(const DiffReport &report, std::uint64_t period);

/// What the two sides are called in text.
struct SideNames {
  std::string a, b;
};

/// The first difference, in a line: "cycle 123: TOP.npu.x_q[7:0]: expected 0x01, actual 0x00" if the sides are
/// "expected" and "actual". Of a vector of more than 64 bits only the digits between the first and the last bit that
/// differ are told: "TOP.npu.wide_q[1023:0] bits 131:128: expected 0x1, actual 0x0".
std::string first_difference(const DifferingSignal &signal, const TimeFormat &time, const SideNames &sides);

/// All of it: the first difference, then up to `limit` differing signals in order of time, the shift, signals on one
/// side only. Lines end with a line feed. "equal" and what was compared, if there is no difference.
std::string diff_text(const DiffReport &report, const TimeFormat &time, const SideNames &sides, std::size_t limit);

/// For programs (docs/waves.md). Ends with a line feed.
std::string diff_json(const DiffReport &report, const std::string &file_a, const std::string &file_b,
                      std::uint64_t period);

} // namespace gradweave::wave
