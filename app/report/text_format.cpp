#include "app/report/text_format.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace gradweave::runtime {

std::string human(double value) {
  constexpr std::array<std::string_view, 5> kUnits{"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f}", value);
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, digits, kUnits[unit]);
}

std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string ratio(std::uint64_t value, std::uint64_t base) {
  if (base == 0) return "-";
  return fmt::format("{:.3f}", static_cast<double>(value) / static_cast<double>(base));
}

std::string percent(double fraction) { return fmt::format("{:.1f}%", 100 * fraction); }

std::string cores(const NpuConfig &npu) { return npu.cores == 1 ? "" : fmt::format("{} cores of ", npu.cores); }

std::string shape(const compiler::Layer &layer) {
  const std::string one = fmt::format("{}x{}x{}", layer.m, layer.k, layer.n);
  return layer.groups == 1 ? one : fmt::format("{} x{}", one, layer.groups);
}

std::string schedule_name(const JobResult &job) {
  if (job.requested == job.chosen) return std::string(compiler::to_string(job.requested));
  return fmt::format("{}>{}", compiler::to_string(job.requested), compiler::to_string(job.chosen));
}

} // namespace gradweave::runtime
