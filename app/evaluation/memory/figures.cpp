#include "app/evaluation/memory/figures.hpp"
#include "app/evaluation/study/figure_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace gradweave::evaluation::memory {
namespace {

constexpr std::array<FigureMaker<Inputs>, 11> kMakers{{{"table5.1", table51},
                                                       {"table5.2", table52},
                                                       {"5.1", figure51},
                                                       {"5.2", figure52},
                                                       {"5.3", figure53},
                                                       {"5.4", figure54},
                                                       {"5.5", figure55},
                                                       {"5.6", figure56},
                                                       {"observations", observations},
                                                       {"readings", readings},
                                                       {"placement", placement}}};

class MemoryRepetition : public Repetition {
public:
  MemoryRepetition(const Study &study, const Request &request)
      : study_(read_memory_study(study, request.networks)), command_(request.command) {}

  Presentation presentation() const override {
    Presentation said;
    said.columns = {{"ours", "ours", "ours"}, {"difference", "differs", "difference"}};
    said.purpose = "Each number of the thesis beside the one that this project's memory model gives.";
    said.work = "networks, each estimated over a range of capacities or taken apart";
    said.method =
        fmt::format("Unless it says otherwise: 32 bits an element, {} GB/s both ways together, {} x 10^12 "
                    "operations a second of which a multiply-add is one, MB as 2^20 bytes, the thesis's policy.",
                    study_.bandwidth, study_.throughput);
    said.terms = {
        "difference: ours less the thesis's. In percent of time or traffic these are points.",
        "The thesis does not say all that has to be known. What its numbers hang on is in the section on "
        "readings, with what each other reading gives.",
        "Policies: thesis (whole tensors, Belady, offload at once, prefetch by latency), pack (whole tensors, "
        "those needed soonest first), rows (parts of tensors), fused (rows, and point-wise layers computed "
        "where they are read); docs/memory-model.md."};
    said.left_out = "These have no numbers.";
    return said;
  }

  Figure figure(std::string_view id, Evaluations &evaluations, bool /*planning*/) const override {
    const Inputs inputs{study_, evaluations, command_};
    return make_figure(kMakers, id, inputs);
  }

private:
  MemoryStudy study_;
  std::string command_;
};

} // namespace

const std::vector<std::string_view> &figures() {
  static const std::vector<std::string_view> ids = ids_of(kMakers);
  return ids;
}

std::unique_ptr<Repetition> open(const Study &study, const Request &request) {
  return std::make_unique<MemoryRepetition>(study, request);
}

SweepSpec Inputs::spec(const MemoryNetwork &network, memory_model::Policy policy) const {
  return {subject(network), policy, {study.capacities(), study.bandwidth * 1e9, study.throughput * 1e12, {}}};
}

SweepSpec Inputs::spec(const MemoryNetwork &network, memory_model::Policy policy,
                       const std::vector<std::uint32_t> &mebibytes) const {
  SweepSpec one = spec(network, policy);
  one.sweep.capacities.clear();
  for (const std::uint64_t size : mebibytes)
    one.sweep.capacities.push_back(size << 20U);
  return one;
}

const MemoryNetwork *Inputs::find(std::string_view name) const {
  for (const MemoryNetwork &network : study.networks)
    if (network.name == name) return &network;
  return nullptr;
}

Row Inputs::row(const std::string &figure, const std::string &key, std::optional<double> ours, std::string note) const {
  return compared_row(study, figure, key, command, ours, std::move(note));
}

const SweepPoint &point_at(const Inputs &inputs, const SweepResult &result, std::uint32_t mebibytes) {
  const std::vector<std::uint64_t> all = inputs.study.capacities();
  const auto at = std::find(all.begin(), all.end(), std::uint64_t{mebibytes} << 20U);
  if (at == all.end()) throw std::logic_error(fmt::format("no capacity of {} MiB in the study", mebibytes));
  return result.points.at(static_cast<std::size_t>(at - all.begin()));
}

double change(double from, double to) { return 100 * (to / from - 1); }

} // namespace gradweave::evaluation::memory
