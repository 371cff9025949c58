// What the thesis leaves open, read otherwise: what each of its numbers hangs on.
#include "app/evaluation/memory/figures.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace gradweave::evaluation::memory {
namespace {

using memory_model::ThesisReading;

struct Reading {
  const char *name;
  ThesisReading thesis = {};
  bool separate_layers = true;
  double operations = 1; ///< that a multiply-add counts as
  double megabyte = 1;   ///< in MiB
};

/// Each other one differs from the first in one thing.
const std::vector<Reading> &all_readings() {
  static const std::vector<Reading> all{
      {"as here"},
      {"a step larger than the cache loads, then computes", {ThesisReading::Large::kWaits}},
      {"the bus strictly in order", {ThesisReading::Large::kStreamed, ThesisReading::Bus::kInOrder}},
      {"both of these", {ThesisReading::Large::kWaits, ThesisReading::Bus::kInOrder}},
      {"no loading ahead", {ThesisReading::Large::kStreamed, ThesisReading::Bus::kLoadsFirst, false}},
      {"ways back as this project's operators", {}, false},
      {"a multiply-add is two operations", {}, true, 2},
      {"a MB is 10^6 bytes", {}, true, 1, 1e6 / 1048576},
  };
  return all;
}

/// A published number as what has to be known of a network for it.
struct Number {
  enum class Kind { kTime, kTraffic, kTypeTwo, kSpeedup } kind;
  const char *figure, *word; ///< of the published key, with the capacity behind it
};
constexpr std::array<Number, 4> kNumbers{{{Number::Kind::kTime, "5.3", "time."},
                                          {Number::Kind::kTraffic, "5.2", "traffic."},
                                          {Number::Kind::kTypeTwo, "5.5", "type2."},
                                          {Number::Kind::kSpeedup, "5.3", "speedup."}}};

double value_of(const Inputs &inputs, const MemoryNetwork &network, const Reading &reading, Number::Kind kind,
                std::uint32_t mebibytes) {
  SweepSpec spec = inputs.spec(network, memory_model::Policy::kThesis, {inputs.study.from});
  spec.subject.separate_layers = reading.separate_layers;
  spec.sweep.reading = reading.thesis;
  spec.sweep.throughput /= reading.operations;
  if (mebibytes != inputs.study.from) spec.sweep.capacities.push_back(std::uint64_t{mebibytes} << 20U);
  for (std::uint64_t &capacity : spec.sweep.capacities)
    capacity = static_cast<std::uint64_t>(static_cast<double>(capacity) * reading.megabyte);
  const SweepResult result = sweep(inputs.evaluations, spec);
  if (!result.problem.empty()) return NAN;
  const SweepPoint &first = result.points.front(), &last = result.points.back();
  switch (kind) {
  case Number::Kind::kTime:
    return change(first.seconds, last.seconds);
  case Number::Kind::kTraffic:
    return change(first.traffic(), last.traffic());
  case Number::Kind::kTypeTwo:
    return 100 * last.type_two;
  case Number::Kind::kSpeedup:
    break;
  }
  spec.sweep.throughput = inputs.study.quick_throughput * 1e12 / reading.operations;
  const SweepResult quick = sweep(inputs.evaluations, spec);
  return quick.problem.empty() ? last.seconds / quick.points.back().seconds : NAN;
}

} // namespace

Figure readings(const Inputs &inputs) {
  Figure figure;
  figure.title = "What the numbers hang on";
  figure.method = "The thesis leaves open what a step larger than its cache costs, in which order the bus moves, what "
                  "layers read on their way back, and what it counts. The first reading is the one of all other "
                  "sections; each other one differs from it as its name says.";
  Table table{"The thesis's numbers under each reading", {"number", "thesis"}, {}};
  for (const Reading &reading : all_readings())
    table.columns.emplace_back(reading.name);
  for (const MemoryNetwork &network : inputs.study.networks)
    for (const Number &number : kNumbers)
      for (const Published &published : inputs.study.published) {
        const std::string prefix = network.name + "." + number.word;
        if (published.figure != number.figure || published.key.rfind(prefix, 0) != 0) continue;
        const auto mebibytes = static_cast<std::uint32_t>(std::stoul(published.key.substr(prefix.size())));
        std::vector<std::string> cells{published.text, fmt::format("{:.2f}", published.value)};
        for (const Reading &reading : all_readings())
          cells.push_back(fmt::format("{:.2f}", value_of(inputs, network, reading, number.kind, mebibytes)));
        table.rows.push_back(std::move(cells));
      }
  figure.tables.push_back(std::move(table));
  return figure;
}

} // namespace gradweave::evaluation::memory
