// Plans of phases as words: what a search decided, without the commands that follow from it.
#pragma once

#include "compiler/ir/program.hpp"

#include <string>
#include <string_view>

namespace gradweave::evaluation {

/// As `dx 90x312x45 nmk 0+512,512+1024,1536+512 window=2 policy=4,1 woven`: what is computed, the tile along M, K and
/// N, the loops, the areas of the shared operand, the other one and the result in rows (SpmSplit), then what differs
/// from a PhasePlan's defaults. Layer and products are left out, and of a section of the vector unit (`dw unit`) all
/// that follows from its layer.
std::string plan_text(const compiler::PhasePlan &plan);

/// The plan of such words, of layer 0; `is_section`: of the vector unit. Throws std::invalid_argument for others, and
/// for numbers that no plan has.
compiler::PhasePlan parse_plan(std::string_view text, bool &is_section);

} // namespace gradweave::evaluation
