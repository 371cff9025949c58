// Tables 5.1 and 5.2: the networks and the machines.
#include "app/evaluation/memory/figures.hpp"

#include <fmt/format.h>

#include <utility>

namespace gradweave::evaluation::memory {
Figure table51(const Inputs &inputs) {
  Figure figure;
  figure.title = "Table 5.1: networks";
  figure.method = "What the graphs have. The thesis took the first two from Keras, and wrote the other two by hand, "
                  "without saying how (docs/memory-model.md).";
  Table table{"Networks",
              {"network", "model", "batch", "parameters, millions", "steps", "operations, 10^9", "least capacity, MiB"},
              {}};
  for (const MemoryNetwork &network : inputs.study.networks) {
    const NetworkFacts f = facts(inputs.evaluations, inputs.subject(network));
    table.rows.push_back({network.name, network.model, std::to_string(network.batch),
                          fmt::format("{:.2f}", f.parameters / 1e6), fmt::format("{:.0f}", f.steps),
                          fmt::format("{:.1f}", f.operations / 1e9), fmt::format("{:.2f}", f.least_capacity / kMebi)});
    figure.rows.push_back(inputs.row("table5.1", network.name + ".batch", network.batch));
  }
  figure.tables.push_back(std::move(table));
  return figure;
}

Figure table52(const Inputs &inputs) {
  Figure figure;
  figure.title = "Table 5.2: machines";
  figure.method = "Their numbers go into the model as they are. The table has what an iteration would take on each.";
  for (const MemoryMachine &machine : inputs.study.machines)
    for (const auto &[key, value] : {std::pair{"throughput", machine.throughput},
                                     {"capacity", machine.capacity},
                                     {"bandwidth", machine.bandwidth}})
      figure.rows.push_back(inputs.row("table5.2", fmt::format("{}.{}", machine.name, key), value));
  Table table{"Milliseconds of an iteration, with the machine's last-level cache", {"machine", "ridge point"}, {}};
  for (const MemoryNetwork &network : inputs.study.networks)
    table.columns.push_back(network.name);
  for (const MemoryMachine &machine : inputs.study.machines) {
    std::vector<std::string> cells{machine.name, fmt::format("{:.1f}", 1e3 * machine.throughput / machine.bandwidth)};
    for (const MemoryNetwork &network : inputs.study.networks) {
      SweepSpec spec = inputs.spec(network);
      spec.sweep.capacities = {static_cast<std::uint64_t>(machine.capacity * kMebi)};
      spec.sweep.bandwidth = machine.bandwidth * 1e9;
      spec.sweep.throughput = machine.throughput * 1e12;
      const SweepResult result = sweep(inputs.evaluations, spec);
      cells.push_back(result.problem.empty() ? fmt::format("{:.1f}", 1e3 * result.points[0].seconds)
                                             : std::string("needs more cache"));
    }
    table.rows.push_back(std::move(cells));
  }
  figure.tables.push_back(std::move(table));
  figure.notes = {"The text has 1536 GB/s for HBM2e where the table has 1555; figures here take 1555."};
  return figure;
}

} // namespace gradweave::evaluation::memory
