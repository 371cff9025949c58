// Judges what was counted: lines, toggles and functional bins of the RTL, lines of the C++.
#pragma once

#include "tests/coverage/bins.hpp"
#include "tests/coverage/rtl_points.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::coverage {

/// A line point that need not be hit, and why.
struct LineWaiver {
  std::string file, text, kind, reason;
  std::uint32_t matches = 0;
};

/// Bits that no run can toggle, and why; or that carry data and not control.
struct ToggleRule {
  std::string signals; ///< regular expression of instance.signal[bit]
  std::string reason;
  std::uint32_t matches = 0;
};

struct Waivers {
  std::vector<LineWaiver> lines;
  std::vector<ToggleRule> constants, data;
};

/// Throws std::runtime_error naming file and entry.
Waivers load_waivers(const std::string &file);

struct Gate {
  std::string what; ///< "RTL lines"
  std::uint64_t covered = 0, total = 0;
  double wanted = 100;              ///< percent; reached at exactly this for 100, above it otherwise
  std::vector<std::string> missed;  ///< what is not covered
  std::vector<std::string> defects; ///< of lists and waivers: any makes the gate fail
  double percent() const;
  bool met() const;
};

/// Share of one file.
struct FileShare {
  std::string file;
  std::uint64_t covered = 0, total = 0;
};

/// All points hit or waived; a waiver that matches no point, or one that was hit, is a defect.
Gate judge_lines(const RtlPoints &points, Waivers &waivers);

/// More than 95 % of the control bits that can toggle; a rule that no bit needs is a defect. `by_file` (may be null)
/// gets the share of each file.
Gate judge_toggles(const RtlPoints &points, Waivers &waivers, std::vector<FileShare> *by_file);

/// All bins hit but the excluded ones; one of these hit, and a hit that is not listed, are defects.
Gate judge_bins(const BinList &list, const std::vector<std::string> &unknown);

/// Lines of the C++ by top directory, of lcov's format. Throws std::runtime_error if the file cannot be read.
/// `wanted` percent of all.
Gate judge_cxx(const std::string &info, const std::string &source_root, double wanted,
               std::vector<FileShare> &by_directory);

} // namespace gradweave::coverage
