#include "train/npu/npu_executor.hpp"

#include "base/process/stopwatch.hpp"
#include "compiler/cost/access_count.hpp"
#include "runtime/data/check.hpp"
#include "runtime/job/loaded_stream.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "train/data/tensor_bytes.hpp"
#include "train/npu/check_stream.hpp"
#include "train/npu/step_cycles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <variant>

namespace gradweave::runtime::train {
namespace {

using graph::kNone;
using graph::OpId;
using graph::Role;
using graph::TensorId;

bool lives_on(const graph::Tensor &tensor) { return tensor.role == Role::kParameter || tensor.role == Role::kState; }

/// Bytes of elements that the stream's LOADs and STOREs move.
void count_bytes(const StepStream &stream, ProductTotals &totals) {
  for (const isa::Command &command : stream.commands) {
    const std::optional<isa::Decoded> decoded = isa::decode(command);
    const auto *dma = std::get_if<isa::DmaCommand>(&decoded->op);
    if (dma == nullptr) continue;
    (dma->store ? totals.write_bytes : totals.read_bytes) +=
        std::uint64_t{dma->rows} * dma->cols * (dma->fp32 ? sizeof(float) : 2);
  }
}

} // namespace

NpuExecutor::NpuExecutor(const graph::TrainingGraph &step, Device &device, Backend backend,
                         const NpuStepOptions &options, unsigned threads)
    : HasLastingCopies{std::make_shared<const LastingCopies>(with_lasting_copies(step))},
      StepExecutor(lasting->step, plan_device_products(lasting->step.graph, device.config()), threads), device_(device),
      backend_(backend) {
  planned_ =
      std::make_shared<const StepPlan>(lasting->step, plan(), device.config(), options.compile, options.keep_all);
  row_numbers_ = planned_->constant_numbers();
  take_memory();
}

NpuExecutor::NpuExecutor(const NpuExecutor &other, Device &device, unsigned threads)
    : HasLastingCopies(other), StepExecutor(other.step(), other.plan(), threads), device_(device),
      backend_(other.backend_), planned_(other.planned_), row_numbers_(planned_->constant_numbers()) {
  take_memory();
}

std::unique_ptr<StepExecutor> NpuExecutor::beside(Device &device, unsigned threads) const {
  return std::unique_ptr<StepExecutor>(new NpuExecutor(*this, device, threads));
}

void NpuExecutor::take_memory() {
  if (device_.allocate(planned_->memory_bytes()) != 0)
    throw DeviceError("a step's tensors begin at address 0 of a device; give it a new one");
}

StepResult NpuExecutor::compared(const std::vector<std::vector<Fed>> &batches, const std::vector<float> &constants,
                                 Living &living, Living &device_living) {
  make_copies(*lasting, living);
  make_copies(*lasting, device_living);
  StepResult result = run_step(batches, constants, living, device_living);
  drop_copies(*lasting, living);
  drop_copies(*lasting, device_living);
  return result;
}

StepResult NpuExecutor::run_step(const std::vector<std::vector<Fed>> &batches, const std::vector<float> &constants,
                                 Living &living, Living &device_living) {
  StepResult result;
  Values golden = begin(batches, constants, living);
  make_stream(golden);
  if (result.ok() && has_data(backend_)) fill(golden, device_living);
  if (result.ok()) run(result);
  if (result.ok()) compare_all(golden, result);
  result.shares = shares();
  if (!result.ok()) return result;
  end(golden, living, result);
  if (has_data(backend_)) take_living(living, device_living, result);
  return result;
}

void NpuExecutor::make_stream(const Values &golden) {
  const bool again = !planned_->index_tensors().empty();
  if (!stream_.commands.empty() && !again) return;
  StepIndices indices(step().graph.tensors.size(), nullptr);
  for (const TensorId id : planned_->index_tensors()) {
    row_numbers_[id] = golden.get(id).index;
    indices[id] = &row_numbers_[id];
  }
  stream_ = planned_->stream(indices);
  if (backend_ == Backend::kRtl) predicted_ = timing::run(device_.config(), stream_.commands);
}

void NpuExecutor::write(TensorId id, const graph::Buffer<graph::Contract> &values) {
  const std::vector<std::uint8_t> bytes = to_bytes(step().graph.tensors[id], values);
  device_.copy_in(planned_->memory().places[id].address, bytes.data(), bytes.size());
}

void NpuExecutor::fill(const Values &golden, const Living &device_living) {
  const graph::Graph &graph = step().graph;
  const StepMemory &memory = planned_->memory();
  if (!filled_) poison(device_, 0, planned_->memory_bytes());
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const graph::Tensor &tensor = graph.tensors[id];
    if (tensor.computed()) {
      const TensorPlace &place = memory.places[id];
      if (filled_ && place.owner == id) poison(device_, place.address, place.address + bytes_of_tensor(tensor));
    } else if (!lives_on(tensor)) {
      if (golden.has(id)) write(id, golden.get(id)); // an input, or a constant
    } else if (!filled_ || afresh_) {
      graph::Buffer<graph::Contract> values;
      values.real = device_living[id];
      write(id, values);
    }
  }
  poison(device_, memory.scratch, planned_->memory_bytes());
  filled_ = true;
}

