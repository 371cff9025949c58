// What the numbers of the abstract hang on: each assumption changed by itself.
#include "app/evaluation/layerweaver/figures.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace gradweave::evaluation::layerweaver {
namespace {

struct Change {
  std::string name;
  std::function<void(Scenario &)> make;
};

std::vector<Change> changes() {
  std::vector<Change> all{{"as it is", [](Scenario &) {}}};
  for (const double times : {0.5, 2.0, 4.0})
    all.push_back({fmt::format("tokens x {}", times),
                   [times](Scenario &s) { s.tokens = std::max(1U, static_cast<std::uint32_t>(times * s.tokens)); }});
  for (const double times : {0.25, 0.5, 2.0, 4.0})
    all.push_back({fmt::format("buffer x {}", times), [times](Scenario &s) { s.buffer *= times; }});
  for (const double times : {0.5, 2.0})
    all.push_back({fmt::format("arithmetic x {}", times), [times](Scenario &s) { s.machine.arrays.hertz *= times; }});
  for (const double times : {0.5, 2.0})
    all.push_back({fmt::format("bandwidth x {}", times), [times](Scenario &s) { s.machine.bandwidth *= times; }});
  for (const weave_model::Idle idle : {weave_model::Idle::kSum, weave_model::Idle::kRelative})
    all.push_back({fmt::format("idle time: {}", to_string(idle)), [idle](Scenario &s) { s.rule.idle = idle; }});
  for (const weave_model::Ties ties :
       {weave_model::Ties::kFurthestBehind, weave_model::Ties::kLeastAhead, weave_model::Ties::kFirst})
    all.push_back({fmt::format("ties: {}", to_string(ties)), [ties](Scenario &s) { s.rule.ties = ties; }});
  all.push_back(
      {"arrays hold results", [](Scenario &s) { s.machine.arrays.stationary = weave_model::Stationary::kResults; }});
  all.push_back(
      {"arrays hold weights", [](Scenario &s) { s.machine.arrays.stationary = weave_model::Stationary::kWeights; }});
  all.push_back({"every PE always computes", [](Scenario &s) {
                   weave_model::Arrays &a = s.machine.arrays;
                   a.count *= a.rows * a.cols;
                   a.rows = a.cols = 1;
                 }});
  return all;
}

} // namespace

Figure sensitivity(const Inputs &inputs) {
  Figure figure;
  figure.title = "What the abstract's numbers hang on";
  figure.method = "Means over the pairs as in 'abstract', with one assumption changed at a time.";
  for (const Scenario &scenario : inputs.study.scenarios) {
    Table table{scenario.name + ": gain of throughput in percent, of utilisation in points",
                {"change", "throughput", "PEs", "memory", "bound"},
                {}};
    for (const Change &change : changes()) {
      Scenario changed = scenario;
      change.make(changed);
      const Means m = means(inputs, changed, Mix::kFree, false);
      table.rows.push_back({change.name, fmt::format("{:+.1f}", 100 * (m.greedy - 1)),
                            fmt::format("{:+.1f}", m.compute), fmt::format("{:+.1f}", m.fetch),
                            fmt::format("{:+.1f}", 100 * (m.bound - 1))});
    }
    figure.tables.push_back(std::move(table));
  }
  figure.notes = {"The bound is that of equal shares of time; a policy that chooses what it serves can be above it."};
  return figure;
}

} // namespace gradweave::evaluation::layerweaver
