#include "sw_models/partitioned/partition.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::partitioned {
namespace {

/// Cycles of the layers [from, to), of one of their products.
double sum(const std::vector<LayerCycles> &layers, double LayerCycles::*product, std::size_t from, std::size_t to) {
  double cycles = 0;
  for (std::size_t i = from; i < to; ++i)
    cycles += layers[i].*product;
  return cycles;
}

} // namespace

Workload workload_of(const std::vector<LayerShape> &layers, const std::vector<double> &maps, const Array &storage,
                     const Array &host, const Reading &reading) {
  Workload workload{network_cycles(layers, storage, reading), network_cycles(layers, host, reading), {}, maps};
  for (const LayerShape &layer : layers)
    workload.weights.push_back(weights_of(layer));
  return workload;
}

void check(const Workload &workload) {
  const std::size_t layers = workload.layers();
  if (layers == 0) throw std::invalid_argument("a workload without layers; give it at least one");
  if (workload.storage.size() != layers || workload.weights.size() != layers || workload.maps.size() != layers + 1 ||
      workload.of_own().size() != layers || workload.of_whole().size() != layers)
    throw std::invalid_argument(fmt::format("{} layers on the NPU, {} and {} of whole images, {} near storage, {} with "
                                            "weights, {} cuts; layers must be as many, and one cut "
                                            "more",
                                            layers, workload.of_own().size(), workload.of_whole().size(),
                                            workload.storage.size(), workload.weights.size(), workload.maps.size()));
}

void check_devices(std::uint32_t devices, std::uint32_t batch) {
  if (devices == 0) throw std::invalid_argument("0 near-storage devices; give at least 1");
  if (batch == 0 || batch % devices != 0)
    throw std::invalid_argument(
        fmt::format("a mini-batch of {} is not divisible by {} devices; take a multiple of these", batch, devices));
}

double exchange_factor(Exchange exchange, std::uint32_t devices) {
  const double others = devices - 1.0;
  if (exchange == Exchange::kRing) return 2 * others / devices;
  return exchange == Exchange::kGather ? 2 * others : devices > 1 ? 1 : 0;
}

Phases phases(const Workload &workload, const System &system, std::uint32_t batch, std::size_t cut,
              Accounting accounting) {
  check(workload);
  check_devices(system.devices, batch);
  const std::size_t layers = workload.layers();
  if (cut > layers)
    throw std::invalid_argument(fmt::format(
        "a cut before layer {} is beyond the network; it has {} layers, cuts are 0 to {}", cut, layers, layers));
  const double images = batch, a_device = images / system.devices;
  const bool reduced = accounting == Accounting::kReduced;
  const std::vector<LayerCycles> &host = cut == 0 ? workload.of_whole() : workload.host;
  Phases p;
  p.forward_storage = a_device * sum(workload.storage, &LayerCycles::forward, 0, cut);
  p.forward_host = images * sum(host, &LayerCycles::forward, cut, layers);
  const bool both = cut > 0 && cut < layers;
  p.map = both ? images * workload.maps[cut] * system.map_cycles * (system.backward_map ? 2 : 1) : 0;
  p.backward_host = images * sum(host, &LayerCycles::dx, cut, layers);
  p.backward_storage = a_device * sum(workload.storage, &LayerCycles::dx, 0, cut);
  p.update_host = (reduced ? 1 : images) * sum(host, &LayerCycles::dw, cut, layers);
  p.update_storage = (reduced ? 1 : a_device) * sum(workload.storage, &LayerCycles::dw, 0, cut);
  double weights = 0;
  for (std::size_t i = 0; i < cut; ++i)
    weights += workload.weights[i];
  p.exchange = weights * system.exchange_cycles * exchange_factor(system.exchange, system.devices);
  return p;
}

double alone(const Workload &workload, std::uint32_t batch, Accounting accounting) {
  System one;
  one.devices = 1;
  return phases(workload, one, batch, 0, accounting).total();
}

Cut best_cut(const Workload &workload, const System &system, std::uint32_t batch, Accounting accounting) {
  Cut best;
  for (std::size_t cut = 0; cut <= workload.layers(); ++cut) {
    const Phases p = phases(workload, system, batch, cut, accounting);
    if (cut == 0 || p.total() < best.phases.total()) best = {cut, 0, p};
  }
  best.saving = 100 * (1 - best.phases.total() / alone(workload, batch, accounting));
  return best;
}

} // namespace gradweave::partitioned
