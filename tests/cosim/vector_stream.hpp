// A stream for a vector unit and what it has to give: tiles are loaded, a program runs, all tiles are stored; beside
// it, vector::interpret on plain matrices, which knows no scratchpad, and the cycles of docs/vector-unit.md.
#pragma once

#include "base/random/dice.hpp"
#include "device/device.hpp"
#include "isa/command.hpp"
#include "isa/vector/program.hpp"
#include "sw_models/numerics/numerics.hpp"
#include "sw_models/vector/interpreter.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace gradweave::test {

/// A tile of memory and scratchpad, and the slot that a window of it is described in.
struct Tile {
  isa::VectorTile place;
  std::vector<std::uint32_t> elements; ///< rows of col + cols, bits: fp32, or those of bf16
  std::uint64_t addr = 0;

  std::uint32_t pitch() const { return place.col + place.cols; }
  std::uint32_t &at(std::uint32_t row, std::uint32_t col) {
    return elements[std::size_t{row} * pitch() + place.col + col];
  }
  /// The element of lane element e and step s.
  std::uint32_t &at_line(std::uint32_t e, std::uint32_t s) {
    if (place.same_element) e = 0;
    if (place.same_step) s = 0;
    return place.by_col ? at(e, s) : at(s, e);
  }
};

/// When a VECTOR that starts in cycle 0 completes, or stops: the recurrence of docs/vector-unit.md.
class VectorCycles {
public:
  /// `same`: the operand tiles whose lines are those of all strips, as bits.
  VectorCycles(const isa::vector::Program &program, std::uint32_t strips, std::uint32_t steps, std::uint32_t g,
               unsigned same = 0)
      : program_(program), strips_(strips), steps_(steps), group_(4 * g), same_(same) {}

  std::int64_t completion() {
    walk();
    std::int64_t last_line = kNone;
    for (const Lines &w : written_)
      last_line = std::max(last_line, w.last);
    return std::max({end_ + 1, issued_ + 4, last_line + 2});
  }

  /// In which the run gets the error of a fault of word `word` (2 at least: an instruction).
  std::int64_t stop(std::uint32_t word) {
    fault_ = word;
    walk();
    std::int64_t error = std::max(turn_ + 1, issued_ + 4);
    for (const Lines &q : asked_)
      if (q.first <= turn_) error = std::max(error, std::min(turn_, q.last) + 4);
    for (const Lines &w : written_)
      if (w.first <= turn_) error = std::max(error, std::min(turn_, w.last) + 2);
    return error;
  }

private:
  static constexpr std::int64_t kNone = -1000, kNever = std::int64_t{1} << 40;
  struct Lines {
    std::int64_t first, last; ///< cycles in which they are asked for, or taken
  };

  static std::int64_t count(unsigned mask, unsigned from, unsigned many) {
    std::int64_t tiles = 0;
    for (unsigned t = from; t < from + many; ++t)
      tiles += mask >> t & 1U;
    return tiles;
  }

  void walk() {
    for (std::uint32_t base = 0; base < strips_; base += group_) {
      std::uint32_t word = 2;
      for (std::size_t s = 0; s < program_.sections.size(); word += program_.sections[s++].size())
        for (std::uint32_t step = 0; step < (s % 2 != 0 ? steps_ : 1) && !program_.sections[s].empty(); ++step)
          run(program_.sections[s], word, std::min(strips_ - base, group_));
    }
  }

