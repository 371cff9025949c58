// Beyond the paper, in the same fast model: both ways pipelined, and images by speed; on the formula's cycles and on
// those of this project's exact timing model.
#include "app/evaluation/dpt/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace gradweave::evaluation::dpt {
namespace {

using partitioned::Accounting;
using partitioned::PipelineRun;
using partitioned::Workload;

/// Where cycles come from.
struct Source {
  const char *key, *name;
  bool measured;
};
constexpr Source kSources[] = {{"formula", "formula of the array", false}, {"exact", "exact timing model", true}};

/// The network's cycles as measured, of so many images of a device at a time; throws ConfigError if one of its layers
/// was not.
Workload measured_workload(const DptStudy &study, const Subject &subject, const Case &one, std::uint32_t devices,
                           std::uint32_t micro) {
  Workload workload;
  workload.maps = subject.maps;
  const auto cycles = [&](const std::string &npu, std::uint32_t images, const std::string &layer) {
    const auto &layers = study.measured.at(npu).at(images);
    const auto found = layers.find(layer);
    if (found == layers.end())
      throw ConfigError(fmt::format("{}: [beyond] cycles has none of layer '{}' of {} on '{}'; add them",
                                    study.file.string(), layer, study.measured_network, npu));
    return found->second;
  };
  for (const partitioned::LayerShape &layer : subject.layers) {
    workload.storage.push_back(cycles(one.storage_npu, micro, layer.name));
    workload.host.push_back(cycles(one.host_npu, micro * devices, layer.name));
    workload.own.push_back(cycles(one.host_npu, study.measured_group, layer.name));
    workload.whole.push_back(cycles(one.host_npu, study.measured_whole, layer.name));
    workload.weights.push_back(partitioned::weights_of(layer));
  }
  return workload;
}

/// A case with so many devices: its cycles, and what a search may try with them.
using Tries = std::vector<std::pair<Workload, partitioned::Search>>;

/// One, or, as measured cycles are of so many images at a time, one for each micro-batch; the largest is the last.
Tries tries_of(const DptStudy &study, const Subject &subject, const Source &source, const Case &one,
               std::uint32_t devices) {
  partitioned::Search search = study.search;
  search.group = study.measured_group;
  if (!source.measured)
    return {{partitioned::workload_of(subject.layers, subject.maps, one.storage, one.host, partitioned::Reading{}),
             search}};
  Tries tries;
  for (const std::uint32_t micro : study.measured_micros) {
    search.micros = {micro};
    tries.emplace_back(measured_workload(study, subject, one, devices, micro), search);
  }
  return tries;
}

/// The NPU takes no images whole.
Tries without_own(Tries tries) {
  for (auto &[workload, search] : tries)
    search.group = 0;
  return tries;
}

PipelineRun best_of(const Tries &tries, std::uint32_t devices, const partitioned::Links &links, std::uint32_t batch) {
  PipelineRun best;
  for (const auto &[workload, search] : tries) {
    const PipelineRun run = partitioned::best_pipeline(workload, devices, links, batch, search);
    if (best.cycles == 0 || run.cycles < best.cycles) best = run;
  }
  return best;
}

std::string percent(double share) { return fmt::format("{:.0f}", 100 * share); }

/// What a pipeline did, as cells.
std::vector<std::string> cells_of(const PipelineRun &run) {
  return {fmt::format("{:.1f}", run.saving),       fmt::format("{}", run.schedule.cut),
          fmt::format("{}", run.schedule.micro),   fmt::format("{}", run.schedule.depth),
          fmt::format("{}", run.schedule.own()),   percent(run.storage_busy / run.cycles),
          percent(run.host_busy / run.cycles),     percent(run.storage_bubble() / run.cycles),
          percent(run.host_bubble() / run.cycles), percent(run.up_busy / run.cycles),
          percent(run.flash_busy / run.cycles),    fmt::format("{:.1f}", 100 * run.exchange / run.cycles)};
}

struct Subtable {
  const Inputs &inputs;
  const DptNetwork &network;
  const Source &source;
  Figure &figure;
  Table &table;

