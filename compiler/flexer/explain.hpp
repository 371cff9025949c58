// A list schedule for people: what was weighed in a step, and what came of it.
#pragma once

#include "compiler/flexer/list_schedule.hpp"
#include "compiler/spm/residency.hpp"

#include <cstdint>
#include <string>

namespace gradweave::compiler::flexer {

/// Lines of text, the last one ended: the sets that were weighed with their values, tiles that give way, tiles that get
/// a place, and the operations with their cores. `number`: of the step, from 1. `walk`: that of the schedule.
std::string explain(std::uint64_t number, const ListStep &step, const TileWalk &walk);

} // namespace gradweave::compiler::flexer
