// What a validation prints, and its JSON.
#pragma once

#include "app/validate/run.hpp"
#include "app/validate/sense.hpp"

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::runtime {

/// Sums over streams.
struct ValidationTotals {
  std::uint64_t streams = 0, streams_differ = 0, streams_failed = 0; ///< failed: no comparison came about
  std::uint64_t commands = 0, commands_differ = 0, counters = 0, counters_differ = 0, cycles = 0;
  std::uint64_t rings = 0, marks = 0;             ///< runs through a ring; marks that their hosts took
  std::uint64_t vector_streams = 0, vectors = 0;  ///< streams that ran programs on a vector unit, and how many
  std::map<std::string_view, std::uint64_t> ends; ///< streams by the error that ended them on the RTL, NONE included
  std::map<std::string, UndrawnEnds> undrawn;     ///< of random streams, by kind

  void add(const ValidationVerdict &verdict);
  void add(const ValidationTotals &other);
};

class ValidationReport {
public:
  /// `noun`: what a stream is, in the plural ("layers"). `each`: a line for every stream, not only for those that
  /// differ.
  ValidationReport(std::FILE *out, std::string noun, bool each) : out_(out), noun_(std::move(noun)), each_(each) {}

  /// Prints the streams that differ: the first of an NPU in full, then the commands that repeat them.
  void add(const std::vector<ValidationVerdict> &verdicts);
  /// Sums by NPU if there are several, how runs ended, on which NPUs random streams make no sense, and the last line.
  void end() const;

  /// The worst of all; kBadInput if random streams make no sense on one of the NPUs.
  Outcome outcome() const;
  /// The whole report: totals, totals by NPU, and an entry for every stream that is not equal.
  std::string json(const std::string &reproduce) const;

private:
  void print(const ValidationVerdict &verdict);
  ValidationTotals sum() const;
  std::vector<std::string> complaints() const;

  std::FILE *out_;
  std::string noun_;
  bool each_;
  Outcome outcome_ = Outcome::kPass;
  std::map<std::string, ValidationTotals> by_npu_;
  std::map<std::string, std::uint64_t> shown_; ///< streams that differ, by NPU
  std::vector<ValidationVerdict> unequal_;
};

} // namespace gradweave::runtime