  void add(const Case &one, const Tries &tries, std::uint32_t devices) const {
    const DptStudy &study = inputs.study;
    const Workload &workload = tries.back().first;
    double bound = 0;
    for (const auto &[with_micro, search] : tries)
      bound = std::max(bound, partitioned::most_saving(with_micro, devices));
    for (const std::uint32_t batch : study.pipeline_batches) {
      const auto by_equation = [&](Accounting a) {
        return partitioned::best_cut(workload, inputs.system(devices), batch, a).saving;
      };
      const PipelineRun run = best_of(tries, devices, study.links, batch),
                        without = best_of(without_own(tries), devices, study.links, batch);
      const double shares = partitioned::best_shares(workload, devices, study.links, batch).saving;
      const double equation = by_equation(Accounting::kPerImage);
      std::vector<std::string> cells{fmt::format("{}, {} devices", one.name, devices), fmt::format("{}", batch),
                                     source.measured ? "-" : fmt::format("{:.1f}", by_equation(Accounting::kReduced)),
                                     fmt::format("{:.1f}", equation), fmt::format("{:.1f}", shares)};
      for (std::string &cell : cells_of(run))
        cells.push_back(std::move(cell));
      cells.push_back(fmt::format("{:.1f}", without.saving));
      cells.push_back(fmt::format("{:.1f}", bound));
      table.rows.push_back(std::move(cells));
      const std::string entry = fmt::format("{}.{}", source.key, entry_key(network, one, devices, batch));
      const auto what =
          fmt::format("{}, {}, case {}, {} devices, B = {}", network.name, source.key, one.name, devices, batch);
      for (const auto &[key, text, value] : {std::tuple{"equation", "equation 3", equation},
                                             {"shares", "images by speed", shares},
                                             {"pipeline", "pipelined both ways", run.saving}}) {
        Row row = inputs.row("beyond", fmt::format("{}.{}", entry, key), {std::nullopt, value}, "a model, not devices");
        row.text = fmt::format("{}: {}", what, text);
        row.unit = "%";
        figure.rows.push_back(std::move(row));
      }
    }
  }
};

Table new_table(const DptNetwork &network, const Source &source) {
  return {fmt::format("{}, cycles of the {}: percent of the NPU alone, and of the pipeline's time", network.name,
                      source.name),
          {"case", "B", "equation 3, paper's accounting", "equation 3", "images by speed", "pipelined both ways", "cut",
           "images of a device at a time", "kept", "the NPU's own", "devices busy", "NPU busy", "devices' bubble",
           "NPU's bubble", "link up", "flash", "exchange", "without the NPU's own", "bound"},
          {}};
}

/// What slower links and flash would cost the pipeline of most devices and images, on measured cycles.
Table links_table(const Inputs &inputs, const Subject &subject) {
  const DptStudy &study = inputs.study;
  const std::uint32_t devices = study.devices.back(), batch = study.pipeline_batches.back();
  Table table{fmt::format("{}, exact timing model, {} devices, B = {}: percent of the NPU alone by links",
                          study.measured_network, devices, batch),
              {"links and flash"},
              {}};
  for (const Case &one : study.cases)
    table.columns.push_back("case " + one.name);
  const auto add = [&](const char *name, const auto &change) {
    partitioned::Links links = study.links;
    change(links);
    std::vector<std::string> cells{name};
    for (const Case &one : study.cases)
      cells.push_back(fmt::format(
          "{:.1f}", best_of(tries_of(study, subject, kSources[1], one, devices), devices, links, batch).saving));
    table.rows.push_back(std::move(cells));
  };
  add("as above", [](partitioned::Links &) {});
  add("a quarter of the bandwidth", [](partitioned::Links &l) {
    l.device_rate /= 4;
    l.root_rate /= 4;
  });
  add("a sixteenth of the bandwidth", [](partitioned::Links &l) {
    l.device_rate /= 16;
    l.root_rate /= 16;
  });
  add("ten times the latency", [](partitioned::Links &l) { l.latency *= 10; });
  add("a tenth of the flash's bandwidth", [](partitioned::Links &l) { l.flash_rate /= 10; });
  return table;
}

} // namespace

Figure beyond(const Inputs &inputs) {
  Figure figure;
  const DptStudy &study = inputs.study;
  figure.title = "Beyond the paper: pipelined both ways";
  figure.method =
      "A model of stages, not devices in one simulation. True gradient, one cut, micro-batches forwards "
      "and backwards in turn "
      "(1F1B), links and flash beside the arrays, an all-reduce of gradients behind. While none has come the NPU takes "
      "images of its own through all layers. Images by speed: each "
      "device takes "
      "whole images through the whole network, the NPU the rest, and all exchange all gradients: the "
      "simplest baseline. Bound: "
      "each product where it is best, in fractions, nothing to move.";
  for (const DptNetwork &network : study.networks) {
    const Subject subject = inputs.subject_of(network);
    if (!subject.known() || inputs.planning) continue;
    for (const Source &source : kSources) {
      if (source.measured && network.name != study.measured_network) continue;
      Table table = new_table(network, source);
      const Subtable rows{inputs, network, source, figure, table};
      for (const Case &one : study.cases) {
        for (const std::uint32_t devices : study.devices)
          rows.add(one, tries_of(study, subject, source, one, devices), devices);
      }
      figure.tables.push_back(std::move(table));
      if (source.measured) figure.tables.push_back(links_table(inputs, subject));
    }
  }
  const partitioned::Links &links = study.links;
  figure.notes = {
      fmt::format(
          "Links: {} bytes a cycle for a device, {} for all together, {} cycles latency; flash: {} bytes a cycle, {} "
          "cycles to the first block, blocks of {} bytes. At 1 GHz these are GB/s.",
          links.device_rate, links.root_rate, links.latency, links.flash_rate, links.flash_latency, links.block_bytes),
      fmt::format(
          "Exact cycles: layers one by one on NPUs of configs/, of as many images as are there at a time: {} on a "
          "device, those of all devices on the NPU, {} of its own, {} on the NPU alone and in images by speed; "
          "cycles.csv names the commands. What stays in a scratchpad from layer to layer is left out on both "
          "sides.",
          fmt::join(study.measured_micros, ", "), study.measured_group, study.measured_whole),
      "Batch normalisation over the whole mini-batch would be a barrier in each layer: micro-batches need statistics "
      "of their "
      "own, one of each device and micro-batch. The optimizer's step and the loss are left out.",
      "'kept': micro-batches whose maps a device holds until they come back. 'The NPU's own': images that it takes "
      "whole "
      "while it waits; it takes part in the exchange then."};
  return figure;
}

} // namespace gradweave::evaluation::dpt
