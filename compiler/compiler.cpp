// compile_layer(): the passes in sequence, each followed by its check.
#include "compiler/compiler.hpp"
#include "compiler/cost.hpp"
#include "compiler/emit.hpp"
#include "compiler/passes.hpp"
#include "compiler/verify.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <tuple>

namespace gradweave::compiler {
namespace {

void check_input(const Layer &layer, const NpuConfig &npu) {
  if (layer.m == 0 || layer.k == 0 || layer.n == 0)
    throw CompileError(
        fmt::format("layer '{}': M, K, N = {}, {}, {}; none may be 0", layer.name, layer.m, layer.k, layer.n));
  if (npu.semaphores < kSemaphoresUsed)
    throw CompileError(fmt::format("layer '{}': streams use {} semaphores, NPU '{}' has {}; raise npu.semaphores",
                                   layer.name, kSemaphoresUsed, npu.name, npu.semaphores));
}

void check_footprint(const Layer &layer, std::uint64_t bytes, const NpuConfig &npu) {
  if (bytes > npu.dram.size_bytes)
    throw CompileError(
        fmt::format("layer '{}': needs {} bytes of device memory, NPU '{}' has {}; raise dram.size_bytes or "
                    "reduce M, K, N = {}, {}, {}",
                    layer.name, bytes, npu.name, npu.dram.size_bytes, layer.m, layer.k, layer.n));
}

/// A failed check is a defect of the compiler, not of its input.
void require(const std::string &problem, const Layer &layer, std::string_view pass) {
  if (!problem.empty())
    throw CompilerDefect(fmt::format("layer '{}': defect in the compiler, found after {}: {}; please report it",
                                     layer.name, pass, problem));
}

std::array<Traffic, kTensorCount> traffic_of(const Program &program, const NpuConfig &npu) {
  std::array<Traffic, kTensorCount> traffic{};
  for (const Action &a : program.actions) {
    if (a.kind == Action::Kind::kGemm) continue;
    Traffic &t = traffic[static_cast<std::size_t>(a.tensor)];
    const bool store = a.kind == Action::Kind::kStore;
    const std::uint64_t bytes = static_cast<std::uint64_t>(a.rect.rows) * a.rect.cols * (a.fp32 ? 4 : 2);
    (store ? t.write_bytes : t.read_bytes) += bytes;
    (store ? t.write_bus_bytes : t.read_bus_bytes) += bus_bytes_of(a, npu);
    if (a.spill) (store ? t.spill_write_bytes : t.spill_read_bytes) += bytes;
  }
  return traffic;
}

CompiledLayer compile(const Layer &layer, const NpuConfig &npu, const CompileOptions &options) {
  check_input(layer, npu);
  const Layout layout = make_layout(layer, options.pass, npu);
  check_footprint(layer, layout.bytes, npu);
  const SearchResult found = search(layer, resolve(options.schedule, layer), options.pass, layout, npu);
  return compile_plan(layer, npu, options, layout, found);
}

/// What the stream depends on, and nothing else.
using CacheKey = std::tuple<std::array<std::uint64_t, 17>, Schedule, Pass>;

CacheKey cache_key(const Layer &l, const NpuConfig &n, const CompileOptions &o) {
  return {{l.m, l.k, l.n, l.dx, n.rows, n.cols, n.cores, n.spm_bytes, n.spm_banks, n.bus_bytes, n.queue_depth,
           n.semaphores, n.outstanding, n.dram.size_bytes, n.dram.latency_cycles, n.dram.bytes_num, n.dram.bytes_den},
          o.schedule,
          o.pass};
}

} // namespace

CompiledLayer compile_plan(const Layer &layer, const NpuConfig &npu, const CompileOptions &options,
                           const Layout &layout, const SearchResult &plan) {
  for (const PhasePlan &phase : plan.plans)
    require(verify_tiling(phase.tile, layer), layer, "tiling");
  require(verify_order(plan.program.products, layer, options.pass), layer, "ordering");
  require(verify_program(plan.program, npu), layer, "residency");
  check_footprint(layer, plan.program.dram_bytes, npu);

  CompiledLayer compiled;
  compiled.layer = layer;
  compiled.requested = options.schedule;
  compiled.chosen = resolve(options.schedule, layer);
  compiled.pass = options.pass;
  compiled.tiling = describe(plan.plans);
  compiled.tensors = layout.tensors;
  compiled.dram_bytes = plan.program.dram_bytes;
  EmittedStream stream = emit(plan.program, order_actions(plan.program, npu));
  compiled.stream = std::move(stream.commands);
  compiled.info = std::move(stream.info);
  compiled.traffic = traffic_of(plan.program, npu);
  for (const TileProduct &p : plan.program.products) {
    compiled.useful_macs += static_cast<std::uint64_t>(p.m_size) * p.k_size * p.n_size;
    compiled.compute_cycles += product_cycles(p, npu);
  }
  compiled.estimated_cycles = plan.estimated_cycles;
  require(verify_stream(compiled, npu), layer, "emission");
  return compiled;
}

CompiledLayer compile_layer(const Layer &layer, const NpuConfig &npu, const CompileOptions &options) {
  // Networks repeat their layers; a layer of a known shape is compiled once in a process.
  static std::mutex mutex;
  static std::map<CacheKey, CompiledLayer> cache;
  const CacheKey key = cache_key(layer, npu, options);
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (const auto it = cache.find(key); it != cache.end()) {
      CompiledLayer compiled = it->second;
      compiled.layer = layer;
      return compiled;
    }
  }
  CompiledLayer compiled = compile(layer, npu, options);
  const std::lock_guard<std::mutex> lock(mutex);
  return cache.emplace(key, std::move(compiled)).first->second;
}

std::vector<isa::Command> relocate(const std::vector<isa::Command> &stream, std::uint64_t base) {
  std::vector<isa::Command> result = stream;
  for (isa::Command &command : result) {
    const std::uint32_t opcode = command.get(isa::field::OPCODE);
    if (opcode != static_cast<std::uint32_t>(isa::Opcode::LOAD) &&
        opcode != static_cast<std::uint32_t>(isa::Opcode::STORE))
      continue;
    const std::uint64_t address = base + command.get(isa::field::DRAM_ADDR_LO) +
                                  (static_cast<std::uint64_t>(command.get(isa::field::DRAM_ADDR_HI)) << 32);
    command.set(isa::field::DRAM_ADDR_LO, static_cast<std::uint32_t>(address));
    command.set(isa::field::DRAM_ADDR_HI, static_cast<std::uint32_t>(address >> 32));
  }
  return result;
}

} // namespace gradweave::compiler
