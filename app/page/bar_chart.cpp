#include "app/page/bar_chart.hpp"

#include "app/page/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace gradweave::page {
namespace {

// Lengths in SVG user units; the page scales the drawing to its width.
constexpr double kWidth = 960, kHeight = 300;
constexpr double kLeft = 56, kRight = 10, kTop = 34, kBottom = 40;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
constexpr std::size_t kManyGroups = 14; ///< from here on their names are slanted
/// Told apart in print and by those who see no difference between red and green: they differ in lightness.
constexpr std::array<const char *, 4> kColours{"#9ecae1", "#4292c6", "#08519c", "#00213f"};
/// Of parts on top of each other, which are more.
constexpr std::array<const char *, 9> kPartColours{"#00213f", "#08519c", "#4292c6", "#9ecae1", "#7f2704",
                                                   "#d94801", "#fd8d3c", "#fdd0a2", "#969696"};

/// What the style of a page knows the line by.
const char *line_class(std::string_view colour) {
  return colour == "#222" ? "axis" : colour == "#ddd" ? "grid" : "mark";
}

/// A round distance between grid lines, so that there are about five.
double grid_step(double top) {
  const double rough = top / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

class Drawing {
public:
  Drawing(const Chart &chart, std::size_t number) : chart_(chart), number_(number) {
    double highest = chart.reference.value_or(0);
    std::vector<double> piles(chart.groups.size());
    for (const Series &series : chart.series)
      for (std::size_t g = 0; g < series.values.size(); ++g)
        if (const double value = series.values[g]; std::isfinite(value)) {
          if (chart.stacked) piles.at(g) += value;
          highest = std::max(highest, chart.stacked ? piles[g] : value);
        }
    step_ = grid_step(highest > 0 ? highest * 1.02 : 1);
    top_ = std::ceil(highest > 0 ? highest * 1.02 / step_ : 1) * step_;
  }

  std::string draw() {
    open_drawing(svg_, number_, chart_.title, describe(chart_), kWidth, kHeight);
    grid();
    bars();
    legend();
    svg_.close();
    return svg_.str() + '\n';
  }

private:
  double y(double value) const { return kTop + kPlotHeight * (1 - value / top_); }

  void line(double x1, double y1, double x2, double y2, const char *colour, const char *dash = "none") {
    svg_.empty("line", {{"x1", fmt::format("{:.1f}", x1)},
                        {"y1", fmt::format("{:.1f}", y1)},
                        {"x2", fmt::format("{:.1f}", x2)},
                        {"y2", fmt::format("{:.1f}", y2)},
                        {"class", line_class(colour)},
                        {"stroke", colour},
                        {"stroke-dasharray", dash}});
  }

  void label(double x, double y_at, const std::string &text, const char *anchor, double turn = 0) {
    XmlWriter::Attributes attributes{{"x", fmt::format("{:.1f}", x)},
                                     {"y", fmt::format("{:.1f}", y_at)},
                                     {"text-anchor", anchor},
                                     {"class", "ink"},
                                     {"fill", "#222"}};
    if (turn != 0) attributes.emplace_back("transform", fmt::format("rotate({} {:.1f} {:.1f})", turn, x, y_at));
    svg_.element("text", text, attributes);
  }

  void grid() {
    for (double value = 0; value <= top_ + step_ / 2; value += step_) {
      line(kLeft, y(value), kWidth - kRight, y(value), value == 0 ? "#222" : "#ddd");
      label(kLeft - 6, y(value) + 4, fmt::format("{:g}", std::round(value / step_) * step_), "end");
    }
    label(14, kTop + kPlotHeight / 2, chart_.axis, "middle", -90);
  }

  void bars() {
    const double group_width = kPlotWidth / static_cast<double>(std::max<std::size_t>(chart_.groups.size(), 1));
    const std::size_t beside = chart_.stacked ? 1 : std::max<std::size_t>(chart_.series.size(), 1);
    const double bar_width = group_width * 0.8 / static_cast<double>(beside);
    const bool slanted = chart_.groups.size() > kManyGroups;
    for (std::size_t g = 0; g < chart_.groups.size(); ++g) {
      const double left = kLeft + group_width * (static_cast<double>(g) + 0.1);
      double foot = 0;
      for (std::size_t s = 0; s < chart_.series.size(); ++s) {
        const double value = chart_.series[s].values.at(g);
        bar(left + (chart_.stacked ? 0 : bar_width * static_cast<double>(s)), bar_width, foot, value, s,
            chart_.groups[g] + ", " + chart_.series[s].name);
        if (chart_.stacked && std::isfinite(value)) foot += value;
      }
      const double middle = kLeft + group_width * (static_cast<double>(g) + 0.5);
      label(middle, kHeight - kBottom + (slanted ? 14 : 18), chart_.groups[g], slanted ? "end" : "middle",
            slanted ? -35 : 0);
    }
    if (chart_.reference) line(kLeft, y(*chart_.reference), kWidth - kRight, y(*chart_.reference), "#b30000", "4 3");
  }

  const char *colour(std::size_t series) const {
    return chart_.stacked ? kPartColours.at(series % kPartColours.size()) : kColours.at(series % kColours.size());
  }

  /// By which the style of a page knows it.
  std::string colour_class(std::size_t series) const {
    return chart_.stacked ? fmt::format("p{}", series % kPartColours.size())
                          : fmt::format("s{}", series % kColours.size());
  }

  void bar(double left, double width, double foot, double value, std::size_t series, const std::string &name) {
    if (!std::isfinite(value)) {
      label(left + width / 2, y(0) - 4, "n/a", "middle");
      return;
    }
    svg_.open("rect", {{"x", fmt::format("{:.1f}", left)},
                       {"y", fmt::format("{:.1f}", y(foot + std::max(value, 0.0)))},
                       {"width", fmt::format("{:.1f}", width)},
                       {"height", fmt::format("{:.1f}", y(0) - y(std::max(value, 0.0)))},
                       {"class", colour_class(series)},
                       {"fill", colour(series)}});
    svg_.element("title", fmt::format("{}: {:.3f}", name, value)); // shown when pointed at
    svg_.close();
  }

  static double legend_width(const Series &series) { return 34 + 6.4 * static_cast<double>(series.name.size()); }

  /// In one line, or in two that share its place.
  void legend() {
    double wide = kLeft;
    for (const Series &series : chart_.series)
      wide += legend_width(series);
    const bool one = wide <= kWidth;
    double x = kLeft, y = one ? 8 : 1;
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      if (!one && x + legend_width(chart_.series[s]) > kWidth) {
        x = kLeft;
        y += 15;
      }
      svg_.empty("rect", {{"x", fmt::format("{:.1f}", x)},
                          {"y", fmt::format("{:.1f}", y)},
                          {"width", "12"},
                          {"height", "12"},
                          {"class", colour_class(s)},
                          {"fill", colour(s)}});
      label(x + 18, y + 10, chart_.series[s].name, "start");
      x += legend_width(chart_.series[s]);
    }
  }

  const Chart &chart_;
  std::size_t number_;
  double step_ = 1, top_ = 1;
  XmlWriter svg_;
};

} // namespace

std::string describe(const Chart &chart) {
  std::string text = chart.axis + ". ";
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    text += chart.groups[g] + ":";
    for (const Series &series : chart.series) {
      const double value = series.values.at(g);
      text += std::isfinite(value) ? fmt::format(" {} {:.3f},", series.name, value)
                                   : fmt::format(" {} not available,", series.name);
    }
    text.back() = g + 1 < chart.groups.size() ? ';' : '.';
    text += ' ';
  }
  return text;
}

std::string draw(const Chart &chart, std::size_t number) { return Drawing(chart, number).draw(); }

} // namespace gradweave::page
