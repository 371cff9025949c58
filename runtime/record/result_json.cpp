#include "runtime/record/result_json.hpp"

#include "base/file/json_field.hpp"
#include "runtime/record/sketch_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <stdexcept>
#include <system_error>

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

std::uint64_t parse_hash(const std::string &digits) {
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), hash, 16);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw std::invalid_argument(fmt::format("'{}' is no hash", digits));
  return hash;
}

bool moves(const Traffic &t) { return t.read_bytes != 0 || t.write_bytes != 0; }

Json traffic_json(const compiler::LayerTraffic &traffic) {
  Json json = Json::object();
  for (std::size_t i = 0; i < compiler::kTensorCount; ++i) {
    const Traffic &t = traffic[i];
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

void read_traffic(const Json &json, compiler::LayerTraffic &traffic) {
  for (const auto &[name, entry] : json.items()) {
    Traffic &t = traffic[static_cast<std::size_t>(parse_tensor(name))];
    read_field(entry, "read_bytes", t.read_bytes);
    read_field(entry, "write_bytes", t.write_bytes);
    read_field(entry, "read_bus_bytes", t.read_bus_bytes);
    read_field(entry, "write_bus_bytes", t.write_bus_bytes);
    read_field(entry, "spill_read_bytes", t.spill_read_bytes);
    read_field(entry, "spill_write_bytes", t.spill_write_bytes);
  }
}

Json layer_json(const compiler::Layer &layer) {
  return {{"name", layer.name}, {"index", layer.index},   {"m", layer.m},  {"k", layer.k},
          {"n", layer.n},       {"groups", layer.groups}, {"dx", layer.dx}};
}

compiler::Layer layer_from_json(const Json &json) {
  compiler::Layer layer;
  read_field(json, "name", layer.name);
  read_field(json, "index", layer.index);
  read_field(json, "m", layer.m);
  read_field(json, "k", layer.k);
  read_field(json, "n", layer.n);
  read_field(json, "groups", layer.groups);
  read_field(json, "dx", layer.dx);
  return layer;
}

/// What is known of a layer by itself.
Json planned_json(const JobResult &result, std::size_t layer) {
  Json json = layer_json(result.layers[layer]);
  json["tiling"] = result.tilings[layer];
  json["dram"] = traffic_json(result.traffic[layer]);
  return json;
}

void read_planned(const Json &json, JobResult &result) {
  result.layers.push_back(layer_from_json(json));
  read_field(json, "tiling", result.tilings.emplace_back());
  read_traffic(json.at("dram"), result.traffic.emplace_back());
}

Json outputs_json(const JobResult &result) {
  Json json = Json::array();
  for (const OutputCheck &check : result.outputs) {
    json.push_back({{"tensor", std::string(compiler::to_string(check.tensor))},
                    {"elements", check.elements},
                    {"mismatches", check.mismatches},
                    {"finite", check.finite},
                    {"hash", fmt::format("{:016x}", check.hash)},
                    {"direct", check.direct}});
    if (check.block != 0) json.back()["channel_block"] = check.block;
    if (result.layers.size() > 1) json.back()["layer"] = check.layer;
  }
  return json;
}

Json counters_json(const Counters &counters) {
  Json json = Json::object();
  for (std::size_t i = 0; i < counters.values.size(); ++i)
    json[isa::counter_name(i, counters.cores)] = counters.values[i];
  return json;
}

Json accesses_json(const AccessCounts &counts) {
  Json json = Json::object();
  for (const AccessCountForm &form : access_count_forms())
    json[std::string(form.name)] = counts.*form.count;
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
  const bool several = result.layers.size() > 1;
  Json json = several ? Json{{"layers", Json::array()}} : layer_json(result.layer());
  for (std::size_t i = 0; several && i < result.layers.size(); ++i)
    json["layers"].push_back(planned_json(result, i));
  json.update({{"schedule", std::string(compiler::to_string(result.requested))},
               {"chosen_schedule", std::string(compiler::to_string(result.chosen))}});
  const Json planned = planned_json(result, 0);
  if (!several) json["tiling"] = planned["tiling"];
  json.update({{"commands", result.commands},
               {"macs", result.macs},
               {"cycles", result.cycles()},
               {"compute_cycles", result.compute_cycles},
               {"predicted_cycles", result.predicted_cycles},
               {"compute_bound", result.bounds.compute_cycles},
               {"traffic_bound", result.bounds.traffic_cycles},
               {"io_bound", result.bounds.io_cycles},
               {"bound", result.bounds.run_cycles},
               {"tuning", to_json(result.tuning)}});
  if (!several) json["dram"] = planned["dram"];
  json.update({{"counters", counters_json(result.counters)},
               {"accesses", accesses_json(result.accesses)},
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
               {"kept_since", result.kept_since}});
  if (result.sketch) json["sketch"] = to_json(*result.sketch);
  return json;
}

JobResult result_from_json(const Json &json) {
  JobResult result;
  if (json.contains("layers")) {
    for (const Json &layer : json.at("layers"))
      read_planned(layer, result);
  } else {
    read_planned(json, result);
  }
  result.requested = compiler::parse_schedule(json.at("schedule").get<std::string>());
  result.chosen = compiler::parse_schedule(json.at("chosen_schedule").get<std::string>());
  read_field(json, "commands", result.commands);
  read_field(json, "macs", result.macs);
  read_field(json, "compute_cycles", result.compute_cycles);
  read_field(json, "predicted_cycles", result.predicted_cycles);
  read_field(json, "compute_bound", result.bounds.compute_cycles);
  read_field(json, "traffic_bound", result.bounds.traffic_cycles);
  read_field(json, "io_bound", result.bounds.io_cycles);
  read_field(json, "bound", result.bounds.run_cycles);
  const Json &tuning = json.at("tuning");
  read_field(tuning, "candidates", result.tuning.candidates);
  read_field(tuning, "simulated", result.tuning.simulated);
  read_field(tuning, "improvements", result.tuning.improvements);
  read_field(tuning, "cycles_before", result.tuning.cycles_before);
  read_field(tuning, "seconds", result.tuning.seconds);
  const Json &counters = json.at("counters");
  result.counters.values.resize(counters.size());
  while (counters.contains(fmt::format("COMPUTE_ACTIVE_CORE{}", result.counters.cores)))
    ++result.counters.cores;
  for (std::size_t i = 0; i < counters.size(); ++i)
    read_field(counters, isa::counter_name(i, result.counters.cores).c_str(), result.counters.values[i]);
  for (const AccessCountForm &form : access_count_forms())
    read_field(json.at("accesses"), std::string(form.name).c_str(), result.accesses.*form.count);
  read_field(json, "compile_seconds", result.compile_seconds);
  read_field(json, "wall_seconds", result.wall_seconds);
  read_field(json, "cpu_seconds", result.cpu_seconds);
  read_field(json, "process_seconds", result.process_seconds);
  for (const Json &entry : json.at("outputs")) {
    OutputCheck check;
    check.tensor = parse_tensor(entry.at("tensor").get<std::string>());
    read_field(entry, "elements", check.elements);
    read_field(entry, "mismatches", check.mismatches);
    read_field(entry, "finite", check.finite);
    check.hash = parse_hash(entry.at("hash").get<std::string>());
    read_field(entry, "direct", check.direct);
    if (entry.contains("channel_block")) read_field(entry, "channel_block", check.block);
    if (entry.contains("layer")) read_field(entry, "layer", check.layer);
    result.outputs.push_back(check);
  }
  result.outcome = parse_outcome(json.at("outcome").get<std::string>());
  read_field(json, "failures", result.failures);
  read_field(json, "trace", result.trace);
  read_field(json, "times", result.times_file);
  read_field(json, "timeline", result.timeline_file);
  read_field(json, "kept_since", result.kept_since);
  if (json.contains("sketch")) result.sketch = sketch_from_json(json.at("sketch"));
  return result;
}

} // namespace gradweave::runtime
