#include "app/evaluation/unit/unit.hpp"

#include "base/file/json_field.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace gradweave::evaluation {
namespace {

using Json = nlohmann::ordered_json;

} // namespace

bool executable(const Variant &variant) { return !variant.dy_once && variant.policy.find('+') == std::string::npos; }

std::uint64_t UnitResult::read_bytes() const {
  std::uint64_t sum = 0;
  for (const Moved &m : moved)
    sum += m.read;
  return sum;
}

std::uint64_t UnitResult::bytes() const {
  std::uint64_t sum = read_bytes();
  for (const Moved &m : moved)
    sum += m.written;
  return sum;
}

std::string to_text(const UnitResult &result) {
  if (!result.problem.empty()) return Json{{"problem", result.problem}}.dump();
  Json moved = Json::array();
  for (const Moved &m : result.moved)
    moved.push_back({m.read, m.written, m.spilled});
  return Json{{"cycles", result.cycles},
              {"compute_bound", result.compute_bound},
              {"traffic_bound", result.traffic_bound},
              {"moved", moved}}
      .dump();
}

UnitResult from_text(const std::string &text) {
  UnitResult result;
  try {
    const Json json = Json::parse(text);
    if (json.contains("problem")) {
      result.problem = json.at("problem").get<std::string>();
      return result;
    }
    result.cycles = whole_number<std::uint64_t>(json.at("cycles"));
    result.compute_bound = whole_number<std::uint64_t>(json.at("compute_bound"));
    result.traffic_bound = whole_number<std::uint64_t>(json.at("traffic_bound"));
    for (std::size_t t = 0; t < result.moved.size(); ++t) {
      const Json &m = json.at("moved").at(t);
      result.moved.at(t) = {whole_number<std::uint64_t>(m.at(0)), whole_number<std::uint64_t>(m.at(1)),
                            whole_number<std::uint64_t>(m.at(2))};
    }
  } catch (const Json::exception &error) {
    throw std::invalid_argument(fmt::format("not the result of an evaluation: {}", error.what()));
  }
  return result;
}

} // namespace gradweave::evaluation
