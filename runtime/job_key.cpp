#include "runtime/job_key.hpp"

#include "base/checksum.hpp"
#include "graph/layer_text.hpp"
#include "sw_models/npu_text.hpp"

#include <fmt/format.h>

namespace gradweave::runtime {

// Every field is named, so that a new one does not compile until it is decided whether a result depends on it.
std::string job_key(const JobSpec &spec) {
  const auto &[network, layers, npu, compile, paper, backend, data, seed, device, times_file, timeline_file] = spec;
  const auto &[schedule, pass, tune, progress, partition, parts, reduction, plans, stream] = compile;
  const auto &[stress, faults, trace, watchdog_cycles, stream_offset] = device;
  std::string shapes;
  for (const compiler::Layer &layer : layers)
    shapes += layer_text(layer) + ';';
  std::string hits;
  for (const BusFault &fault : faults)
    hits += fmt::format(" fault {} {} {}+{}", static_cast<int>(fault.kind), fault.write, fault.addr, fault.bytes);
  return fmt::format("{}|{}|{}:{}|{},{},tune {},{} plans,{}/{},{}{}|{}|{} {}|stress {} {}{}|watchdog {} offset {}",
                     network, shapes, npu.name, npu_text(npu), compiler::to_string(schedule), compiler::to_string(pass),
                     tune, plans, compiler::to_string(partition), parts, compiler::to_string(reduction),
                     paper ? ",paper " + compiler::paper::to_string(*paper) : "", to_string(backend), to_string(data),
                     seed, stress.seed, stress.stall_probability, hits,
                     watchdog_cycles ? fmt::to_string(*watchdog_cycles) : "usual", stream_offset);
}

std::string run_key(const RunOptions &options) {
  RunOptions whole = options;
  whole.layers = options.network.layers;
  whole.schedules = {compiler::Schedule::kSequential};
  std::string keys;
  for (const JobSpec &spec : job_specs(whole))
    keys += job_key(spec) + '\n';
  return checksum(keys).substr(0, 16); // part of a name
}

std::string build_key(const std::string &library) {
  return file_checksum("/proc/self/exe") + (library.empty() ? "" : file_checksum(library));
}

} // namespace gradweave::runtime
