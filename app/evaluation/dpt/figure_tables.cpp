// Table 3, cycles of the NPU alone, and table 4, what near-storage devices save.
#include "app/evaluation/dpt/figures.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace gradweave::evaluation::dpt {
namespace {

using partitioned::Accounting;
using partitioned::Workload;

/// Cycles of a mini-batch are a B + w.
struct Line {
  double a = 0, w = 0;
};

Line line_of(const Workload &workload, Accounting accounting) {
  const double one = partitioned::alone(workload, 1, accounting), two = partitioned::alone(workload, 2, accounting);
  return {two - one, 2 * one - two};
}

/// Table 3 as printed, NaN where it has nothing.
double printed(const Inputs &inputs, const DptNetwork &network, std::uint32_t batch) {
  const Published *p = find_published(inputs.study, "table3", fmt::format("{}.{}", network.name, batch));
  return p == nullptr ? NAN : p->value;
}

/// Through the paper's numbers of the smallest and the largest mini-batch.
Line printed_line(const Inputs &inputs, const DptNetwork &network) {
  const std::uint32_t first = inputs.study.batches.front(), last = inputs.study.batches.back();
  const double a = (printed(inputs, network, last) - printed(inputs, network, first)) / (last - first);
  return {a, printed(inputs, network, first) - a * first};
}

double residue(const Inputs &inputs, const DptNetwork &network, std::uint32_t batch) {
  const Line line = printed_line(inputs, network);
  return printed(inputs, network, batch) - line.a * batch - line.w;
}

Table residues(const Inputs &inputs) {
  Table table{"What is left of the paper's numbers under the line through the first and the last of a row",
              {"network", "a", "w"},
              {}};
  for (const std::uint32_t batch : inputs.study.batches)
    table.columns.push_back(fmt::format("B = {}", batch));
  for (const DptNetwork &network : inputs.study.networks) {
    const Line line = printed_line(inputs, network);
    table.rows.push_back({network.name, fmt::format("{:.2f}", line.a), fmt::format("{:.2f}", line.w)});
    for (const std::uint32_t batch : inputs.study.batches)
      table.rows.back().push_back(fmt::format("{:.0f}", residue(inputs, network, batch)));
  }
  return table;
}

std::vector<Row> rows_of(const Inputs &inputs, const DptNetwork &network, const Workload *workload) {
  std::vector<Row> rows;
  const auto both = [&](const auto &number) {
    if (workload == nullptr) return Both{};
    return Both{number(Accounting::kReduced), number(Accounting::kPerImage)};
  };
  for (const std::uint32_t batch : inputs.study.batches) {
    const Both ours = both([&](Accounting a) { return partitioned::alone(*workload, batch, a); });
    const double left = residue(inputs, network, batch);
    rows.push_back(inputs.row("table3", fmt::format("{}.{}", network.name, batch), ours,
                              std::abs(left) < 1
                                  ? "array and its fill"
                                  : fmt::format("a misprint of {:.0f}, which all others lie on a line with",
                                                printed(inputs, network, batch) - left)));
  }
  rows.push_back(inputs.row("table3", network.name + ".a", both([&](Accounting a) { return line_of(*workload, a).a; }),
                            "weight-stationary with fill; dX at each pixel; no dX of the first layer"));
  rows.push_back(inputs.row("table3", network.name + ".w", both([&](Accounting a) { return line_of(*workload, a).w; }),
                            "dW fills R + C - 2 cycles a block"));
  return rows;
}

/// Rows of one network in one case.
void add_rows(const Inputs &inputs, const DptNetwork &network, const Case &one, const Workload *workload,
              Figure &figure, Table &table) {
  std::vector<std::string> cells{fmt::format("{}, case {}", network.name, one.name)};
  for (const std::uint32_t batch : inputs.study.batches)
    for (const std::uint32_t devices : inputs.study.devices) {
      Both saving, cut;
      if (workload != nullptr) {
        const partitioned::System system = inputs.system(devices);
        const partitioned::Cut reduced = partitioned::best_cut(*workload, system, batch, Accounting::kReduced),
                               true_one = partitioned::best_cut(*workload, system, batch, Accounting::kPerImage);
        saving = {reduced.saving, true_one.saving};
        cut = {static_cast<double>(reduced.index), static_cast<double>(true_one.index)};
        cells.push_back(
            fmt::format("{:.1f} ({}); {:.1f} ({})", reduced.saving, reduced.index, true_one.saving, true_one.index));
      }
      const std::string key = entry_key(network, one, devices, batch);
      figure.rows.push_back(inputs.row("table4", key + ".saving", saving, "array, fill, cycles of exchange"));
      figure.rows.push_back(inputs.row("table4", key + ".cut", cut, "array, fill, cycles of exchange"));
    }
  if (workload != nullptr) table.rows.push_back(std::move(cells));
}

} // namespace

