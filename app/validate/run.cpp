#include "app/validate/run.hpp"

#include "app/validate/host/random_host.hpp"
#include "app/validate/verdict/compare.hpp"
#include "app/validate/verdict/explain.hpp"
#include "app/validate/verdict/verdict_json.hpp"
#include "base/process/progress.hpp"
#include "device/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace gradweave::runtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kProgressInterval(100);

/// A run, and the commands that were in it.
struct Run {
  TimedRun timed;
  std::vector<isa::Command> commands;
};

/// Commands VECTOR that ended.
std::uint64_t vectors_done(const Run &run) {
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < std::min(run.commands.size(), run.timed.times.size()); ++i)
    if (run.commands[i].get(isa::field::OPCODE) == static_cast<std::uint32_t>(isa::Opcode::VECTOR) &&
        run.timed.times[i].done != timing::kNever)
      ++done;
  return done;
}

/// Through a ring, after a run that ended by a reset.
void feed(Device &device, const ValidationStream &stream, Run &run) {
  if (!stream.commands.empty()) corpus::RandomHost(device, stream.commands, *stream.host).abandon();
  corpus::HostRecord host = corpus::RandomHost(device, stream.commands, *stream.host).run();
  run.commands = std::move(host.sent);
  run.timed.status = host.status;
  run.timed.marks = std::move(host.marks);
  run.timed.host = std::move(host.times);
}

Run run_timed(Device &device, const ValidationStream &stream, const ProgressFunction &progress) {
  Run run;
  if (stream.host) {
    feed(device, stream, run);
  } else {
    run.commands = stream.commands;
    device.submit(stream.commands);
    run.timed.status = device.wait(progress);
  }
  run.timed.counters = device.read_counters();
  run.timed.times = device.command_times();
  if (!stream.host || run.timed.status.ok()) return run;
  // The host of the RTL learns of an error when the bus is quiet, that of the model at once: they part there.
  run.timed.host.clear();
  while (!run.timed.times.empty() && run.timed.times.back() == timing::CommandTimes{})
    run.timed.times.pop_back();
  return run;
}

ValidationVerdict failed(const ValidationBatch &batch, std::string name, Outcome outcome, std::string report) {
  ValidationVerdict verdict;
  verdict.name = std::move(name);
  verdict.npu = batch.npu.name;
  verdict.outcome = outcome;
  verdict.report = std::move(report);
  return verdict;
}

/// Both devices of a batch, with the streams' memory set aside so that commands never lie in it.
class Devices {
public:
  Devices(const ValidationBatch &batch, std::uint64_t bytes) {
    DeviceOptions options;
    options.watchdog_cycles = batch.watchdog;
    options.stream_offset = batch.stream_offset;
    rtl_ = make_rtl_device(batch.npu, options);
    model_ = make_timing_device(batch.npu, options);
    for (Device *device : {rtl_.get(), model_.get()})
      if (device->allocate(std::max<std::uint64_t>(bytes, 1)) != 0)
        throw std::logic_error("the first memory that a device gives out does not begin at address 0");
  }
  Device &rtl() { return *rtl_; }
  Device &model() { return *model_; }

private:
  std::unique_ptr<Device> rtl_, model_;
};

/// In the batch's process.
std::vector<ValidationVerdict> run_batch(const ValidationBatch &batch, const std::function<void(double)> &report) {
  std::vector<ValidationStream> streams;
  try {
    streams = batch.streams();
  } catch (const compiler::CompilerDefect &error) {
    return {failed(batch, batch.name, Outcome::kMismatch, error.what())};
  } catch (const compiler::CompileError &error) {
    return {failed(batch, batch.name, Outcome::kBadInput, error.what())};
  }
  std::uint64_t bytes = 0;
  for (const ValidationStream &stream : streams)
    bytes = std::max(bytes, dram_extent(stream.commands, batch.npu));
  std::optional<Devices> devices;
  try {
    devices.emplace(batch, bytes);
  } catch (const std::exception &error) {
    return {failed(batch, batch.name, Outcome::kUnavailable, error.what())};
  }

  std::vector<ValidationVerdict> verdicts;
  auto last = Clock::now();
  for (const ValidationStream &stream : streams) {
    const auto progress = [&](std::uint64_t retired, std::uint64_t total) {
      if (total == 0 || Clock::now() - last < kProgressInterval) return;
      last = Clock::now();
      report((static_cast<double>(verdicts.size()) + static_cast<double>(retired) / static_cast<double>(total)) /
             static_cast<double>(streams.size()));
    };
    progress(0, 1);
    try {
      verdicts.push_back(validate_stream(devices->rtl(), devices->model(), stream, progress));
    } catch (const std::exception &error) { // the Verilated NPU is of no use after an exception
      const std::size_t left = streams.size() - verdicts.size() - 1;
      verdicts.push_back(
          failed(batch, stream.name, Outcome::kDevice,
                 fmt::format("  {}{}", error.what(), left == 0 ? "" : fmt::format("; {} more streams not run", left))));
      verdicts.back().reproduce = stream.reproduce;
      break;
    }
    // A run must not depend on what ran before it: neither without a reset, nor with one.
    if (verdicts.back().end != isa::ErrorCode::NONE || verdicts.size() % 2 == 0) {
      devices->rtl().reset();
      devices->model().reset();
    }
  }
  return verdicts;
}

/// Gathers verdicts and hands them on in the order of the batches.
class InOrder {
public:
  using Done = std::function<void(const std::vector<ValidationVerdict> &)>;
  InOrder(std::size_t batches, const Done &done) : verdicts_(batches), done_(done) {}

