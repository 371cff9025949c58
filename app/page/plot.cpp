#include "app/page/plot.hpp"

#include "app/page/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gradweave::page {
namespace {

// Lengths in SVG user units; the page scales the drawing to its width.
constexpr double kPlotWide = 960, kPlotHigh = 360;
constexpr double kLeftEdge = 70, kRightEdge = 14, kTopEdge = 34, kBottomEdge = 44;
/// Told apart by lightness and by dashes, too.
constexpr std::array<const char *, 6> kLineColours{"#08519c", "#fd8d3c", "#00213f", "#6baed6", "#a63603", "#969696"};
constexpr std::array<const char *, 6> kDashes{"none", "none", "6 3", "6 3", "2 3", "2 3"};

/// A scale from values to lengths, and where its marks are.
class Axis {
public:
  Axis(bool logarithmic, bool whole, double from, double to)
      : logarithmic_(logarithmic), whole_(whole), from_(from), to_(to) {}

  void take(double value) {
    if (!shows(value)) return;
    lowest_ = std::min(lowest_, value);
    highest_ = std::max(highest_, value);
  }
  void close() {
    if (highest_ < lowest_) lowest_ = highest_ = 1;
    if (logarithmic_) {
      lowest_ = round_mark(lowest_, false);
      highest_ = round_mark(highest_, true);
      if (highest_ <= lowest_) highest_ = 10 * lowest_;
      return;
    }
    const double range = whole_ ? highest_ : highest_ > lowest_ ? highest_ - lowest_ : lowest_;
    const double rough = std::max(range, 1e-12) / 6, power = std::pow(10, std::floor(std::log10(rough)));
    step_ = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0})
      if (factor * power >= rough) step_ = factor * power;
    lowest_ = whole_ ? 0 : std::floor(lowest_ / step_ + 1e-9) * step_;
    highest_ = std::max(std::ceil(highest_ / step_ - 1e-9) * step_, lowest_ + step_);
  }
  bool shows(double value) const { return std::isfinite(value) && (logarithmic_ ? value > 0 : value >= 0); }
  double at(double value) const {
    const double part = logarithmic_ ? std::log(value / lowest_) / std::log(highest_ / lowest_)
                                     : (value - lowest_) / (highest_ - lowest_);
    return from_ + (to_ - from_) * part;
  }
  std::vector<double> marks() const {
    std::vector<double> all;
    if (logarithmic_) {
      const bool few = highest_ > 1000 * lowest_; // only powers of ten then
      for (double power = std::pow(10, std::floor(std::log10(lowest_))); power <= highest_ * 1.0001; power *= 10)
        for (const double factor : {1.0, 2.0, 5.0})
          if (const double value = factor * power;
              (factor == 1 || !few) && value >= lowest_ * 0.9999 && value <= highest_ * 1.0001)
            all.push_back(value);
    } else {
      for (double i = 0; lowest_ + i * step_ <= highest_ + step_ / 2; ++i)
        all.push_back(lowest_ + i * step_);
    }
    return all;
  }

private:
  /// The next 1, 2 or 5 times a power of ten, up or down.
  static double round_mark(double value, bool up) {
    const double power = std::pow(10, std::floor(std::log10(value) + 1e-9));
    double down = power;
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
      if (factor * power >= value * 0.9999 && up) return factor * power;
      if (factor * power <= value * 1.0001) down = factor * power;
    }
    return down;
  }

  bool logarithmic_, whole_;
  double from_, to_, lowest_ = HUGE_VAL, highest_ = -HUGE_VAL, step_ = 1;
};

class PlotDrawing {
public:
  PlotDrawing(const Plot &plot, std::size_t number)
      : plot_(plot), number_(number), x_(plot.logarithmic, true, kLeftEdge, kPlotWide - kRightEdge),
        y_(plot.logarithmic, plot.whole_y, kPlotHigh - kBottomEdge, kTopEdge) {
    for (const Plot::Points &points : plot.series)
      for (std::size_t i = 0; i < points.x.size(); ++i)
        if (x_.shows(points.x[i]) && y_.shows(points.y.at(i))) {
          x_.take(points.x[i]);
          y_.take(points.y[i]);
        }
    x_.close();
    y_.close();
  }

