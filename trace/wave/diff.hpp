// Two waveform files.
#pragma once

#include "trace/fst/fst_file.hpp"
#include "trace/wave/compare.hpp"
#include "trace/wave/signal_filter.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::wave {

struct DiffOptions {
  SignalFilter filter;          ///< of names after stripping
  std::string strip_a, strip_b; ///< scopes that names begin with on one side only: "TOP.npu."; others are left out
  std::uint64_t from = 0;       ///< window, in the report's unit of time of a (DiffReport::timescale), or edges
  std::uint64_t to = ~std::uint64_t{0};
  std::int64_t offset = 0; ///< b happens so much later than a
  bool common = false;     ///< signals in one file only, and where one file ends first, are no differences
  ValueRule values;
  std::string clock; ///< compare what registers of this clock see, edge by edge; name after stripping; empty: all times
};

struct DifferingSignal {
  std::string name, range;
  SignalKind kind = SignalKind::kBits;
  SignalDifference difference;
};

/// A signal that is not the same thing in both files.
struct Incompatible {
  std::string name, a, b; ///< "8 bits", "real"
};

/// From its first difference on, a signal of b shows what that of a does, `by` later (negative: earlier).
struct Shift {
  std::int64_t by = 0;
  std::size_t signals = 0; ///< of the differing ones of which this holds up to the end
};

struct DiffReport {
  int timescale = 0;                      ///< power of ten of a second of the times below: the finer one of both files
  bool edges = false;                     ///< times are numbers of rising edges of DiffOptions::clock instead
  std::uint64_t from = 0, to = 0;         ///< what was compared, times of a
  std::uint64_t a_end = 0, b_end = 0;     ///< ends of the files, in times of a
  std::size_t compared = 0;               ///< signals
  std::vector<DifferingSignal> differing; ///< in order of the first difference; of one time, registers first
  std::vector<std::string> only_a, only_b;
  std::vector<Incompatible> incompatible;
  std::optional<Shift> shift; ///< if it holds of any differing signal

  bool ends_differ = false;
  bool equal() const {
    return differing.empty() && only_a.empty() && only_b.empty() && incompatible.empty() && !ends_differ;
  }
};

/// Compares. A register, by the naming rule "_q", is told before wires of the same time: a register that changes a
/// cycle early or late is the only one that can differ in the first cycle, and wires that it drives differ in that
/// cycle, too. Throws ConfigError if a file cannot be read, std::invalid_argument for options that fit no signal or no
/// time of these files.
DiffReport diff(const FstFile &a, const FstFile &b, const DiffOptions &options);

} // namespace gradweave::wave
