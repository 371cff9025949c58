#include "app/report/page/layer_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace gradweave::report {

NpuFacts::NpuFacts(const Json &npu)
    : name(npu.at("name").get<std::string>()), rows(npu.at("rows").get<double>()), cols(npu.at("cols").get<double>()),
      cores(npu.at("cores").get<double>()), clock_ghz(npu.at("clock_ghz").get<double>()),
      dram_gb_s(npu.at("dram_gb_s").get<double>()) {}

std::vector<const Json *> layers_of(const Json &report, const std::string &schedule) {
  std::vector<const Json *> layers;
  for (const Json &layer : report.at("layers"))
    if (!layer.contains("schedule") || layer.at("schedule") == schedule) layers.push_back(&layer);
  return layers;
}

std::vector<const Json *> longest(const std::vector<const Json *> &layers, std::size_t most) {
  if (layers.size() <= most) return layers;
  std::vector<std::uint64_t> cycles;
  for (const Json *layer : layers)
    cycles.push_back(layer->at("cycles").get<std::uint64_t>());
  std::vector<std::uint64_t> sorted = cycles;
  std::sort(sorted.rbegin(), sorted.rend());
  const std::uint64_t least = sorted[most - 1];
  std::vector<const Json *> chosen;
  for (std::size_t i = 0; i < layers.size() && chosen.size() < most; ++i)
    if (cycles[i] >= least) chosen.push_back(layers[i]);
  return chosen;
}

void slowest_first(std::vector<const Json *> &layers, const char *cycles) {
  const auto key = [cycles](const Json *layer) { return layer->at(cycles).get<std::uint64_t>(); };
  std::sort(layers.begin(), layers.end(), [&](const Json *a, const Json *b) {
    return key(a) != key(b) ? key(a) > key(b) : std::less<>()(a, b); // neighbours in one array
  });
}

std::string which_are_drawn(std::size_t layers, std::size_t most) {
  return layers <= most ? std::string()
                        : fmt::format(" Drawn are the {} of {} layers that take longest.", most, layers);
}

DrawnUnit unit_of_bytes(double largest) {
  if (largest < 1e4) return {"B", 1};
  if (largest < 1e7) return {"kB", 1e3};
  return largest < 1e10 ? DrawnUnit{"MB", 1e6} : DrawnUnit{"GB", 1e9};
}

DrawnUnit unit_of_count(double largest, const std::string &what) {
  if (largest < 1e4) return {what, 1};
  return largest < 1e7 ? DrawnUnit{"thousand " + what, 1e3} : DrawnUnit{"million " + what, 1e6};
}

std::uint64_t counter(const Json &layer, const std::string &name) {
  return layer.at("counters").value(name, std::uint64_t{0});
}

std::uint64_t core_counters(const Json &layer, const std::string &name, std::uint64_t cores) {
  std::uint64_t sum = counter(layer, name);
  for (std::uint64_t core = 1; core < cores; ++core)
    sum += counter(layer, fmt::format("{}_CORE{}", name, core));
  return sum;
}

double tensor_bytes(const Json &tensor) {
  return tensor.at("read_bytes").get<double>() + tensor.at("write_bytes").get<double>();
}

double layer_bytes(const Json &layer) {
  double bytes = 0;
  for (const auto &[name, tensor] : layer.at("dram").items())
    bytes += tensor_bytes(tensor);
  return bytes;
}

} // namespace gradweave::report
