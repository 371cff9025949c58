#include "train/step_executor.hpp"

#include "base/process/machine_memory.hpp"
#include "graph/golden/initialise.hpp"
#include "graph/ir/error.hpp"
#include "graph/ir/product.hpp"
#include "runtime/data/check.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace gradweave::runtime::train {
namespace {

using graph::Graph;
using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::TensorId;

bool lives_on(const graph::Tensor &tensor) {
  return tensor.role == graph::Role::kParameter || tensor.role == graph::Role::kState;
}

/// Elements of two buffers that differ, and the first of them.
Difference difference_of(const graph::Tensor &tensor, const graph::Buffer<graph::Contract> &golden,
                         const graph::Buffer<graph::Contract> &got) {
  Difference d;
  d.tensor = tensor.name;
  d.elements = tensor.shape.elements();
  const bool real = graph::is_real(tensor.type);
  const auto bits = [real](const graph::Buffer<graph::Contract> &b, std::size_t i) {
    return real ? bits_of_fp32(b.real[i]) : static_cast<std::uint32_t>(b.index[i]);
  };
  for (std::size_t i = 0; i < d.elements; ++i) {
    const std::uint32_t want = bits(golden, i), have = bits(got, i);
    if (want == have || d.differing++ > 0) continue;
    d.element = i;
    d.got = real ? format_value(have, true) : fmt::format("{}", static_cast<std::int32_t>(have));
    d.golden = real ? format_value(want, true) : fmt::format("{}", static_cast<std::int32_t>(want));
  }
  return d;
}

double bytes_of_op(const Graph &graph, const Op &op) {
  double bytes = 0;
  for (const std::vector<TensorId> *ids : {&op.inputs, &op.outputs})
    for (const TensorId id : *ids)
      if (id != kNone)
        bytes += double(graph.tensors[id].shape.elements()) * double(graph::bytes_of(graph.tensors[id].type));
  return bytes;
}

} // namespace

std::string Difference::text() const {
  return fmt::format("op '{}', tensor '{}': {} of {} elements differ; first element {}: got {}, golden {}", op, tensor,
                     differing, elements, element, got, golden);
}

float StepResult::loss() const {
  return losses.empty() ? 0 : std::accumulate(losses.begin(), losses.end(), 0.0F) / static_cast<float>(losses.size());
}

void check_living(const Graph &graph, std::uint64_t bytes) {
  std::uint64_t elements = 0;
  for (const graph::Tensor &tensor : graph.tensors)
    if (lives_on(tensor)) elements += tensor.shape.elements();
  if (elements > bytes / sizeof(float))
    throw std::invalid_argument(fmt::format(
        "parameters and what the optimizer keeps of this network are {} numbers, {:.1f} GB, and this machine has "
        "{:.1f} GB of memory; train a smaller network, or a part of it (--until)",
        elements, double(elements) * sizeof(float) * 1e-9, double(bytes) * 1e-9));
}

Living initial_living(const Graph &graph, std::uint64_t seed) {
  check_living(graph, machine_memory_bytes());
  Living living(graph.tensors.size());
  for (TensorId id = 0; id < graph.tensors.size(); ++id)
    if (lives_on(graph.tensors[id])) living[id] = graph::initial_values(graph.tensors[id], seed);
  return living;
}

StepExecutor::StepExecutor(const graph::TrainingGraph &step, unsigned threads)
    : step_(step), threads_(threads), pass_of_(step.graph.ops.size()), unread_(step.graph.tensors.size()) {
  const auto readers = step.graph.consumers();
  for (TensorId id = 0; id < unread_.size(); ++id)
    unread_[id] = readers[id].empty();
  for (const graph::MicroBatch &micro : step.micro_batches)
    unread_[micro.loss] = true;
}

StepExecutor::StepExecutor(const graph::TrainingGraph &step, Device &device, const ProductOptions &options,
                           unsigned threads)
    : StepExecutor(step, threads) {
  take_plan(plan_products(step.graph, device.config(), options.plan));
  runner_ = std::make_unique<ProductRunner>(plan_, device, options);
  device_data_ = has_data(options.backend);
}

