// What a list schedule of a phase is made from.
#pragma once

#include "compiler/ir/program.hpp"
#include "compiler/list/blocks.hpp"
#include "compiler/list/list_order.hpp"

#include <cstdint>
#include <optional>

namespace gradweave::compiler::list {

struct ListPlan {
  PhasePlan phase;                    ///< without products
  std::optional<Block> block;         ///< of the order that is preferred; else that of the phase's loops and parts
  std::optional<ListOptions> options; ///< none: the order stays as it is
  std::uint64_t cycles = 0;           ///< by the timing model, of the phase by itself
};

} // namespace gradweave::compiler::list
