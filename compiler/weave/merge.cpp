#include "compiler/weave/merge.hpp"

#include "weave_model/weaver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

struct Named {
  WeavePolicy policy;
  std::string_view name;
};
constexpr std::array<Named, 6> kPolicies{{{WeavePolicy::kOneByOne, "one_by_one"},
                                          {WeavePolicy::kRoundRobin, "round_robin"},
                                          {WeavePolicy::kAiMt, "ai_mt"},
                                          {WeavePolicy::kLayerweaver, "layerweaver"},
                                          {WeavePolicy::kBounded, "bounded"},
                                          {WeavePolicy::kTiles, "tiles"}}};

/// Shares of a job by which it may lead.
constexpr std::array<double, 4> kLeads{0, 0.01, 0.05, 0.25};

} // namespace

WeavePolicy parse_weave_policy(std::string_view name) {
  for (const Named &n : kPolicies)
    if (n.name == name) return n.policy;
  throw std::invalid_argument(fmt::format("unknown policy '{}'; use one of: {}", name, weave_policy_names()));
}

std::string_view to_string(WeavePolicy policy) {
  return std::find_if(kPolicies.begin(), kPolicies.end(), [&](const Named &n) { return n.policy == policy; })->name;
}

std::string weave_policy_names() {
  std::string names;
  for (const Named &n : kPolicies)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", n.name);
  return names;
}

std::vector<Turn> merge(const std::vector<std::vector<TileCost>> &costs, const weave_model::Rule &rule,
                        const Machine &npu) {
  constexpr double kShortest = 1; // cycle: an item takes some time in Layerweaver's model
  weave_model::Npu buffer{npu.spm_bytes,
                          static_cast<double>(npu.memory.bytes_num) / static_cast<double>(npu.memory.bytes_den)};
  const auto bytes = [&](const TileCost &item) { return static_cast<std::uint64_t>(item.memory * buffer.bandwidth); };
  for (const std::vector<TileCost> &items : costs)
    for (const TileCost &item : items)
      buffer.buffer = std::max(buffer.buffer, bytes(item));
  std::vector<weave_model::Job> jobs;
  std::vector<weave_model::Request> requests;
  for (const std::vector<TileCost> &items : costs) {
    weave_model::Model model;
    for (const TileCost &item : items)
      model.layers.push_back({std::max(item.array, kShortest), bytes(item)});
    requests.push_back({jobs.size(), 0});
    jobs.push_back({std::move(model), 1});
  }
  std::vector<Turn> turns;
  for (const weave_model::Scheduled &s : weave_model::Weaver(jobs, buffer, rule).serve(requests, true).order)
    turns.push_back({s.model, s.layer});
  return turns;
}

std::vector<weave_model::Rule> rules_of(WeavePolicy policy) {
  using weave_model::Idle;
  using weave_model::Policy;
  using weave_model::Ties;
  switch (policy) {
  case WeavePolicy::kOneByOne:
    return {{Policy::kOneByOne}};
  case WeavePolicy::kRoundRobin:
    return {{Policy::kRoundRobin}};
  case WeavePolicy::kAiMt:
    return {{Policy::kAiMt}};
  case WeavePolicy::kLayerweaver:
    return {{Policy::kGreedy}};
  case WeavePolicy::kBounded:
  case WeavePolicy::kTiles:
    break;
  }
  std::vector<weave_model::Rule> rules;
  if (policy == WeavePolicy::kTiles) rules.push_back({Policy::kOneByOne});
  for (const Ties ties : {Ties::kFurthestBehind, Ties::kLeastAhead})
    for (const double lead : kLeads)
      if (lead > 0 || ties == Ties::kFurthestBehind) rules.push_back({Policy::kBounded, Idle::kSum, ties, lead});
  return rules;
}

} // namespace gradweave::compiler
