// The thesis's fourteen observations, each with the numbers that it rests on.
#include "app/evaluation/memory/figures.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <utility>

namespace gradweave::evaluation::memory {
namespace {

/// What an observation says of a network: a number, and whether it is as observed.
struct Says {
  double value = 0;
  bool holds = false;
};

/// Curves of a network.
struct Curves {
  NetworkFacts facts;
  SweepResult slow, quick, fast;
  std::vector<double> samples; ///< a second, by batch, at the small capacity
};

Curves curves_of(const Inputs &inputs, const MemoryNetwork &network) {
  Curves curves;
  curves.facts = facts(inputs.evaluations, inputs.subject(network));
  SweepSpec spec = inputs.spec(network);
  curves.slow = sweep(inputs.evaluations, spec);
  spec.sweep.throughput = inputs.study.quick_throughput * 1e12;
  curves.quick = sweep(inputs.evaluations, spec);
  spec = inputs.spec(network);
  spec.sweep.bandwidth = inputs.study.fast_bandwidth * 1e9;
  curves.fast = sweep(inputs.evaluations, spec);
  for (const std::uint32_t batch : inputs.study.batches) {
    SweepSpec one = inputs.spec(network, memory_model::Policy::kThesis, {inputs.study.small_capacity});
    one.subject.batch = batch;
    const SweepResult result = sweep(inputs.evaluations, one);
    if (result.problem.empty()) curves.samples.push_back(batch / result.points[0].seconds);
  }
  return curves;
}

double factor_of(const NetworkFacts &f) {
  double lowest = HUGE_VAL, highest = 0;
  for (const LayerKind &kind : f.kinds)
    if (kind.computes()) {
      lowest = std::min(lowest, kind.reuse_frequency);
      highest = std::max(highest, kind.reuse_frequency);
    }
  return highest / lowest;
}

/// Of its kinds of products, those below the ridge point.
double below_ridge(const Inputs &inputs, const NetworkFacts &f) {
  double below = 0, all = 0;
  for (const LayerKind &kind : f.kinds) {
    if (!kind.product) continue;
    ++all;
    below += kind.reuse_frequency < 1e3 * inputs.study.throughput / inputs.study.bandwidth ? 1 : 0;
  }
  return 100 * below / std::max(all, 1.0);
}

/// How an observation is put into numbers.
struct Observation {
  const char *text, *number;
  std::function<Says(const MemoryNetwork &, const Curves &)> says;
};

bool is_light(const MemoryNetwork &n) { return n.name == "MobileNet"; }
bool recurs(const MemoryNetwork &n) { return n.name == "GNMT"; }
bool is_memory_bound(const MemoryNetwork &n) { return is_light(n) || recurs(n); }

/// Where on the curves observations look.
struct Looks {
  const Inputs &inputs;
  std::uint32_t small = inputs.study.small_capacity, large = inputs.study.large_capacity, most = inputs.study.to;

