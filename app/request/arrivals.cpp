#include "app/request/arrivals.hpp"

#include "base/random/dice.hpp"
#include "base/text/input_file.hpp"
#include "base/text/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace gradweave::cli {
namespace {

constexpr std::uint64_t kMostCycles = std::uint64_t{1} << 48U; ///< beyond which nobody waits

std::optional<std::uint64_t> whole(const std::string &text) {
  std::uint64_t value = 0;
  const char *end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(value) : std::nullopt;
}

std::size_t job_of(const std::string &where, const std::string &text, const std::vector<std::string> &jobs) {
  if (const auto named = std::find(jobs.begin(), jobs.end(), text); named != jobs.end())
    return static_cast<std::size_t>(named - jobs.begin());
  if (const auto number = whole(text); number && *number < jobs.size()) return *number;
  throw InputError(
      fmt::format("{}: job '{}' is unknown; use one of {}, or its number from 0", where, text, fmt::join(jobs, ", ")));
}

runtime::Arrival arrival_of(const std::string &where, const std::string &line, const std::vector<std::string> &jobs) {
  const std::size_t comma = line.find(',');
  if (comma == std::string::npos) throw InputError(fmt::format("{}: '{}' is no arrival; write CYCLE,JOB", where, line));
  const std::string cycle = line.substr(0, comma);
  const auto value = whole(cycle);
  if (!value || *value > kMostCycles)
    throw InputError(
        fmt::format("{}: cycle '{}'; requests arrive in a whole cycle from 0 to {}", where, cycle, kMostCycles));
  return {job_of(where, line.substr(comma + 1), jobs), *value};
}

} // namespace

std::vector<runtime::Arrival> parse_arrivals(const std::string &text, const std::string &name,
                                             const std::vector<std::string> &jobs) {
  std::vector<runtime::Arrival> arrivals;
  std::size_t number = 0;
  for (std::string &line : split(text, '\n')) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    arrivals.push_back(arrival_of(fmt::format("{}:{}", name, number), line, jobs));
    if (arrivals.size() > kMostRequests)
      throw InputError(fmt::format("{}:{}: more than {} arrivals; split the list", name, number, kMostRequests));
  }
  if (arrivals.empty()) throw InputError(fmt::format("{}: no arrivals; write a line CYCLE,JOB for each", name));
  return arrivals;
}

std::vector<runtime::Arrival> read_arrivals(const std::filesystem::path &file, const std::vector<std::string> &jobs) {
  return parse_arrivals(read_input_text(file, {"list of arrivals", kMaxTextBytes}), file.string(), jobs);
}

std::vector<runtime::Arrival> draw_arrivals(std::uint64_t requests, double mean_gap, std::size_t jobs,
                                            std::uint64_t seed) {
  Dice dice(seed);
  std::vector<runtime::Arrival> arrivals;
  double cycle = 0;
  for (std::uint64_t i = 0; i < requests; ++i) {
    const double share = static_cast<double>(dice.bits() >> 11U) * 0x1p-53; // [0, 1)
    cycle -= mean_gap * std::log1p(-share);
    arrivals.push_back({dice.below(jobs), static_cast<std::uint64_t>(cycle)});
  }
  return arrivals;
}

} // namespace gradweave::cli
