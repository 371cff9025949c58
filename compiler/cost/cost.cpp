#include "compiler/cost/cost.hpp"
#include "base/process/peak_memory.hpp"
#include "compiler/cost/latest_starts.hpp"
#include "compiler/emit/emit.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/grid/grid.hpp"
#include "compiler/ir/vector_section.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/request/error.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradweave::compiler {

std::uint64_t bus_bytes_of(const Program &program, const Action &dma, const NpuConfig &npu) {
  // Pitches are whole beats, so that every row costs what the first does.
  const TileForm &form = program.form(dma);
  return form.rows * beat_bytes(dma.memory.address, form.cols * (dma.fp32 ? 4ULL : 2ULL), npu.bus_bytes);
}

std::vector<LayerTraffic> traffic_by_layer(const Program &program, const Machine &npu) {
  std::vector<LayerTraffic> traffic(program.layers.size());
  for (const Action &a : program.actions) {
    if (const VectorPiece *piece = piece_of(program, a))
      for (const auto &[layer, moved] : piece->traffic)
        for (std::size_t t = 0; t < kTensorCount; ++t)
          traffic[layer][t] += moved[t];
    if (!a.moves()) continue;
    Traffic &t = traffic[a.layer][static_cast<std::size_t>(a.tensor)];
    const bool store = a.kind == Action::Kind::kStore;
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(program.form(a).rows) * program.form(a).cols * (a.fp32 ? 4 : 2);
    (store ? t.write_bytes : t.read_bytes) += bytes;
    (store ? t.write_bus_bytes : t.read_bus_bytes) += bus_bytes_of(program, a, npu);
    if (a.spill) (store ? t.spill_write_bytes : t.spill_read_bytes) += bytes;
  }
  return traffic;
}

std::uint64_t element_bytes(const std::vector<LayerTraffic> &traffic) {
  std::uint64_t bytes = 0;
  for (const LayerTraffic &layer : traffic)
    for (const Traffic &t : layer)
      bytes += t.read_bytes + t.write_bytes;
  return bytes;
}

std::uint64_t moved_bytes(const Program &program, const Machine &npu) {
  std::uint64_t moved = 0;
  for (const Action &a : program.actions)
    if (const VectorPiece *piece = piece_of(program, a))
      moved += piece->dram_bytes;
    else
      moved += dram_bytes_of(program, a, npu);
  return moved;
}

std::uint64_t simulation_work(const Program &program) {
  std::uint64_t work = program.actions.size();
  for (const Action &a : program.actions)
    if (a.moves()) work += program.form(a).rows;
  return work;
}

ProgramKey key_of(const Program &program) {
  ProgramKey key{0x9E3779B97F4A7C15U, 0xD6E8FEB86659FD93U};
  const auto add = [&key](std::uint64_t high, std::uint64_t low) {
    key[0] = (key[0] ^ high) * 0xFF51AFD7ED558CCDU ^ low;
    key[1] = (key[1] ^ low) * 0xC4CEB9FE1A85EC53U ^ key[0] >> 29U;
    key[0] ^= key[1] >> 32U;
  };
  const auto add_pair = [&add](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    add(std::uint64_t{a} << 32U | b, std::uint64_t{c} << 32U | d);
  };
  for (const Action &a : program.actions) {
    const auto flags = static_cast<std::uint32_t>(a.kind) | a.fp32 * 8U | a.spill * 16U | a.acc * 32U |
                       a.out_bf16 * 64U | std::uint32_t{a.core} << 8U | static_cast<std::uint32_t>(a.tensor) << 16U;
    const TileForm &form = program.form(a);
    add_pair(flags, a.computes() ? a.product : 0, form.rows, form.cols);
    add_pair(a.row, a.col, a.place.row, static_cast<std::uint32_t>(a.binding));
    if (a.computes())
      add_pair(a.in.a.row, a.in.b.row, a.in.cin.row, 0);
    else if (a.moves())
      add(a.memory.address, a.memory.pitch);
  }
  for (const TileProduct &p : program.products) { // places of operands say where, and these, how large
    add_pair(p.m, p.k, p.n, p.group);
    add_pair(p.m_size, p.k_size, p.n_size,
             static_cast<std::uint32_t>(p.result) | p.blocked * 16U | std::uint32_t{p.part} << 8U);
  }
  return key;
}

