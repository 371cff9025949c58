#include "compiler/vector_stream/stage/lane_cycles.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Bits set among the lowest ones.
std::size_t count(std::uint32_t bits) {
  std::size_t set = 0;
  for (; bits != 0; bits &= bits - 1)
    ++set;
  return set;
}

} // namespace

std::uint64_t lane_cycles(const isa::vector::Program &program, const LaneShape &shape, const NpuConfig &npu,
                          const std::vector<HeldLine> &held) {
  const std::size_t group = std::size_t{4} * npu.vector_groups;
  std::uint64_t cycles = 0;
  for (std::size_t s = 0; s < program.sections.size(); ++s) {
    std::uint32_t mask = isa::vector::mask_of(program.sections[s]);
    std::size_t instructions = program.sections[s].size();
    for (const HeldLine &line : held) {
      if (s >= line.section) mask &= ~(1U << line.operand);
      if (s + 1 != line.section) continue;
      mask |= 1U << line.operand;
      ++instructions;
    }
    const std::uint32_t tiles = mask & ((1U << isa::vector::kTiles) - 1U);
    const std::size_t reads = count(tiles & ~shape.same), shared = count(tiles & shape.same),
                      writes = count(mask >> isa::vector::kTiles);
    for (std::size_t strip = 0; strip < shape.strips; strip += group) {
      const std::size_t strips = std::min(group, shape.strips - strip);
      cycles += std::max({4 * instructions, reads * strips + shared, writes * strips}) *
                (s % 2 == 1 ? shape.steps : std::size_t{1});
    }
  }
  return cycles;
}

} // namespace gradweave::compiler