StepExecutor::StepExecutor(const graph::TrainingGraph &step, ProductPlan plan, unsigned threads)
    : StepExecutor(step, threads) {
  take_plan(std::move(plan));
  device_data_ = true;
}

StepExecutor::StepExecutor(const StepExecutor &other, Device &device, unsigned threads)
    : StepExecutor(other.step_, other.plan_, threads) {
  runner_ = std::make_unique<ProductRunner>(*other.runner_, device);
  device_data_ = other.device_data_;
}

std::unique_ptr<StepExecutor> StepExecutor::beside(Device &device, unsigned threads) const {
  return std::unique_ptr<StepExecutor>(new StepExecutor(*this, device, threads));
}

void StepExecutor::take_plan(ProductPlan plan) {
  plan_ = std::move(plan);
  pass_of_ = plan_.pass_of_ops(step_.graph.ops.size());
}

StepExecutor::Values StepExecutor::begin(const std::vector<std::vector<Fed>> &batches,
                                         const std::vector<float> &constants, Living &living, bool keep_all) const {
  graph::ExecutionOptions options;
  options.threads = threads_;
  options.keep = [this, keep_all](TensorId id) { return keep_all || unread_[id]; };
  Values values(step_.graph, options);
  for (TensorId id = 0; id < living.size(); ++id)
    if (lives_on(step_.graph.tensors[id])) values.set(id, std::move(living[id]));
  for (std::size_t b = 0; b < step_.micro_batches.size(); ++b)
    for (const auto &[forward, id] : step_.micro_batches[b].inputs) {
      const auto fed = std::find_if(batches[b].begin(), batches[b].end(),
                                    [input = forward](const Fed &f) { return f.input == input; });
      if (fed == batches[b].end())
        throw graph::GraphError(fmt::format("input '{}' is fed nothing", step_.graph.tensors[id].name));
      if (graph::is_real(step_.graph.tensors[id].type))
        values.set(id, fed->values.real);
      else
        values.set_index(id, fed->values.index);
    }
  if (step_.constants != kNone) values.set(step_.constants, constants);
  return values;
}

void StepExecutor::watch(std::vector<TensorId> tensors) {
  for (const TensorId id : tensors)
    unread_[id] = true;
  watched_ = std::move(tensors);
}

void StepExecutor::end_unread() {
  if (compares()) return;
  std::vector<bool> read(step_.graph.tensors.size());
  for (const TensorId id : watched_)
    read[id] = true;
  for (const graph::MicroBatch &micro : step_.micro_batches)
    read[micro.loss] = true;
  executed_.assign(step_.graph.ops.size(), false);
  for (OpId id = executed_.size(); id-- > 0;) {
    const Op &op = step_.graph.ops[id];
    executed_[id] = std::any_of(op.outputs.begin(), op.outputs.end(),
                                [&](TensorId output) { return output != kNone && read[output]; });
    if (!executed_[id]) continue;
    for (const TensorId input : op.inputs)
      if (input != kNone) read[input] = true;
  }
}

void StepExecutor::end(Values &values, Living &living, StepResult &result) const {
  result.losses.clear();
  for (const TensorId id : watched_)
    result.watched.push_back(values.get(id));
  for (const graph::MicroBatch &micro : step_.micro_batches)
    result.losses.push_back(values.get(micro.loss).real.front());
  if (!executed_.empty()) return;
  std::vector<bool> updated(step_.graph.tensors.size());
  std::vector<std::size_t> to_come(step_.graph.tensors.size()); // two may have one next value
  for (const graph::Update &update : step_.graph.updates)
    ++to_come[update.next];
  for (const graph::Update &update : step_.graph.updates) {
    if (--to_come[update.next] == 0 && !lives_on(step_.graph.tensors[update.next]))
      living[update.tensor] = values.take(update.next).real;
    else
      living[update.tensor] = values.get(update.next).real;
    updated[update.tensor] = true;
  }
  for (TensorId id = 0; id < living.size(); ++id)
    if (lives_on(step_.graph.tensors[id]) && !updated[id]) living[id] = values.take(id).real;
}

