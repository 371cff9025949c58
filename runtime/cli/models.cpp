// gradweave models
#include "compiler/network.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/lookup.hpp"
#include "runtime/text_format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::cli {
namespace {

double macs(const compiler::Layer &layer) { return static_cast<double>(layer.m) * layer.k * layer.n; }

void show_network(const compiler::Network &network) {
  fmt::print("{}: {}\n", network.name, network.description);
  double forward = 0;
  double backward = 0;
  for (const compiler::Layer &layer : network.layers) {
    fmt::print("{:>4} {:<24} M {:>6}  K {:>6}  N {:>6}  {}\n", layer.index, layer.name, layer.m, layer.k, layer.n,
               layer.dx ? "dX dW" : "dW");
    forward += macs(layer);
    backward += macs(layer) * (layer.dx ? 2 : 1);
  }
  fmt::print("{} layers; multiply-adds: {} forward, {} backward\n", network.layers.size(), runtime::human(forward),
             runtime::human(backward));
}

void show_npu(const NpuConfig &npu) {
  fmt::print("{}: {} x {} PEs, {} core{}, {}B scratchpad in {} banks, {} B bus, {} GB/s DRAM, {} GHz\n", npu.name,
             npu.rows, npu.cols, npu.cores, npu.cores == 1 ? "" : "s",
             runtime::human(static_cast<double>(npu.spm_bytes)), npu.spm_banks, npu.bus_bytes, npu.dram.bandwidth_gb_s,
             npu.clock_ghz);
}

bool contains(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

int models(const std::string &name) {
  if (name.empty()) {
    fmt::print("networks (--model):\n");
    for (const std::string &model : runtime::model_names()) {
      const compiler::Network network = compiler::load_network(runtime::find_model(model));
      fmt::print("  {:<16} {:>3} layers  {}\n", model, network.layers.size(), network.description);
    }
    fmt::print("NPUs (--npu):\n");
    for (const std::string &npu : runtime::npu_names()) {
      fmt::print("  ");
      show_npu(load_npu_config(runtime::find_npu(npu)));
    }
    return kOk;
  }
  if (contains(runtime::npu_names(), name) && !contains(runtime::model_names(), name))
    show_npu(load_npu_config(runtime::find_npu(name)));
  else
    show_network(compiler::load_network(runtime::find_model(name)));
  return kOk;
}

} // namespace gradweave::cli
