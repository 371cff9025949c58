#include "weave_model/weaver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gradweave::weave_model {
namespace {

/// A layer's share of its model's time is that of the longer of its computing and its fetch.
std::vector<double> shares_of(const Job &job, const Npu &npu) {
  std::vector<double> shares;
  double sum = 0;
  for (const Layer &layer : job.model.layers) {
    shares.push_back(std::max(layer.seconds, npu.fetch_seconds(layer.bytes)));
    sum += shares.back();
  }
  for (double &share : shares)
    share *= job.alone / sum;
  return shares;
}

} // namespace

/// What a model has to do.
struct Weaver::Queue {
  bool endless = false;
  std::vector<double> arrivals = {}; ///< ascending; of requests that have not ended
  std::size_t request = 0, layer = 0;
  double service = 0;
  /// For comparisons: a model that had nothing to do is not behind by what it did not ask for.
  double handicap = 0;
  bool idle = true;

  bool is_empty() const { return !endless && request == arrivals.size(); }
  double arrival() const { return endless ? 0 : arrivals[request]; }
};

/// One schedule in the making.
class Weaver::Run {
public:
  Run(const Weaver &weaver, std::vector<Queue> queues, bool with_order)
      : weaver_(weaver), queues_(std::move(queues)), state_(weaver.npu_), with_order_(with_order) {
    outcome_.service.resize(queues_.size());
  }

  /// Schedules one layer; whether there was any left.
  bool step();
  const ScheduleState &state() const { return state_; }
  Outcome outcome() && {
    for (std::size_t m = 0; m < queues_.size(); ++m)
      outcome_.service[m] = queues_[m].service;
    outcome_.seconds = state_.computed();
    return std::move(outcome_);
  }

private:
  bool find_candidates();
  void wake(std::size_t model);
  void schedule(const Candidate &candidate);

  const Weaver &weaver_;
  std::vector<Queue> queues_;
  ScheduleState state_;
  bool with_order_;
  std::vector<Candidate> candidates_;
  std::optional<std::size_t> last_;
  Outcome outcome_;
};

/// A model that has work again begins level with the one furthest behind of those at work.
void Weaver::Run::wake(std::size_t model) {
  Queue &queue = queues_[model];
  queue.idle = false;
  double least = HUGE_VAL;
  for (const Queue &other : queues_)
    if (!other.idle && &other != &queue) least = std::min(least, other.service + other.handicap);
  if (least < HUGE_VAL) queue.handicap = std::max(queue.handicap, least - queue.service);
}

/// False if no model has anything left to do.
bool Weaver::Run::find_candidates() {
  candidates_.clear();
  double next_arrival = HUGE_VAL;
  for (std::size_t m = 0; m < queues_.size(); ++m) {
    Queue &queue = queues_[m];
    if (queue.is_empty() || queue.arrival() > state_.fetched()) {
      if (!queue.is_empty()) next_arrival = std::min(next_arrival, queue.arrival());
      queue.idle = true;
      continue;
    }
    if (queue.idle) wake(m);
    const Layer &layer = weaver_.jobs_[m].model.layers[queue.layer];
    candidates_.push_back({m, layer, state_.effect_of(layer), queue.service + queue.handicap, queue.arrival()});
  }
  if (!candidates_.empty()) return true;
  if (next_arrival == HUGE_VAL) return false;
  state_.wait_until(next_arrival);
  return find_candidates();
}

bool Weaver::Run::step() {
  if (!find_candidates()) return false;
  schedule(candidates_[select(weaver_.rule_, candidates_, state_, weaver_.npu_, last_)]);
  return true;
}

void Weaver::Run::schedule(const Candidate &candidate) {
  Queue &queue = queues_[candidate.model];
  state_.append(candidate.layer, candidate.effect);
  queue.service += weaver_.shares_[candidate.model][queue.layer];
  outcome_.compute_seconds += candidate.layer.seconds;
  outcome_.fetch_seconds += weaver_.npu_.fetch_seconds(candidate.layer.bytes);
  ++outcome_.layers;
  if (with_order_) outcome_.order.push_back({candidate.model, queue.layer, queue.request, candidate.effect});
  last_ = candidate.model;
  if (++queue.layer < weaver_.shares_[candidate.model].size()) return;
  outcome_.finished.push_back({candidate.model, queue.arrival(), candidate.effect.computed});
  queue.layer = 0;
  ++queue.request;
}

Weaver::Weaver(std::vector<Job> jobs, const Npu &npu, const Rule &rule)
    : jobs_(std::move(jobs)), npu_(npu), rule_(rule) {
  if (jobs_.empty()) throw std::invalid_argument("no jobs to weave; name at least one");
  if (!(rule.lead >= 0)) throw std::invalid_argument(fmt::format("a lead of {} s; let it be 0 or more", rule.lead));
  for (Job &job : jobs_) {
    if (!(job.alone > 0) || !std::isfinite(job.alone))
      throw std::invalid_argument(
          fmt::format("model '{}' takes {} s alone; let it be above 0 and finite", job.model.name, job.alone));
    job.model = fitted(job.model, npu);
    shares_.push_back(shares_of(job, npu));
  }
}

Outcome Weaver::serve(const std::vector<Request> &requests, bool with_order) const {
  if (requests.empty()) throw std::invalid_argument("no requests; there has to be one at least");
  std::vector<Queue> queues(jobs_.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Request &r = requests[i];
    if (r.model >= jobs_.size())
      throw std::invalid_argument(
          fmt::format("request {} is for model {}; there are {}, from 0 on", i, r.model, jobs_.size()));
    if (!(r.arrival >= 0) || !std::isfinite(r.arrival))
      throw std::invalid_argument(fmt::format("request {} arrives at {} s; let arrivals be 0 or later", i, r.arrival));
    queues[r.model].arrivals.push_back(r.arrival);
  }
  for (Queue &queue : queues)
    std::sort(queue.arrivals.begin(), queue.arrivals.end());
  Run run(*this, std::move(queues), with_order);
  while (run.step()) {
  }
  return std::move(run).outcome();
}

Outcome Weaver::saturate(double seconds, bool with_order) const {
  if (!(seconds > 0) || !std::isfinite(seconds))
    throw std::invalid_argument(fmt::format("{} s of requests; let it be above 0 and finite", seconds));
  Run run(*this, std::vector<Queue>(jobs_.size(), Queue{true}), with_order);
  while (run.state().computed() < seconds)
    run.step();
  return std::move(run).outcome();
}

double Outcome::throughput() const {
  double served = 0;
  for (const double s : service)
    served += s;
  return served / seconds;
}

double alone_seconds(const Model &model, const Npu &npu, std::uint32_t requests) {
  const Model parts = fitted(model, npu);
  ScheduleState state(npu);
  for (std::uint32_t r = 0; r < requests; ++r)
    for (const Layer &layer : parts.layers)
      state.append(layer, state.effect_of(layer));
  return state.computed() / requests;
}

double least_seconds(const std::vector<Job> &jobs, const std::vector<std::uint32_t> &requests, const Npu &npu) {
  double compute = 0, fetch = 0;
  for (std::size_t m = 0; m < jobs.size(); ++m) {
    compute += requests.at(m) * compute_seconds(jobs[m].model);
    fetch += requests.at(m) * fetch_seconds(jobs[m].model, npu);
  }
  return std::max(compute, fetch);
}

} // namespace gradweave::weave_model
