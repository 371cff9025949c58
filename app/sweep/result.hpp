// What a point gives.
#pragma once

#include "app/sweep/study.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::sweep {

/// A number of every point's result.
struct Column {
  std::string_view name; ///< in tables
  std::string_view unit; ///< for people; empty: none
  std::string_view help;
  bool whole; ///< else with a fraction
};

inline constexpr std::size_t kColumns = 18;
inline constexpr std::array<Column, kColumns> columns{{
    {"milliseconds", "ms", "cycles at the NPU's clock", false},
    {"cycles", "", "of all layers, one after another", true},
    {"bound", "cycles", "that no schedule of the layers beats", true},
    {"compute_bound", "cycles", "array steps of all products", true},
    {"traffic_bound", "cycles", "each tensor moved once", true},
    {"array_use", "", "useful multiply-adds a cycle and PE, 0 to 1", false},
    {"energy_mj", "mJ", "of all layers, by the NPU's table [energy]", false},
    {"edp_mj_ms", "mJ ms", "energy times time", false},
    {"mean_watts", "W", "energy over time", false},
    {"macs", "", "useful multiply-adds", true},
    {"dram_read_bytes", "B", "read from memory, partial sums included", true},
    {"dram_write_bytes", "B", "written to memory, partial sums included", true},
    {"spill_bytes", "B", "partial sums among both", true},
    {"layer_count", "", "layers that run", true},
    {"pes", "", "multipliers of all cores", true},
    {"scratchpad_bytes", "B", "of the NPU", true},
    {"bandwidth_gb_s", "GB/s", "of its memory", false},
    {"clock_ghz", "GHz", "of the NPU", false},
}};
/// The place of a column; its name has to be one.
constexpr std::size_t column(std::string_view name) {
  std::size_t at = 0;
  while (at < columns.size() && columns.at(at).name != name)
    ++at;
  return at;
}

enum class Outcome {
  kOk,
  kInfeasible, ///< there is no such NPU, or the network does not fit it: an answer like any other
  kFailed      ///< a defect, or a process that died: the next run tries again
};
std::string_view to_string(Outcome outcome);
/// Throws std::invalid_argument for another name.
Outcome parse_outcome(std::string_view name);

struct Result {
  Outcome outcome = Outcome::kOk;
  std::string problem;                   ///< why there are no numbers; empty: there are
  std::array<double, kColumns> values{}; ///< whole ones are exact: below 2^53
  double seconds = 0;                    ///< of wall-clock time that it took

  double &operator[](std::string_view name) { return values.at(column(name)); }
  double operator[](std::string_view name) const { return values.at(column(name)); }
};

/// A column's value as tables have it: as short as it can be while it is read as the same number.
std::string to_text(const Column &column, double value);

/// Results on their way between processes.
std::string to_json(const std::vector<Result> &results);
/// Throws std::runtime_error for another text.
std::vector<Result> from_json(const std::string &text);

/// A point, and what its result depends on: points of one key have one result.
struct KeyedPoint {
  std::string key;
  Point point;
};

/// Whose results a file holds.
struct Identity {
  std::string study; ///< to_toml()
  std::string title;
  std::string tool; ///< version of compiler and models
};

} // namespace gradweave::sweep
