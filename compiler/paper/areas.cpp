#include "compiler/paper/areas.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/request/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler::paper {
namespace {

/// Scratchpad rows of a slot of each area.
struct SlotRows {
  std::uint32_t operand = 0, partial = 0, result = 0;
};

SlotRows slot_rows(const TileShape &t, const Step &step, std::uint32_t lanes) {
  const auto x = [&](bool fp32) { return spm_rows(t.m, t.k, fp32, lanes); };
  const auto w = [&](bool fp32) { return spm_rows(t.k, t.n, fp32, lanes); };
  const auto y = [&](bool fp32) { return spm_rows(t.m, t.n, fp32, lanes); };
  SlotRows rows;
  if (step.y || step.dw) rows.operand = std::max(rows.operand, x(false));
  if (step.y || step.dx) rows.operand = std::max(rows.operand, w(false));
  if (step.dx || step.dw) rows.operand = std::max(rows.operand, y(false));
  if (step.y) rows.partial = std::max(rows.partial, y(true));
  if (step.dx) rows.partial = std::max(rows.partial, x(true));
  if (step.dw) rows.partial = std::max(rows.partial, w(true));
  if (step.y) rows.result = std::max(rows.result, y(false));
  if (step.dx) rows.result = std::max(rows.result, x(false));
  return rows;
}

/// Two steps' operands, the sums of a step and one more, and a result: what keeps loads ahead of the array.
std::uint64_t least_rows(const SlotRows &r, const Step &step) {
  return std::uint64_t{2} * step.operands() * r.operand + std::uint64_t{step.sums() + 1} * r.partial + r.result;
}

TileShape sides(std::uint64_t multiple, const Layer &layer, const NpuConfig &npu) {
  const auto side = [&](std::uint32_t unit, std::uint32_t extent) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>({multiple * unit, extent, kMaxTileSide}));
  };
  return {side(npu.rows, layer.m), side(npu.lanes(), layer.k), side(npu.cols, layer.n)};
}

} // namespace

TileShape tile_shape(const Layer &layer, const Step &step, const Policy &policy, const NpuConfig &npu) {
  const auto fits = [&](std::uint64_t multiple) {
    const SlotRows r = slot_rows(sides(multiple, layer, npu), step, npu.lanes());
    if (least_rows(r, step) > npu.spm_rows()) return false;
    const std::uint64_t of_step = std::uint64_t{step.operands()} * r.operand + std::uint64_t{step.sums()} * r.partial;
    return policy.tile != TileRule::kLargest || multiple == 1 || of_step <= npu.spm_rows() / 2;
  };
  const std::uint32_t whole = std::max({layer.m / npu.rows, layer.k / npu.lanes(), layer.n / npu.cols}) + 1;
  std::uint64_t multiple = policy.tile == TileRule::kArray    ? 1
                           : policy.tile == TileRule::kArray2 ? 2
                           : policy.tile == TileRule::kArray4 ? 4
                                                              : 1;
  if (policy.tile == TileRule::kLargest)
    while (multiple < whole && fits(multiple + 1))
      ++multiple;
  while (multiple > 1 && !fits(multiple))
    --multiple;
  if (!fits(multiple))
    throw CompileError(
        fmt::format("layer '{}': the scratchpad of NPU '{}' ({} rows) does not hold the tiles of two steps "
                    "of one array each; raise npu.spm_bytes",
                    layer.name, npu.name, npu.spm_rows()));
  return sides(multiple, layer, npu);
}

std::uint32_t spare_slots(std::uint32_t slots, std::uint32_t cores) { return std::clamp(slots / 8, 1U, 4 * cores); }

Areas make_areas(const TileShape &tile, const Step &step, std::uint32_t open_sums, const Policy &policy,
                 const NpuConfig &npu) {
  const std::uint32_t all = npu.spm_rows();
  const SlotRows r = slot_rows(tile, step, npu.lanes());
  const auto least = static_cast<std::uint32_t>(least_rows(r, step));

  const std::uint32_t at_least = step.sums() + 1;
  const std::uint32_t room = at_least + (all - least) / r.partial;
  const std::uint32_t share = (policy.partial_share == PartialShare::kHalf ? all / 2 : all) / r.partial;
  const std::uint32_t wanted = open_sums + spare_slots(all / r.partial, step.cores);
  const std::uint32_t partials = std::max(at_least, std::min({wanted, room, share}));

  std::uint32_t left = all - partials * r.partial;
  std::uint32_t results = 0;
  if (r.result > 0) {
    const std::uint32_t beside_operands = (left - 2 * step.operands() * r.operand) / r.result;
    results = std::clamp(beside_operands, 1U, spare_slots(all / r.result, step.cores));
  }
  left -= results * r.result;

  Areas areas;
  areas.operands = {0, r.operand, left / r.operand};
  areas.partials = {areas.operands.end(), r.partial, partials};
  areas.results = {areas.partials.end(), r.result, results};
  return areas;
}

} // namespace gradweave::compiler::paper
