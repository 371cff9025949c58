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
  std::vector<std::optional<double>> ours; ///< as many as there are columns; those at the end may be left out
  std::string command;                     ///< that gives our numbers
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
  bool stacked = false;            ///< the series on top of each other, not side by side
};

/// Points or lines over two axes.
struct Plot {
  struct Points {
    std::string name;
    std::vector<double> x, y; ///< as many of each; what is not finite is left out
    bool line = true;         ///< else a dot each
  };
  std::string name;  ///< file name part
  std::string title; ///< what is shown, as a sentence
  std::string x_axis, y_axis;
  bool logarithmic = false; ///< both axes; only what is above 0 is drawn then
  std::vector<Points> series;
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
  std::vector<Plot> plots;
  std::vector<Table> tables;
  std::vector<std::string> notes;
};

/// Mean of the values that are numbers; NaN if there are none.
double mean(const std::vector<double> &values);

} // namespace gradweave::evaluation
