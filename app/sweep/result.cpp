#include "app/sweep/result.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace gradweave::sweep {
namespace {

constexpr std::array<std::string_view, 3> kOutcomes{"ok", "infeasible", "failed"};

} // namespace

std::string_view to_string(Outcome outcome) { return kOutcomes.at(static_cast<std::size_t>(outcome)); }

Outcome parse_outcome(std::string_view name) {
  for (std::size_t i = 0; i < kOutcomes.size(); ++i)
    if (kOutcomes.at(i) == name) return static_cast<Outcome>(i);
  throw std::invalid_argument(fmt::format("'{}' is no outcome; use ok, infeasible or failed", name));
}

std::string to_text(const Column &column, double value) {
  return column.whole ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

std::string to_json(const std::vector<Result> &results) {
  nlohmann::json all = nlohmann::json::array();
  for (const Result &result : results)
    all.push_back({to_string(result.outcome), result.problem, result.values, result.seconds});
  return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<Result> from_json(const std::string &text) {
  std::vector<Result> results;
  for (const nlohmann::json &json : nlohmann::json::parse(text)) {
    Result result;
    result.outcome = parse_outcome(json.at(0).get<std::string>());
    json.at(1).get_to(result.problem);
    json.at(2).get_to(result.values);
    json.at(3).get_to(result.seconds);
    results.push_back(std::move(result));
  }
  return results;
}

} // namespace gradweave::sweep