Figure table3(const Inputs &inputs) {
  Figure figure;
  figure.title = "Table 3: cycles of the NPU alone";
  figure.method =
      "Both rows are a B + w: a cycles an image, forwards and gradients of maps, and w cycles a mini-batch, the "
      "weight update. Nine of ten numbers leave no residue; the tenth, ResNet-50 with B = 128, has one wrong "
      "digit: 262,873,338 for 232,873,338. With the true gradient w belongs to each image.";
  const Case &one = inputs.study.case_of(inputs.study.baseline);
  Table table{"a and w of our model against the paper's, %", {"network", "a", "w", "a, true gradient"}, {}};
  for (const DptNetwork &network : inputs.study.networks) {
    const Subject subject = inputs.subject_of(network);
    Workload workload;
    if (subject.known())
      workload = partitioned::workload_of(subject.layers, subject.maps, one.storage, one.host, partitioned::Reading{});
    const std::vector<Row> rows = rows_of(inputs, network, subject.known() ? &workload : nullptr);
    figure.rows.insert(figure.rows.end(), rows.begin(), rows.end());
    const Published *a = find_published(inputs.study, "table3", network.name + ".a"),
                    *w = find_published(inputs.study, "table3", network.name + ".w");
    if (!subject.known() || a == nullptr || w == nullptr) continue;
    const Line reduced = line_of(workload, Accounting::kReduced), all = line_of(workload, Accounting::kPerImage);
    const auto percent = [](double ours, double paper) { return fmt::format("{:+.2f}", 100 * (ours / paper - 1)); };
    table.rows.push_back(
        {network.name, percent(reduced.a, a->value), percent(reduced.w, w->value), percent(all.a, a->value)});
  }
  figure.tables = {std::move(table), residues(inputs)};
  return figure;
}

Figure table4(const Inputs &inputs) {
  Figure figure;
  figure.title = "Table 4: time saved, and the partition index";
  figure.method =
      "Equation 3, all cuts tried. Forwards, devices and NPU work at a time; backwards one after the other. With "
      "the true gradient the update of the layers near storage is divided among the devices as their images "
      "are.";
  Table table{"Percent of the NPU alone, and index: the paper's accounting; the true gradient", {"network"}, {}};
  for (const std::uint32_t batch : inputs.study.batches)
    for (const std::uint32_t devices : inputs.study.devices)
      table.columns.push_back(fmt::format("{} devices, B = {}", devices, batch));
  Nearness nearness;
  for (const DptNetwork &network : inputs.study.networks) {
    const Subject subject = inputs.subject_of(network);
    for (const Case &one : inputs.study.cases) {
      Workload workload;
      if (subject.known())
        workload =
            partitioned::workload_of(subject.layers, subject.maps, one.storage, one.host, partitioned::Reading{});
      add_rows(inputs, network, one, subject.known() ? &workload : nullptr, figure, table);
    }
    PaperReading reading;
    reading.system = inputs.system(1);
    if (subject.known()) add_entries(inputs, network, subject, reading, nearness);
  }
  figure.tables.push_back(std::move(table));
  if (nearness.entries > 0)
    for (const auto &[key, text, unit, value] :
         {std::tuple{"rms", "Differences of time saved, root of the mean square", "%", nearness.rms()},
          {"worst", "The largest difference", "%", nearness.worst},
          {"within one", "Partition indices that differ by one layer at most", "", 1.0 * nearness.within_one},
          {"exact", "Partition indices that are equal", "", 1.0 * nearness.exact}}) {
      Row row = inputs.row("table4", key, {value, std::nullopt}, fmt::format("of {} entries", nearness.entries));
      row.text = text;
      row.unit = unit;
      figure.rows.push_back(std::move(row));
    }
  return figure;
}

} // namespace gradweave::evaluation::dpt