  void run(const std::vector<isa::vector::Instruction> &section, std::uint32_t word, std::int64_t lines) {
    const unsigned mask = isa::vector::mask_of(section);
    const std::int64_t reads =
        lines * count(mask & ~same_, 0, isa::vector::kTiles) + count(mask & same_, 0, isa::vector::kTiles);
    const std::int64_t writes = lines * count(mask, isa::vector::kTiles, isa::vector::kOutputs);
    std::int64_t begin = std::max<std::int64_t>(3, end_ + 1);
    const std::int64_t earliest = begin;
    if (reads != 0) {
      const std::int64_t before = asked_.empty() ? kNone : asked_.back().last;
      const std::int64_t first = std::max({std::int64_t{3}, before + 1, reader_end_[1] + 1});
      asked_.push_back({first, first + reads - 1});
      begin = std::max(begin, asked_.back().last + 4);
    }
    const std::size_t writers = written_.size();
    if (writes != 0 && writers >= 2) begin = std::max(begin, written_[writers - 2].last + 1);
    if (turn_ == kNever && fault_ >= word && fault_ < word + section.size()) {
      turn_ = fault_ == word ? earliest : begin + 4 * (fault_ - word);
      begin = std::min(begin, turn_);
    }
    for (std::size_t i = 0; i < section.size(); ++i)
      if (const std::int64_t last = begin + 4 * static_cast<std::int64_t>(i) + 3;
          section[i].op != isa::vector::Op::SET && last < turn_)
        issued_ = std::max(issued_, last);
    end_ = turn_ == kNever ? begin + 4 * static_cast<std::int64_t>(section.size()) - 1 : kNever;
    if (reads != 0) reader_end_[1] = std::exchange(reader_end_[0], end_);
    if (writes != 0) {
      const std::int64_t before = writers == 0 ? kNone : written_.back().last;
      const std::int64_t first = std::max(before + 1, end_ + 4);
      written_.push_back({first, first + writes - 1});
    }
  }

  const isa::vector::Program &program_;
  std::uint32_t strips_, steps_, group_, fault_ = 0;
  unsigned same_;
  std::int64_t end_ = kNone, issued_ = kNone, turn_ = kNever;
  std::int64_t reader_end_[2] = {kNone, kNone}; ///< of the last runs that read, the older one second
  std::vector<Lines> asked_, written_;          ///< of each run that does
};

class VectorStream {
public:
  VectorStream(const Machine &npu, Dice &dice, std::uint8_t unit = 0) : npu_(npu), dice_(dice), unit_(unit) {}

  /// Places a tile of `elements` (rows of col + cols of them) behind the others in the scratchpad.
  Tile &add(isa::VectorTile place, std::vector<std::uint32_t> elements) {
    const std::uint32_t width = place.col + place.cols, height = place.rows * (place.fp32 ? 2 : 1);
    row_ += row_ % 2;
    place.spm = {row_, height + 2 * static_cast<std::uint32_t>(dice_.below(3)),
                 static_cast<isa::Lane>(dice_.below(npu_.lanes()))};
    row_ += (width - 1) / npu_.lanes() * place.spm.pstride + height;
    tiles_.push_back({place, std::move(elements), addr_});
    addr_ += (std::uint64_t{place.rows} * width * 4 + 63) / 64 * 64;
    return tiles_.back();
  }
  bool fits() const { return row_ <= npu_.spm_rows(); }
  std::vector<Tile> &tiles() { return tiles_; }
  Tile &tile(std::uint32_t slot) {
    return *std::find_if(tiles_.begin(), tiles_.end(), [&](const Tile &t) { return t.place.slot == slot; });
  }

