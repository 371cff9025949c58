#include "trace/wave/diff_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace gradweave::wave {
namespace {

const char *unit_of(int timescale) {
  static constexpr const char *kUnits[] = {"s", "ms", "us", "ns", "ps", "fs", "as", "zs"};
  const auto third = static_cast<std::size_t>((-timescale + 2) / 3);
  return timescale <= 0 && third < std::size(kUnits) ? kUnits[third] : "units";
}

void append_names(std::string &text, const std::string &what, const std::vector<std::string> &names,
                  std::size_t limit) {
  if (names.empty()) return;
  text += fmt::format("{} {}:\n", names.size(), what);
  for (std::size_t i = 0; i < std::min(limit, names.size()); ++i)
    text += fmt::format("  {}\n", names[i]);
  if (names.size() > limit) text += fmt::format("  and {} more\n", names.size() - limit);
}

constexpr std::size_t kWide = 64; ///< bits of a value that is told whole

/// First and last bit, counted from the least significant, of the hexadecimal digits from the first to the last one
/// that differs. `a` and `b` differ and have one length.
std::pair<std::size_t, std::size_t> differing_digits(const std::string &a, const std::string &b) {
  const auto from_left = std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin();
  const auto from_right = std::mismatch(a.rbegin(), a.rend(), b.rbegin()).first - a.rbegin();
  const std::size_t high = a.size() - 1 - static_cast<std::size_t>(from_left),
                    low = static_cast<std::size_t>(from_right);
  return {std::min(a.size() - 1, high / 4 * 4 + 3), low / 4 * 4};
}

std::string plural(std::size_t count, const char *noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string shift_text(const DiffReport &report, const TimeFormat &time) {
  if (!report.shift) return "";
  const std::int64_t by = report.shift->by;
  std::uint64_t size = static_cast<std::uint64_t>(by < 0 ? -by : by);
  std::string unit = report.edges ? "clock edges" : unit_of(time.timescale);
  if (!report.edges && time.period != 0 && size % time.period == 0) {
    size /= time.period;
    unit = size == 1 ? "cycle" : "cycles";
  } else if (!report.edges) {
    for (int t = time.timescale; t % 3 != 0; ++t)
      size *= t < 0 ? 10 : 1;
  }
  const bool all = report.shift->signals == report.differing.size();
  return fmt::format("{} a shift: the same changes {} {} {}\n",
                     all ? "all differences are"
                         : fmt::format("the differences of {} of these signals are", report.shift->signals),
                     size, unit, by > 0 ? "later" : "earlier");
}

} // namespace

std::string value_text(const std::string &value, SignalKind kind) {
  if (kind == SignalKind::kString) return fmt::format("\"{}\"", value);
  if (value.empty()) return "none";
  if (kind == SignalKind::kReal) {
    double number = 0;
    if (value.size() == sizeof number) std::memcpy(&number, value.data(), sizeof number);
    return fmt::format("{}", number);
  }
  if (value.size() == 1) return value;
  if (value.find_first_not_of("01") != std::string::npos) return "b" + value;
  std::string hex = "0x";
  for (std::size_t begin = 0; begin < value.size();) {
    const std::size_t digit = (value.size() - begin - 1) % 4 + 1;
    hex += "0123456789abcdef"[std::stoul(value.substr(begin, digit), nullptr, 2)];
    begin += digit;
  }
  return hex;
}

std::string TimeFormat::operator()(std::uint64_t time) const {
  if (edges) return fmt::format("edge {}", time);
  if (period != 0)
    return time % period == 0 ? fmt::format("cycle {}", time / period)
                              : fmt::format("cycle {} + {}/{}", time / period, time % period, period);
  std::uint64_t factor = 1;
  for (int t = timescale; t % 3 != 0; ++t)
    factor *= 10;
  return fmt::format("{} {}", time * factor, unit_of(timescale));
}

TimeFormat time_format(const DiffReport &report, std::uint64_t period) {
  return {report.timescale, report.edges ? 0 : period, report.edges};
}

std::string first_difference(const DifferingSignal &signal, const TimeFormat &time, const SideNames &sides) {
  std::string a = signal.difference.a, b = signal.difference.b, name = signal.name + signal.range;
  if (signal.kind == SignalKind::kBits && a.size() > kWide && a.size() == b.size()) {
    const auto [high, low] = differing_digits(a, b);
    name += fmt::format(" bits {}:{}", high, low);
    a = a.substr(a.size() - 1 - high, high - low + 1);
    b = b.substr(b.size() - 1 - high, high - low + 1);
  }
  return fmt::format("{}: {}: {} {}, {} {}", time(signal.difference.first), name, sides.a, value_text(a, signal.kind),
                     sides.b, value_text(b, signal.kind));
}

std::string diff_text(const DiffReport &report, const TimeFormat &time, const SideNames &sides, std::size_t limit) {
  const std::string window = fmt::format("{} to {}", time.rough(report.from), time.rough(report.to));
  if (report.equal()) return fmt::format("equal: {}, {}\n", plural(report.compared, "signal"), window);

  std::string text;
  if (!report.differing.empty()) {
    text += first_difference(report.differing.front(), time, sides) + "\n";
    text += fmt::format("{} of {} differ, {}:\n", report.differing.size(), plural(report.compared, "signal"), window);
    for (std::size_t i = 0; i < std::min(limit, report.differing.size()); ++i) {
      const SignalDifference &d = report.differing[i].difference;
      text += fmt::format("  {} ({}; last {})\n", first_difference(report.differing[i], time, sides),
                          plural(d.intervals, "interval"), time.rough(d.last));
    }
    if (report.differing.size() > limit) text += fmt::format("  and {} more\n", report.differing.size() - limit);
    text += shift_text(report, time);
  }
  for (const Incompatible &signal : report.incompatible)
    text += fmt::format("{}: {} has {}, {} has {}\n", signal.name, sides.a, signal.a, sides.b, signal.b);
  append_names(text, fmt::format("only in {}", sides.a), report.only_a, limit);
  append_names(text, fmt::format("only in {}", sides.b), report.only_b, limit);
  if (report.ends_differ)
    text +=
        fmt::format("{} ends at {}, {} at {}\n", sides.a, time.rough(report.a_end), sides.b, time.rough(report.b_end));
  return text;
}

} // namespace gradweave::wave
