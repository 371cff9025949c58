// Jobs as commands, run on a device's memory and compared with golden execution.
#pragma once

#include "compiler/vector_stream/job_commands.hpp"
#include "compiler/verify/verify_hazards.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/functional/functional.hpp"
#include "tests/compiler/vector/op_jobs.hpp"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// A machine of configs/, with a vector unit of so many groups if it has none.
inline Machine vector_machine(const std::string &name, std::uint32_t groups = 4) {
  Machine machine = load_machine("configs/" + name + ".toml");
  if (machine.vector_groups == 0) machine.vector_groups = groups;
  return machine;
}

/// Runs a stream that lies in the memory from `at` on; false if it does not end well.
using RunStream =
    std::function<bool(const Machine &, DeviceMemory &, const std::vector<isa::Command> &, std::uint64_t at)>;

inline bool run_functional(const Machine &npu, DeviceMemory &memory, const std::vector<isa::Command> &stream,
                           std::uint64_t at) {
  memory.write(at, stream.data(), stream.size() * isa::kCommandBytes);
  FunctionalNpu model(npu, memory);
  model.start(at, static_cast<std::uint32_t>(stream.size()));
  return model.run().done;
}

/// The first hazard of a stream, or semaphore that is not zero at its end; empty if there is none.
inline std::string first_hazard(const Machine &npu, const std::vector<isa::Command> &stream) {
  SyncReplay sync(npu);
  HazardReplay hazards(npu);
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const isa::Decoded d = *isa::decode(stream[i]);
    for (const std::string &problem : {sync.step(d), hazards.step(i, d, sync)})
      if (!problem.empty()) return fmt::format("command {}: {}", i, problem);
  }
  return sync.finish();
}

/// Where values lie, one behind the other.
struct SectionPlaces {
  std::vector<std::uint64_t> addresses;
  std::uint64_t end = 0;

  explicit SectionPlaces(const OpJobs &jobs, std::uint64_t next = 0x10000) {
    for (const JobValue &value : jobs.values) {
      addresses.push_back(next);
      next += (value.elements * bytes(value) + 63) / 64 * 64;
    }
    end = next;
  }
  static std::uint64_t bytes(const JobValue &value) { return value.type == graph::ElementType::kBf16 ? 2 : 4; }
};

/// A value in memory, as words of the model's.
inline void write_value(DeviceMemory &memory, std::uint64_t at, const JobValue &value,
                        const std::vector<std::uint32_t> &words) {
  const std::uint64_t bytes = SectionPlaces::bytes(value);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t word = bytes == 2 ? words[i] >> 16U : words[i];
    memory.write(at + i * bytes, &word, bytes);
  }
}

inline std::uint32_t read_element(DeviceMemory &memory, std::uint64_t at, const JobValue &value, std::size_t i) {
  const std::uint64_t bytes = SectionPlaces::bytes(value);
  std::uint32_t word = 0;
  memory.read(at + i * bytes, &word, bytes);
  return bytes == 2 ? word << 16U : word;
}

/// Runs the jobs' commands; the first hazard, or the first element that differs from golden execution. Empty if there
/// is none.
inline std::string section_difference(const Machine &npu, const StepOp &op, const OpData &data, const OpJobs &jobs,
                                      const std::vector<isa::Command> &stream, const RunStream &run = run_functional) {
  if (std::string hazard = first_hazard(npu, stream); !hazard.empty()) return hazard;
  const SectionPlaces places(jobs);
  DeviceMemory memory(places.end + stream.size() * isa::kCommandBytes);
  for (std::size_t v = 0; v < jobs.values.size(); ++v)
    write_value(memory, places.addresses[v], jobs.values[v],
                v < data.inputs.size() ? bits_of(data.inputs[v])
                                       : std::vector<std::uint32_t>(jobs.values[v].elements, 0x7FA0BEEFU));
  if (!run(npu, memory, stream, places.end)) return "the stream does not end well";
  for (std::size_t o = 0; o < op.op->outputs.size(); ++o) {
    const std::vector<std::uint32_t> golden = bits_of(data.outputs[o]);
    const std::size_t v = op.op->inputs.size() + o;
    for (std::size_t i = 0; i < golden.size(); ++i)
      if (const std::uint32_t got = read_element(memory, places.addresses[v], jobs.values[v], i); got != golden[i])
        return fmt::format("{}: '{}' [{}] is 0x{:08X}, golden 0x{:08X}, on {}", op.op->name, jobs.values[v].name, i,
                           got, golden[i], npu.name);
  }
  return {};
}

} // namespace gradweave::compiler
