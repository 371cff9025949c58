#include "app/page/line_chart.hpp"

#include "app/page/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradweave::page {
namespace {

// Lengths in SVG user units.
constexpr double kLineWidth = 960, kLineHeight = 400;
constexpr double kLeftOfPlot = 64, kRightOfPlot = 16, kAbovePlot = 36, kBelowPlot = 44;

/// A round distance between marks, so that there are about `wanted`.
double mark_step(double range, double wanted) {
  const double rough = range / wanted, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

class LineDrawing {
public:
  explicit LineDrawing(const LineChart &chart) : chart_(chart) {
    for (const double value : chart.values) {
      if (!std::isfinite(value)) continue;
      lowest_ = std::min(lowest_, value);
      highest_ = std::max(highest_, value);
    }
    if (highest_ < lowest_) lowest_ = highest_ = 0;
    if (highest_ == lowest_) highest_ = lowest_ + 1;
    step_ = mark_step(highest_ - lowest_, 6);
    lowest_ = std::floor(lowest_ / step_) * step_;
    highest_ = std::ceil(highest_ / step_) * step_;
  }

  std::string draw(std::size_t number) {
    open_drawing(svg_, number, chart_.title, describe_values(), kLineWidth, kLineHeight);
    text(kLeftOfPlot, 22, chart_.title, "start");
    marks();
    line(chart_.values, chart_.mean_over > 1 ? "#9ecae1" : "#08519c", 1);
    if (chart_.mean_over > 1) line(means(), "#08519c", 2);
    svg_.close();
    return svg_.str() + '\n';
  }

private:
  double x(double step) const {
    const double last = std::max<double>(2, static_cast<double>(chart_.values.size()));
    return kLeftOfPlot + (kLineWidth - kLeftOfPlot - kRightOfPlot) * (step - 1) / (last - 1);
  }
  double y(double value) const {
    return kAbovePlot + (kLineHeight - kAbovePlot - kBelowPlot) * (highest_ - value) / (highest_ - lowest_);
  }

  void text(double at_x, double at_y, const std::string &words, const char *anchor) {
    svg_.element("text", words,
                 {{"x", fmt::format("{:.1f}", at_x)},
                  {"y", fmt::format("{:.1f}", at_y)},
                  {"text-anchor", anchor},
                  {"class", "ink"},
                  {"fill", "#222"}});
  }

  void rule(double x1, double y1, double x2, double y2) {
    svg_.empty("line", {{"x1", fmt::format("{:.1f}", x1)},
                        {"y1", fmt::format("{:.1f}", y1)},
                        {"x2", fmt::format("{:.1f}", x2)},
                        {"y2", fmt::format("{:.1f}", y2)},
                        {"class", "grid"},
                        {"stroke", "#ddd"}});
  }

  void marks() {
    const double bottom = kLineHeight - kBelowPlot;
    for (double value = lowest_; value <= highest_ + step_ / 2; value += step_) {
      rule(kLeftOfPlot, y(value), kLineWidth - kRightOfPlot, y(value));
      text(kLeftOfPlot - 8, y(value) + 4, fmt::format("{:.6g}", std::abs(value) < step_ / 2 ? 0.0 : value), "end");
    }
    const double last = static_cast<double>(chart_.values.size());
    const double step = std::max(1.0, mark_step(std::max(1.0, last), 8));
    for (double at = step; at <= last; at += step)
      text(x(at), bottom + 18, fmt::format("{:.0f}", at), "middle");
    text(kLineWidth - kRightOfPlot, bottom + 36, "step", "end");
    text(8, kAbovePlot - 14, chart_.value, "start");
  }

  std::vector<double> means() const {
    std::vector<double> result;
    double sum = 0;
    for (std::size_t i = 0; i < chart_.values.size(); ++i) {
      sum += chart_.values[i];
      if (i >= chart_.mean_over) sum -= chart_.values[i - chart_.mean_over];
      result.push_back(sum / static_cast<double>(std::min(i + 1, chart_.mean_over)));
    }
    return result;
  }

  void line(const std::vector<double> &values, const char *colour, int width) {
    std::string points;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::isfinite(values[i]))
        points +=
            fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x(static_cast<double>(i + 1)), y(values[i]));
    svg_.empty("polyline", {{"points", points},
                            {"class", width > 1 || chart_.mean_over <= 1 ? "l0" : "l3"},
                            {"fill", "none"},
                            {"stroke", colour},
                            {"stroke-width", fmt::format("{}", width)}});
  }

  std::string describe_values() const {
    if (chart_.values.empty()) return "no steps";
    return fmt::format("{} of {} steps: {:.6g} at first, {:.6g} at last, {:.6g} at least", chart_.value,
                       chart_.values.size(), chart_.values.front(), chart_.values.back(),
                       *std::min_element(chart_.values.begin(), chart_.values.end()));
  }

  const LineChart &chart_;
  double lowest_ = HUGE_VAL, highest_ = -HUGE_VAL, step_ = 1;
  XmlWriter svg_;
};

} // namespace

std::string draw(const LineChart &chart, std::size_t number) { return LineDrawing(chart).draw(number); }

} // namespace gradweave::page