  std::string draw() {
    open_drawing(svg_, number_, plot_.title, describe(plot_), kPlotWide, kPlotHigh);
    grid();
    for (std::size_t s = 0; s < plot_.series.size(); ++s)
      series(s);
    legend();
    svg_.close();
    return svg_.str() + '\n';
  }

private:
  void rule(double x1, double y1, double x2, double y2, const std::string &kind, const char *colour,
            const char *dash = "none", int width = 1) {
    svg_.empty("line", {{"x1", fmt::format("{:.1f}", x1)},
                        {"y1", fmt::format("{:.1f}", y1)},
                        {"x2", fmt::format("{:.1f}", x2)},
                        {"y2", fmt::format("{:.1f}", y2)},
                        {"class", kind},
                        {"stroke", colour},
                        {"stroke-width", fmt::format("{}", width)},
                        {"stroke-dasharray", dash}});
  }
  void label(double x, double y, const std::string &text, const char *anchor, bool upright = false) {
    XmlWriter::Attributes attributes{{"x", fmt::format("{:.1f}", x)},
                                     {"y", fmt::format("{:.1f}", y)},
                                     {"text-anchor", anchor},
                                     {"class", "ink"},
                                     {"fill", "#222"}};
    if (upright) attributes.emplace_back("transform", fmt::format("rotate(-90 {:.1f} {:.1f})", x, y));
    svg_.element("text", text, attributes);
  }

  /// By which the style of a page knows it.
  static std::string line_class(std::size_t series) { return fmt::format("l{}", series % kLineColours.size()); }

  void grid() {
    for (const double mark : y_.marks()) {
      rule(kLeftEdge, y_.at(mark), kPlotWide - kRightEdge, y_.at(mark), "grid", "#ddd");
      label(kLeftEdge - 6, y_.at(mark) + 4, fmt::format("{:.6g}", mark), "end");
    }
    for (const double mark : x_.marks()) {
      rule(x_.at(mark), kTopEdge, x_.at(mark), kPlotHigh - kBottomEdge, "grid", "#eee");
      label(x_.at(mark), kPlotHigh - kBottomEdge + 18, fmt::format("{:.6g}", mark), "middle");
    }
    label(kPlotWide - kRightEdge, kPlotHigh - 6, plot_.x_axis, "end");
    label(14, (kTopEdge + kPlotHigh - kBottomEdge) / 2, plot_.y_axis, "middle", true);
  }

  void dot(double x, double y, std::size_t series, const std::string &name) {
    svg_.open("circle", {{"cx", fmt::format("{:.1f}", x)},
                         {"cy", fmt::format("{:.1f}", y)},
                         {"r", "3.5"},
                         {"class", line_class(series)},
                         {"fill", name.empty() ? "none" : "transparent"}, // pointed at inside, too
                         {"stroke", kLineColours.at(series % kLineColours.size())}});
    if (!name.empty()) svg_.element("title", name);
    svg_.close();
  }

  void series(std::size_t s) {
    const Plot::Points &points = plot_.series[s];
    const char *colour = kLineColours.at(s % kLineColours.size());
    std::string line;
    for (std::size_t i = 0; i < points.x.size(); ++i) {
      if (!x_.shows(points.x[i]) || !y_.shows(points.y.at(i))) continue;
      const double x = x_.at(points.x[i]), y = y_.at(points.y[i]);
      if (points.line)
        line += fmt::format("{}{:.1f},{:.1f}", line.empty() ? "" : " ", x, y);
      else
        dot(x, y, s, i < points.names.size() ? points.names[i] : std::string());
    }
    if (points.line && !line.empty())
      svg_.empty("polyline", {{"points", line},
                              {"class", line_class(s)},
                              {"fill", "none"},
                              {"stroke", colour},
                              {"stroke-width", "2"},
                              {"stroke-dasharray", kDashes.at(s % kDashes.size())}});
  }

  void legend() {
    double x = kLeftEdge;
    for (std::size_t s = 0; s < plot_.series.size(); ++s) {
      const char *colour = kLineColours.at(s % kLineColours.size());
      if (plot_.series[s].line)
        rule(x, 14, x + 24, 14, line_class(s), colour, kDashes.at(s % kDashes.size()), 2);
      else
        svg_.empty("circle", {{"cx", fmt::format("{:.1f}", x + 12)},
                              {"cy", "14"},
                              {"r", "3.5"},
                              {"class", line_class(s)},
                              {"fill", "none"},
                              {"stroke", colour}});
      label(x + 30, 18, plot_.series[s].name, "start");
      x += 48 + 6.4 * static_cast<double>(plot_.series[s].name.size());
    }
  }

  const Plot &plot_;
  std::size_t number_;
  Axis x_, y_;
  XmlWriter svg_;
};

} // namespace

std::string describe(const Plot &plot) {
  std::string text = fmt::format("{} over {}. ", plot.y_axis, plot.x_axis);
  for (const Plot::Points &points : plot.series)
    text += points.x.empty() ? fmt::format("{}: nothing. ", points.name)
                             : fmt::format("{}: from {:.6g}, {:.4g} to {:.6g}, {:.4g}. ", points.name, points.x.front(),
                                           points.y.front(), points.x.back(), points.y.back());
  text.pop_back();
  return text;
}

std::string draw(const Plot &plot, std::size_t number) { return PlotDrawing(plot, number).draw(); }

} // namespace gradweave::page
