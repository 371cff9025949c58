// Jobs whose areas hand values on in the scratchpad.
#pragma once

#include "compiler/vector_stream/group/cover.hpp"
#include "compiler/vector_stream/stage/stage.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Stages over the same lanes; of elements, over the same lanes and steps. What one writes and another reads are the
/// same elements of a lane (and step). So an area of the group is one of each stage, in order. What a chain across the
/// lanes gives is there behind the last area, and no other stage has to do with it.
struct JobGroup {
  std::vector<Stage> stages;
  std::vector<bool> in_memory; ///< of OpJobs::values: whether anything but the group reads what it writes
  /// Of elements: tiles are windows of common rows (windows.hpp), so that only lanes may be cut.
  bool windows = false;
  std::vector<Cover> covers = {}; ///< of elements: what several operands are parts of
  std::size_t places = 0;         ///< stages that work elsewhere than those before: such a group is not cut

  /// Whether steps may be cut, too.
  bool is_elementwise() const;
  std::size_t lanes() const { return stages.front().lanes; }
  /// The most of any stage.
  std::size_t steps() const;
};

/// The tiles of an area of a group in a place: what a stage reads that an earlier one wrote is one tile.
struct GroupTiles {
  std::vector<AreaTile> tiles;
  std::vector<bool> loaded, stored;
  std::vector<bool> covers;                                ///< whether it covers several operands
  std::vector<std::size_t> first;                          ///< element of the value where the whole of each begins
  std::vector<std::vector<std::size_t>> operands, results; ///< which tiles, of each stage
  std::size_t rows = 0;                                    ///< of the scratchpad, all together
};
GroupTiles tiles_of(const JobGroup &group, const StridedArea &area, const NpuConfig &npu);

/// How a stage walks its part of an area: elements along lanes or, if that takes less time, along steps; lines that
/// all steps read in registers (held_lines.hpp), if that does.
struct StageWalk {
  bool exchanged = false, held = false;
  std::uint64_t cycles = 0; ///< of the lanes, nearly
};
StageWalk walk_of(const Stage &stage, std::size_t lanes, std::size_t steps, const NpuConfig &npu);
/// The stage as it is walked, and its program.
struct WalkedStage {
  Stage stage;
  isa::vector::Program program;
};
WalkedStage walked_stage(const Stage &stage, const StageWalk &walk);

/// Bytes that an area moves from and to memory.
std::uint64_t moved_bytes(const GroupTiles &tiles);

/// The same with whole beats, nearly, for rows that begin or end inside one.
std::uint64_t bytes_of_beats(const GroupTiles &tiles, const NpuConfig &npu);

/// Of `all` elements at most `count`, so many that they are whole beats of bf16, and of fp32, if rows begin with a
/// beat.
std::size_t whole_beats(std::size_t count, std::size_t all, const NpuConfig &npu);

/// Whether a place holds so much of the group.
bool fits(const JobGroup &group, std::size_t lanes, std::size_t steps, const NpuConfig &npu);

/// Of two areas that are under way at once, cycles that each takes at least: what its LOADs, runs and STOREs wait for
/// each other.
inline constexpr std::uint64_t kLeastAreaCycles = 160;

/// Lanes of an area for which whole chains take the least time, nearly, and that time in cycles.
struct ChainCut {
  std::size_t lanes = 0; ///< 0: not even a strip fits
  std::uint64_t cycles = 0;
};
ChainCut cut_of_chains(const JobGroup &group, const NpuConfig &npu);

/// Lanes and steps of an area of a group of elements that has covers, for which it takes the least time, nearly, and
/// that time in cycles: the smaller areas are, the more of the covers is loaded again.
struct RectangleCut {
  std::size_t lanes = 1, steps = 1;
  std::uint64_t cycles = 0; ///< 0: it has none, or no area that was looked at fits
};
RectangleCut cut_of_covers(const JobGroup &group, const NpuConfig &npu);

/// Cycles of a group of elements, nearly.
std::uint64_t cycles_of_elements(const JobGroup &group, const NpuConfig &npu);

} // namespace gradweave::compiler
