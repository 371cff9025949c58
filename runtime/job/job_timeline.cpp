#include "runtime/job/job_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace gradweave::runtime::timeline {
namespace {

/// Draws the run of a layer; returns its end.
std::uint64_t draw_layer(Timeline &timeline, Source source, const NpuConfig &npu, const compiler::Compiled &layer,
                         const std::vector<timing::CommandTimes> &times, std::uint64_t cycles, std::uint64_t offset) {
  const auto label = [&](std::size_t i) {
    return label_command(layer.layers[layer.info.empty() ? 0 : layer.info[i].layer].name, layer.stream[i],
                         layer.info.empty() ? nullptr : &layer.info[i]);
  };
  timeline.add(source, {layer.layer().name, npu, layer.stream, times, cycles, label}, offset);
  return offset + cycles;
}

/// Runs the layer on the timing model, in the memory that a device of its own gives it, as the job's device did, and
/// draws that; returns its end.
std::uint64_t draw_model(Timeline &timeline, const JobSpec &spec, const compiler::Compiled &layer,
                         std::uint64_t offset) {
  DeviceOptions options; // a model has no signals to trace
  options.watchdog_cycles = spec.device.watchdog_cycles;
  options.stream_offset = spec.device.stream_offset;
  const std::unique_ptr<Device> model = make_timing_device(spec.npu, options);
  model->submit(compiler::relocate(layer.stream, model->allocate(layer.dram_bytes)));
  model->wait();
  return draw_layer(timeline, Source::kModel, spec.npu, layer, model->command_times(),
                    model->read_counters()[isa::Counter::CYCLES], offset);
}

/// What each command moves or makes; nothing where the stream is all that is known.
std::vector<std::string> tensors_of(const compiler::Compiled &layer) {
  std::vector<std::string> tensors(layer.stream.size());
  for (std::size_t i = 0; i < layer.info.size(); ++i)
    if (layer.info[i].rows != 0) tensors[i] = std::string(compiler::to_string(layer.info[i].tensor));
  return tensors;
}

} // namespace

std::uint64_t draw_job(Timeline &timeline, const JobSpec &spec, const compiler::Compiled &layer,
                       const std::vector<timing::CommandTimes> &times, std::uint64_t cycles, std::uint64_t offset) {
  const bool rtl = spec.backend == Backend::kRtl;
  const std::uint64_t end =
      draw_layer(timeline, rtl ? Source::kRtl : Source::kModel, spec.npu, layer, times, cycles, offset);
  const bool random = spec.device.stress.stall_probability != 0 || !spec.device.faults.empty();
  return rtl && !random ? std::max(end, draw_model(timeline, spec, layer, offset)) : end;
}

void write_job_timeline(OutputFile &output, const JobSpec &spec, const compiler::Compiled &layer,
                        const std::vector<timing::CommandTimes> &times, std::uint64_t cycles) {
  Timeline timeline(output, compression_of(spec.timeline_file), spec.npu, job_title(spec));
  draw_job(timeline, spec, layer, times, cycles, 0);
  timeline.commit();
}

Sketch sketch_job(const JobSpec &spec, const compiler::Compiled &layer, const std::vector<timing::CommandTimes> &times,
                  std::uint64_t cycles) {
  const auto label = [&](std::size_t i) { return label_command({}, layer.stream[i]); };
  return sketch({layer.layer().name, spec.npu, layer.stream, times, cycles, label}, tensors_of(layer), spec.sketch_bars,
                spec.sketch_bars / 2 + 1);
}

std::string job_title(const JobSpec &spec) {
  return fmt::format("{} on {}, {}", spec.network, spec.npu.name, compiler::to_string(spec.compile.schedule));
}

} // namespace gradweave::runtime::timeline
