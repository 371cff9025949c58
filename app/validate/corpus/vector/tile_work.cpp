#include "app/validate/corpus/vector/tile_work.hpp"

#include "sw_models/vector/random_program.hpp"

#include <algorithm>
#include <array>

namespace gradweave::corpus {
namespace {

using isa::vector::kSections;
using isa::vector::kTiles;

constexpr std::uint64_t kMostTurns = 4000; ///< of a strip

/// Where a slot is used.
struct SlotUse {
  bool any = false, in_loop = false;
  unsigned first = 0, last = 0; ///< sections
};

std::array<SlotUse, isa::kSlots> uses_of(const isa::vector::Program &program) {
  std::array<SlotUse, isa::kSlots> uses;
  for (unsigned section = 0; section < kSections; ++section) {
    const unsigned mask = isa::vector::mask_of(program.sections[section]);
    for (unsigned slot = 0; slot < isa::kSlots; ++slot) {
      if ((mask >> slot & 1U) == 0) continue;
      SlotUse &use = uses[slot];
      if (!use.any) use.first = section;
      use.any = true;
      use.in_loop = use.in_loop || section % 2 == 1;
      use.last = section;
    }
  }
  return uses;
}

class Drawing {
public:
  Drawing(LiveTiles &tiles, std::uint32_t lanes, Dice &dice) : tiles_(tiles), lanes_(lanes), dice_(dice) {}

  std::optional<TileWork> draw(const isa::vector::Program &program) {
    const auto uses = uses_of(program);
    draw_sizes(program);
    for (unsigned slot = 0; slot < kTiles; ++slot)
      if (uses[slot].any) add_operand(slot);
    for (unsigned slot = kTiles; slot < isa::kSlots; ++slot)
      if (uses[slot].any && !add_result(slot, uses)) return std::nullopt;
    out_.work.words = isa::vector::encode(program);
    return out_;
  }

private:
  struct Operand {
    Object object;
    isa::VectorTile tile;
  };

  void draw_sizes(const isa::vector::Program &program) {
    Object o = tiles_.pick_any();
    by_col_ = dice_.chance(0.5);
    if (dice_.chance(0.3)) { // the longest lines that there are
      for (const Object &other : tiles_.all())
        if (std::max(other.rows, other.cols) > std::max(o.rows, o.cols)) o = other;
      by_col_ = o.rows > o.cols;
    }
    VectorWork &work = out_.work;
    work.elements = up_to(by_col_ ? o.rows : o.cols, dice_);
    work.steps = up_to(by_col_ ? o.cols : o.rows, dice_);
    while (turns_of(program, work.steps) > kMostTurns && work.steps > 1)
      work.steps /= 2;
    first_ = o;
  }

  /// A window of the object that has the sizes at least, from a random element on.
  isa::VectorTile window(unsigned slot, const Object &o, isa::VectorTile t) {
    const std::uint32_t elements = t.same_element ? 1 : out_.work.elements, steps = t.same_step ? 1 : out_.work.steps;
    const std::uint32_t rows = t.by_col ? elements : steps, cols = t.by_col ? steps : elements;
    const std::uint32_t i0 = dice_.between(0, o.rows - rows), j0 = dice_.between(0, o.cols - cols);
    t.slot = slot;
    t.rows = dice_.chance(0.7) ? rows : dice_.between(rows, o.rows - i0);
    t.cols = dice_.chance(0.7) ? cols : dice_.between(cols, o.cols - j0);
    t.spm = o.tile;
    t.spm.row += j0 / lanes_ * o.tile.pstride + i0 * height_of(o.fp32);
    t.spm.rot = static_cast<isa::Lane>((o.tile.rot + i0) % lanes_);
    t.col = j0 % lanes_;
    t.fp32 = o.fp32;
    return t;
  }

