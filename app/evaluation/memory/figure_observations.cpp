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

std::vector<Observation> all_observations(const Inputs &inputs) {
  const std::uint32_t small = inputs.study.small_capacity, large = inputs.study.large_capacity, most = inputs.study.to;
  const auto at = [&inputs](const SweepResult &r, std::uint32_t c) -> const SweepPoint & {
    return point_at(inputs, r, c);
  };
  const auto saved = [at](const SweepResult &r, std::uint32_t from, std::uint32_t to) {
    return -change(at(r, from).seconds, at(r, to).seconds);
  };
  const auto light = [](const MemoryNetwork &n) { return n.name == "MobileNet"; };
  const auto recurrent = [](const MemoryNetwork &n) { return n.name == "GNMT"; };
  const auto bound = [light, recurrent](const MemoryNetwork &n) { return light(n) || recurrent(n); };
  const double limit = inputs.study.quick_throughput / inputs.study.throughput;
  return {{"1: reuse frequency varies vastly among layers", "largest over smallest, at least 100",
           [](const MemoryNetwork &, const Curves &c) {
             return Says{factor_of(c.facts), factor_of(c.facts) >= 100};
           }},
          {"2: products of ResNet and Transformer are bound by computing, those of MobileNet and GNMT by memory",
           "kinds of type I below the ridge point, %; more or less than half",
           [&inputs, bound](const MemoryNetwork &n, const Curves &c) {
             const double share = below_ridge(inputs, c.facts);
             return Says{share, bound(n) == (share > 50)};
           }},
          {"3: reuse in layers and blocks saves about 70 % of the traffic where features dominate",
           "traffic saved from the small to the large cache, %; at least 60",
           [=](const MemoryNetwork &, const Curves &c) {
             const double value = -change(at(c.slow, small).traffic(), at(c.slow, large).traffic());
             return Says{value, value >= 60};
           }},
          {"4: where layers recur, reuse of weights dominates traffic",
           "weights and their gradients in all bytes that steps touch, %; more than half in GNMT alone",
           [=](const MemoryNetwork &n, const Curves &c) {
             return Says{100 * c.facts.weight_share, recurrent(n) == (c.facts.weight_share > 0.5)};
           }},
          {"5: quicker arithmetic is not used at today's capacities",
           "speed-up in the small cache; below 90 % of its bound",
           [=](const MemoryNetwork &, const Curves &c) {
             const double value = at(c.slow, small).seconds / at(c.quick, small).seconds;
             return Says{value, value < 0.9 * limit};
           }},
          {"6 and 7: reuse from forward to back helps little, but for MobileNet",
           "time saved from the large cache to the largest, %; at most 15, MobileNet more",
           [=](const MemoryNetwork &n, const Curves &c) {
             const double value = saved(c.slow, large, most);
             return Says{value, light(n) == (value > 15)};
           }},
          {"8: networks bound by memory gain more from capacity",
           "time saved by the large cache, %; more or less than 55",
           [=](const MemoryNetwork &n, const Curves &c) {
             const double value = saved(c.slow, small, large);
             return Says{value, bound(n) == (value > 55)};
           }},
          {"9: what recurs needs a cache large enough", "speed-up in the small cache; GNMT's and MobileNet's below 1.1",
           [=](const MemoryNetwork &n, const Curves &c) {
             const double value = at(c.slow, small).seconds / at(c.quick, small).seconds;
             return Says{value, bound(n) == (value < 1.1)};
           }},
          {"10 and 11: a large cache makes up for bandwidth, but for MobileNet",
           "time saved by fast memory at the large cache, %; at most 15, MobileNet more",
           [=](const MemoryNetwork &n, const Curves &c) {
             const double value = -change(at(c.slow, large).seconds, at(c.fast, large).seconds);
             return Says{value, light(n) == (value > 15)};
           }},
          {"12: point-wise layers take their part of the time", "share of type II in the small cache, %; at least 20",
           [=](const MemoryNetwork &, const Curves &c) {
             const double value = 100 * at(c.slow, small).type_two;
             return Says{value, value >= 20};
           }},
          {"13: their transfers are hidden if a block fits",
           "share of type II in the large cache, %; at most 10, but for "
           "MobileNet",
           [=](const MemoryNetwork &n, const Curves &c) {
             const double value = 100 * at(c.slow, large).type_two;
             return Says{value, light(n) == (value > 10)};
           }},
          {"14: larger batches help GNMT alone in a small cache",
           "samples a second with the largest batch over those with the smallest; above 1 for GNMT alone",
           [=](const MemoryNetwork &n, const Curves &c) {
             const double value = c.samples.empty() ? NAN : c.samples.back() / c.samples.front();
             return Says{value, recurrent(n) == (value > 1)};
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
  for (const Observation &observation : all_observations(inputs)) {
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
