// Numbers that stand in the text, and what in it contradicts itself.
#include "app/evaluation/dpt/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace gradweave::evaluation::dpt {
namespace {

using partitioned::Accounting;

constexpr double kWeightBytes = 2, kFpgaHertz = 200e6, kGiga = 1e9, kMega = 1e6;

double elements(const partitioned::Array &array) { return static_cast<double>(array.rows) * array.cols; }

/// Time saved by most devices and the largest mini-batch, over networks and cases.
std::vector<double> savings(const Inputs &inputs, Accounting accounting) {
  std::vector<double> all;
  const std::uint32_t devices = *std::max_element(inputs.study.devices.begin(), inputs.study.devices.end());
  const std::uint32_t batch = *std::max_element(inputs.study.batches.begin(), inputs.study.batches.end());
  for (const DptNetwork &network : inputs.study.networks) {
    const Subject subject = inputs.subject_of(network);
    if (!subject.known()) continue;
    for (const Case &one : inputs.study.cases)
      all.push_back(partitioned::best_cut(partitioned::workload_of(subject.layers, subject.maps, one.storage, one.host,
                                                                   partitioned::Reading{}),
                                          inputs.system(devices), batch, accounting)
                        .saving);
  }
  return all;
}

Both ends(const Inputs &inputs, bool most) {
  const auto end = [&](Accounting accounting) -> std::optional<double> {
    const std::vector<double> all = savings(inputs, accounting);
    if (all.empty()) return std::nullopt;
    return most ? *std::max_element(all.begin(), all.end()) : *std::min_element(all.begin(), all.end());
  };
  return {end(Accounting::kReduced), end(Accounting::kPerImage)};
}

} // namespace

Figure text(const Inputs &inputs) {
  Figure figure;
  const DptStudy &study = inputs.study;
  figure.title = "Numbers of the text";
  figure.method = "What abstract and sections state beside tables and figures.";
  figure.rows.push_back(inputs.row("text", "least", ends(inputs, false), "as of table 4"));
  figure.rows.push_back(inputs.row("text", "most", ends(inputs, true), "as of table 4"));
  std::vector<double> dlrm;
  for (const std::uint32_t dimension : study.dimensions)
    dlrm.push_back(partitioned::recommendation_saving(study.recommendation, dimension));
  figure.rows.push_back(
      inputs.row("text", "dlrm.least", in_both(*std::min_element(dlrm.begin(), dlrm.end())), "as of figure 5"));
  figure.rows.push_back(
      inputs.row("text", "dlrm.most", in_both(*std::max_element(dlrm.begin(), dlrm.end())), "as of figure 5"));
  for (const DptNetwork &network : study.networks) {
    const Subject subject = inputs.subject_of(network);
    Both layers;
    if (subject.known()) layers = in_both(static_cast<double>(subject.layers.size()));
    figure.rows.push_back(inputs.row("text", "layers." + network.name, layers, network.model));
  }
  if (study.cases.size() >= 3) {
    const Case &first = study.cases[0], &second = study.cases[1], &third = study.cases[2];
    figure.rows.push_back(
        inputs.row("text", "block.storage", in_both(elements(second.storage) / elements(first.storage))));
    figure.rows.push_back(inputs.row("text", "block.host", in_both(elements(second.host) / elements(first.host))));
    figure.rows.push_back(inputs.row("text", "ratio", in_both(elements(third.host) / (4 * elements(third.storage)))));
  }
  figure.notes = {
      "Table 3, ResNet-50, B = 128: 262,873,338 is a misprint of 232,873,338.",
      ("Section 4.1: feature maps are added up in advance for the weight update, and equation 3 has no B before it. "
       "The sum over "
       "images of X^T dY is not the product of the sums of X and dY: two of three products are counted for each "
       "image."),
      ("Equation 3 has one T_PCIe; figure 2 moves maps up and gradient maps down. Table 4 is met best if neither takes "
       "time."),
      fmt::format("The fitted exchange, {} cycles for a weight of 16 bits, is {:.2f} GB/s at {:.0f} MHz, where a "
                  "device's link "
                  "has 4: something else is counted in it.",
                  study.exchange_cycles, kWeightBytes * kFpgaHertz / study.exchange_cycles / kGiga, kFpgaHertz / kMega),
      "37.9 % against processing in memory lies below what the three numbers of figure 5a allow.",
      "Blocks of 4 KB (section 3.4) cannot be in figure 5: times that grow with the dimension would not.",
      ("Equation 3 sweeps to layer N - 1 and begins at 0, so that the NPU alone is a cut, and all layers near storage "
       "is none.")};
  return figure;
}

} // namespace gradweave::evaluation::dpt
