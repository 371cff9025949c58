#include "train/product_runner.hpp"

#include "base/process/stopwatch.hpp"
#include "runtime/data/check.hpp"
#include "runtime/job/loaded_stream.hpp"
#include "train/product_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradweave::runtime::train {
namespace {

std::uint64_t moved(const compiler::LayerTraffic &traffic, std::uint64_t compiler::Traffic::*bytes) {
  std::uint64_t sum = 0;
  for (const compiler::Traffic &tensor : traffic)
    sum += tensor.*bytes;
  return sum;
}

} // namespace

void ProductTotals::add(const compiler::Compiled &compiled, std::uint64_t cycles_taken) {
  ++streams;
  commands += compiled.stream.size();
  cycles += cycles_taken;
  multiply_adds += compiled.useful_macs;
  accesses += compiled.accesses;
  read_bytes += moved(compiled.traffic.front(), &compiler::Traffic::read_bytes);
  write_bytes += moved(compiled.traffic.front(), &compiler::Traffic::write_bytes);
}

ProductRunner::ProductRunner(const ProductPlan &plan, Device &device, const ProductOptions &options)
    : plan_(plan), device_(device), options_(options) {
  const Stopwatch stopwatch;
  compiler::CompileCache cache;
  std::vector<compiler::Compiled> compiled;
  for (const ProductPass &pass : plan.passes) {
    compiler::CompileOptions compile = options.compile;
    compile.pass = pass.pass;
    compiled.push_back(compiler::compile({pass.layer}, device.config(), compile, cache));
    bytes_ = std::max(bytes_, compiled.back().dram_bytes);
  }
  compiled_ = std::make_shared<const std::vector<compiler::Compiled>>(std::move(compiled));
  compile_seconds_ = stopwatch.wall_seconds();
  base_ = device_.allocate(bytes_);
}

ProductRunner::ProductRunner(const ProductRunner &other, Device &device)
    : plan_(other.plan_), device_(device), options_(other.options_), compiled_(other.compiled_), bytes_(other.bytes_),
      base_(device_.allocate(bytes_)), compile_seconds_(other.compile_seconds_) {}

std::vector<std::string> ProductRunner::run(std::size_t index, Values &values, const ProgressFunction &progress) {
  const ProductPass &pass = plan_.passes[index];
  const compiler::Compiled &compiled = (*compiled_)[index];
  const bool data = has_data(options_.backend);
  LoadedStream loaded(device_, compiled.layout.tensors, compiled.stream, compiled.dram_bytes, base_);
  if (data) {
    std::vector<HostTensor> operands(compiled.layout.tensors.size());
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (const compiler::TensorBinding &binding = compiled.layout.tensors[i]; binding.input) {
        const PlacedTensor &placed = pass.placed(binding.tensor);
        operands[i] = to_matrix(placed, pass.layer, binding, values.get(placed.id).real);
      }
    loaded.fill([&](std::size_t i) -> const HostTensor & { return operands[i]; });
  }
  const RunStatus status = loaded.run(progress);
  const Counters counters = device_.read_counters();
  const bool timed = has_time(options_.backend);
  if (!status.ok())
    return {
        fmt::format("product '{}': the NPU stopped with {}", pass.layer.name, describe_stop(compiled.stream, status))};
  if (data) {
    for (const compiler::TensorBinding &binding : compiled.layout.tensors)
      if (!binding.input) take_result(pass.placed(binding.tensor), pass.layer, loaded.read(binding), values);
  } else if (pass.completes) {
    for (const graph::OpId op : pass.ops)
      values.run(op);
  }
  std::vector<std::string> problems = check_counters(compiled, device_.config(), counters, timed);
  if (timed)
    for (std::string &problem : check_cycles(compiled, counters, true))
      problems.push_back(std::move(problem));
  for (std::string &problem : problems)
    problem = fmt::format("product '{}': {}", pass.layer.name, problem);
  totals_.add(compiled, timed ? counters[isa::Counter::CYCLES] : 0);
  return problems;
}

} // namespace gradweave::runtime::train
