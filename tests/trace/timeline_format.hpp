// Reads a timeline back and holds it to the rules of the trace-event format and of docs/timeline.md.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::test {

struct TraceSlice {
  std::uint64_t begin = 0, end = 0;
  std::string name, category;
  nlohmann::json args;
};

struct TraceArrow {
  std::string from_row, to_row;
  std::uint64_t from = 0, to = 0;
};

struct TraceProcess {
  std::map<std::string, std::vector<TraceSlice>> rows; ///< by name, in the file's order
  /// By name, in the file's order: time and value.
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::int64_t>>> counters;
  std::vector<TraceArrow> arrows;

  /// Value of a counter at a time: that of its last sample until then; 0 before the first.
  std::int64_t value(const std::string &counter, std::uint64_t time) const;
};

struct Trace {
  nlohmann::json other_data;
  std::map<std::string, TraceProcess> processes; ///< by name
  /// Broken rules, for people: unknown or missing fields, rows and processes without a name or with two, numbers of
  /// rows that two processes share, bars of a row that overlap or are empty, times out of order, counters below zero,
  /// arrows without a bar at either end or that point back in time.
  std::vector<std::string> problems;
};

/// Throws nlohmann::json::exception if the text is no JSON or lacks a field altogether.
Trace read_timeline(const std::string &text);

} // namespace gradweave::test