  void add_operand(unsigned slot) {
    const Object o = dice_.chance(0.4) ? first_ : tiles_.pick_any();
    isa::VectorTile t;
    t.by_col = dice_.chance(0.7) ? by_col_ : !by_col_;
    t.same_element = (t.by_col ? o.rows : o.cols) < out_.work.elements || dice_.chance(0.1);
    t.same_step = (t.by_col ? o.cols : o.rows) < out_.work.steps || dice_.chance(0.1);
    const isa::VectorTile tile = window(slot, o, t);
    operands_.push_back({o, tile});
    used_.push_back(o);
    out_.work.tiles.push_back(tile);
  }

  bool add_result(unsigned slot, const std::array<SlotUse, isa::kSlots> &uses) {
    if (dice_.chance(0.4) && replace_operand(slot, uses)) return true;
    isa::VectorTile t;
    t.by_col = dice_.chance(0.5);
    t.same_step = !uses[slot].in_loop || dice_.chance(0.1);
    const std::uint32_t steps = t.same_step ? 1 : out_.work.steps;
    const std::uint32_t rows = t.by_col ? out_.work.elements : steps, cols = t.by_col ? steps : out_.work.elements;
    if (dice_.chance(0.3)) {
      const Object o = tiles_.pick_any();
      if (is_free(o) && o.rows >= rows && o.cols >= cols) {
        out_.work.tiles.push_back(window(slot, o, t));
        used_.push_back(o);
        return true;
      }
    }
    const std::optional<Object> o = tiles_.place(rows, cols, dice_.chance(0.5), used_);
    if (!o || !is_free(*o)) return false; // results that are not live yet are met by chance
    out_.work.tiles.push_back(window(slot, *o, t));
    out_.results.push_back(*o);
    used_.push_back(*o);
    return true;
  }

  bool is_free(const Object &o) const {
    return std::none_of(used_.begin(), used_.end(), [&](const Object &u) { return u.overlaps(o); });
  }

  /// The place of an operand that no other slot meets, and that is read in the section that writes it or before.
  bool replace_operand(unsigned slot, const std::array<SlotUse, isa::kSlots> &uses) {
    if (operands_.empty()) return false;
    const Operand &operand = operands_[dice_.below(operands_.size())];
    const auto meets =
        std::count_if(used_.begin(), used_.end(), [&](const Object &u) { return u.overlaps(operand.object); });
    const SlotUse &read = uses[operand.tile.slot], &written = uses[slot];
    if (meets != 1 || operand.tile.same_element || operand.tile.same_step || read.last > written.first) return false;
    isa::VectorTile t = operand.tile;
    t.slot = slot;
    out_.work.tiles.push_back(t);
    used_.push_back(operand.object);
    return true;
  }

  LiveTiles &tiles_;
  std::uint32_t lanes_;
  Dice &dice_;
  bool by_col_ = false;
  Object first_;
  std::vector<Operand> operands_;
  std::vector<Object> used_; ///< by any slot
  TileWork out_;
};

} // namespace

std::uint64_t turns_of(const isa::vector::Program &program, std::uint32_t steps) {
  std::uint64_t turns = 0;
  for (unsigned section = 0; section < kSections; ++section)
    turns += 4 * program.sections[section].size() * std::uint64_t{section % 2 == 1 ? steps : 1};
  return turns;
}

std::optional<TileWork> draw_tile_work(LiveTiles &tiles, const UnitWriter &unit, std::uint32_t lanes, Dice &dice) {
  if (!unit.programs().empty() && dice.chance(0.3)) {
    const std::size_t which = dice.below(unit.programs().size());
    return Drawing(tiles, lanes, dice).draw(isa::vector::decode(unit.programs()[which]));
  }
  vector::ProgramLimits limits;
  limits.instructions = dice.chance(0.5) ? 3 : 12;
  limits.tiles = dice.between(1, kTiles);
  limits.outputs = dice.between(1, isa::vector::kOutputs);
  return Drawing(tiles, lanes, dice).draw(vector::random_program(dice, limits));
}

} // namespace gradweave::corpus
