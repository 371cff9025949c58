#include "compiler/cost/cost.hpp"
#include "compiler/emit/emit.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/error.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/tiling.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {

std::uint64_t product_cycles(const TileProduct &p, const NpuConfig &npu) {
  const Contraction &c = contraction_of(p.result);
  const std::uint32_t rows = range_of(p, c.row).size, cols = range_of(p, c.col).size;
  if (p.add) return 2 * rows * divide_up(cols, npu.cols);
  return block_count(rows, cols, npu) * std::max(range_of(p, c.red).size, shortest_block(npu));
}

std::uint64_t bus_bytes_of(const Action &dma, const NpuConfig &npu) {
  // Pitches are whole beats, so that every row costs what the first does.
  return dma.rect.rows * beat_bytes(dma.dram_addr, dma.rect.cols * (dma.fp32 ? 4ULL : 2ULL), npu.bus_bytes);
}

std::uint64_t dram_bytes_of(const Action &dma, const Machine &npu) {
  return dma.rect.rows * beat_bytes(dma.dram_addr, dma.rect.cols * (dma.fp32 ? 4ULL : 2ULL), access_bytes(npu));
}

std::vector<LayerTraffic> traffic_by_layer(const Program &program, const Machine &npu) {
  std::vector<LayerTraffic> traffic(program.layers.size());
  for (const Action &a : program.actions) {
    if (a.computes()) continue;
    Traffic &t = traffic[a.layer][static_cast<std::size_t>(a.tensor)];
    const bool store = a.kind == Action::Kind::kStore;
    const std::uint64_t bytes = static_cast<std::uint64_t>(a.rect.rows) * a.rect.cols * (a.fp32 ? 4 : 2);
    (store ? t.write_bytes : t.read_bytes) += bytes;
    (store ? t.write_bus_bytes : t.read_bus_bytes) += bus_bytes_of(a, npu);
    if (a.spill) (store ? t.spill_write_bytes : t.spill_read_bytes) += bytes;
  }
  return traffic;
}

std::uint64_t simulation_work(const Program &program) {
  std::uint64_t work = program.actions.size();
  for (const Action &a : program.actions)
    if (!a.computes()) work += a.rect.rows;
  return work;
}

std::uint64_t program_bound(const Program &program, const Machine &npu) {
  const auto cycles = [&](std::uint64_t bytes) { return bytes * npu.memory.bytes_den / npu.memory.bytes_num; };
  // Backwards: what comes after.
  std::uint64_t loads = 0, moved = round_up(program.actions.size() * isa::kCommandBytes, access_bytes(npu));
  for (const Action &a : program.actions) {
    if (a.computes()) continue;
    const std::uint64_t bytes = dram_bytes_of(a, npu);
    moved += bytes;
    if (a.kind == Action::Kind::kLoad) loads += bytes;
  }
  std::uint64_t bound = cycles(moved);
  std::uint64_t after = 0; // bytes stored after the last product
  bool computed = false;
  std::array<std::uint64_t, kMostEngines> array{}; // cycles of each core from a product on
  for (auto a = program.actions.rbegin(); a != program.actions.rend(); ++a) {
    if (a->kind == Action::Kind::kStore) {
      if (!computed) after += dram_bytes_of(*a, npu);
    } else if (a->kind == Action::Kind::kLoad) {
      loads -= dram_bytes_of(*a, npu);
    } else {
      computed = true;
      std::uint64_t &mine = array[engine_of(*a)];
      mine += product_cycles(program.products[a->product], npu);
      bound = std::max(bound, cycles(loads) + mine + cycles(after));
    }
  }
  return bound;
}

std::uint64_t program_cycles(const Program &program, const Machine &npu) {
  // Alone: what else emission makes is of no use here, and takes more memory.
  const std::vector<isa::Command> commands = emit(program, order_actions(program, npu)).commands;
  const timing::RunResult run = timing::run(npu, commands);
  if (!run.ok())
    throw CompilerDefect(fmt::format("defect in the compiler: the NPU refuses command {} of a stream with {}; please "
                                     "report it",
                                     run.error_index, isa::kErrorNames[static_cast<std::size_t>(run.error)]));
  return run.cycles();
}

} // namespace gradweave::compiler
