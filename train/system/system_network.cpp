#include "train/system/system_network.hpp"

#include "graph/ir/error.hpp"
#include "graph/operators/table.hpp"
#include "sw_models/config/toml_section.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::runtime::train {
namespace {

/// Devices in the order of places: the first ones of all routes, then the second ones; last those of tables only.
std::vector<std::uint32_t> devices_of(const PartitionConfig &partition, const TablesConfig &tables) {
  std::vector<std::uint32_t> devices;
  const auto add = [&](std::uint32_t device) {
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
  };
  bool more = true;
  for (std::size_t leg = 0; more; ++leg) {
    more = false;
    for (const RouteConfig &route : partition.routes) {
      if (leg >= route.devices.size()) continue;
      more = true;
      add(route.devices[leg]);
    }
  }
  for (const std::uint32_t device : tables.devices)
    add(device);
  return devices;
}

graph::Partition partition_of(const PartitionConfig &partition, const TablesConfig &tables,
                              const std::vector<std::uint32_t> &devices) {
  graph::Partition result;
  const auto place_of = [&](std::uint32_t device) {
    return static_cast<std::uint32_t>(std::find(devices.begin(), devices.end(), device) - devices.begin());
  };
  for (const std::uint32_t device : tables.devices)
    result.tables.push_back(place_of(device));
  result.reduced_there = tables.reduced;
  for (const RouteConfig &route : partition.routes) {
    graph::Route &own = result.routes.emplace_back();
    own.share = route.share;
    for (std::size_t leg = 0; leg < route.devices.size(); ++leg)
      own.legs.push_back({place_of(route.devices[leg]), leg == 0 ? 0 : route.cuts[leg - 1]});
  }
  return result;
}

} // namespace

SystemNetwork make_system_network(const graph::Graph &forward, const SystemConfig &system,
                                  const PartitionConfig &partition, const graph::TrainingOptions &options) {
  const std::uint32_t layers = graph::count_layers(forward);
  for (const RouteConfig &route : partition.routes)
    for (const std::uint32_t cut : route.cuts)
      if (cut >= layers)
        refuse_config(system.file, route.line,
                      fmt::format("cut = {}: network '{}' has {} layers (products), the last of which is the last "
                                  "device's; use 0 to {}",
                                  cut, forward.name, layers, layers == 0 ? 0 : layers - 1));
  if (options.accumulate != 1)
    throw graph::GraphError(fmt::format("a step of a system is one batch; leave out --accumulate {}, and say "
                                        "micro_batches in the system's file",
                                        options.accumulate));
  SystemNetwork made;
  made.devices = devices_of(partition, system.tables);
  made.order = partition.order;
  made.network = graph::split_statistics(
      graph::partition_batch(forward, graph::operators(), partition_of(partition, system.tables, made.devices)),
      graph::operators(), partition.micro_batches);
  graph::PlacedStep placed;
  placed.step = graph::training_graph(made.network.graph, graph::operators(), options);
  placed.places = graph::places_of_step(placed.step, made.network);
  placed.micro_batch_of.assign(placed.places.size(), graph::kNone);
  placed =
      graph::in_micro_batches(std::move(placed), made.network.partition, graph::operators(), partition.micro_batches);
  made.step = std::move(placed.step);
  made.places = std::move(placed.places);
  made.micro_batch_of = std::move(placed.micro_batch_of);
  return made;
}

MachineOf machine_of(const SystemNetwork &network, const SystemConfig &system) {
  return [&network, &system](graph::OpId op) -> const Machine & {
    const std::uint32_t place = network.places[op];
    const std::size_t last = network.network.partition.places() - 1; // also what has no place of its own
    return system.devices[network.devices[place == graph::kHostPlace ? last : place]].machine;
  };
}

} // namespace gradweave::runtime::train
