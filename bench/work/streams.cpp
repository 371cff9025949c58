#include "bench/work/streams.hpp"

#include "app/validate/corpus/timing_stream.hpp"
#include "compiler/back/compile_plan.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/spm/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

namespace gradweave::bench {
namespace {

/// A burst ends at the end of its row, before a page border, and after so many beats.
constexpr std::uint64_t kPageBytes = 4096, kMaxBeats = 256;

} // namespace

std::vector<isa::Command> tiled_gemm(const Machine &npu, std::uint32_t side, std::uint32_t tile) {
  using namespace compiler;
  const Layer layer{"tiled_gemm", side, side, side, false, 0};
  const Layout layout = make_layout({layer}, Pass::kForward, npu);
  PhasePlan phase;
  phase.kind = forward_phase();
  phase.tile = {tile, tile, tile};
  phase.loops = {Dim::kM, Dim::kN, Dim::kK};
  const RowRange all{0, npu.spm_rows()};
  phase.split = {all, all, all};
  phase.products = make_order(phase.kind, phase.loops, phase.tile, layer, compiler::whole(layer));
  TimedPlan plan;
  plan.plans.push_back(std::move(phase));
  std::optional<Program> program = allocate(plan.plans, {layer}, layout, npu);
  if (!program)
    throw std::runtime_error(fmt::format("tiles of {0} x {0} do not fit the scratchpad of {1}", tile, npu.name));
  plan.program = std::move(*program);
  return compile_plan({layer}, Pass::kForward, layout, plan, npu).stream;
}

std::vector<isa::Command> random_stream(const Machine &npu, std::uint32_t commands) {
  corpus::TimingStreamOptions options;
  options.commands = commands;
  options.dram_bytes = std::uint64_t{1} << 20U;
  options.share_of_errors = 0;
  return corpus::make_timing_stream(npu, options).commands;
}

std::uint64_t count_bursts(const std::vector<isa::Command> &stream, const Machine &npu) {
  std::uint64_t bursts = 0;
  for (const isa::Command &command : stream) {
    const auto decoded = isa::decode(command);
    if (!decoded) continue;
    const auto *dma = std::get_if<isa::DmaCommand>(&decoded->op);
    if (dma == nullptr) continue;
    for (std::uint32_t row = 0; row < dma->rows; ++row) {
      std::uint64_t at = dma->dram_addr + std::uint64_t{row} * dma->pitch;
      const std::uint64_t end = at + std::uint64_t{dma->cols} * (dma->fp32 ? 4 : 2);
      for (; at < end; ++bursts)
        at = std::min((at / kPageBytes + 1) * kPageBytes, (at / npu.bus_bytes + kMaxBeats) * npu.bus_bytes);
    }
  }
  return bursts;
}

} // namespace gradweave::bench
