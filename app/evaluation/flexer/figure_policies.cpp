// Figure 12 and the tables: policies, machines, networks.
#include "app/evaluation/flexer/figures.hpp"

#include <fmt/format.h>

#include <utility>

namespace gradweave::evaluation::flexer {
namespace {

using compiler::flexer::Policy;
using compiler::flexer::SetPriority;
using compiler::flexer::SpillWeight;
using compiler::flexer::Victims;

struct Named {
  const char *name, *rule;
  Policy policy;
};

/// Table 2, and the reading of the formula that the text contradicts.
std::vector<Named> policies() {
  std::vector<Named> all(5);
  all[0] = {"Priority1", "fewest bytes moved", {}};
  all[0].policy.priority = SetPriority::kMinTransfer;
  all[1] = {"Priority2", "least data that loses its place", {}};
  all[1].policy.priority = SetPriority::kMinSpilling;
  all[2] = {"MemPolicy1", "the first block that is large enough gives way", {}};
  all[2].policy.victims = Victims::kFirstFit;
  all[3] = {"MemPolicy2", "the smallest blocks give way until there is room", {}};
  all[3].policy.victims = Victims::kSmallest;
  all[4] = {"multiplied", "spilled data times its references, as the text has it", {}};
  all[4].policy.weight = SpillWeight::kMultiplied;
  return all;
}

/// Machines that figure 12 is made on: one for each number of cores.
constexpr std::array<const char *, 2> kMachines{"arch1", "arch5"};

} // namespace

Figure figure12(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 12: priorities and memory policies";
  figure.method = "Latency x data of a network's convolutions, each layer by its best tiling, over that of the default "
                  "policy: below 1 is better than the default. The text names neither networks nor machines.";
  Table table{"Latency x data, default = 1", {"network"}, {}};
  for (const Named &named : policies())
    table.columns.emplace_back(named.name);
  for (const FlexerNetwork &network : inputs.study.networks)
    for (const char *name : kMachines) {
      const FlexerMachine *machine = inputs.study.machine(name);
      if (machine == nullptr) continue;
      Chart chart{fmt::format("figure12-{}", figure.charts.size()),
                  fmt::format("{} on {}", network.name, name),
                  "latency x data",
                  {},
                  {{"over the default", {}}},
                  1,
                  false};
      std::vector<std::string> row{chart.title};
      const double usual = [&] {
        const Taken sum = network_on(inputs, network, machine->npu)[Way::kFlexer];
        return sum.cycles * sum.bytes;
      }();
      for (const Named &named : policies()) {
        Taken sum{0, 0};
        for (const compiler::Layer &layer : layers_on(network, machine->npu))
          sum += inputs.runs.with(layer, machine->npu, Way::kFlexer, named.policy);
        chart.groups.emplace_back(named.name);
        chart.series.front().values.push_back(sum.cycles * sum.bytes / usual);
        row.push_back(fmt::format("{:.3f}", sum.cycles * sum.bytes / usual));
      }
      table.rows.push_back(std::move(row));
      figure.charts.push_back(std::move(chart));
    }
  figure.tables = {std::move(table)};
  figure.notes = {"The paper says that memory management matters more than the choice of sets, and that its default is "
                  "good for all. Its figure has no numbers in the text."};
  return figure;
}

Figure tables(const Inputs &inputs) {
  Figure figure;
  figure.title = "Tables 1 and 2: machines and policies";
  figure.method = "Table 1 has no units: KiB, and bytes a cycle at 1 GHz, are assumed.";
  Table machines{"Table 1", {"machine", "cores", "array", "scratchpad, KiB", "GB/s"}, {}};
  for (const FlexerMachine &m : inputs.study.machines)
    machines.rows.push_back({m.name, std::to_string(m.npu.cores), fmt::format("{} x {}", m.npu.rows, m.npu.cols),
                             std::to_string(m.npu.spm_bytes / 1024), fmt::format("{:g}", m.npu.memory.bandwidth_gb_s)});
  Table choices{"Table 2", {"name", "rule", "--flexer-policy"}, {}};
  for (const Named &named : policies())
    choices.rows.push_back({named.name, named.rule, compiler::flexer::to_string(named.policy)});
  Table networks{"Networks", {"network", "convolutions", "multiply-adds, millions"}, {}};
  for (const FlexerNetwork &network : inputs.study.networks) {
    double macs = 0;
    for (const compiler::Layer &layer : network.layers)
      macs += static_cast<double>(compiler::macs(layer));
    networks.rows.push_back({network.name, std::to_string(network.layers.size()), fmt::format("{:.0f}", macs / 1e6)});
  }
  figure.tables = {std::move(machines), std::move(choices), std::move(networks)};
  return figure;
}

} // namespace gradweave::evaluation::flexer
