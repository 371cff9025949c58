// The nouns of epilogues: jobs on a product's result, the STOREs that they take the place of, and what they have room
// in.
#pragma once

#include "compiler/vector/job.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Jobs on the elements of a result of a product.
struct Epilogue {
  OpJobs jobs;
  std::size_t result = 0;               ///< which of their values
  std::size_t rows = 0, cols = 0;       ///< of its matrix
  std::vector<bool> in_memory;          ///< of each value, whether what is given is stored; of the result, too
  std::vector<std::uint64_t> addresses; ///< of each value in memory
};

/// A STORE of a tile of a result.
struct ResultStore {
  std::size_t command = 0;        ///< which of the product's
  std::size_t epilogue = 0;       ///< which of the epilogues
  std::uint32_t row = 0, col = 0; ///< the tile's first element in the result's matrix
};

/// What a product leaves to its epilogues.
struct EpilogueRoom {
  std::uint32_t first_row = 0, rows = 0; ///< of the scratchpad; even
  std::uint8_t first_semaphore = 0;      ///< the epilogues take kEpilogueSemaphores from here, zero before and behind
  std::uint32_t ahead = 1; ///< areas whose LOADs stand before the runs of the one at hand: 1 to kEpiloguePlaces - 1
  /// Areas of a tile stand among the product's commands up to the next tile: each before its share of them, behind it,
  /// or all behind the last one. What waits in the vector unit's queue for the tile holds up the product's LOADs.
  enum class Among : std::uint8_t { kBefore, kBehind, kLast } among = Among::kBefore;
};
inline constexpr std::uint32_t kEpilogueSemaphores = 10;
/// Areas of a result tile take so many places of the room by turns.
inline constexpr std::size_t kEpiloguePlaces = 4;

} // namespace gradweave::compiler
