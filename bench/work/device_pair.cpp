#include "bench/work/device_pair.hpp"

#include "app/validate/verdict/compare.hpp"
#include "base/process/stopwatch.hpp"
#include "bench/work/run_timer.hpp"
#include "runtime/data/data.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::bench {
namespace {

void require_equal(const std::string &name, const runtime::TimedRun &rtl, const runtime::TimedRun &model) {
  const runtime::TimingComparison c = runtime::compare_runs(rtl, model);
  if (!c.equal())
    throw std::runtime_error(fmt::format("{}: the timing model differs from the RTL in {} of {} commands and {} of {} "
                                         "counters; `gradweave validate` shows where",
                                         name, c.commands_differ, c.commands, c.counters_differ, c.counters));
}

} // namespace

void fill(Device &device, const compiler::Compiled &layer) {
  for (const compiler::TensorBinding &binding : layer.layout.tensors) {
    if (!binding.input) continue;
    const runtime::HostTensor tensor =
        runtime::make_input(binding.tensor, layer.layer(), "bench", runtime::DataKind::kNormal, 1);
    const std::size_t bytes = std::size_t{binding.cols} * tensor.element_bytes();
    const auto *from = static_cast<const std::uint8_t *>(tensor.data());
    for (std::uint32_t row = 0; row < binding.rows; ++row)
      device.copy_in(binding.offset + std::uint64_t{row} * binding.pitch, from + row * bytes, bytes);
  }
}

DevicePair::DevicePair(const Machine &npu, std::uint64_t dram_bytes)
    : rtl_(make_rtl_device(npu)), model_(make_timing_device(npu)) {
  if (rtl_->allocate(dram_bytes) != 0 || model_->allocate(dram_bytes) != 0)
    throw std::logic_error("device memory does not begin at address 0");
}

PairedRun DevicePair::run(const compiler::Compiled &layer, double model_seconds,
                          const std::function<void(double)> &report_progress) {
  fill(*rtl_, layer);
  runtime::TimedRun rtl, model;
  PairedRun run;
  RunTimer model_timer;
  const auto run_model = [&] {
    model_->submit(layer.stream);
    model.status = model_->wait();
  };

  model_timer.repeat_for(model_seconds / 2, run_model);
  const Stopwatch stopwatch;
  rtl_->submit(layer.stream);
  rtl.status = rtl_->wait([&](std::uint64_t done, std::uint64_t all) {
    report_progress(static_cast<double>(done) / static_cast<double>(all));
  });
  run.rtl_seconds = stopwatch.cpu_seconds();
  model_timer.repeat_for(model_seconds / 2, run_model);
  run.model_seconds = model_timer.seconds();

  rtl.counters = rtl_->read_counters();
  rtl.times = rtl_->command_times();
  model.counters = model_->read_counters();
  model.times = model_->command_times();
  if (!rtl.status.ok())
    throw std::runtime_error(
        fmt::format("{}: the NPU stopped with error {}", layer.layer().name, static_cast<int>(rtl.status.error)));
  require_equal(layer.layer().name, rtl, model);
  run.cycles = rtl.counters[isa::Counter::CYCLES];
  return run;
}

} // namespace gradweave::bench
