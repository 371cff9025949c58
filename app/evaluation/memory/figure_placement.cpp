// What better placement gives: parts of tensors, and point-wise layers computed where they are read.
#include "app/evaluation/memory/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace gradweave::evaluation::memory {
namespace {

using memory_model::Policy;

constexpr std::array<Policy, 4> kPolicies{Policy::kThesis, Policy::kPack, Policy::kRows, Policy::kFused};

SweepResult placed(const Inputs &inputs, const MemoryNetwork &network, Policy policy) {
  SweepSpec spec = inputs.spec(network, policy, inputs.study.placement);
  spec.bounds = policy == Policy::kRows;
  return sweep(inputs.evaluations, spec);
}

void add_network(const Inputs &inputs, Figure &figure, const MemoryNetwork &network) {
  std::vector<SweepResult> results;
  for (const Policy policy : kPolicies)
    results.push_back(placed(inputs, network, policy));
  Table table{fmt::format("{}: milliseconds of an iteration, and GB that it moves", network.name), {"policy"}, {}};
  for (const std::uint32_t mebibytes : inputs.study.placement)
    table.columns.push_back(fmt::format("{} MiB", mebibytes));
  const auto add = [&](std::string name, const SweepResult &result, const auto &value) {
    std::vector<std::string> cells{std::move(name)};
    for (const SweepPoint &point : result.points)
      cells.push_back(value(point));
    table.rows.push_back(std::move(cells));
  };
  for (std::size_t p = 0; p < kPolicies.size(); ++p)
    add(fmt::format("{}, ms", to_string(kPolicies[p])), results[p],
        [](const SweepPoint &point) { return fmt::format("{:.2f}", 1e3 * point.seconds); });
  for (std::size_t p = 0; p < kPolicies.size(); ++p)
    add(fmt::format("{}, GB", to_string(kPolicies[p])), results[p],
        [](const SweepPoint &point) { return fmt::format("{:.2f}", point.traffic() / 1e9); });
  add("least of any placement, GB", results[2], [](const SweepPoint &point) {
    return point.bound > 0 ? fmt::format("{:.2f}", point.bound / 1e9) : std::string("-");
  });
  figure.tables.push_back(std::move(table));
  for (const PlacementTarget &target : inputs.study.targets) {
    if (target.network != network.name) continue;
    const auto at = std::find(inputs.study.placement.begin(), inputs.study.placement.end(), target.capacity);
    if (at == inputs.study.placement.end()) continue;
    const auto i = static_cast<std::size_t>(at - inputs.study.placement.begin());
    const SweepResult &better = results[target.policy == "fused" ? 3 : 2];
    Row row = inputs.row("placement", fmt::format("{}.{}.{}", network.name, target.policy, target.capacity),
                         -change(results[0].points[i].seconds, better.points[i].seconds),
                         fmt::format("target: at least {} %, aim {}", target.at_least, target.aim));
    row.text = fmt::format("{}: less time by '{}' than by the thesis's policy, {} MiB", network.name, target.policy,
                           target.capacity);
    row.unit = "%";
    figure.rows.push_back(std::move(row));
  }
}

} // namespace

Figure placement(const Inputs &inputs) {
  Figure figure;
  figure.title = "What better placement gives";
  figure.method =
      "The same iterations under placements that the thesis does not have. A plan that keeps rows leaves "
      "each step its working window. The least traffic is a bound that no placement of whole or parts of "
      "tensors comes below; computing layers again does. It takes too long where there are more than 3,000 steps.";
  for (const MemoryNetwork &network : inputs.study.networks)
    add_network(inputs, figure, network);
  return figure;
}

} // namespace gradweave::evaluation::memory
