#include "runtime/result_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace gradweave::runtime {
namespace {

using compiler::Tensor;
using compiler::Traffic;
using Json = nlohmann::ordered_json;

Tensor tensor_at(std::size_t index) { return static_cast<Tensor>(index); }

Tensor parse_tensor(const std::string &name) {
  for (std::size_t i = 0; i < compiler::kTensorCount; ++i)
    if (compiler::to_string(tensor_at(i)) == name) return tensor_at(i);
  throw std::invalid_argument(fmt::format("unknown tensor '{}'", name));
}

bool moves(const Traffic &t) { return t.read_bytes != 0 || t.write_bytes != 0; }

Json traffic_json(const JobResult &result) {
  Json json = Json::object();
  for (std::size_t i = 0; i < compiler::kTensorCount; ++i) {
    const Traffic &t = result.traffic[i];
    if (!moves(t)) continue;
    json[std::string(compiler::to_string(tensor_at(i)))] = {{"read_bytes", t.read_bytes},
                                                            {"write_bytes", t.write_bytes},
                                                            {"read_bus_bytes", t.read_bus_bytes},
                                                            {"write_bus_bytes", t.write_bus_bytes},
                                                            {"spill_read_bytes", t.spill_read_bytes},
                                                            {"spill_write_bytes", t.spill_write_bytes}};
  }
  return json;
}

Json outputs_json(const JobResult &result) {
  Json json = Json::array();
  for (const OutputCheck &check : result.outputs)
    json.push_back({{"tensor", std::string(compiler::to_string(check.tensor))},
                    {"elements", check.elements},
                    {"mismatches", check.mismatches},
                    {"finite", check.finite},
                    {"hash", fmt::format("{:016x}", check.hash)},
                    {"direct", check.direct}});
  return json;
}

Json counters_json(const Counters &counters) {
  Json json = Json::object();
  for (std::size_t i = 0; i < counters.values.size(); ++i)
    json[isa::counter_name(i)] = counters.values[i];
  return json;
}

} // namespace

Json to_json(const compiler::Tuning &tuning) {
  return {{"candidates", tuning.candidates},
          {"simulated", tuning.simulated},
          {"improvements", tuning.improvements},
          {"cycles_before", tuning.cycles_before},
          {"seconds", tuning.seconds}};
}

Json to_json(const JobResult &result) {
  const compiler::Layer &layer = result.layer;
  return {{"name", layer.name},
          {"index", layer.index},
          {"m", layer.m},
          {"k", layer.k},
          {"n", layer.n},
          {"groups", layer.groups},
          {"dx", layer.dx},
          {"schedule", std::string(compiler::to_string(result.requested))},
          {"chosen_schedule", std::string(compiler::to_string(result.chosen))},
          {"tiling", result.tiling},
          {"commands", result.commands},
          {"macs", result.macs},
          {"cycles", result.cycles()},
          {"compute_cycles", result.compute_cycles},
          {"predicted_cycles", result.predicted_cycles},
          {"compute_bound", result.bounds.compute_cycles},
          {"traffic_bound", result.bounds.traffic_cycles},
          {"bound", result.bounds.run_cycles},
          {"tuning", to_json(result.tuning)},
          {"dram", traffic_json(result)},
          {"counters", counters_json(result.counters)},
          {"compile_seconds", result.compile_seconds},
          {"wall_seconds", result.wall_seconds},
          {"cpu_seconds", result.cpu_seconds},
          {"process_seconds", result.process_seconds},
          {"outputs", outputs_json(result)},
          {"outcome", std::string(to_string(result.outcome))},
          {"failures", result.failures},
          {"trace", result.trace},
          {"times", result.times_file},
          {"timeline", result.timeline_file},
          {"kept_since", result.kept_since}};
}

JobResult result_from_json(const Json &json) {
  JobResult result;
  json.at("name").get_to(result.layer.name);
  json.at("index").get_to(result.layer.index);
  json.at("m").get_to(result.layer.m);
  json.at("k").get_to(result.layer.k);
  json.at("n").get_to(result.layer.n);
  json.at("groups").get_to(result.layer.groups);
  json.at("dx").get_to(result.layer.dx);
  result.requested = compiler::parse_schedule(json.at("schedule").get<std::string>());
  result.chosen = compiler::parse_schedule(json.at("chosen_schedule").get<std::string>());
  json.at("tiling").get_to(result.tiling);
  json.at("commands").get_to(result.commands);
  json.at("macs").get_to(result.macs);
  json.at("compute_cycles").get_to(result.compute_cycles);
  json.at("predicted_cycles").get_to(result.predicted_cycles);
  json.at("compute_bound").get_to(result.bounds.compute_cycles);
  json.at("traffic_bound").get_to(result.bounds.traffic_cycles);
  json.at("bound").get_to(result.bounds.run_cycles);
  const Json &tuning = json.at("tuning");
  tuning.at("candidates").get_to(result.tuning.candidates);
  tuning.at("simulated").get_to(result.tuning.simulated);
  tuning.at("improvements").get_to(result.tuning.improvements);
  tuning.at("cycles_before").get_to(result.tuning.cycles_before);
  tuning.at("seconds").get_to(result.tuning.seconds);
  for (const auto &[name, entry] : json.at("dram").items()) {
    Traffic &t = result.traffic[static_cast<std::size_t>(parse_tensor(name))];
    entry.at("read_bytes").get_to(t.read_bytes);
    entry.at("write_bytes").get_to(t.write_bytes);
    entry.at("read_bus_bytes").get_to(t.read_bus_bytes);
    entry.at("write_bus_bytes").get_to(t.write_bus_bytes);
    entry.at("spill_read_bytes").get_to(t.spill_read_bytes);
    entry.at("spill_write_bytes").get_to(t.spill_write_bytes);
  }
  const Json &counters = json.at("counters");
  result.counters.values.resize(counters.size());
  for (std::size_t i = 0; i < counters.size(); ++i)
    counters.at(isa::counter_name(i)).get_to(result.counters.values[i]);
  json.at("compile_seconds").get_to(result.compile_seconds);
  json.at("wall_seconds").get_to(result.wall_seconds);
  json.at("cpu_seconds").get_to(result.cpu_seconds);
  json.at("process_seconds").get_to(result.process_seconds);
  for (const Json &entry : json.at("outputs")) {
    OutputCheck check;
    check.tensor = parse_tensor(entry.at("tensor").get<std::string>());
    entry.at("elements").get_to(check.elements);
    entry.at("mismatches").get_to(check.mismatches);
    entry.at("finite").get_to(check.finite);
    check.hash = std::stoull(entry.at("hash").get<std::string>(), nullptr, 16);
    entry.at("direct").get_to(check.direct);
    result.outputs.push_back(check);
  }
  result.outcome = parse_outcome(json.at("outcome").get<std::string>());
  json.at("failures").get_to(result.failures);
  json.at("trace").get_to(result.trace);
  json.at("times").get_to(result.times_file);
  json.at("timeline").get_to(result.timeline_file);
  json.at("kept_since").get_to(result.kept_since);
  return result;
}

} // namespace gradweave::runtime
