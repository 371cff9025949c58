// What drawings and tables of a page show.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gradweave::page {

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

/// Bars that lie, below one another.
struct BarRows {
  struct Bar {
    std::string name;           ///< of the bar; may be empty
    std::vector<double> parts;  ///< behind one another, in the order of BarRows::parts
    std::optional<double> mark; ///< a line across
  };
  struct Row {
    std::string name;
    std::vector<Bar> bars;
    std::string value; ///< behind the longest; may be empty
  };
  std::string title, axis;
  std::vector<std::string> parts; ///< what the parts of a bar are
  std::vector<Row> rows;
  std::vector<std::size_t> colours = {}; ///< of the parts; empty: one after the other
};

/// Points or lines over two axes.
struct Plot {
  struct Points {
    std::string name;
    std::vector<double> x, y;            ///< as many of each; what is not finite is left out
    bool line = true;                    ///< else a dot each
    std::vector<std::string> names = {}; ///< of dots, shown when pointed at; empty: none
  };
  std::string name;  ///< file name part
  std::string title; ///< what is shown, as a sentence
  std::string x_axis, y_axis;
  bool logarithmic = false; ///< both axes; only what is above 0 is drawn then
  std::vector<Points> series;
  bool whole_y = true; ///< the y axis begins at 0, not at about the lowest value
};

/// A table beside the charts, for what is no bar.
struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows; ///< as long as `columns`
};

} // namespace gradweave::page
