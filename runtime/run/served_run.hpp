// Networks that requests ask for while the NPU runs: compiled layer by layer, served on a device, every bit checked.
#pragma once

#include "compiler/weave/job_set.hpp"
#include "runtime/job/job.hpp"
#include "runtime/run/server.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gradweave::runtime {

struct ServeRequest {
  struct Job {
    compiler::WeaveJob work;
    std::uint32_t priority = 0;
    std::uint64_t deadline = 0; ///< cycles; 0: none
  };
  std::vector<Job> jobs;
  Machine npu;
  /// The arrivals, once it is known how many cycles a request of each job takes alone.
  std::function<std::vector<Arrival>(const std::vector<std::uint64_t> &alone_cycles)> arrivals;
  std::uint32_t patience = 64;
  compiler::CompileOptions compile; ///< but for the pass
  Backend backend = Backend::kTiming;
  DataKind data = DataKind::kNormal;
  std::uint64_t seed = 1; ///< of the data
  DeviceOptions device;
};

/// One of the networks.
struct ServedNetwork {
  std::string name;
  std::size_t quanta = 0;
  std::uint64_t commands = 0;
  std::uint64_t alone_cycles = 0; ///< latency of one request with the NPU to itself, on the timing model
  std::uint64_t elements = 0, mismatches = 0;
  std::vector<std::uint64_t> latencies; ///< of its requests, ascending
  std::uint64_t late = 0;               ///< of these, behind the deadline
};

struct ServeRun {
  std::vector<ServedNetwork> networks;
  std::vector<ServedJob> jobs;
  Service service;
  Counters counters;
  Outcome outcome = Outcome::kPass;
  std::vector<std::string> failures; ///< what went wrong, for people
};

/// The least latency that a share `percent` of the (ascending, not empty) latencies does not exceed: nearest rank.
std::uint64_t percentile(const std::vector<std::uint64_t> &latencies, double percent);

/// A quantum is a layer's pass: the last layer's first in the backward pass. Requests of a network use the same
/// tensors, so that their results are the same; those of the last are compared with the golden model, all elements.
/// Throws CompileError for a layer that does not fit, DeviceError if the networks' tensors together exceed the memory,
/// std::invalid_argument as serve() does, and without jobs or arrivals; what goes wrong on the device is in the result.
ServeRun run_served(const ServeRequest &request, const ProgressFunction &progress = {});

} // namespace gradweave::runtime
