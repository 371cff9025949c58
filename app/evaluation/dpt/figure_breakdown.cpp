// Figure 3: what a mini-batch is made of.
#include "app/evaluation/dpt/figures.hpp"

#include <fmt/format.h>

#include <utility>

namespace gradweave::evaluation::dpt {
namespace {

using partitioned::Accounting;
using partitioned::Cut;
using partitioned::Phases;

constexpr double kMillion = 1e6;

struct Part {
  const char *name;
  double (*cycles)(const Phases &p);
};

/// The longer one of both ways forward is shown as it is, the other as hidden beside it.
const Part kParts[] = {
    {"forward", [](const Phases &p) { return p.forward(); }},
    {"maps over the cut", [](const Phases &p) { return p.map; }},
    {"backward, NPU", [](const Phases &p) { return p.backward_host; }},
    {"backward, storage", [](const Phases &p) { return p.backward_storage; }},
    {"update, NPU", [](const Phases &p) { return p.update_host; }},
    {"update, storage", [](const Phases &p) { return p.update_storage; }},
    {"exchange of gradients", [](const Phases &p) { return p.exchange; }},
};

const char *name_of(Accounting accounting) {
  return accounting == Accounting::kReduced ? "paper's accounting" : "true gradient";
}

void add_case(std::uint32_t batch, Accounting accounting, const Cut &cut, Chart &chart, Table &table) {
  const Phases &p = cut.phases;
  chart.groups.push_back(fmt::format("B = {}, {}", batch, accounting == Accounting::kReduced ? "paper's" : "true"));
  std::vector<std::string> cells{fmt::format("{}", batch), name_of(accounting), fmt::format("{}", cut.index)};
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    chart.series[i].values.push_back(kParts[i].cycles(p) / kMillion);
    cells.push_back(fmt::format("{:.1f}", kParts[i].cycles(p) / kMillion));
  }
  for (const double cycles : {p.forward_storage, p.forward_host, p.hidden(), p.total()})
    cells.push_back(fmt::format("{:.1f}", cycles / kMillion));
  table.rows.push_back(std::move(cells));
}

/// Percent, for what the text says of the figure.
struct Claims {
  double hidden = 0, arrays = 0, exchange = 0, others = 0;
};

Claims claims_of(const Phases &p) {
  const double storage = p.forward_storage > 0 ? 100 * p.hidden() / p.forward_storage : 0;
  return {storage, 100 * (1 - (p.exchange + p.map) / p.total()), 100 * p.exchange / p.total(), 100 * p.map / p.total()};
}

void add_claims(const Inputs &inputs, std::uint32_t batch, const Claims *reduced, const Claims *true_one,
                Figure &figure) {
  const auto add = [&](const char *key, const char *text, double Claims::*share, const char *said) {
    Both ours;
    if (reduced != nullptr && true_one != nullptr) ours = {reduced->*share, true_one->*share};
    Row row = inputs.row("3", fmt::format("{}.{}", key, batch), ours, said);
    row.text = fmt::format("B = {}: {}", batch, text);
    row.unit = "%";
    figure.rows.push_back(std::move(row));
  };
  add("hidden", "forward pass near storage that is hidden", &Claims::hidden, "the paper: most of it");
  add("arrays", "of the time, in arrays", &Claims::arrays, "the paper: most of it");
  add("exchange", "of the time, exchange of gradients", &Claims::exchange, "the paper: the other large part");
  add("others", "of the time, all other transfers", &Claims::others,
      "the paper: no number; maps cross in no time here");
}

} // namespace

Figure figure3(const Inputs &inputs) {
  Figure figure;
  const DptStudy &study = inputs.study;
  figure.title = "Figure 3: parts of a mini-batch";
  figure.method =
      fmt::format("{}, case {}, {} near-storage devices, each at its best cut; million cycles. Of the paper's "
                  "figure only what its text says is known.",
                  study.breakdown_network, study.breakdown_case, study.breakdown_devices);
  const DptNetwork *network = inputs.find(study.breakdown_network);
  if (network == nullptr) return figure;
  const Subject subject = inputs.subject_of(*network);
  const Case &one = study.case_of(study.breakdown_case);
  Chart chart{"figure3", "Cycles of a mini-batch by what they go to", "million cycles", {}, {}, {}, true};
  Table table{"Million cycles; the columns after the parts: both ways forward, what of them is hidden, and the whole",
              {"B", "accounting", "index"},
              {}};
  for (const Part &part : kParts) {
    chart.series.push_back({part.name, {}});
    table.columns.emplace_back(part.name);
  }
  for (const char *column : {"forward, storage", "forward, NPU", "hidden", "all"})
    table.columns.emplace_back(column);
  for (const std::uint32_t batch : study.breakdown) {
    if (!subject.known()) {
      add_claims(inputs, batch, nullptr, nullptr, figure);
      continue;
    }
    const partitioned::Workload workload =
        partitioned::workload_of(subject.layers, subject.maps, one.storage, one.host, partitioned::Reading{});
    const auto best = [&](Accounting a) {
      return partitioned::best_cut(workload, inputs.system(study.breakdown_devices), batch, a);
    };
    const Cut reduced = best(Accounting::kReduced), true_one = best(Accounting::kPerImage);
    add_case(batch, Accounting::kReduced, reduced, chart, table);
    add_case(batch, Accounting::kPerImage, true_one, chart, table);
    const Claims of_reduced = claims_of(reduced.phases), of_true = claims_of(true_one.phases);
    add_claims(inputs, batch, &of_reduced, &of_true, figure);
  }
  figure.charts.push_back(std::move(chart));
  figure.tables.push_back(std::move(table));
  return figure;
}

} // namespace gradweave::evaluation::dpt
