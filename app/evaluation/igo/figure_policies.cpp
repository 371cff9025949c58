// What the paper leaves open, swept: which assumption carries which figure.
#include "app/evaluation/igo/figure_support.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace gradweave::evaluation::igo {
namespace {

/// Samples of a batch: all layers at full batch would take as long as all other figures.
constexpr std::uint32_t kBatch = 1;

struct Swept {
  const char *figure;
  std::string key;
  Setting setting;
  Technique technique;
};

double value_of(const Context &context, const Swept &swept, const std::string &policy) {
  const Costs costs = costs_of(context, swept.setting, policy);
  std::vector<double> values;
  for (const Workload &workload : context.workloads.at(swept.setting)) {
    const double ratio = costs.cycles(workload, swept.technique) / costs.cycles(workload, Technique::kBaseline);
    values.push_back(100 * (1 - ratio));
  }
  return mean(values);
}

} // namespace

Figure policies(const Context &context) {
  Figure figure;
  figure.id = "policies";
  figure.title = "What the paper leaves open";
  figure.method =
      "The baseline and the techniques under each policy (docs/paper-baseline.md), each of which differs from the "
      "first in one choice: tile sides / replacement / space for reuse / loops of dW / meaning of the major "
      "orders / space for partial sums / which partial sums stay. Batches of one sample, so that the second line is "
      "near figure 12, not equal. First line: the paper.";
  std::vector<Swept> columns;
  for (const bool large : {false, true}) {
    Setting setting = large ? context.workloads.large() : context.workloads.small();
    setting.batch = kBatch;
    const std::string size = large ? "large" : "small";
    columns.push_back({"12", size + ".interleave", setting, Technique::kInterleave});
    columns.push_back({"12", size + ".rearrange", setting, Technique::kRearrange});
  }
  Table table{"Averages under each policy", {"policy"}, {{"paper"}}};
  for (const Swept &column : columns) {
    const Row row = published_row(context, column.figure, column.key);
    table.columns.push_back(fmt::format("figure {}: {}, {}", column.figure, row.text, row.unit));
    table.rows[0].push_back(row.paper ? fmt::format("{}", *row.paper) : std::string());
  }
  std::vector<std::pair<double, std::string>> closest(columns.size(), {INFINITY, ""});
  for (const std::string &policy : context.policies) {
    std::vector<std::string> cells{policy};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const double value = value_of(context, columns[i], policy);
      const std::optional<double> paper = published_row(context, columns[i].figure, columns[i].key).paper;
      cells.push_back(fmt::format("{:.2f}", value));
      if (paper && std::abs(value - *paper) < std::abs(closest[i].first - *paper)) closest[i] = {value, policy};
    }
    table.rows.push_back(std::move(cells));
  }
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!closest[i].second.empty())
      figure.notes.push_back(fmt::format("{} (figure {}): the paper has {}; closest is {} with {:.2f}.",
                                         published_row(context, columns[i].figure, columns[i].key).text,
                                         columns[i].figure, table.rows[0][i + 1], closest[i].second, closest[i].first));
  figure.tables.push_back(std::move(table));
  return figure;
}

} // namespace gradweave::evaluation::igo