TrafficLimit traffic_limit(std::uint64_t cycles, bool commands, const Machine &npu) {
  if (cycles == kTooSlow) return {};
  return {divide_up(cycles * npu.memory.bytes_num, npu.memory.bytes_den), commands ? isa::kCommandBytes : 0U};
}

namespace {

std::uint64_t dram_cycles(std::uint64_t bytes, const Machine &npu) {
  return bytes * npu.memory.bytes_den / npu.memory.bytes_num;
}

/// Of all LOADs, STOREs and commands.
std::uint64_t channel_bytes(const Program &program, const Machine &npu) {
  return moved_bytes(program, npu) + round_up(program.actions.size() * isa::kCommandBytes, access_bytes(npu));
}

/// Cycles that are still to come when an action of the program starts, for each, visited from the last to the first: of
/// a GEMM or ADD itself, those after it on its core, and the STOREs after the last.
template <typename Visit> void visit_rest(const Program &program, const Machine &npu, Visit visit) {
  std::uint64_t after = 0; // bytes stored after the last product
  bool computed = false;
  std::array<std::uint64_t, kMostEngines> array{}; // cycles of each core from a product on
  for (std::size_t i = program.actions.size(); i-- > 0;) {
    const Action &a = program.actions[i];
    if (a.computes()) {
      computed = true;
      std::uint64_t &mine = array[engine_of(a)];
      mine += product_cycles(program.products[a.product], program.layers[a.layer], npu);
      visit(i, mine + dram_cycles(after, npu));
    } else if (a.kind == Action::Kind::kStore && !computed) {
      after += dram_bytes_of(program, a, npu);
    }
  }
}

} // namespace

std::uint64_t program_bound(const Program &program, const Machine &npu) {
  std::uint64_t loads = 0;
  for (const Action &a : program.actions)
    if (a.kind == Action::Kind::kLoad) loads += dram_bytes_of(program, a, npu);
  std::uint64_t bound = dram_cycles(channel_bytes(program, npu), npu);
  std::size_t counted = program.actions.size(); // loads before this one are in `loads`
  visit_rest(program, npu, [&](std::size_t i, std::uint64_t rest) {
    for (; counted > i; --counted)
      if (const Action &a = program.actions[counted - 1]; a.kind == Action::Kind::kLoad)
        loads -= dram_bytes_of(program, a, npu);
    bound = std::max(bound, dram_cycles(loads, npu) + rest);
  });
  return bound;
}

namespace {

/// Of what the program moves; 0 where there is no limit, which it is for.
std::uint64_t moving_cycles(const Program &program, const Machine &npu, std::uint64_t limit) {
  return limit == kTooSlow ? 0 : dram_cycles(channel_bytes(program, npu), npu);
}

} // namespace

std::uint64_t program_cycles(const Program &program, const Machine &npu, std::uint64_t limit) {
  const std::uint64_t moving = moving_cycles(program, npu, limit);
  if (moving >= limit) return kTooSlow;
  Orderings orderings = order_actions(program, npu);
  std::vector<std::uint64_t> latest;
  if (limit != kTooSlow) latest = cycles_to_come(program, orderings, npu);
  if (std::any_of(latest.begin(), latest.end(), [&](std::uint64_t cycles) { return cycles >= limit; })) return kTooSlow;
  const std::vector<Handshake> handshakes = orderings.take_handshakes();
  orderings = Orderings(0);
  if (handshakes.size() >= kManyActions) give_back_memory();
  const std::vector<isa::Command> commands = emit_commands(program, handshakes, npu);
  timing::RunOptions options;
  if (limit != kTooSlow) {
    options.most_idle_cycles = limit - moving;
    latest = latest_starts(program, latest, commands, limit);
    options.latest_start = latest.data();
  }
  const timing::RunResult run = timing::run(npu, commands, options);
  if (run.given_up) return kTooSlow;
  if (!run.ok())
    throw CompilerDefect(fmt::format("defect in the compiler: the NPU refuses command {} of a stream with {}; please "
                                     "report it",
                                     run.error_index, isa::kErrorNames[static_cast<std::size_t>(run.error)]));
  return run.cycles();
}

} // namespace gradweave::compiler
