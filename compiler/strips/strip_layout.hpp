// Where a strip's matrices, lines and values in between lie in the scratchpad.
#pragma once

#include "compiler/strips/strip_jobs.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace gradweave::compiler {

/// How jobs are cut: strips of columns one after the other, of each the passes, of each pass parts of the rows.
struct StripCut {
  std::size_t columns = 1;    ///< of a strip
  std::size_t block_rows = 1; ///< of a part that are loaded, summed, and worked on at once
  std::size_t merged = 1;     ///< parts at most that one run sums, of several slots if more lie beside each other
  std::size_t abreast = 1;    ///< parts that lie beside each other in a panel, each in lanes of its own
};

/// Parts that lie beside each other: all have as many rows. A last part that has fewer is alone.
struct PartBundle {
  std::size_t first = 0, count = 1;
};

/// Bundles of parts of summed matrices have slots. If there are fewer than bundles, the first ones keep theirs from
/// pass to pass, and of the others, `passing` at a time, a block each is in a place.
/// Otherwise strips take `sets` of slots by turns, of which the next begins `shift` slots behind: as many of its
/// bundles may come before the strip at hand has ended. Matrices that are summed after one another take the same slots:
/// all but the last are loaded again where elements are computed.
struct StripSlots {
  std::size_t kept = 0, passing = 0, sets = 1, shift = 0;
};

/// A place in the scratchpad, the lane of its first column, and the numbers of the regions that it is made of.
struct StripPlace {
  std::uint32_t row = 0;
  std::size_t region = 0;
  std::size_t lane = 0;
};

class StripLayout {
public:
  /// Values of elements in between, and those that are loaded or stored a block at a time, have so many places each.
  static constexpr std::size_t kBlockSets = 2;
  /// Blocks of bundles that are not kept go through so many places.
  static constexpr std::size_t kPassingPlaces = 3;
  /// Lines have two places, which strips take by turns.
  static constexpr std::size_t kLineSets = 2;

  /// Registers that chains hand on, at most: as many as a run's results.
  static constexpr std::uint32_t kStateLines = 4;

  /// Nothing if it does not fit: not even two bundles of each summed matrix, or parts abreast in a panel.
  static std::optional<StripLayout> make(const StripJobs &jobs, const OpJobs &of, const StripCut &cut,
                                         const NpuConfig &npu);

  const StripSlots &slots() const { return slots_; }
  std::size_t bundles() const { return bundles_; }
  PartBundle bundle(std::size_t which) const;
  /// Lane of a part among those of the panels that its bundle, and those before and behind, take.
  std::size_t lane_of(std::size_t part) const { return part / abreast_ * panels_ * lanes_ + lane_in_panel(part); }
  std::size_t lane_in_panel(std::size_t part) const { return part % abreast_ * columns_; }
  std::size_t panels() const { return panels_; } ///< of a strip's columns
  std::size_t regions() const { return regions_; }
  /// Rows of elements that lie LANES apart are lanes of one run, so many at once, if a strip has one panel: panels that
  /// begin LANES rows below each other, for the skew is the same there.
  std::size_t folds() const { return folds_; }
  bool is_kept(std::size_t value) const; ///< a summed matrix that is in its slots when elements are computed

  /// Of a summed matrix; consecutive slots lie behind each other, panel by panel, pstride() rows apart.
  StripPlace slot(std::size_t set, std::size_t value, std::size_t slot) const;
  std::uint32_t pstride(std::size_t value, std::size_t slot) const;
  /// Whether the slot is of a bundle that is not kept, and where a block of it then is; panels lie pstride() apart.
  bool passes(std::size_t slot) const { return slot >= slots_.kept; }
  StripPlace passing(std::size_t place, std::size_t value, std::size_t slot) const;
  std::size_t blocks() const { return blocks_; } ///< of a part: each a region
  /// The slot of another matrix of elements, for a block; its panels lie block_pstride() rows apart, of a matrix that
  /// takes `height` rows of the scratchpad for one of its own.
  StripPlace block(std::size_t set, std::size_t slot) const;
  std::uint32_t block_pstride(std::uint32_t height) const;
  /// Line `entry` of a value; they lie as parts do, two rows a panel.
  StripPlace line(std::size_t set, const StripTile &tile, std::size_t entry) const;
  /// How often the line of a value is there: runs of several parts, or folds, read it in the lanes of each.
  std::size_t copies(const StripTile &tile) const { return lines_.at(key_of(tile)).copies; }
  /// The first is the line itself, unless several share a panel: no run writes rows of which it reads others' lanes.
  bool first_is_line() const { return abreast_ == 1; }
  StripPlace copy(std::size_t set, const StripTile &tile, std::size_t copy) const;
  /// What a register has of all lanes of a run that is one of several.
  StripPlace state(std::size_t variable) const;

  /// Where a pass's matrix that is not summed lies: in a slot of blocks, or over one that is not read any more.
  struct Home {
    bool summed = false;
    std::size_t slot = 0; ///< number of the slot of blocks, or the summed value
  };
  const Home &home(std::size_t pass, std::size_t value) const { return homes_.at({pass, value}); }

private:
  using LineKey = std::pair<StripTile::Kind, std::size_t>; ///< kLine or kNumber, and the value
  struct Lines {
    std::size_t entries = 1, copies = 1, first_row = 0, first_region = 0;
  };

  StripLayout() = default;
  bool find_bundles(const StripJobs &jobs, const StripCut &cut, const NpuConfig &npu);
  void find_groups(const StripJobs &jobs);
  bool find_slots(std::size_t rows, const StripCut &cut);
  bool is_small(std::size_t slot) const { return small_ > 0 && slot + 1 == slots_.kept; }
  std::size_t index_of(std::size_t value) const; ///< among the summed ones; their count if it is none
  void find_lines(const StripJobs &jobs, std::size_t merged);
  void find_homes(const StripJobs &jobs, const OpJobs &of);
  void place_elements(const StripJobs &jobs, std::size_t pass, const OpJobs &of);
  static LineKey key_of(const StripTile &tile);

  StripSlots slots_;
  std::size_t lanes_ = 1, columns_ = 1, abreast_ = 1, parts_ = 1, whole_ = 1, bundles_ = 1;
  std::size_t panels_ = 1, state_panels_ = 1, regions_ = 0, blocks_ = 1, folds_ = 1;
  std::uint32_t part_rows_ = 0, last_rows_ = 0, block_rows_ = 0; ///< last_rows_: of the last bundle's slot
  std::uint32_t passing_rows_ = 0;                               ///< of a block's place
  std::vector<std::size_t> summed_;                              ///< values
  std::vector<std::size_t> groups_;        ///< of each summed value: those of one group are summed together
  std::vector<std::size_t> ranks_;         ///< of each summed value, in its group
  std::vector<std::uint32_t> heights_;     ///< of each rank, rows of the scratchpad a row
  std::vector<std::uint32_t> first_rows_;  ///< of each rank
  std::vector<std::size_t> first_regions_; ///< the same
  std::size_t alike_ = 0, small_ = 0;      ///< slots of each rank: of part_rows_, of last_rows_ behind them
  std::map<LineKey, Lines> lines_;
  std::size_t line_rows_ = 0, line_regions_ = 0;
  std::uint32_t slots_row_ = 0, state_row_ = 0, blocks_row_ = 0;
  std::size_t slots_region_ = 0, state_region_ = 0, blocks_region_ = 0;
  std::vector<std::uint32_t> block_heights_, block_firsts_; ///< of slots of blocks
  std::uint32_t block_set_rows_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, Home> homes_; ///< by pass and value
};

} // namespace gradweave::compiler
