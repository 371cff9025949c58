#include "app/page/bar_rows.hpp"

#include "app/page/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gradweave::page {
namespace {

// Lengths in SVG user units; the page scales the drawing to its width.
constexpr double kRowsWide = 960, kRowsRight = 90, kAboveRows = 40, kLetter = 6.8, kLegendLine = 20;
constexpr double kBarHigh = 7, kLoneBarHigh = 14, kRowGap = 7;
constexpr std::size_t kMostLetters = 30;
constexpr std::array<const char *, 9> kRowColours{"#00213f", "#08519c", "#4292c6", "#9ecae1", "#7f2704",
                                                  "#d94801", "#fd8d3c", "#fdd0a2", "#969696"};

/// Letters of UTF-8 text.
std::size_t letters(const std::string &text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string shortened(const std::string &text) {
  if (letters(text) <= kMostLetters) return text;
  std::string kept;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80U && letters(kept) + 1 == kMostLetters) break;
    kept += c;
  }
  return kept + "\xe2\x80\xa6";
}

/// A round distance between marks, so that there are about five.
double round_step(double top) {
  const double rough = top / 5, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

double sum_of(const std::vector<double> &values) {
  double sum = 0;
  for (const double value : values)
    sum += value;
  return sum;
}

class RowsDrawing {
public:
  RowsDrawing(const BarRows &chart, std::size_t number) : chart_(chart), number_(number) {
    std::size_t longest = 4;
    double most = 0;
    for (const BarRows::Row &row : chart.rows) {
      longest = std::max(longest, std::min(kMostLetters, letters(row.name)));
      high_ += row_height(row);
      for (const BarRows::Bar &bar : row.bars)
        most = std::max({most, sum_of(bar.parts), bar.mark.value_or(0)});
    }
    left_ = 14 + kLetter * static_cast<double>(longest);
    top_ = kAboveRows + kLegendLine * static_cast<double>(legend_lines());
    high_ += top_ + 8;
    step_ = round_step(most > 0 ? most : 1);
    most_ = most > 0 ? most : 1;
  }

  std::string draw() {
    open_drawing(svg_, number_, chart_.title, words(), kRowsWide, high_);
    legend();
    marks();
    double y = top_;
    for (const BarRows::Row &row : chart_.rows) {
      one_row(row, y);
      y += row_height(row);
    }
    svg_.close();
    return svg_.str() + '\n';
  }

private:
  static double bar_height(const BarRows::Row &row) { return row.bars.size() == 1 ? kLoneBarHigh : kBarHigh; }
  static double row_height(const BarRows::Row &row) {
    return std::max(15.0, bar_height(row) * static_cast<double>(row.bars.size())) + kRowGap;
  }
  double x(double value) const { return left_ + (kRowsWide - kRowsRight - left_) * value / most_; }
  static double legend_width(const std::string &name) { return 34 + kLetter * static_cast<double>(letters(name)); }

  void text(double at_x, double at_y, const std::string &words, const char *anchor, const std::string &whole = {}) {
    svg_.open("text", {{"x", fmt::format("{:.1f}", at_x)},
                       {"y", fmt::format("{:.1f}", at_y)},
                       {"text-anchor", anchor},
                       {"class", "ink"},
                       {"fill", "#222"}});
    svg_.text(words);
    if (!whole.empty() && whole != words) svg_.element("title", whole);
    svg_.close();
  }

  void marks() {
    for (double value = 0; value <= most_ * 1.0001; value += step_) {
      svg_.empty("line", {{"x1", fmt::format("{:.1f}", x(value))},
                          {"x2", fmt::format("{:.1f}", x(value))},
                          {"y1", fmt::format("{:.1f}", top_ - 4)},
                          {"y2", fmt::format("{:.1f}", high_ - 4)},
                          {"class", value == 0 ? "axis" : "grid"},
                          {"stroke", value == 0 ? "#222" : "#ddd"}});
      text(x(value), top_ - 8, fmt::format("{:.6g}", value), "middle");
    }
    text(kRowsWide - 6, top_ - 8, chart_.axis, "end");
  }

  std::size_t legend_lines() const {
    double at = left_;
    std::size_t lines = chart_.parts.size() > 1 ? 1 : 0;
    for (const std::string &name : chart_.parts) {
      if (at + legend_width(name) > kRowsWide) {
        ++lines;
        at = left_;
      }
      at += legend_width(name);
    }
    return lines;
  }

  void legend() {
    text(6, 16, chart_.title, "start");
    if (chart_.parts.size() < 2) return;
    double at = left_, y = 38;
    for (std::size_t p = 0; p < chart_.parts.size(); ++p) {
      if (at + legend_width(chart_.parts[p]) > kRowsWide) {
        at = left_;
        y += kLegendLine;
      }
      part(at, y - 10, 12, 12, p, {});
      text(at + 18, y, chart_.parts[p], "start");
      at += legend_width(chart_.parts[p]);
    }
  }

  void part(double at_x, double at_y, double wide, double high, std::size_t number, const std::string &what) {
    const std::size_t colour = (chart_.colours.empty() ? number : chart_.colours.at(number)) % kRowColours.size();
    const XmlWriter::Attributes attributes{
        {"x", fmt::format("{:.2f}", at_x)},     {"y", fmt::format("{:.1f}", at_y)},
        {"width", fmt::format("{:.2f}", wide)}, {"height", fmt::format("{:.1f}", high)},
        {"class", fmt::format("p{}", colour)},  {"fill", kRowColours.at(colour)}};
    if (what.empty()) {
      svg_.empty("rect", attributes);
      return;
    }
    svg_.open("rect", attributes);
    svg_.element("title", what); // shown when pointed at
    svg_.close();
  }

  void one_row(const BarRows::Row &row, double y) {
    const double bar_high = bar_height(row);
    text(left_ - 6, y + 11, shortened(row.name), "end", row.name);
    double end = left_;
    for (std::size_t b = 0; b < row.bars.size(); ++b) {
      const BarRows::Bar &bar = row.bars[b];
      double from = 0;
      for (std::size_t p = 0; p < bar.parts.size(); ++p) {
        if (bar.parts[p] <= 0) continue;
        part(x(from), y + bar_high * static_cast<double>(b), x(from + bar.parts[p]) - x(from), bar_high - 1, p,
             fmt::format("{}{}: {} {:.6g}", row.name, bar.name.empty() ? "" : ", " + bar.name,
                         p < chart_.parts.size() ? chart_.parts[p] : "", bar.parts[p]));
        from += bar.parts[p];
      }
      end = std::max(end, x(std::max(from, bar.mark.value_or(0))));
      if (bar.mark) mark(*bar.mark, y + bar_high * static_cast<double>(b), bar_high);
    }
    if (!row.value.empty()) text(end + 6, y + 11, row.value, "start");
  }

  void mark(double value, double y, double high) {
    svg_.empty("line", {{"x1", fmt::format("{:.1f}", x(value))},
                        {"x2", fmt::format("{:.1f}", x(value))},
                        {"y1", fmt::format("{:.1f}", y - 2)},
                        {"y2", fmt::format("{:.1f}", y + high + 1)},
                        {"class", "axis"},
                        {"stroke", "#222"},
                        {"stroke-width", "2.5"}});
  }

  std::string words() const {
    std::string all = chart_.axis + ".";
    for (const BarRows::Row &row : chart_.rows) {
      all += " " + row.name + ":";
      for (const BarRows::Bar &bar : row.bars)
        all += fmt::format(" {}{:.6g},", bar.name.empty() ? "" : bar.name + " ", sum_of(bar.parts));
      all.back() = ';';
    }
    all.back() = '.';
    return all;
  }

  const BarRows &chart_;
  std::size_t number_;
  double left_ = 0, top_ = 0, high_ = 0, step_ = 1, most_ = 1;
  XmlWriter svg_;
};

} // namespace

std::string draw(const BarRows &chart, std::size_t number) { return RowsDrawing(chart, number).draw(); }

} // namespace gradweave::page
