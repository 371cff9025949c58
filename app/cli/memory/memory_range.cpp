#include "app/cli/memory/memory_range.hpp"

#include "base/text/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace gradweave::cli {
namespace {

constexpr double kMebibyte = 1048576;
constexpr double kMostMebibytes = 16.0 * kMebibyte; // 16 TiB
constexpr std::size_t kMostCapacities = 100000;

double positive(const std::string &text, const std::string &all, const char *what) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0) || value > kMostMebibytes)
    throw std::invalid_argument(fmt::format("--capacity {}: {} '{}' must be a number of MiB above 0, at most {:.0f}",
                                            all, what, text, kMostMebibytes));
  return value;
}

} // namespace

std::vector<std::uint64_t> parse_capacities(const std::string &text) {
  std::vector<double> all;
  for (const std::string &item : split(text, ',')) {
    const std::vector<std::string> parts = split(item, ':');
    if (parts.empty() || parts.size() > 3)
      throw std::invalid_argument(fmt::format("--capacity {}: a range is FROM:TO or FROM:TO:STEP, in MiB", text));
    const double from = positive(parts[0], text, parts.size() == 1 ? "a capacity" : "a range's beginning");
    const double to = parts.size() > 1 ? positive(parts[1], text, "a range's end") : from;
    const double step = parts.size() > 2 ? positive(parts[2], text, "a range's step") : 1;
    if (to < from) throw std::invalid_argument(fmt::format("--capacity {}: the range ends before it begins", text));
    const double count = std::floor((to - from) / step * (1 + 1e-12));
    if (count + static_cast<double>(all.size()) >= static_cast<double>(kMostCapacities))
      throw std::invalid_argument(fmt::format("--capacity {}: at most {} capacities at a time", text, kMostCapacities));
    for (double i = 0; i <= count; ++i)
      all.push_back(from + i * step);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<std::uint64_t> bytes;
  for (const double mebibytes : all)
    bytes.push_back(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(mebibytes * kMebibyte)));
  return bytes;
}

} // namespace gradweave::cli
