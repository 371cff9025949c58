#include "runtime/record/job_key.hpp"

#include "base/key/fingerprint.hpp"
#include "graph/layer_fingerprint.hpp"
#include "sw_models/config/machine.hpp"

#include <optional>

namespace gradweave::runtime {
namespace {

// Every field is named, so that a new one does not compile until it is decided whether a result depends on it.

Fingerprint fingerprint(const BusFault &fault) {
  const auto &[kind, write, addr, bytes] = fault;
  return Fingerprint().add(kind, write, addr, bytes);
}

Fingerprint fingerprint(const DeviceOptions &device) {
  const auto &[stress, faults, trace, watchdog_cycles, stream_offset] = device;
  const auto &[stress_seed, stall_probability] = stress;
  Fingerprint whole;
  whole.add(stress_seed, stall_probability, watchdog_cycles, stream_offset, faults.size());
  for (const BusFault &fault : faults)
    whole.add(fingerprint(fault));
  return whole;
}

Fingerprint fingerprint(const JobSpec &spec) {
  const auto &[network, layers, npu, compile, paper, backend, data, seed, device, times_file, timeline_file,
               sketch_bars] = spec;
  Fingerprint shapes;
  for (const compiler::Layer &layer : layers) {
    shapes.add(compiler::fingerprint(layer));
    if (layers.size() > 1) shapes.add(layer.input, layer.x_of); // they share tensors
  }
  Fingerprint all;
  all.add(network, layers.size(), shapes, npu.name, gradweave::fingerprint(npu), compiler::fingerprint(compile),
          paper ? compiler::paper::to_string(*paper) : std::string(), backend, data, seed, fingerprint(device));
  // Energies are computed from counts when they are reported; plans may depend on them.
  if (compile.objective != compiler::Objective::kCycles) all.add(gradweave::fingerprint(npu.energy), npu.clock_ghz);
  return all;
}

} // namespace

std::string job_key(const JobSpec &spec) { return fingerprint(spec).hex(); }

std::string run_key(const RunOptions &options) {
  RunOptions whole = options;
  whole.layers = options.network.layers;
  whole.schedules = {compiler::Schedule::kSequential};
  Fingerprint jobs;
  for (const JobSpec &spec : job_specs(whole))
    jobs.add(fingerprint(spec));
  return jobs.hex().substr(0, 16); // part of a name
}

std::string build_key(const std::string &library) {
  Fingerprint programs = file_fingerprint("/proc/self/exe");
  if (!library.empty()) programs.add(file_fingerprint(library));
  return programs.hex();
}

} // namespace gradweave::runtime
