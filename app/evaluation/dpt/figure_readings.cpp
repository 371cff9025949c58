// What the numbers hang on: each choice that the paper leaves open, with what another one gives.
#include "app/evaluation/dpt/figures.hpp"

#include <fmt/format.h>

#include <utility>

namespace gradweave::evaluation::dpt {
namespace {

using partitioned::Dataflow;
using partitioned::Exchange;
using partitioned::Fill;
using partitioned::GradientWalk;
using partitioned::Outputs;

/// Bytes of an element over those of a link of 16 GB/s in a cycle of 200 MHz.
constexpr double kMapCyclesOfLink = 2 / 80.0;

std::vector<PaperReading> array_readings(const PaperReading &base) {
  std::vector<PaperReading> all{base};
  const auto add = [&](const char *name, const auto &change) {
    all.push_back(base);
    all.back().name = name;
    change(all.back());
  };
  add("images padded, as networks are", [](PaperReading &r) { r.reading.outputs = Outputs::kPadded; });
  add("padded, stride in the 3 x 3", [](PaperReading &r) {
    r.reading.outputs = Outputs::kPadded;
    r.late_strides = true;
  });
  add("padded, stride in the 3 x 3, dX by col2im, dW fills R, 4 cycles of exchange", [](PaperReading &r) {
    r.reading.outputs = Outputs::kPadded;
    r.reading.walk = GradientWalk::kColumns;
    r.reading.dw = Fill::kLoad;
    r.late_strides = true;
    r.system.exchange_cycles = 4;
  });
  add("dX for each output pixel", [](PaperReading &r) { r.reading.walk = GradientWalk::kOutputs; });
  add("dX by col2im", [](PaperReading &r) { r.reading.walk = GradientWalk::kColumns; });
  add("dX of the first layer, too", [](PaperReading &r) { r.reading.first_dx = true; });
  add("dW fills R, as the others", [](PaperReading &r) { r.reading.dw = Fill::kLoad; });
  add("all fill R + C - 2", [](PaperReading &r) { r.reading.forward = r.reading.dx = Fill::kWhole; });
  add("nothing fills", [](PaperReading &r) { r.reading.forward = r.reading.dx = r.reading.dw = Fill::kNone; });
  add("output-stationary array", [](PaperReading &r) { r.reading.dataflow = Dataflow::kOutputStationary; });
  add("output-stationary, nothing fills", [](PaperReading &r) {
    r.reading.dataflow = Dataflow::kOutputStationary;
    r.reading.forward = r.reading.dx = r.reading.dw = Fill::kNone;
  });
  return all;
}

std::vector<PaperReading> system_readings(const PaperReading &base) {
  std::vector<PaperReading> all;
  const auto add = [&](std::string name, const auto &change) {
    all.push_back(base);
    all.back().name = std::move(name);
    change(all.back().system);
  };
  for (const double cycles : {0.0, 1.0, 2.0, 2.5, 3.0, 4.0, 6.0})
    add(fmt::format("exchange of {:g} cycles a weight", cycles),
        [cycles](partitioned::System &s) { s.exchange_cycles = cycles; });
  add("exchange by one device after another, 2 (S - 1)",
      [](partitioned::System &s) { s.exchange = Exchange::kGather; });
  add("exchange that takes as long for any S", [](partitioned::System &s) { s.exchange = Exchange::kOnce; });
  add("maps cross at 16 GB/s, 200 MHz", [](partitioned::System &s) { s.map_cycles = kMapCyclesOfLink; });
  add("maps and their gradients cross at 16 GB/s, 200 MHz", [](partitioned::System &s) {
    s.map_cycles = kMapCyclesOfLink;
    s.backward_map = true;
  });
  return all;
}

/// Table 3's a and w of ours over the paper's, in percent.
std::pair<std::string, std::string> against_table3(const Inputs &inputs, const DptNetwork &network,
                                                   const Subject &subject, const PaperReading &reading) {
  const auto layers = reading.late_strides ? with_late_strides(subject.layers) : subject.layers;
  const Case &one = inputs.study.case_of(inputs.study.baseline);
  double a = 0, w = 0;
  for (const partitioned::LayerCycles &c : partitioned::network_cycles(layers, one.host, reading.reading)) {
    a += c.forward + c.dx;
    w += c.dw;
  }
  const auto percent = [&](const char *key, double ours) {
    const Published *p = find_published(inputs.study, "table3", network.name + key);
    return p == nullptr ? std::string("-") : fmt::format("{:+.1f}", 100 * (ours / p->value - 1));
  };
  return {percent(".a", a), percent(".w", w)};
}

/// Savings of figure 5 if a constant of it is another.
Table recommendation_readings(const DptStudy &study) {
  using partitioned::Recommendation;
  Table table{"Figure 5: time saved, %, by dimension", {"reading"}, {}};
  for (const std::uint32_t dimension : study.dimensions)
    table.columns.push_back(fmt::format("{}", dimension));
  const auto add = [&](const char *name, const auto &change) {
    Recommendation r = study.recommendation;
    change(r);
    std::vector<std::string> cells{name};
    for (const std::uint32_t dimension : study.dimensions)
      cells.push_back(fmt::format("{:.2f}", partitioned::recommendation_saving(r, dimension)));
    table.rows.push_back(std::move(cells));
  };
  add("as everywhere else on this page", [](Recommendation &) {});
  add("storage half as fast", [](Recommendation &r) { r.storage_rate /= 2; });
  add("storage twice as fast", [](Recommendation &r) { r.storage_rate *= 2; });
  add("link half as fast", [](Recommendation &r) { r.link_rate /= 2; });
  add("link twice as fast", [](Recommendation &r) { r.link_rate *= 2; });
  add("perceptrons in half the time", [](Recommendation &r) { r.fixed_seconds /= 2; });
  add("perceptrons in twice the time", [](Recommendation &r) { r.fixed_seconds *= 2; });
  add("sums of 4 GB/s on the device, of no time on the host", [](Recommendation &r) { r.device_reduce_rate = 4e9; });
  add("whole blocks for each vector", [&](Recommendation &r) { r.block_bytes = study.recommendation_block; });
  return table;
}

} // namespace

Figure readings(const Inputs &inputs) {
  Figure figure;
  figure.title = "What the numbers hang on";
  figure.method =
      "One choice changed at a time, in the paper's accounting. Table 3: a and w of ours over the paper's. Table 4: "
      "differences of time saved, and how many partition indices are within one layer.";
  Table table{"Readings", {"reading"}, {}};
  std::vector<std::pair<const DptNetwork *, Subject>> subjects;
  for (const DptNetwork &network : inputs.study.networks) {
    table.columns.push_back(fmt::format("{}: a, %", network.name));
    table.columns.push_back("w, %");
    subjects.emplace_back(&network, inputs.subject_of(network));
    if (!subjects.back().second.known()) return figure;
  }
  for (const char *column : {"table 4: rms", "worst", "indices within one", "equal"})
    table.columns.emplace_back(column);
  PaperReading base;
  base.name = "as everywhere else on this page";
  base.system = inputs.system(1);
  std::vector<PaperReading> all = array_readings(base);
  for (PaperReading &reading : system_readings(base))
    all.push_back(std::move(reading));
  for (const PaperReading &reading : all) {
    std::vector<std::string> cells{reading.name};
    Nearness nearness;
    for (const auto &[network, subject] : subjects) {
      const auto [a, w] = against_table3(inputs, *network, subject, reading);
      cells.push_back(a);
      cells.push_back(w);
      add_entries(inputs, *network, subject, reading, nearness);
    }
    cells.push_back(fmt::format("{:.2f}", nearness.rms()));
    cells.push_back(fmt::format("{:.2f}", nearness.worst));
    cells.push_back(fmt::format("{}", nearness.within_one));
    cells.push_back(fmt::format("{}", nearness.exact));
    table.rows.push_back(std::move(cells));
  }
  figure.tables = {std::move(table), recommendation_readings(inputs.study)};
  figure.notes = {
      "Without padding the networks are the topologies Resnet50 and FasterRCNN of SCALE-Sim, which have the paper's 54 "
      "and 46 "
      "layers: so many outputs as (height - kernel) / stride + 1, rounded up. That is evidence for them, not proof.",
      "No formula gives table 3 to the cycle; some give one of its four numbers by chance. Those that are near were "
      "chosen with the "
      "paper's numbers in view."};
  return figure;
}

} // namespace gradweave::evaluation::dpt
