// The tiles of an epilogue in the scratchpad: which of them share a place, and into which areas a result tile is cut.
#pragma once

#include "compiler/epilogue/matrix_stages.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// Rows of the scratchpad for tiles of one kind.
struct EpilogueSlot {
  bool by_lane = false, by_step = false; ///< it has an element for each lane, for each step
  bool fp32 = false;

  /// Rows that it takes for an area of so many lanes and steps; even.
  std::uint32_t rows(std::size_t lanes, std::size_t steps, const NpuConfig &npu) const;
};

struct EpilogueTile {
  static constexpr std::size_t kResult = ~std::size_t{0}; ///< slot: the place of the product's result tile

  StridedTile of;
  bool loaded = false, stored = false;
  std::size_t slot = 0;

  bool is_matrix() const { return of.lane != 0 && of.step != 0; }
};

/// The tiles that all stages read and write. A tile that nobody reads any more leaves its slot to the next one of its
/// kind; what replaces an operand of its own program does so if each element has been read by then.
struct EpilogueTiles {
  std::vector<Stage> stages;
  std::vector<EpilogueTile> tiles;
  std::vector<std::vector<std::size_t>> operands, results; ///< which tiles, of each stage
  std::vector<EpilogueSlot> slots;

  /// Rows of the scratchpad that an area of so many lanes and steps takes.
  std::uint32_t rows(std::size_t lanes, std::size_t steps, const NpuConfig &npu) const;
};

/// `in_memory`: of each value, whether its elements are stored.
EpilogueTiles epilogue_tiles(std::vector<Stage> stages, const ResultMatrix &matrix, bool result_fp32,
                             const std::vector<bool> &in_memory);

/// Lanes (columns) and steps (rows) of an area.
struct AreaShape {
  std::size_t lanes = 0, steps = 0;
};

/// The areas into which a result tile of so many rows and columns is cut, so that each takes at most `place_rows` rows
/// and all together the least time, nearly. Columns are cut at multiples of LANES. None: not even a line fits.
std::optional<AreaShape> area_shape(const EpilogueTiles &tiles, std::size_t rows, std::size_t cols,
                                    std::uint32_t place_rows, const NpuConfig &npu);

} // namespace gradweave::compiler
