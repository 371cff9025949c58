#include "compiler/request/options.hpp"

#include <limits>

namespace gradweave::compiler {

// Every field is named in both, so that a new one does not compile until it is decided whether results and plans depend
// on it.

Fingerprint fingerprint(const CompileOptions &options) {
  const auto &[schedule, pass, tune, progress, explain, partition, parts, reduction, sharing, plans, search_seed,
               objective, flexer_policy, stream] = options;
  Fingerprint whole;
  whole.add(to_string(schedule), pass, tune, partition, parts, reduction, sharing, plans, search_seed,
            to_string(flexer_policy), stream);
  if (objective != Objective::kCycles) whole.add(objective);
  return whole;
}

Fingerprint plan_fingerprint(const CompileOptions &options) {
  const auto &[schedule, pass, tune, progress, explain, partition, parts, reduction, sharing, plans, search_seed,
               objective, flexer_policy, stream] = options;
  Fingerprint whole;
  whole.add(plans, search_seed);
  if (objective != Objective::kCycles) whole.add(objective);
  return whole;
}

const std::vector<OptionForm> &option_forms() {
  using Options = CompileOptions;
  using Text = const std::string &;
  static const std::vector<OptionForm> forms{
      {"tune",
       "Longer search for each layer's plan, as in --tune=5000: plans to try, 1000 if left out. Schedules that search "
       "nothing take no notice of it, nor does search of several layers",
       0, std::numeric_limits<std::uint64_t>::max(), 1000, [](Options &o, Text text) { o.tune = std::stoull(text); },
       [](const Options &o) { return std::to_string(o.tune); }},
      {"partition",
       "Cut the backward pass, one of " + partition_names() + ": not at all (one core computes all), along M, N or K",
       0, 0, 0, [](Options &o, Text text) { o.partition = parse_partition(text); },
       [](const Options &o) { return std::string(to_string(o.partition)); }},
      {"parts", "Parts of the partition; default: one for each core, two on one core", 1, 1U << 16U, 0,
       [](Options &o, Text text) { o.parts = static_cast<std::uint32_t>(std::stoul(text)); },
       [](const Options &o) { return std::to_string(o.parts); }},
      {"reduction",
       "Partial sums of several parts, one of " + reduction_names() +
           ": each continues the one before (the bits of one core), or each from zero and then added under a reduction "
           "plan",
       0, 0, 0, [](Options &o, Text text) { o.reduction = parse_reduction(text); },
       [](const Options &o) { return std::string(to_string(o.reduction)); }},
      {"sharing",
       "How cores share a layer that is cut, one of " + sharing_names() +
           ": each has a part of its own, or they take tiles along the partition's dimension by turns, so that they "
           "are at "
           "neighbouring tiles at any time",
       0, 0, 0, [](Options &o, Text text) { o.sharing = parse_sharing(text); },
       [](const Options &o) { return std::string(to_string(o.sharing)); }},
      {"plans",
       "Changes of good plans that are simulated for every layer and order; default 300. Fewer take less time, and "
       "cycles rise by some per cent",
       0, 1'000'000, 0, [](Options &o, Text text) { o.plans = std::stoull(text); },
       [](const Options &o) { return std::to_string(o.plans); }},
      {"search-seed",
       "Seed of the search for each layer's plan; default 1. Heeded where --tune is: other seeds show by how much "
       "cycles "
       "depend on luck",
       0, std::numeric_limits<std::uint64_t>::max(), 0,
       [](Options &o, Text text) { o.search_seed = std::stoull(text); },
       [](const Options &o) { return std::to_string(o.search_seed); }},
      {"objective",
       "What the search for each layer's plan minimises, one of " + objective_names() +
           "; edp is energy times cycles. Energies are those of the NPU's table [energy] (docs/energy.md)",
       0, 0, 0, [](Options &o, Text text) { o.objective = parse_objective(text); },
       [](const Options &o) { return std::string(to_string(o.objective)); }},
      {"flexer-policy",
       "Choices of the schedules flexer and loop_order, as in priority=min_transfer,victims=first_fit; one each of: " +
           flexer::policy_names() + "; those left out are the first. loop_order takes notice of metric only",
       0, 0, 0, [](Options &o, Text text) { o.flexer_policy = flexer::parse_policy(text); },
       [](const Options &o) { return to_string(o.flexer_policy); }}};
  return forms;
}

} // namespace gradweave::compiler
