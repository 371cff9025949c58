#include "compiler/back/vector_room.hpp"

#include "compiler/depthwise/depthwise.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/ir/macro_banks.hpp"
#include "compiler/lower/tiling.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

/// Of the macro-banks those that sections of a step have, where that is enough.
constexpr std::uint32_t kStepEighths = 3, kMostEighths = 4;

/// The last macro-banks, so many eighths of all.
VectorRoom room_of(const Machine &npu, std::uint32_t eighths) {
  const std::uint32_t banks = std::max(1U, npu.spm_banks * eighths / 8);
  return {with_banks(npu, banks), (npu.spm_banks - banks) * npu.bank_rows(),
          static_cast<std::uint8_t>(semaphores_used(npu.cores))};
}

} // namespace

std::optional<SharedMachine> share_machine(const Machine &npu, std::uint32_t eighths,
                                           const std::function<bool(const VectorRoom &)> &fits) {
  for (const std::uint32_t share : {eighths, kMostEighths})
    if (const VectorRoom room = room_of(npu, share); fits(room))
      return SharedMachine{npu, with_banks(npu, npu.spm_banks - room.npu.spm_banks), room};
  return std::nullopt;
}

std::optional<VectorRoom> largest_room(const Machine &npu) {
  if (npu.cores != 1 || npu.vectors() == 0 || npu.spm_banks < 2 ||
      semaphores_used(npu.cores) + kDepthwiseSemaphores > npu.semaphores)
    return std::nullopt;
  return room_of(npu, kMostEighths);
}

bool fits_room(const Layer &layer, Pass pass, const VectorRoom &room) {
  return (pass == Pass::kBackward || takes_vector_unit(layer, Pass::kForward, room)) &&
         (pass == Pass::kForward || takes_vector_unit(layer, Pass::kBackward, room));
}

SharedMachine share_step(const std::vector<Layer> &layers, Pass pass, const Machine &npu) {
  if (std::none_of(layers.begin(), layers.end(), [](const Layer &l) { return l.vector; })) return {npu, npu, {}};
  const auto all_fit = [&](const VectorRoom &room) {
    return std::all_of(layers.begin(), layers.end(),
                       [&](const Layer &l) { return !l.vector || fits_room(l, pass, room); });
  };
  std::optional<SharedMachine> shared = largest_room(npu) ? share_machine(npu, kStepEighths, all_fit) : std::nullopt;
  if (!shared) throw std::invalid_argument("a layer is said to be the vector unit's, and does not fit it");
  return *std::move(shared);
}

std::vector<PhasePlan> section_phases(const Layer &layer, std::uint32_t index, Pass pass, const Layout &layout,
                                      const VectorRoom &room) {
  std::vector<PhasePlan> phases;
  for (const Tensor result : vector_results(layer, pass)) {
    PhasePlan plan;
    plan.kind = result == Tensor::kY ? PhaseKind::kForward : result == Tensor::kDX ? PhaseKind::kDx : PhaseKind::kDw;
    plan.layer = index;
    plan.tile = largest_tile(plan.kind, layer); // what neighbours take for its cut
    plan.section = vector_section(layer, index, result, layout, room);
    plan.products = section_products(*plan.section, index);
    phases.push_back(std::move(plan));
  }
  return phases;
}

} // namespace gradweave::compiler
