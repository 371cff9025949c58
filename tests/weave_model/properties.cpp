#include "tests/weave_model/properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>

namespace gradweave::weave_model {

std::vector<Request> Instance::list() const {
  std::vector<Request> all;
  for (std::size_t m = 0; m < jobs.size(); ++m)
    all.insert(all.end(), requests[m], Request{m});
  return all;
}

Instance random_instance(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::uint32_t from, std::uint32_t to) {
    return from + static_cast<std::uint32_t>(random() % (to - from + 1));
  };
  Instance instance;
  instance.npu = {pick(8, 24), 1};
  const std::uint32_t count = pick(1, 3);
  for (std::uint32_t m = 0; m < count; ++m) {
    Job job{{fmt::format("m{}", m), {}}, 0};
    const std::uint32_t layers = pick(1, 4), computes = pick(1, 9), fetches = pick(0, 8);
    for (std::uint32_t i = 0; i < layers; ++i) {
      const Layer layer{static_cast<double>(pick(1, computes)), pick(0, fetches)};
      job.alone += std::max(layer.seconds, static_cast<double>(layer.bytes));
      job.model.layers.push_back(layer);
    }
    instance.jobs.push_back(job);
    instance.requests.push_back(pick(1, 4));
  }
  return instance;
}

Times run(const std::vector<Layer> &order, const Npu &npu) {
  Times times;
  std::uint64_t occupied = 0, arrived = 0;
  double busy_until = 0;
  bool computes = false;
  for (double now = 0; times.computed.size() < order.size() || computes; ++now) {
    if (computes && now == busy_until) {
      computes = false;
      times.computed.push_back(now);
      occupied -= order[times.computed.size() - 1].bytes;
    }
    const auto note_arrivals = [&](double when) {
      while (times.fetched.size() < order.size() && arrived == order[times.fetched.size()].bytes) {
        times.fetched.push_back(when);
        arrived = 0;
      }
    };
    if (arrived == 0) note_arrivals(now); // layers without weights
    if (!computes && times.computed.size() < times.fetched.size()) {
      computes = true;
      busy_until = now + order[times.computed.size()].seconds;
    }
    if (times.fetched.size() == order.size() || occupied == npu.buffer) continue;
    ++occupied;
    ++arrived;
    note_arrivals(now + 1);
  }
  return times;
}

namespace {

std::vector<Layer> layers_of(const Instance &instance, const Outcome &outcome) {
  std::vector<Layer> order;
  for (const Scheduled &s : outcome.order)
    order.push_back(instance.jobs.at(s.model).model.layers.at(s.layer));
  return order;
}

/// Every layer of every request once, in its model's order.
std::string lost_or_doubled(const Instance &instance, const Outcome &outcome) {
  std::vector<std::size_t> done(instance.jobs.size());
  for (const Scheduled &s : outcome.order) {
    const std::size_t layers = instance.jobs[s.model].model.layers.size();
    if (s.request * layers + s.layer != done[s.model]++)
      return fmt::format("layer {} of request {} of model {} is out of order", s.layer, s.request, s.model);
  }
  for (std::size_t m = 0; m < done.size(); ++m)
    if (done[m] != instance.requests[m] * instance.jobs[m].model.layers.size())
      return fmt::format("{} layers of model {}", done[m], m);
  return "";
}

} // namespace

std::string fault_of(const Instance &instance, const Outcome &outcome) {
  if (std::string lost = lost_or_doubled(instance, outcome); !lost.empty()) return lost;
  const std::vector<Layer> order = layers_of(instance, outcome);
  const Times times = run(order, instance.npu);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Effect &e = outcome.order[i].effect;
    if (e.fetched != times.fetched[i] || e.computed != times.computed[i])
      return fmt::format("layer {} is fetched at {} and computed at {}, not {} and {}", i, e.fetched, e.computed,
                         times.fetched[i], times.computed[i]);
    std::uint64_t occupied = 0; // by what is fetched and not computed when this one is fetched
    for (std::size_t j = 0; j <= i; ++j)
      if (outcome.order[j].effect.computed > e.fetched) occupied += order[j].bytes;
    if (occupied > instance.npu.buffer) return fmt::format("{} bytes in the buffer at {}", occupied, e.fetched);
  }
  if (outcome.seconds != times.computed.back()) return fmt::format("takes {} s", outcome.seconds);
  if (outcome.seconds < least_seconds(instance.jobs, instance.requests, instance.npu)) return "faster than its bound";
  return "";
}