  void add(std::size_t batch, std::vector<ValidationVerdict> verdicts) {
    verdicts_[batch] = std::move(verdicts);
    for (; next_ < verdicts_.size() && verdicts_[next_]; ++next_)
      hand_on(next_);
  }
  /// Those behind a batch that was never run.
  void flush() {
    for (; next_ < verdicts_.size(); ++next_)
      if (verdicts_[next_]) hand_on(next_);
  }

private:
  void hand_on(std::size_t batch) {
    done_(*verdicts_[batch]);
    verdicts_[batch]->clear();
  }
  std::vector<std::optional<std::vector<ValidationVerdict>>> verdicts_;
  const Done &done_;
  std::size_t next_ = 0;
};

} // namespace

std::uint64_t dram_extent(const std::vector<isa::Command> &commands, const Machine &npu) {
  const isa::Limits limits{npu.lanes(), npu.spm_rows(),        npu.cores,    npu.semaphores,
                           0,           npu.memory.size_bytes, npu.vectors()};
  std::uint64_t extent = 0;
  for (const isa::Command &command : commands) {
    if (isa::check_command(command, limits) != isa::ErrorCode::NONE) continue;
    const std::optional<isa::Decoded> decoded = isa::decode(command);
    const auto *dma = decoded ? std::get_if<isa::DmaCommand>(&decoded->op) : nullptr;
    if (dma == nullptr) continue;
    const std::uint64_t last_row = dma->rows == 1 ? 0 : std::uint64_t{dma->rows - 1} * dma->pitch;
    extent = std::max(extent, dma->dram_addr + last_row + std::uint64_t{dma->cols} * (dma->fp32 ? 4 : 2));
  }
  return extent;
}

ValidationVerdict validate_stream(Device &rtl, Device &model, const ValidationStream &stream,
                                  const ProgressFunction &progress) {
  const Run rtl_run = run_timed(rtl, stream, progress);
  const TimedRun &from_rtl = rtl_run.timed;
  ValidationVerdict verdict;
  verdict.name = stream.name;
  verdict.npu = rtl.config().name;
  verdict.cycles = from_rtl.counters[isa::Counter::CYCLES];
  verdict.end = from_rtl.status.error;
  verdict.reproduce = stream.reproduce;
  verdict.kind = stream.kind;
  verdict.error_drawn = stream.error_drawn;
  verdict.ring = stream.host.has_value();
  verdict.vectors = vectors_done(rtl_run);
  Run model_run;
  try {
    model_run = run_timed(model, stream, {});
  } catch (const std::exception &error) {
    verdict.outcome = Outcome::kMismatch;
    verdict.commands = verdict.commands_differ = stream.commands.size();
    verdict.report = fmt::format("  the timing model failed: {}", error.what());
    return verdict;
  }
  const TimedRun &from_model = model_run.timed;
  const TimingComparison comparison = compare_runs(from_rtl, from_model);
  verdict.commands = comparison.commands;
  verdict.commands_differ = comparison.commands_differ;
  verdict.counters = comparison.counters;
  verdict.counters_differ = comparison.counters_differ;
  verdict.marks = comparison.marks;
  if (comparison.equal()) return verdict;
  verdict.outcome = Outcome::kMismatch;
  // Those of the longer run: where both have a command, it is the same but for what followed a difference.
  const auto &commands = rtl_run.commands.size() < model_run.commands.size() ? model_run.commands : rtl_run.commands;
  DescribedStream described;
  described.label = [&](std::size_t i) {
    return label_command(stream.layer, commands.at(i), stream.info.empty() ? nullptr : &stream.info.at(i));
  };
  described.sync = [&](std::size_t i) {
    const std::optional<isa::Decoded> decoded = isa::decode(commands.at(i));
    return decoded ? decoded->sync : isa::Sync{};
  };
  verdict.report = explain(comparison, from_rtl, from_model, described);
  return verdict;
}

void run_validation(const std::vector<ValidationBatch> &batches, unsigned jobs, bool quiet, const SignalGuard &signals,
                    const std::function<void(const std::vector<ValidationVerdict> &)> &done) {
  std::vector<Task> tasks;
  std::vector<double> weights;
  for (const ValidationBatch &batch : batches) {
    tasks.push_back([&batch](const std::function<void(double)> &report) { return to_text(run_batch(batch, report)); });
    weights.push_back(batch.weight);
  }
  // The heaviest first: a long batch that starts last would run alone at the end.
  std::vector<std::size_t> order(batches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return weights[a] != weights[b] ? weights[a] > weights[b] : a < b; });

  ProgressDisplay display(weights, quiet);
  InOrder in_order(batches.size(), done);
  PoolEvents events;
  events.starting = [&](std::size_t batch) {
    if (batches[batch].prepare) batches[batch].prepare();
  };
  events.progress = [&](std::size_t batch, double fraction) { display.update(batch, fraction); };
  events.tick = [&] { display.tick(); };
  events.ended = [&](std::size_t index, const TaskEnd &end) {
    const ValidationBatch &batch = batches[index];
    std::vector<ValidationVerdict> verdicts;
    if (end.completed)
      verdicts = verdicts_from_text(end.result);
    else
      verdicts.push_back(
          failed(batch, batch.name, Outcome::kDevice,
                 fmt::format("  {}{}", end.problem, end.output.empty() ? "" : "; its last output:\n" + end.output)));
    const bool go_on = std::none_of(verdicts.begin(), verdicts.end(),
                                    [](const ValidationVerdict &v) { return v.outcome >= Outcome::kUnavailable; });
    display.finish(index, batch.name);
    display.clear();
    in_order.add(index, std::move(verdicts));
    return go_on;
  };
  run_tasks(tasks, order, jobs, signals, events);
  in_order.flush();
}

} // namespace gradweave::runtime
