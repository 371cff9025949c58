#include "compiler/request/flexer_policy.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace gradweave::compiler::flexer {
namespace {

template <typename E, std::size_t kCount> using Names = std::array<std::pair<E, std::string_view>, kCount>;

constexpr Names<SetPriority, 3> kPriorities{{{SetPriority::kBenefit, "benefit"},
                                             {SetPriority::kMinTransfer, "min_transfer"},
                                             {SetPriority::kMinSpilling, "min_spilling"}}};
constexpr Names<Victims, 3> kVictims{
    {{Victims::kAlgorithm2, "algorithm2"}, {Victims::kFirstFit, "first_fit"}, {Victims::kSmallest, "smallest"}}};
constexpr Names<SpillWeight, 2> kWeights{
    {{SpillWeight::kDivided, "divided"}, {SpillWeight::kMultiplied, "multiplied"}}};
constexpr Names<Metric, 3> kMetrics{
    {{Metric::kLatencyTimesData, "latency_data"}, {Metric::kLatency, "latency"}, {Metric::kData, "data"}}};
constexpr Names<bool, 2> kGaps{{{true, "count"}, {false, "end"}}};

template <typename E, std::size_t kCount> std::string_view name_of(const Names<E, kCount> &names, E value) {
  for (const auto &[v, name] : names)
    if (v == value) return name;
  throw std::invalid_argument("no such choice of a policy");
}

template <typename E, std::size_t kCount> std::string list(const Names<E, kCount> &names) {
  std::string all;
  for (const auto &[value, name] : names)
    all += fmt::format("{}{}", all.empty() ? "" : ", ", name);
  return all;
}

template <typename E, std::size_t kCount>
E value_of(const Names<E, kCount> &names, std::string_view key, std::string_view text) {
  for (const auto &[value, name] : names)
    if (name == text) return value;
  throw std::invalid_argument(fmt::format("policy: unknown {} '{}'; use one of: {}", key, text, list(names)));
}

void set(Policy &policy, std::string_view key, std::string_view value) {
  if (key == "priority")
    policy.priority = value_of(kPriorities, key, value);
  else if (key == "victims")
    policy.victims = value_of(kVictims, key, value);
  else if (key == "weight")
    policy.weight = value_of(kWeights, key, value);
  else if (key == "metric")
    policy.metric = value_of(kMetrics, key, value);
  else if (key == "gaps")
    policy.gaps_count = value_of(kGaps, key, value);
  else
    throw std::invalid_argument(fmt::format("policy: unknown key '{}'; there are {}", key, policy_names()));
}

} // namespace

std::string_view to_string(SetPriority p) { return name_of(kPriorities, p); }
std::string_view to_string(Victims v) { return name_of(kVictims, v); }
std::string_view to_string(SpillWeight w) { return name_of(kWeights, w); }
std::string_view to_string(Metric m) { return name_of(kMetrics, m); }

std::string to_string(const Policy &policy) {
  const auto &[priority, victims, weight, metric, gaps] = policy; // all: results depend on each
  return fmt::format("priority={},victims={},weight={},metric={},gaps={}", to_string(priority), to_string(victims),
                     to_string(weight), to_string(metric), name_of(kGaps, gaps));
}

std::string policy_names() {
  return fmt::format("priority: {}; victims: {}; weight: {}; metric: {}; gaps: {}", list(kPriorities), list(kVictims),
                     list(kWeights), list(kMetrics), list(kGaps));
}

Policy parse_policy(std::string_view text) {
  Policy policy;
  std::string seen = ",";
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos)
      throw std::invalid_argument(fmt::format("policy: '{}' is no key=value; there are {}", pair, policy_names()));
    const std::string_view key = pair.substr(0, equals);
    const std::string entry = fmt::format("{},", key);
    if (seen.find("," + entry) != std::string::npos)
      throw std::invalid_argument(fmt::format("policy: '{}' is given twice", key));
    seen += entry;
    set(policy, key, pair.substr(equals + 1));
  }
  return policy;
}

} // namespace gradweave::compiler::flexer
