#include "app/validate/verdict/verdict_json.hpp"
#include "base/file/json_field.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace gradweave::runtime {
namespace {

using Json = nlohmann::ordered_json;

Outcome outcome_of(const std::string &name) {
  for (const Outcome outcome :
       {Outcome::kPass, Outcome::kMismatch, Outcome::kDevice, Outcome::kUnavailable, Outcome::kBadInput})
    if (name == to_string(outcome)) return outcome;
  throw std::invalid_argument("unknown outcome '" + name + "'");
}

isa::ErrorCode error_of(const std::string &name) {
  for (std::size_t i = 0; i < isa::kErrorNames.size(); ++i)
    if (name == isa::kErrorNames[i]) return static_cast<isa::ErrorCode>(i);
  throw std::invalid_argument("unknown error code '" + name + "'");
}

ValidationVerdict from_json(const Json &json) {
  ValidationVerdict v;
  v.name = json.at("name");
  v.npu = json.at("npu");
  v.outcome = outcome_of(json.at("outcome"));
  v.end = error_of(json.at("end"));
  read_field(json, "cycles", v.cycles);
  read_field(json, "commands", v.commands);
  read_field(json, "commands_differ", v.commands_differ);
  read_field(json, "counters", v.counters);
  read_field(json, "counters_differ", v.counters_differ);
  read_field(json, "marks", v.marks);
  v.ring = json.at("ring");
  read_field(json, "vectors", v.vectors);
  v.report = json.at("report");
  v.reproduce = json.at("reproduce");
  v.kind = json.at("kind");
  v.error_drawn = json.at("error_drawn");
  return v;
}

} // namespace

Json to_json(const ValidationVerdict &v) {
  return {{"name", v.name},
          {"npu", v.npu},
          {"outcome", std::string(to_string(v.outcome))},
          {"end", std::string(isa::kErrorNames[static_cast<std::size_t>(v.end)])},
          {"cycles", v.cycles},
          {"commands", v.commands},
          {"commands_differ", v.commands_differ},
          {"counters", v.counters},
          {"counters_differ", v.counters_differ},
          {"marks", v.marks},
          {"ring", v.ring},
          {"vectors", v.vectors},
          {"report", v.report},
          {"reproduce", v.reproduce},
          {"kind", v.kind},
          {"error_drawn", v.error_drawn}};
}

std::string to_text(const std::vector<ValidationVerdict> &verdicts) {
  Json list = Json::array();
  for (const ValidationVerdict &verdict : verdicts)
    list.push_back(to_json(verdict));
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<ValidationVerdict> verdicts_from_text(const std::string &text) {
  std::vector<ValidationVerdict> verdicts;
  for (const Json &json : Json::parse(text))
    verdicts.push_back(from_json(json));
  return verdicts;
}

} // namespace gradweave::runtime
