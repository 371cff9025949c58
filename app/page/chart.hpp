// What drawings and tables of a page show.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gradweave::evaluation {

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

} // namespace gradweave::evaluation
