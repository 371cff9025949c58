#include "app/evaluation/rtl_check.hpp"

#include "app/evaluation/unit/evaluate.hpp"
#include "app/evaluation/unit/unit_key.hpp"
#include "runtime/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>

namespace gradweave::evaluation {
namespace {

std::string variant_text(const Unit &unit) {
  const Variant &v = unit.variant;
  std::string text =
      fmt::format("{}, {}, {}", compiler::to_string(unit.pass), v.policy, compiler::to_string(v.schedule));
  if (v.partition != compiler::Partition::kNone)
    text += fmt::format(", {} in {}", compiler::to_string(v.partition), v.parts);
  return fmt::format("{}, {}", text, unit.npu.name);
}

RtlUnit stream_of(const std::string &network, const Unit &unit, std::uint64_t cycles) {
  // What was evaluated must be this very run, unless it was that of a few groups.
  const bool whole = timed_groups(unit) == unit.layer.groups;
  return {network, unit.layer.name, variant_text(unit), unit.npu, key_of(unit, tool_version()), cycles, whole, [unit] {
            return compile(unit);
          }};
}

/// `count` of them, drawn.
std::vector<RtlUnit> draw(std::vector<RtlUnit> units, std::uint32_t count, std::mt19937_64 &random) {
  for (std::size_t i = 0; i < std::min<std::size_t>(count, units.size()); ++i)
    std::swap(units[i], units[i + random() % (units.size() - i)]);
  if (units.size() > count) units.resize(count);
  return units;
}

using ByNetwork = std::map<std::string, std::vector<RtlUnit>>;

/// Of each network as many as the sample has.
std::vector<RtlUnit> draw_each(ByNetwork by_network, const std::vector<std::string> &names,
                               const RtlSelection &selection) {
  std::vector<RtlUnit> selected;
  std::mt19937_64 random(selection.seed);
  for (const std::string &name : names)
    for (RtlUnit &unit : draw(std::move(by_network[name]), selection.sample, random))
      selected.push_back(std::move(unit));
  return selected;
}

bool is_built(const Machine &npu) {
  try {
    find_rtl_library(npu);
    return true;
  } catch (const std::runtime_error &) {
    return false;
  }
}

} // namespace

std::vector<RtlUnit> select_for_rtl(const std::vector<Unit> &units, const Workloads &workloads, Evaluations &results,
                                    const RtlSelection &selection) {
  const Setting small = workloads.small();
  ByNetwork by_network;
  std::vector<RtlUnit> all;
  for (Unit unit : units) {
    if (!executable(unit.variant) || (!selection.all && unit.npu.name != small.npu.name)) continue;
    const UnitResult result = results.get(unit);
    if (!result.problem.empty() || (!selection.all && result.cycles > selection.cycles)) continue;
    const compiler::Layer *layer = nullptr;
    const Workload *owner = workloads.owner(unit.layer, layer);
    if (owner == nullptr) continue;
    unit.layer = *layer;
    (selection.all ? all : by_network[owner->name]).push_back(stream_of(owner->name, unit, result.cycles));
  }
  return selection.all ? all : draw_each(std::move(by_network), workloads.names(), selection);
}

std::vector<RtlUnit> select_for_rtl(const std::vector<Work> &works, Evaluations &results,
                                    const RtlSelection &selection) {
  std::map<std::string, bool> built; // by the NPU's name
  std::vector<std::string> names;
  ByNetwork by_network;
  std::vector<RtlUnit> all;
  for (const Work &work : works) {
    if (!work.streams) continue;
    for (RtlUnit &unit : work.streams(results.get(work))) {
      if (selection.all) {
        all.push_back(std::move(unit));
        continue;
      }
      const auto [npu, is_new] = built.try_emplace(unit.npu.name);
      if (is_new) npu->second = is_built(unit.npu);
      if (!npu->second || unit.cycles > selection.cycles) continue;
      if (by_network.find(unit.network) == by_network.end()) names.push_back(unit.network);
      by_network[unit.network].push_back(std::move(unit));
    }
  }
  return selection.all ? all : draw_each(std::move(by_network), names, selection);
}

} // namespace gradweave::evaluation