  const SweepPoint &at(const SweepResult &r, std::uint32_t mebibytes) const { return point_at(inputs, r, mebibytes); }
  /// Percent of the time.
  double saved(const SweepResult &r, std::uint32_t from, std::uint32_t to) const {
    return -change(at(r, from).seconds, at(r, to).seconds);
  }
  double speed_up(const Curves &c) const { return at(c.slow, small).seconds / at(c.quick, small).seconds; }
};

/// Of reuse, traffic and arithmetic.
std::vector<Observation> observations_1_to_5(const Looks &look) {
  return {{"1: reuse frequency varies vastly among layers", "largest over smallest, at least 100",
           [](const MemoryNetwork &, const Curves &c) {
             return Says{factor_of(c.facts), factor_of(c.facts) >= 100};
           }},
          {"2: products of ResNet and Transformer are bound by computing, those of MobileNet and GNMT by memory",
           "kinds of type I below the ridge point, %; more or less than half",
           [look](const MemoryNetwork &n, const Curves &c) {
             const double share = below_ridge(look.inputs, c.facts);
             return Says{share, is_memory_bound(n) == (share > 50)};
           }},
          {"3: reuse in layers and blocks saves about 70 % of the traffic where features dominate",
           "traffic saved from the small to the large cache, %; at least 60",
           [look](const MemoryNetwork &, const Curves &c) {
             const double value = -change(look.at(c.slow, look.small).traffic(), look.at(c.slow, look.large).traffic());
             return Says{value, value >= 60};
           }},
          {"4: where layers recur, reuse of weights dominates traffic",
           "weights and their gradients in all bytes that steps touch, %; more than half in GNMT alone",
           [](const MemoryNetwork &n, const Curves &c) {
             return Says{100 * c.facts.weight_share, recurs(n) == (c.facts.weight_share > 0.5)};
           }},
          {"5: quicker arithmetic is not used at today's capacities",
           "speed-up in the small cache; below 90 % of its bound", [look](const MemoryNetwork &, const Curves &c) {
             const double value = look.speed_up(c);
             return Says{value, value < 0.9 * look.inputs.study.quick_throughput / look.inputs.study.throughput};
           }}};
}

/// Of capacity, bandwidth, kinds of layers and batches.
std::vector<Observation> observations_6_to_14(const Looks &look) {
  return {{"6 and 7: reuse from forward to back helps little, but for MobileNet",
           "time saved from the large cache to the largest, %; at most 15, MobileNet more",
           [look](const MemoryNetwork &n, const Curves &c) {
             const double value = look.saved(c.slow, look.large, look.most);
             return Says{value, is_light(n) == (value > 15)};
           }},
          {"8: networks bound by memory gain more from capacity",
           "time saved by the large cache, %; more or less than 55",
           [look](const MemoryNetwork &n, const Curves &c) {
             const double value = look.saved(c.slow, look.small, look.large);
             return Says{value, is_memory_bound(n) == (value > 55)};
           }},
          {"9: what recurs needs a cache large enough", "speed-up in the small cache; GNMT's and MobileNet's below 1.1",
           [look](const MemoryNetwork &n, const Curves &c) {
             const double value = look.speed_up(c);
             return Says{value, is_memory_bound(n) == (value < 1.1)};
           }},
          {"10 and 11: a large cache makes up for bandwidth, but for MobileNet",
           "time saved by fast memory at the large cache, %; at most 15, MobileNet more",
           [look](const MemoryNetwork &n, const Curves &c) {
             const double value = -change(look.at(c.slow, look.large).seconds, look.at(c.fast, look.large).seconds);
             return Says{value, is_light(n) == (value > 15)};
           }},
          {"12: point-wise layers take their part of the time", "share of type II in the small cache, %; at least 20",
           [look](const MemoryNetwork &, const Curves &c) {
             const double value = 100 * look.at(c.slow, look.small).type_two;
             return Says{value, value >= 20};
           }},
          {"13: their transfers are hidden if a block fits",
           "share of type II in the large cache, %; at most 10, but for "
           "MobileNet",
           [look](const MemoryNetwork &n, const Curves &c) {
             const double value = 100 * look.at(c.slow, look.large).type_two;
             return Says{value, is_light(n) == (value > 10)};
           }},
          {"14: larger batches help GNMT alone in a small cache",
           "samples a second with the largest batch over those with the smallest; above 1 for GNMT alone",
           [](const MemoryNetwork &n, const Curves &c) {
             const double value = c.samples.empty() ? NAN : c.samples.back() / c.samples.front();
             return Says{value, recurs(n) == (value > 1)};
           }}};
}

} // namespace

Figure observations(const Inputs &inputs) {
  Figure figure;
  figure.title = "The thesis's observations";
  figure.method = "What the thesis observes on its figures, each as a number of every network, with what would bear it "
                  "out. 'no' is where a network does otherwise here.";
  Table table{fmt::format("Small cache: {} MiB, large: {} MiB, largest: {} MiB", inputs.study.small_capacity,
                          inputs.study.large_capacity, inputs.study.to),
              {"observation", "number"},
              {}};
  std::vector<Curves> curves;
  for (const MemoryNetwork &network : inputs.study.networks) {
    table.columns.push_back(network.name);
    curves.push_back(curves_of(inputs, network));
  }
  const Looks look{inputs};
  std::vector<Observation> all = observations_1_to_5(look);
  for (const Observation &observation : observations_6_to_14(look))
    all.push_back(observation);
  for (const Observation &observation : all) {
    std::vector<std::string> cells{observation.text, observation.number};
    for (std::size_t n = 0; n < curves.size(); ++n) {
      const Says says = observation.says(inputs.study.networks[n], curves[n]);
      cells.push_back(fmt::format("{:.4g}{}", says.value, says.holds ? "" : ": no"));
    }
    table.rows.push_back(std::move(cells));
  }
  figure.tables.push_back(std::move(table));
  return figure;
}

} // namespace gradweave::evaluation::memory
