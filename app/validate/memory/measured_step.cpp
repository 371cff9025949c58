#include "app/validate/memory/measured_step.hpp"

#include "compiler/ahead/plans_ahead.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/lower/dram_bytes.hpp"

#include <algorithm>
#include <chrono>

namespace gradweave::runtime {
namespace {

using compiler::Compiled;
using memory_model::Moves;
using memory_model::Way;

constexpr auto kTick = std::chrono::milliseconds(200);

Moves moves_of(const isa::DmaCommand &dma, const Machine &npu) {
  const std::uint64_t row = dma.cols * (dma.fp32 ? 4ULL : 2ULL);
  const auto of = [&](std::uint64_t unit) {
    return static_cast<double>(compiler::beat_bytes(dma.dram_addr, row, unit) * dma.rows);
  };
  const double bytes = of(compiler::access_bytes(npu));
  const double port = std::max(of(npu.bus_bytes) / npu.bus_bytes,
                               static_cast<double>(dma.rows) * npu.memory.latency_cycles / npu.outstanding);
  return dma.store ? Moves{0, bytes, 0, port} : Moves{bytes, 0, port, 0};
}

/// What the stream moves for each pass: LOADs are for the product that follows them, STOREs for the one before.
void count(const Compiled &step, const Machine &npu, std::vector<std::array<MeasuredPass, 2>> &passes) {
  MeasuredPass waiting, *current = &passes.front().front();
  for (std::size_t i = 0; i < step.stream.size(); ++i) {
    const std::optional<isa::Decoded> command = isa::decode(step.stream[i]);
    const auto *dma = std::get_if<isa::DmaCommand>(&command->op);
    if (dma == nullptr && !std::holds_alternative<isa::SyncCommand>(command->op)) {
      const Way way = compiler::used_in(step.info[i].tensor, compiler::Pass::kForward) ? Way::kForward : Way::kBackward;
      current = &passes[step.info[i].layer][static_cast<std::size_t>(way)];
      current->moves += waiting.moves;
      current->commands += waiting.commands;
      waiting = {};
    }
    MeasuredPass &to = dma != nullptr && !dma->store ? waiting : *current;
    if (dma != nullptr) to.moves += moves_of(*dma, npu);
    ++to.commands;
  }
  current->moves += waiting.moves;
  current->commands += waiting.commands;
}

} // namespace

double MeasuredStep::bytes() const {
  double sum = 0;
  for (const auto &layer : passes)
    for (const MeasuredPass &pass : layer)
      sum += pass.moves.bytes();
  return sum;
}

MeasuredStep measure_step(const std::string &name, const std::vector<compiler::Layer> &layers, const Machine &npu,
                          compiler::CompileOptions options, compiler::PlanStore *store, unsigned threads,
                          const std::function<void()> &tick) {
  MeasuredStep measured{name, layers, npu, {}, 0, {}};
  measured.npu.memory.size_bytes = std::max(npu.memory.size_bytes, std::uint64_t{1} << 40U);
  if (options.schedule != compiler::Schedule::kRearrange) measured.order = memory_model::BackOrder::kFastest;
  compiler::CompileCache cache;
  cache.plans.store = store;
  options.stream = true;
  std::vector<compiler::PlansAhead::Compilation> compilations;
  for (const compiler::Layer &layer : layers)
    for (const compiler::Pass pass : {compiler::Pass::kForward, compiler::Pass::kBackward}) {
      options.pass = pass;
      compilations.push_back({{layer}, measured.npu, options});
    }
  if (options.schedule != compiler::Schedule::kSearch) { // which looks at layers in its own way
    compiler::PlansAhead ahead(std::move(compilations), cache, threads);
    while (!ahead.wait(kTick))
      if (tick) tick();
  }
  options.pass = compiler::Pass::kBoth;
  if (tick) options.progress = [&tick](std::uint64_t, std::uint64_t) { tick(); };
  const Compiled step = compile(layers, measured.npu, options, cache);
  measured.cycles = step.predicted_cycles;
  measured.passes.resize(layers.size());
  count(step, measured.npu, measured.passes);
  return measured;
}

} // namespace gradweave::runtime
