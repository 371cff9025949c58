// What stays in the cache between uses, in parts of tensors.
#pragma once

#include "memory_model/estimate.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::memory_model {

/// Bytes of each access's tensor that stay until its next access: its first rows.
struct Plan {
  std::vector<std::uint64_t> kept;
};

/// The places of an iteration at which bytes are held: between steps all of the capacity is there for what stays; while
/// a step runs, its working window is taken. What a step reads gives way to what it writes row by row: half way
/// through, the first half of both is there. Weights are there as a whole and count in the window alone.
struct Places {
  static constexpr std::uint32_t kEach = 3; ///< a step's: its beginning, its middle, its end

  static std::uint32_t begin(std::uint32_t step) { return kEach * step; }
  static std::uint32_t middle(std::uint32_t step) { return kEach * step + 1; }
  static std::uint32_t end(std::uint32_t step) { return kEach * step + 2; }
};

/// The plan that keeps whole tensors behind these accesses.
Plan whole(const Iteration &iteration, const Uses &uses, const std::vector<bool> &stays);

/// Where the tensor of an access with a next one is held.
struct Gap {
  std::uint32_t access = 0;
  std::uint32_t from = 0, to = 0; ///< places
  std::uint64_t bytes = 0;
  bool read_again = false;        ///< what stays is not loaded
  std::uint32_t write_shares = 0; ///< what stays over all of so many gaps is not written; 0: it is in any case
};
std::vector<Gap> find_gaps(const Iteration &iteration, const Uses &uses);

/// Bytes held between each place and the next, of the plan and of the working windows. The last place has none.
std::vector<std::uint64_t> occupied(const Uses &uses, const std::vector<Gap> &gaps, const Plan &plan);
/// Throws std::logic_error if a plan holds more than a tensor has, or more at a place than the capacity.
void check(const Iteration &iteration, const Uses &uses, const Plan &plan, std::uint64_t capacity);

/// Bytes that a plan moves, in and out.
struct Moved {
  std::uint64_t in = 0, out = 0;
};
Moved moved(const Iteration &iteration, const Uses &uses, const Plan &plan);

/// The iteration under a plan. Each byte that does not stay is loaded again, and written if memory does not have it.
/// Steps go by rows: what they move and compute overlaps. Where computing takes longer, the rest of the bus loads what
/// later steps read and writes what earlier ones left, as far as there is room.
Estimate estimate_plan(const Iteration &iteration, const Uses &uses, const std::vector<Gap> &gaps, const Plan &plan,
                       const Machine &machine);

} // namespace gradweave::memory_model
