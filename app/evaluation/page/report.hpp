// What an evaluation says: figures with charts, and rows that put numbers beside the paper's.
#pragma once

#include "app/page/chart.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gradweave::evaluation {

using page::Chart;
using page::Plot;
using page::Series;
using page::Table;

/// A number of the paper and ours.
struct Row {
  std::string figure, key, text, unit;
  std::optional<double> paper;
  std::vector<std::optional<double>> ours; ///< as many as there are columns; those at the end may be left out
  std::string command;                     ///< that gives our numbers
  std::string note;
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