void NpuExecutor::run(StepResult &result) {
  const Stopwatch stopwatch;
  device_.submit(stream_.commands);
  const RunStatus status = device_.wait([this](std::uint64_t, std::uint64_t) { check_abandoned(); });
  result.device_seconds = stopwatch.wall_seconds();
  result.products.streams = 1;
  result.products.commands = stream_.commands.size();
  result.products.multiply_adds = planned_->multiply_adds();
  count_bytes(stream_, result.products);
  result.products.accesses = compiler::count_accesses(stream_.commands, device_.config());
  if (!status.ok()) {
    result.failures.push_back(fmt::format("the NPU stopped with {} ({})", describe_stop(stream_.commands, status),
                                          describe_place(stream_, step().graph, status.error_index)));
    return;
  }
  if (has_time(backend_)) take_times(result);
}

void NpuExecutor::take_times(StepResult &result) {
  const Counters counters = device_.read_counters();
  const std::vector<timing::CommandTimes> &times = device_.command_times();
  result.products.cycles = counters[isa::Counter::CYCLES];
  if (backend_ == Backend::kRtl) check_times(times, counters, result);
  if (result.ok()) result.cycles = count_cycles(stream_, times, result.products.cycles);
}

void NpuExecutor::check_times(const std::vector<timing::CommandTimes> &times, const Counters &counters,
                              StepResult &result) const {
  for (std::size_t i = 0; i < times.size(); ++i)
    if (const timing::CommandTimes &got = times[i], &want = predicted_.commands[i]; got != want) {
      result.failures.push_back(fmt::format(
          "{}: issued, started and done in cycles {}, {}, {}; the timing model has {}, {}, {}",
          describe_place(stream_, step().graph, i), got.issue, got.start, got.done, want.issue, want.start, want.done));
      return;
    }
  for (std::size_t i = 0; i < counters.values.size(); ++i)
    if (counters.values[i] != predicted_.counters[i])
      result.failures.push_back(fmt::format("counter {} is {}; the timing model has {}",
                                            isa::counter_name(i, counters.cores), counters.values[i],
                                            predicted_.counters[i]));
  for (std::string &problem : check_accesses(predicted_.accesses, device_.config(), counters))
    result.failures.push_back(std::move(problem));
}

graph::Buffer<graph::Contract> NpuExecutor::read(TensorId id) {
  const graph::Tensor &tensor = step().graph.tensors[id];
  const TensorPlace &place = planned_->memory().places[id];
  std::vector<std::uint8_t> bytes(bytes_of_tensor(tensor));
  device_.copy_out(place.address, bytes.data(), bytes.size());
  if (!place.strides.empty()) {
    const std::vector<std::uint8_t> stored = bytes;
    const std::size_t size = graph::bytes_of(tensor.type);
    for (std::size_t i = 0; i < tensor.shape.elements(); ++i)
      std::copy_n(stored.begin() + static_cast<std::ptrdiff_t>(place.element(tensor.shape, i) * size), size,
                  bytes.begin() + static_cast<std::ptrdiff_t>(i * size));
  }
  return from_bytes(tensor, bytes);
}

void NpuExecutor::compare_all(Values &golden, StepResult &result) {
  for (OpId op = 0; op < step().graph.ops.size(); ++op) {
    if (executes(op)) golden.run(op);
    for (const TensorId id : step().graph.ops[op].outputs)
      if (id != kNone && !compare_output(op, id, golden, result)) return;
  }
}

bool NpuExecutor::compare_output(OpId op, TensorId id, const Values &golden, StepResult &result) {
  const graph::Tensor &tensor = step().graph.tensors[id];
  const TensorPlace &place = planned_->memory().places[id];
  if (place.owner == kNone) {
    ++result.inside;
    return true;
  }
  if (!has_data(backend_) || !place.kept) {
    result.unchecked += tensor.shape.elements();
    return true;
  }
  graph::Buffer<graph::Contract> got = read(id);
  const std::size_t left_out = take_unnamed_rows(op, golden.get(id), got);
  const bool equal = compare_tensor(id, step().graph.ops[op].name, golden.get(id), got, result);
  result.elements -= left_out;
  return equal;
}

std::size_t NpuExecutor::take_unnamed_rows(OpId op, const graph::Buffer<graph::Contract> &golden,
                                           graph::Buffer<graph::Contract> &got) const {
  const TensorId rows = planned_->rows_of(op);
  if (rows == kNone) return 0;
  const std::vector<std::int32_t> &numbers = row_numbers_.at(rows);
  const std::set<std::int32_t> named(numbers.begin(), numbers.end());
  const graph::Shape &shape = step().graph.tensors[step().graph.ops[op].outputs[0]].shape;
  const std::size_t cols = shape.cols();
  for (std::size_t row = 0; row < shape.rows(); ++row)
    if (named.count(static_cast<std::int32_t>(row)) == 0)
      std::copy_n(golden.real.begin() + static_cast<std::ptrdiff_t>(row * cols), cols,
                  got.real.begin() + static_cast<std::ptrdiff_t>(row * cols));
  return (shape.rows() - named.size()) * cols;
}

/// What the next step begins with, out of the device's memory.
void NpuExecutor::take_living(const Living &living, Living &device_living, StepResult &result) {
  const graph::Graph &graph = step().graph;
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    if (!lives_on(graph.tensors[id])) continue;
    device_living[id] = read(id).real;
    graph::Buffer<graph::Contract> want, got;
    want.real = living[id];
    got.real = device_living[id];
    if (!compare_tensor(id, "the end of the step", want, got, result)) return;
  }
}

} // namespace gradweave::runtime::train