StepResult StepExecutor::golden(const std::vector<std::vector<Fed>> &batches, const std::vector<float> &constants,
                                Living &living) const {
  StepResult result;
  Values values = begin(batches, constants, living);
  for (OpId op = 0; op < step_.graph.ops.size(); ++op)
    if (executes(op)) values.run(op);
  end(values, living, result);
  result.shares = shares();
  return result;
}

bool StepExecutor::compare(OpId id, const Values &golden, const Values &device, StepResult &result) const {
  for (const TensorId output : step_.graph.ops[id].outputs) {
    if (output == kNone) continue;
    if (pass_of_[id] > 0 && !device_data_)
      result.unchecked += step_.graph.tensors[output].shape.elements();
    else if (!compare_tensor(output, step_.graph.ops[id].name, golden.get(output), device.get(output), result))
      return false;
  }
  return true;
}

bool StepExecutor::compare_tensor(TensorId id, const std::string &by, const graph::Buffer<graph::Contract> &golden,
                                  const graph::Buffer<graph::Contract> &device, StepResult &result) const {
  Difference difference = difference_of(step_.graph.tensors[id], golden, device);
  ++result.tensors;
  result.elements += difference.elements;
  if (difference.differing == 0) return true;
  difference.op = by;
  result.difference = std::move(difference);
  return false;
}

std::vector<OpId> StepExecutor::advance(OpId op, Values &device, StepResult &result) {
  if (pass_of_[op] == 0) {
    device.run(op);
    return {op};
  }
  std::vector<OpId> complete;
  for (const std::size_t index : plan_.due(op)) {
    for (std::string &failure :
         runner_->run(index, device, [this](std::uint64_t, std::uint64_t) { check_abandoned(); }))
      result.failures.push_back(std::move(failure));
    const ProductPass &pass = plan_.passes[index];
    if (pass.completes) complete.insert(complete.end(), pass.ops.begin(), pass.ops.end());
  }
  return complete;
}

StepResult StepExecutor::compared(const std::vector<std::vector<Fed>> &batches, const std::vector<float> &constants,
                                  Living &living, Living &device_living) {
  StepResult result;
  runner_->reset_totals();
  Values golden = begin(batches, constants, living), device = begin(batches, constants, device_living);
  for (OpId op = 0; op < step_.graph.ops.size() && result.ok(); ++op) {
    check_abandoned();
    golden.run(op);
    for (const OpId complete : advance(op, device, result)) {
      if (!result.failures.empty() || !compare(complete, golden, device, result)) break;
      // What the device computed is done only now, so that it is there to be compared.
      if (pass_of_[complete] > 0 && device_data_) device.done(complete);
    }
  }
  result.products = runner_->totals();
  end_both(golden, living, device, device_living, result);
  return result;
}

void StepExecutor::end_both(Values &golden, Living &living, Values &device, Living &device_living,
                            StepResult &result) const {
  result.shares = shares();
  if (!result.ok()) return;
  StepResult of_device;
  end(golden, living, result);
  end(device, device_living, of_device);
}

Shares StepExecutor::shares() const {
  Shares shares;
  for (OpId id = 0; id < step_.graph.ops.size(); ++id) {
    const Op &op = step_.graph.ops[id];
    const graph::OpView view{step_.graph, op};
    const double operations = op.type->operations(view), bytes = bytes_of_op(step_.graph, op);
    const bool product = graph::is_product(view);
    const bool device = pass_of_[id] > 0 || runs_operators();
    (device ? shares.device_bytes : shares.host_bytes) += bytes;
    ++(device ? shares.device_ops : shares.host_ops);
    (product ? (device ? shares.device_multiply_adds : shares.host_multiply_adds)
             : (device ? shares.device_operations : shares.host_operations)) += operations;
  }
  return shares;
}

} // namespace gradweave::runtime::train