  /// Loads, words, descriptions, the VECTOR, stores. `first`: word of the program memory.
  std::vector<isa::Command> commands(const isa::vector::Words &program, std::uint32_t elements, std::uint32_t steps,
                                     std::uint32_t first = 0) {
    const std::uint8_t engine = static_cast<std::uint8_t>(10 + unit_);
    std::vector<isa::Decoded> list;
    for (const Tile &t : tiles_)
      list.push_back({dma(t, false), {{}, {kLoaded, isa::kNoSemaphore, isa::kNoSemaphore}}, 0});
    for (std::size_t i = 0; i < program.size(); i += 6) {
      isa::ProgramCommand p;
      p.unit = unit_;
      p.at = first + static_cast<std::uint32_t>(i);
      p.count = static_cast<std::uint32_t>(std::min<std::size_t>(6, program.size() - i));
      std::copy_n(program.begin() + static_cast<std::ptrdiff_t>(i), p.count, p.words.begin());
      list.push_back({p, {}, 0});
    }
    for (std::size_t i = 0; i < tiles_.size(); i += 3) {
      isa::TileCommand t;
      t.unit = unit_;
      for (std::size_t k = i; k < std::min(i + 3, tiles_.size()); ++k)
        t.tiles[k - i] = tiles_[k].place;
      list.push_back({t, {}, 0});
    }
    isa::Sync wait;
    wait.waits[0] = {kLoaded, static_cast<std::uint8_t>(tiles_.size())};
    list.push_back({isa::SyncCommand{engine}, wait, 0});
    vector_at_ = list.size();
    list.push_back({isa::VectorCommand{unit_, first, elements, steps},
                    {{}, {kComputed, isa::kNoSemaphore, isa::kNoSemaphore}},
                    0});
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      isa::Sync after;
      if (i == 0) after.waits[0] = {kComputed, 1};
      list.push_back({dma(tiles_[i], true), after, 0});
    }
    std::vector<isa::Command> stream;
    for (const isa::Decoded &d : list)
      stream.push_back(isa::encode(d));
    return stream;
  }
  std::size_t vector_at() const { return vector_at_; } ///< index of the VECTOR

  /// What the tiles are afterwards, by the interpreter.
  void interpret(const isa::vector::Program &program, std::uint32_t elements, std::uint32_t steps) {
    vector::Execution x;
    x.lanes = npu_.lanes();
    x.strips = (elements - 1) / x.lanes + 1;
    x.steps = steps;
    x.read = [&](const vector::LinePlace &at, std::uint32_t *line) {
      Tile &t = tile(at.tile);
      for (std::uint32_t l = 0; l < x.lanes; ++l) {
        const std::uint32_t e = at.strip * x.lanes + l;
        line[l] = e < elements ? t.at_line(e, at.step) << (t.place.fp32 ? 0U : 16U) : 0;
      }
    };
    x.write = [&](const vector::LinePlace &at, const std::uint32_t *line) {
      Tile &t = tile(isa::kOperandSlots + at.tile);
      for (std::uint32_t l = 0; l < x.lanes; ++l)
        if (const std::uint32_t e = at.strip * x.lanes + l; e < elements)
          t.at_line(e, at.step) = t.place.fp32 ? line[l] : bf16_from_fp32(fp32_from_bits(line[l]));
    };
    vector::interpret(program, x);
  }

  void copy_in(Device &device) const {
    for (const Tile &t : tiles_) {
      const std::vector<std::uint8_t> bytes = bytes_of(t);
      device.copy_in(t.addr, bytes.data(), bytes.size());
    }
  }
  /// The first tile whose memory is not what it has to be, if there is one.
  std::optional<std::size_t> differs(Device &device) const {
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      const std::vector<std::uint8_t> want = bytes_of(tiles_[i]);
      std::vector<std::uint8_t> got(want.size());
      device.copy_out(tiles_[i].addr, got.data(), got.size());
      if (got != want) return i;
    }
    return std::nullopt;
  }

private:
  static constexpr std::uint8_t kLoaded = 3, kComputed = 5;

  static isa::DmaCommand dma(const Tile &t, bool store) {
    isa::DmaCommand d;
    d.store = store;
    d.fp32 = t.place.fp32;
    d.dram_addr = t.addr;
    d.rows = t.place.rows;
    d.cols = t.pitch();
    d.pitch = d.cols * (d.fp32 ? 4 : 2);
    d.spm = t.place.spm;
    return d;
  }
  static std::vector<std::uint8_t> bytes_of(const Tile &t) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t e : t.elements)
      for (unsigned b = 0; b < (t.place.fp32 ? 4U : 2U); ++b)
        bytes.push_back(static_cast<std::uint8_t>(e >> 8 * b));
    return bytes;
  }

  Machine npu_;
  Dice &dice_;
  std::uint8_t unit_;
  std::uint32_t row_ = 0;
  std::uint64_t addr_ = 0;
  std::size_t vector_at_ = 0;
  std::vector<Tile> tiles_;
};

} // namespace gradweave::test
