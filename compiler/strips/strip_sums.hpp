// What strips have in the scratchpad, and the sums that are taken of it.
#pragma once

#include "compiler/strips/strip_writer.hpp"
#include "compiler/vector/chain.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace gradweave::compiler {

/// Bundles that are worked on together.
struct Bundles {
  std::size_t first = 0, count = 1;
};

class StripSums : protected StripWriter {
protected:
  StripSums(const StripJobs &jobs, const OpJobs &of, const StripCut &cut, const StripLayout &layout,
            const std::vector<std::uint64_t> &addresses, const NpuConfig &npu)
      : StripWriter(jobs, of, layout, addresses, npu), cut_(cut) {}

  /// The slot that a bundle has, and the values of which it is not there yet.
  struct Slot {
    PartBundle bundle;
    std::size_t at = 0;
    std::vector<std::size_t> missing;
  };
  /// Rows of a slot: a block.
  struct Rows {
    std::size_t first, count;
  };
  /// Where they lie.
  struct SlotRows {
    isa::SpmTile spm;
    RegionRange regions;
  };

  /// Nothing is there; slots are those of the set.
  void begin_slots(std::size_t set);
  std::vector<Slot> slots_with(const Bundles &bundles, const std::vector<std::size_t> &values);
  SlotRows slot_rows(std::size_t value, std::size_t slot, const Rows &rows) const;
  /// Rows of what is not there. A block that passes is in the next place from now on.
  void load_missing(const std::vector<Slot> &slots, const Rows &rows);
  /// Lines that nothing has given yet.
  void load_lines(const StripStage &stage);
  /// A line that the item's runs have computed: stored if memory needs it, and copied for runs that read it in more
  /// lanes than its own.
  void give_line(const StripTile &line, StripItem &item);

  /// An item for the rows of each cut. Lanes of a bundle are behind those of the bundle before, whole panels each.
  /// Throws std::length_error: the stage cannot be cut.
  void add_sums(const StripPass &pass, const Bundles &bundles);

  /// Registers that a chain hands on, of so many lanes: tiles of a run, from `slot` on.
  void begin_chains() { states_.clear(); }
  void add_states(const std::vector<unsigned> &registers, std::size_t chain, std::size_t lanes, std::size_t slot,
                  StripRun &run, std::vector<RegionRange> &regions);

  const StripCut &cut_;

private:
  /// Of a line or a number, told from all others of its value.
  struct LineName {
    bool number;
    std::size_t value, index;
    bool operator<(const LineName &o) const {
      return std::tie(number, value, index) < std::tie(o.number, o.value, o.index);
    }
  };
  struct Chain {
    const isa::vector::Program &program;
    std::size_t number; ///< of those that are under way
  };

  void repeat(const StripTile &line, const std::vector<std::size_t> &copies, StripItem &item);
  std::vector<std::size_t> missing(std::size_t slot, const std::vector<std::size_t> &values);
  static std::vector<isa::vector::Program> chains_of(const StripStage &stage);
  static ChainPart part_of(const StripStage &stage, const Chain &chain, const Rows &rows);
  StripRun run_of_sums(const StripStage &stage, const Chain &chain, const std::vector<Slot> &slots, const Rows &rows,
                       std::size_t parts);

  std::size_t slot_set_ = 0, passing_place_ = 0;
  std::set<LineName> loaded_lines_;                                ///< that are there: of the strip
  std::map<std::size_t, std::set<std::size_t>> there_;             ///< of each slot, the values of the bundle
  std::map<std::pair<std::size_t, unsigned>, std::size_t> states_; ///< of each chain's registers, the place
};

} // namespace gradweave::compiler
