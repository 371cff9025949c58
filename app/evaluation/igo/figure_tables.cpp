// Tables 3 and 4: the NPUs and the networks.
#include "app/evaluation/igo/figure_support.hpp"

#include <fmt/format.h>

#include <utility>

namespace gradweave::evaluation::igo {
namespace {

constexpr double kMegabyte = 1 << 20;

double parameters(const compiler::Network &network) {
  double sum = 0;
  for (const compiler::Layer &layer : network.layers)
    sum += static_cast<double>(layer.k) * layer.n * layer.groups;
  return sum;
}

} // namespace

Figure table3(const Context &context) {
  Figure figure;
  figure.id = "table3";
  figure.title = "Table 3: NPUs";
  figure.method = "What the configuration files say, for one core.";
  for (const bool large : {false, true}) {
    const Machine npu = (large ? context.workloads.large() : context.workloads.small()).npu;
    const std::string size = large ? "large" : "small";
    for (const auto &[key, ours] :
         std::vector<std::pair<std::string, double>>{{"rows", npu.rows},
                                                     {"cols", npu.cols},
                                                     {"bandwidth", npu.memory.bandwidth_gb_s},
                                                     {"clock", 1000 * npu.clock_ghz},
                                                     {"spm", static_cast<double>(npu.spm_bytes) / kMegabyte}}) {
      Row row = published_row(context, "table3", fmt::format("{}.{}", size, key));
      row.ours[kOursDescribed] = ours;
      figure.rows.push_back(std::move(row));
    }
  }
  return figure;
}

Figure table4(const Context &context) {
  Figure figure;
  figure.id = "table4";
  figure.title = "Table 4: networks";
  figure.method =
      "Layers that the evaluation runs. Weights are those of their products; embeddings, normalisations and "
      "biases have none. models/README.md compares all parameters with the paper's table.";
  Table table{"Networks", {"network", "NPU", "model", "batch", "layers", "weights, millions"}, {}};
  for (const bool large : {false, true}) {
    const Setting setting = large ? context.workloads.large() : context.workloads.small();
    for (const Workload &w : context.workloads.at(setting))
      table.rows.push_back({w.name, setting.npu.name, w.network.name, std::to_string(setting.batch),
                            std::to_string(w.network.layers.size()),
                            fmt::format("{:.1f}", parameters(w.network) / 1e6)});
  }
  figure.tables.push_back(std::move(table));
  return figure;
}

} // namespace gradweave::evaluation::igo
