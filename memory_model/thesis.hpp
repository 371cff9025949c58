// The thesis's own policy: whole tensors, a software-managed cache (its sections 4.1 and 4.2, listing 1).
#pragma once

#include "memory_model/estimate.hpp"

namespace gradweave::memory_model {

/// What the thesis leaves open; the first of each is what this project takes (docs/memory-model.md has what the others
/// give).
struct ThesisReading {
  /// A step whose tensors do not fit together.
  enum class Large : std::uint8_t {
    kStreamed, ///< goes by rows: moving and computing overlap, and what was kept stays
    kWaits,    ///< has to load first, then computes
  } large = Large::kStreamed;
  /// The one bus moves
  enum class Bus : std::uint8_t {
    kLoadsFirst, ///< what a step waits for before all else; what is written or loaded ahead in order, when it is idle
    kInOrder,    ///< all in order
  } bus = Bus::kLoadsFirst;
  bool prefetch = true; ///< latency-aware (figure 4.1)
};

/// Which tensors stay from one use to the next: by Belady, whole. For each access, whether the tensor stays until its
/// next one. Depends on nothing but the capacity.
std::vector<bool> belady(const Iteration &iteration, const Uses &uses, std::uint64_t capacity);

/// The thesis's policy on a machine that check_machine() accepts; `stays`: as belady() has it for the capacity.
Estimate estimate_thesis(const Iteration &iteration, const Uses &uses, const std::vector<bool> &stays,
                         const Machine &machine, const ThesisReading &reading = {});

} // namespace gradweave::memory_model
