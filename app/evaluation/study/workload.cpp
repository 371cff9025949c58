#include "app/evaluation/study/workload.hpp"
#include "graph/frontend/load_network.hpp"

#include "app/evaluation/unit/evaluate.hpp"
#include "compiler/lower/order.hpp"
#include "runtime/run/lookup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace gradweave::evaluation {
namespace {

using compiler::Layer;
using compiler::Partition;
using compiler::Pass;
using compiler::Schedule;

/// `factor` as a fraction: factors of a study have few decimals.
constexpr std::uint64_t kFactorDenominator = 1000;

/// Up to so many products of array-sized tiles a layer gets the whole effort of a search; with more the effort shrinks
/// in proportion, so that a few layers do not take most of the time.
constexpr double kFullEffortProducts = 1000;

Machine scale_bandwidth(Machine npu, double factor) {
  if (factor == 1) return npu;
  npu.memory.bandwidth_gb_s *= factor;
  npu.memory.bytes_num *= static_cast<std::uint64_t>(std::llround(factor * kFactorDenominator));
  npu.memory.bytes_den *= kFactorDenominator;
  const std::uint64_t common = std::gcd(npu.memory.bytes_num, npu.memory.bytes_den);
  npu.memory.bytes_num /= common;
  npu.memory.bytes_den /= common;
  return npu;
}

std::uint32_t extent(const Layer &layer, Partition partition) {
  switch (partition) {
  case Partition::kNone:
    return 1;
  case Partition::kWeightSharing:
    return layer.m;
  case Partition::kDySharing:
    return layer.n;
  case Partition::kIfmapSharing:
    return layer.k;
  }
  return 1;
}

} // namespace

Workloads::Workloads(const LayerStudy &study, const std::vector<std::string> &wanted) : study_(study) {
  std::vector<std::string> known;
  for (const StudyNetwork &network : study.networks) {
    known.push_back(network.name);
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), network.name) != wanted.end())
      networks_.push_back(network);
  }
  for (const std::string &name : wanted)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw std::invalid_argument(
          fmt::format("--network: no network '{}' in {}; there are: {}", name, study.name, fmt::join(known, ", ")));
}

const Machine &Workloads::npu(const std::string &name) const {
  const auto it = npus_.find(name);
  return it != npus_.end() ? it->second : npus_.emplace(name, load_machine(runtime::find_npu(name))).first->second;
}

Setting Workloads::small() const { return {npu(study_.small_npu), false, study_.small_batch}; }

Setting Workloads::large(std::size_t index, double bandwidth, std::uint32_t batch) const {
  const Machine &config = npu(study_.large_npus.at(index));
  const std::uint32_t cores = config.cores / npu(study_.large_npus.front()).cores;
  return {scale_bandwidth(config, bandwidth), true, batch != 0 ? batch : study_.large_batch * cores};
}

const std::vector<Workload> &Workloads::at(const Setting &setting) const {
  std::vector<Workload> &workloads = workloads_[{setting.large, setting.batch}];
  if (workloads.empty())
    for (const StudyNetwork &network : networks_)
      workloads.push_back(
          {network.name,
           compiler::load_network(runtime::find_model(setting.large ? network.large : network.small), setting.batch)});
  return workloads;
}

const Workload *Workloads::owner(const Layer &shape, const Layer *&layer) const {
  for (const auto &[setting, workloads] : workloads_)
    for (const Workload &workload : workloads)
      for (const Layer &l : workload.network.layers)
        if (l.m == shape.m && l.k == shape.k && l.n == shape.n && l.groups == shape.groups && l.dx == shape.dx) {
          layer = &l;
          return &workload;
        }
  return nullptr;
}

std::vector<std::string> Workloads::names() const {
  std::vector<std::string> names;
  for (const StudyNetwork &network : networks_)
    names.push_back(network.name);
  return names;
}

