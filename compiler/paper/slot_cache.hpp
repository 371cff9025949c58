// Tiles of one size in slots: which stay, by the policy's replacement, and which slot a new one takes.
#pragma once

#include "compiler/paper/policy.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler::paper {

/// A set of tiles, named by numbers from 0. A slot that is given up is used again after all that were given up before,
/// so that whatever still reads it has time. Slots may have two colours, the lower and the upper half: if a product's
/// operands have different ones, they lie in different macro-banks.
class SlotCache {
public:
  static constexpr std::int32_t kNone = -1;

  /// `kept`: tiles that may be resident at a time, at least 1 and less than `slots`; `colours`: 1 or 2. kNone is LRU:
  /// what sets it apart is that few tiles are kept.
  SlotCache(Replacement replacement, std::uint32_t tiles, std::uint32_t slots, std::uint32_t kept, unsigned colours);

  /// Slot of a resident tile; kNone: it is not resident.
  std::int32_t slot(std::uint32_t tile) const { return entries_[tile].slot; }

  struct GivenUp {
    std::uint32_t tile;
    std::uint32_t slot; ///< where it was; its content is still there
  };
  /// Gives up tiles, other than `spared`, until `more` fit, and appends them to `given_up`. With kHalves, if they do
  /// not fit, all are given up, the spared ones too.
  void make_room(std::uint32_t more, const std::vector<std::uint32_t> &spared, std::vector<GivenUp> &given_up);

  /// Places a tile that is not resident. A slot of another colour is taken if there is none of this.
  std::uint32_t insert(std::uint32_t tile, unsigned colour);

  /// A resident tile is used, and then again at product `next_use` (only kBelady looks at it).
  void use(std::uint32_t tile, std::uint32_t next_use);

  /// Gives up a resident tile.
  void remove(std::uint32_t tile);

private:
  struct Entry {
    std::int32_t slot = kNone;
    std::int32_t older = kNone, newer = kNone; ///< neighbours in order of use, or of loading
  };
  /// Free slots of a colour, first in, first out.
  class FreeList {
  public:
    explicit FreeList(std::uint32_t capacity) : ring_(capacity) {}
    bool empty() const { return size_ == 0; }
    void push(std::uint32_t slot) { ring_[(head_ + size_++) % ring_.size()] = slot; }
    std::uint32_t pop() {
      const std::uint32_t slot = ring_[head_];
      head_ = (head_ + 1) % ring_.size();
      --size_;
      return slot;
    }

  private:
    std::vector<std::uint32_t> ring_;
    std::size_t head_ = 0, size_ = 0;
  };

  FreeList &free_of(std::uint32_t slot) { return free_[slot * free_.size() / tile_of_slot_.size()]; }
  void unlink(std::uint32_t tile);
  void append(std::uint32_t tile);
  std::int32_t victim(const std::vector<std::uint32_t> &spared) const;

  Replacement replacement_;
  std::uint32_t kept_;
  std::uint32_t resident_ = 0;
  std::vector<Entry> entries_;
  std::int32_t oldest_ = kNone, newest_ = kNone;
  std::vector<std::int32_t> tile_of_slot_;
  std::vector<std::uint32_t> next_use_; ///< by slot
  std::vector<FreeList> free_;
};

} // namespace gradweave::compiler::paper
