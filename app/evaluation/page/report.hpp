// What an evaluation says: figures with charts, and rows that put numbers beside the paper's.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gradweave::evaluation {

/// A number of the paper and ours.
struct Row {
  std::string figure, key, text, unit;
  std::optional<double> paper;
  /// The technique under the paper's policy against the baseline as the paper describes it; or, for a row that compares
  /// with no baseline, our number under that policy.
  std::optional<double> described;
  /// The technique against the baseline, both with plans that the compiler searches for.
  std::optional<double> searched;
  /// The technique under the paper's policy against the searched baseline.
  std::optional<double> crossed;
  std::string command; ///< that gives our numbers
  std::string note;
};

struct Series {
  std::string name;
  std::vector<double> values; ///< one for each group; NaN: none
};

/// Bars, grouped.
struct Chart {
  std::string name;  ///< file name part
  std::string title; ///< what is shown, as a sentence
  std::string axis;
  std::vector<std::string> groups;
  std::vector<Series> series;
  std::optional<double> reference; ///< a line across, for example at 1
};

/// A table beside the charts, for what is no bar.
struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows; ///< as long as `columns`
};

struct Figure {
  std::string id; ///< as --figure takes it
  std::string title;
  std::string method; ///< how it is computed, for people
  std::vector<Row> rows;
  std::vector<Chart> charts;
  std::vector<Table> tables;
  std::vector<std::string> notes;
};

/// Mean of the values that are numbers; NaN if there are none.
double mean(const std::vector<double> &values);

} // namespace gradweave::evaluation