UnitResult Costs::get(const Layer &layer, Pass pass, Variant variant) const {
  variant.policy = policy_;
  variant.parts = std::min(variant.parts, extent(layer, variant.partition));
  if (variant.parts <= 1) {
    variant.parts = 1;
    variant.partition = Partition::kNone;
  }
  // Sums of their own let the cores work side by side; one core continues a sum for nothing.
  variant.reduction = npu_.cores > 1 ? compiler::Reduction::kAdd : compiler::Reduction::kChain;
  // Without dX all orders are the same: one unit for them.
  if (pass == Pass::kForward || !layer.dx) variant.schedule = Schedule::kSequential;
  if (variant.partition == Partition::kNone) variant.schedule = compiler::resolve(variant.schedule, layer);
  Unit unit{layer, npu_, pass, std::move(variant)};
  if (policy_ == kSearched) {
    // Several cores share the effort, as they share the layer.
    const double share = std::min(1.0, kFullEffortProducts / array_products(unit)) / npu_.cores;
    unit.variant.plans = static_cast<std::uint64_t>(std::lround(share * static_cast<double>(plans_)));
  }
  return evaluations_.get(unit);
}

/// The fastest; a problem if any has one, so that a choice is never made among fewer.
UnitResult Costs::fastest(const std::vector<UnitResult> &results) const {
  for (const UnitResult &result : results)
    if (!result.problem.empty()) return result;
  return *std::min_element(results.begin(), results.end(),
                           [](const UnitResult &a, const UnitResult &b) { return a.cycles < b.cycles; });
}

UnitResult Costs::forward(const Layer &layer) const {
  return get(layer, Pass::kForward, {{}, Schedule::kSequential, false, usual_partition(), npu_.cores});
}

UnitResult Costs::partitioned(const Layer &layer, Partition partition, std::uint32_t parts) const {
  return get(layer, Pass::kBackward, {{}, Schedule::kRearrange, false, partition, parts});
}

UnitResult Costs::best_partitioned(const Layer &layer) const {
  std::vector<UnitResult> results;
  const std::vector<std::uint32_t> parts = npu_.cores > 1 ? std::vector<std::uint32_t>{npu_.cores} : parts_;
  if (npu_.cores == 1) results.push_back(partitioned(layer, Partition::kNone, 1));
  for (const Partition partition : {Partition::kWeightSharing, Partition::kDySharing, Partition::kIfmapSharing})
    for (const std::uint32_t p : parts)
      results.push_back(partitioned(layer, partition, p));
  return fastest(results);
}

UnitResult Costs::backward(const Layer &layer, Technique technique) const {
  const auto one = [&](Schedule schedule, bool dy_once = false) {
    return get(layer, Pass::kBackward, {{}, schedule, dy_once, usual_partition(), npu_.cores});
  };
  if (!layer.dx) return one(Schedule::kSequential);
  switch (technique) {
  case Technique::kBaseline:
    return one(Schedule::kSequential);
  case Technique::kDyOnce:
    return one(Schedule::kSequential, true);
  case Technique::kInterleave:
    return one(Schedule::kInterleave);
  case Technique::kRearrange:
    return one(Schedule::kRearrange);
  case Technique::kIdeal:
    return fastest({one(Schedule::kInterleave), one(Schedule::kDxMajor), one(Schedule::kDwMajor)});
  case Technique::kPartition:
    return best_partitioned(layer);
  }
  throw std::logic_error("no such technique");
}

double cycles_of(const UnitResult &result) {
  return result.problem.empty() ? static_cast<double>(result.cycles) : std::numeric_limits<double>::quiet_NaN();
}

double Costs::cycles(const Layer &layer, Technique technique) const {
  return cycles_of(forward(layer)) + cycles_of(backward(layer, technique));
}

double Costs::cycles(const Workload &workload, Technique technique) const {
  double sum = 0;
  for (const Layer &layer : workload.network.layers)
    sum += cycles(layer, technique);
  return sum;
}

} // namespace gradweave::evaluation
