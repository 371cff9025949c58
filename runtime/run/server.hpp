// Serving: requests for networks arrive while the NPU runs, and a loop over the device API appends them, a quantum at a
// time, to the ring of commands.
#pragma once

#include "device/device.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::runtime {

/// A network that may be asked for.
struct ServedJob {
  std::string name;
  /// What a request takes, in order: streams that nothing needs to be in the scratchpad for, nor in a semaphore, and
  /// that leave nothing there (make_quantum()).
  std::vector<std::vector<isa::Command>> quanta;
  std::uint32_t priority = 0; ///< larger goes first
  std::uint64_t deadline = 0; ///< cycles from the arrival to the end; 0: none
};

struct Arrival {
  std::size_t job = 0;
  std::uint64_t cycle = 0; ///< of the run
};

struct ServeOptions {
  /// A request that could have gone on and was passed over so often is chosen next, whatever its priority.
  std::uint32_t patience = 64;
  /// Called after each quantum, with those done and all. May throw, which abandons the run.
  ProgressFunction progress = {};
};

/// A request, served.
struct ServedRequest {
  Arrival arrival;
  std::uint64_t begin = 0;  ///< cycle in which its first quantum was appended
  std::uint64_t finish = 0; ///< cycle in which its last one completed
  std::uint64_t latency() const { return finish - arrival.cycle; }
};

struct Service {
  std::vector<ServedRequest> requests; ///< in the order of their arrival
  std::uint64_t quanta = 0;
  /// The largest number of times that a request was passed over between two of its quanta, and of requests there at a
  /// time. No starvation: the first is at most patience + the second - 1.
  std::uint64_t most_passed = 0, most_present = 0;
  RunStatus status;
  bool met_deadline(const std::vector<ServedJob> &jobs, std::size_t request) const;
};

/// The stream as a quantum: behind it all engines have come to its end before the next LOAD starts, and the host is
/// told by a MARK. Throws std::invalid_argument if the stream uses the NPU's last semaphore, which this needs.
std::vector<isa::Command> make_quantum(std::vector<isa::Command> stream, const NpuConfig &npu);

/// Serves all requests, and ends the run. Two quanta are in the ring at most, so that the NPU does not wait for the
/// host, and what comes in can go next. Which one is appended: of a request that was passed over too often, the most
/// often passed first; else of the highest priority, then of the earliest deadline (none: last), then of the first to
/// arrive. On a device without time all requests are there from the start. If the NPU stops with an error, `status` has
/// it, and the requests' ends are not known. Throws std::invalid_argument, naming it, for an arrival of an unknown job,
/// and for a job without quanta.
Service serve(Device &device, const std::vector<ServedJob> &jobs, std::vector<Arrival> arrivals,
              const ServeOptions &options = {});

} // namespace gradweave::runtime