namespace {

struct Option {
  std::size_t model = 0;
  Layer layer;
  double idle = 0, added = 0, ahead = 0, memory_idle = 0, service = 0;
};

/// What each model's next layer would do, by running the whole order with it.
std::vector<Option> options(const Instance &instance, const std::vector<Layer> &before,
                            const std::vector<std::size_t> &done) {
  std::vector<Option> all;
  const Times now = run(before, instance.npu);
  const double fetched = before.empty() ? 0 : now.fetched.back(), computed = before.empty() ? 0 : now.computed.back();
  for (std::size_t m = 0; m < done.size(); ++m) {
    const std::vector<Layer> &layers = instance.jobs[m].model.layers;
    if (done[m] == layers.size() * instance.requests[m]) continue;
    Option o{m, layers[done[m] % layers.size()]};
    std::vector<Layer> with = before;
    with.push_back(o.layer);
    const Times then = run(with, instance.npu);
    o.memory_idle = then.fetched.back() - fetched - static_cast<double>(o.layer.bytes);
    const double compute_idle = then.computed.back() - o.layer.seconds - computed;
    o.idle = o.memory_idle + compute_idle;
    o.added = then.computed.back() - computed + then.fetched.back() - fetched;
    o.ahead = then.computed.back() - then.fetched.back();
    for (std::size_t i = 0; i < done[m]; ++i)
      o.service += std::max(layers[i % layers.size()].seconds, static_cast<double>(layers[i % layers.size()].bytes));
    all.push_back(o);
  }
  return all;
}

/// Smaller is better, the first number first.
using Rank = std::vector<double>;

Rank greedy_rank(const Option &o, const Rule &rule, double least_service) {
  const double idle = rule.idle == Idle::kSum ? o.idle : o.idle / o.added;
  const double tie = rule.ties == Ties::kFurthestBehind ? o.service : rule.ties == Ties::kLeastAhead ? o.ahead : 0;
  const bool barred = rule.policy == Policy::kBounded && o.service > least_service + rule.lead;
  return {barred ? 1.0 : 0.0, idle, tie};
}

Rank rank(const Option &o, const std::vector<Option> &all, const Rule &rule, std::optional<std::size_t> last,
          double slack) {
  const double bytes = static_cast<double>(o.layer.bytes);
  double least_service = o.service;
  bool any_hidden = false;
  for (const Option &other : all) {
    least_service = std::min(least_service, other.service);
    any_hidden |= other.memory_idle == 0 && static_cast<double>(other.layer.bytes) <= slack;
  }
  switch (rule.policy) {
  case Policy::kOneByOne:
    return {0};
  case Policy::kRoundRobin:
    return {last && o.model > *last ? 0.0 : 1.0};
  case Policy::kAiMt:
    if (!any_hidden) return {bytes / o.layer.seconds};
    return {o.memory_idle == 0 && bytes <= slack ? 0.0 : 1.0, -bytes / o.layer.seconds};
  default:
    return greedy_rank(o, rule, least_service);
  }
}

} // namespace

std::string departure(const Instance &instance, const Outcome &outcome, const Rule &rule) {
  std::vector<Layer> before;
  std::vector<std::size_t> done(instance.jobs.size());
  std::optional<std::size_t> last;
  for (const Scheduled &s : outcome.order) {
    const std::vector<Option> all = options(instance, before, done);
    const Times now = run(before, instance.npu);
    const double slack = before.empty() ? 0 : now.computed.back() - now.fetched.back();
    const auto best = std::min_element(all.begin(), all.end(), [&](const Option &a, const Option &b) {
      return rank(a, all, rule, last, slack) < rank(b, all, rule, last, slack);
    });
    if (best->model != s.model)
      return fmt::format("layer {} is of model {}, not {}", before.size(), s.model, best->model);
    before.push_back(best->layer);
    ++done[s.model];
    last = s.model;
  }
  return "";
}

} // namespace gradweave::weave_model
