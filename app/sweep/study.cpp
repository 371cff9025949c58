#include "app/sweep/study.hpp"

#include "base/random/dice.hpp"
#include "base/text/split.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace gradweave::sweep {
namespace {

[[noreturn]] void refuse(const std::string &source, const std::string &problem) {
  throw std::invalid_argument(fmt::format("{}: {}", source, problem));
}

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "16..64+16" and the like; nothing of another text.
struct Range {
  std::uint64_t from = 0, to = 0, step = 1;
  bool multiplies = false;
};
std::optional<Range> parse_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const std::size_t by = text.find_first_of("+*", dots);
  const auto from = whole(text.substr(0, dots));
  const auto to = whole(text.substr(dots + 2, by == std::string_view::npos ? by : by - dots - 2));
  const auto step = by == std::string_view::npos ? std::optional<std::uint64_t>(1) : whole(text.substr(by + 1));
  if (!from || !to || !step) return std::nullopt;
  return Range{*from, *to, *step, by != std::string_view::npos && text[by] == '*'};
}

std::vector<std::string> expand(const std::string &text, const std::string &source) {
  const std::optional<Range> range = parse_range(text);
  if (!range) return {text};
  if (range->to < range->from || range->step < (range->multiplies ? 2U : 1U) || (range->multiplies && range->from == 0))
    refuse(source, fmt::format("'{}' is no range; write FROM..TO, FROM..TO+STEP or FROM..TO*FACTOR, rising", text));
  std::vector<std::string> values;
  for (std::uint64_t value = range->from;;) {
    values.push_back(std::to_string(value));
    if (values.size() > kMostPoints) refuse(source, fmt::format("'{}' has more than {} values", text, kMostPoints));
    if (range->multiplies ? value > range->to / range->step : range->to - value < range->step) return values;
    value = range->multiplies ? value * range->step : value + range->step;
  }
}

std::uint64_t grid_size(const Study &study) {
  std::uint64_t size = 1;
  for (const Axis &axis : study.axes) {
    if (size > std::uint64_t{1} << 53U) refuse("sweep", "the grid has more than 2^53 points; give fewer values");
    size *= axis.values.size();
  }
  return size;
}

void add_value(Point &point, const Axis &axis, std::size_t value) {
  for (std::size_t f = 0; f < axis.fields.size(); ++f)
    point.push_back({axis.fields[f], axis.values[value][f]});
}

Point grid_point(const Study &study, std::uint64_t number) {
  std::vector<std::size_t> places(study.axes.size());
  for (std::size_t a = study.axes.size(); a-- > 0; number /= study.axes[a].values.size())
    places[a] = static_cast<std::size_t>(number % study.axes[a].values.size());
  Point point;
  for (std::size_t a = 0; a < study.axes.size(); ++a)
    add_value(point, study.axes[a], places[a]);
  return point;
}

void check_count(std::uint64_t count) {
  if (count > kMostPoints)
    refuse("sweep", fmt::format("{} points, but at most {} are possible; give fewer values, or draw some of them with "
                                "--random",
                                count, kMostPoints));
}

std::vector<Point> list_points(const Study &study) {
  std::size_t length = 1;
  for (const Axis &axis : study.axes)
    length = std::max(length, axis.values.size());
  check_count(length);
  for (const Axis &axis : study.axes)
    if (axis.values.size() != 1 && axis.values.size() != length)
      refuse(fmt::format("{}", fmt::join(axis.fields, ",")),
             fmt::format("{} values beside lists of {}; a list takes as many of each, or one", axis.values.size(),
                         length));
  std::vector<Point> points(length);
  for (std::size_t i = 0; i < length; ++i)
    for (const Axis &axis : study.axes)
      add_value(points[i], axis, axis.values.size() == 1 ? 0 : i);
  return points;
}

/// Numbers of the grid, none twice, rising (Floyd's sampling).
std::set<std::uint64_t> draw(std::uint64_t count, std::uint64_t of, std::uint64_t seed) {
  Dice dice(seed);
  std::set<std::uint64_t> drawn;
  for (std::uint64_t last = of - count; last < of; ++last)
    if (!drawn.insert(dice.below(last + 1)).second) drawn.insert(last);
  return drawn;
}

} // namespace

Axis make_axis(const std::string &fields, const std::vector<std::string> &values, const std::string &source) {
  Axis axis;
  axis.fields = split(fields, ',');
  if (axis.fields.empty() || std::count(axis.fields.begin(), axis.fields.end(), "") != 0)
    refuse(source, "a field without a name; write, for example, npu.rows or npu.rows,npu.cols");
  for (const std::string &text : values) {
    const std::vector<std::string> parts = axis.fields.size() == 1 ? std::vector{text} : split(text, ':');
    if (parts.size() > 1) {
      if (parts.size() != axis.fields.size())
        refuse(source, fmt::format("'{}' has {} values for the {} fields {}; write one for each with ':' between, or "
                                   "one for all",
                                   text, parts.size(), axis.fields.size(), fields));
      axis.values.push_back(parts);
      continue;
    }
    for (const std::string &value : expand(text, source))
      axis.values.emplace_back(axis.fields.size(), value);
  }
  if (axis.values.empty()) refuse(source, fmt::format("no value of {}; give one or more", fields));
  for (const auto &value : axis.values)
    if (std::count(value.begin(), value.end(), "") != 0)
      refuse(source, fmt::format("an empty value of {}; write values with ',' between, as in 16,32", fields));
  return axis;
}

void set_axis(Study &study, Axis axis, const std::string &source) {
  for (Axis &other : study.axes) {
    if (other.fields == axis.fields) {
      other = std::move(axis);
      return;
    }
    for (const std::string &field : axis.fields)
      if (std::count(other.fields.begin(), other.fields.end(), field) != 0)
        refuse(source,
               fmt::format("{} changes with {} already; give it in one place", field, fmt::join(other.fields, ",")));
  }
  for (std::size_t f = 0; f < axis.fields.size(); ++f)
    if (std::count(axis.fields.begin(), axis.fields.end(), axis.fields[f]) != 1)
      refuse(source, fmt::format("{} is there twice", axis.fields[f]));
  study.axes.push_back(std::move(axis));
}

std::vector<Point> points_of(const Study &study) {
  if (study.walk == Walk::kList) return list_points(study);
  const std::uint64_t size = grid_size(study);
  std::vector<Point> points;
  if (study.walk == Walk::kRandom) {
    const std::uint64_t count = std::min(study.count, size);
    check_count(count);
    for (const std::uint64_t number : draw(count, size, study.seed))
      points.push_back(grid_point(study, number));
    return points;
  }
  check_count(size);
  for (std::uint64_t number = 0; number < size; ++number)
    points.push_back(grid_point(study, number));
  return points;
}

std::string to_text(const Point &point) {
  std::string text;
  for (const Field &field : point)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", field.name, field.value);
  return text;
}

} // namespace gradweave::sweep
