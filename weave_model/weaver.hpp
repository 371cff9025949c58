// Schedules layers of several models on one NPU, as Layerweaver does (figure 7), or by another policy.
#pragma once

#include "weave_model/policy.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::weave_model {

/// A batch of inputs of a model, in the queue from its arrival on.
struct Request {
  std::size_t model = 0;
  double arrival = 0; ///< seconds
};

/// A layer in a schedule.
struct Scheduled {
  std::size_t model = 0, layer = 0, request = 0; ///< request: of that model, from 0
  Effect effect;
};

/// Of a request whose layers are all scheduled.
struct Finished {
  std::size_t model = 0;
  double arrival = 0, finish = 0;
};

struct Outcome {
  double seconds = 0;          ///< until the last layer is computed
  double compute_seconds = 0;  ///< in which PEs compute
  double fetch_seconds = 0;    ///< in which the memory is read
  std::uint64_t layers = 0;    ///< scheduled
  std::vector<double> service; ///< of each model, in seconds that it takes alone
  std::vector<Finished> finished;
  std::vector<Scheduled> order; ///< if it was asked for

  /// Seconds that all of it takes one model at a time, for each second that it took (system throughput, 1: no gain).
  double throughput() const;
  double compute_share() const { return compute_seconds / seconds; }
  double fetch_share() const { return fetch_seconds / seconds; }
};

/// What is asked of a model's layers beside their profile.
struct Job {
  Model model;
  double alone = 0; ///< seconds of a request if the NPU serves nothing else (alone_seconds())
};

/// Seconds of a request if the NPU serves `requests` of this model one after the other, weights fetched ahead across
/// requests: the whole over their number. Throws as fitted().
double alone_seconds(const Model &model, const Npu &npu, std::uint32_t requests);

class Weaver {
public:
  /// Layers that do not fit the buffer go in parts (fitted()). Throws as fitted(), and std::invalid_argument without
  /// jobs, for a job that takes no time alone or for a negative lead.
  Weaver(std::vector<Job> jobs, const Npu &npu, const Rule &rule);

  /// All of the requests. A layer can be next if its request has arrived when its fetch could begin; if none has, the
  /// NPU waits. Whenever all layers of a request are scheduled the next one of its model is taken from the queue
  /// (CheckEnd). Throws std::invalid_argument for no requests, an unknown model, or an arrival before 0 or never.
  Outcome serve(const std::vector<Request> &requests, bool with_order = false) const;
  /// Queues that are never empty, until so many seconds have passed: the policy decides how much each model gets.
  /// Throws std::invalid_argument if that is not above 0 or never comes.
  Outcome saturate(double seconds, bool with_order = false) const;

private:
  struct Queue;
  class Run;

  std::vector<Job> jobs_;
  std::vector<std::vector<double>> shares_; ///< seconds of service of each model's layers
  Npu npu_;
  Rule rule_;
};

/// What no order of these requests can beat: all computing, or all fetching.
double least_seconds(const std::vector<Job> &jobs, const std::vector<std::uint32_t> &requests, const Npu &npu);

} // namespace gradweave::weave_model
