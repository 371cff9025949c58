#include "app/evaluation/dpt/figures.hpp"
#include "app/evaluation/study/figure_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace gradweave::evaluation::dpt {
namespace {

constexpr std::array<FigureMaker<Inputs>, 7> kMakers{{{"table3", table3},
                                                      {"table4", table4},
                                                      {"3", figure3},
                                                      {"5", figure5},
                                                      {"text", text},
                                                      {"readings", readings},
                                                      {"beyond", beyond}}};

class DptRepetition : public Repetition {
public:
  DptRepetition(const Study &study, const Request &request)
      : study_(read_dpt_study(study, request.networks)), command_(request.command) {}

  Presentation presentation() const override {
    Presentation said;
    said.columns = {{"ours, paper's accounting", "paper's", "ours"},
                    {"difference", "differs", "difference"},
                    {"ours, true gradient", "true", "true_gradient"}};
    said.purpose = "Each number of the paper beside the one that this project's trace-level model of it gives "
                   "(docs/partitioned-training.md).";
    said.work = "networks, taken apart into layers";
    said.method = fmt::format(
        "Unless it says otherwise: weight-stationary arrays that fill; networks as SCALE-Sim has them, without "
        "padding; "
        "{} cycles for a weight, x 2 (S - 1) / S, to exchange its gradients between S near-storage devices, the one "
        "constant fitted to table 4; maps cross the cut in no time.",
        study_.exchange_cycles);
    said.terms = {
        ("Paper's accounting: the weight update once a mini-batch, on feature maps added up before (section 4.1; "
         "equation 3 "
         "has no B before it). That is no gradient: a sum of products is not the product of sums."),
        "True gradient: all three products of each image, dW among them.",
        "difference: ours in the paper's accounting less the paper's; in percent of time these are points.",
        "In parentheses behind a number: what ours hangs on. The section on readings has what other choices give.",
        "Partition index: layers before it are near storage, numbered from 0."};
    said.left_out = "These have no numbers.";
    return said;
  }

  Figure figure(std::string_view id, Evaluations &evaluations, bool planning) const override {
    const Inputs inputs{study_, evaluations, command_, planning};
    return make_figure(kMakers, id, inputs);
  }

private:
  DptStudy study_;
  std::string command_;
};

} // namespace

const std::vector<std::string_view> &figures() {
  static const std::vector<std::string_view> ids = ids_of(kMakers);
  return ids;
}

std::unique_ptr<Repetition> open(const Study &study, const Request &request) {
  return std::make_unique<DptRepetition>(study, request);
}

Row Inputs::row(const std::string &figure, const std::string &key, Both ours, std::string note) const {
  Row row = published_row(study, figure, key, command);
  row.ours = {ours.reduced, std::nullopt, ours.per_image};
  if (ours.reduced && row.paper) row.ours[1] = *ours.reduced - *row.paper;
  row.note = std::move(note);
  return row;
}

const DptNetwork *Inputs::find(std::string_view name) const {
  for (const DptNetwork &network : study.networks)
    if (network.name == name) return &network;
  return nullptr;
}

partitioned::System Inputs::system(std::uint32_t devices) const {
  partitioned::System system;
  system.devices = devices;
  system.exchange_cycles = study.exchange_cycles;
  return system;
}

std::string entry_key(const DptNetwork &network, const Case &one, std::uint32_t devices, std::uint32_t batch) {
  return fmt::format("{}.{}.{}.{}", network.name, one.name, devices, batch);
}

void Nearness::add(double saving_error, double index_error) {
  squares += saving_error * saving_error;
  worst = std::max(worst, std::abs(saving_error));
  ++entries;
  within_one += std::abs(index_error) <= 1 ? 1 : 0;
  exact += index_error == 0 ? 1 : 0;
}

double Nearness::rms() const { return entries == 0 ? NAN : std::sqrt(squares / entries); }

void add_entries(const Inputs &inputs, const DptNetwork &network, const Subject &subject, const PaperReading &reading,
                 Nearness &nearness) {
  const auto layers = reading.late_strides ? with_late_strides(subject.layers) : subject.layers;
  for (const Case &one : inputs.study.cases) {
    const partitioned::Workload workload =
        partitioned::workload_of(layers, subject.maps, one.storage, one.host, reading.reading);
    for (const std::uint32_t devices : inputs.study.devices)
      for (const std::uint32_t batch : inputs.study.batches) {
        const std::string key = entry_key(network, one, devices, batch);
        const Published *saving = find_published(inputs.study, "table4", key + ".saving");
        const Published *index = find_published(inputs.study, "table4", key + ".cut");
        if (saving == nullptr || index == nullptr) continue;
        partitioned::System system = reading.system;
        system.devices = devices;
        const partitioned::Cut cut = partitioned::best_cut(workload, system, batch, partitioned::Accounting::kReduced);
        nearness.add(cut.saving - saving->value, static_cast<double>(cut.index) - index->value);
      }
  }
}

} // namespace gradweave::evaluation::dpt
