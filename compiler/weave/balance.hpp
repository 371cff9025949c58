// One order over what several jobs do, whose parts need the array and the memory evenly.
#pragma once

#include "compiler/weave/merge.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// The items of all jobs in one order, each job's ascending, as merge(). The jobs are cut into `pieces` of about equal
/// cost in all (at least one each). Of all ways to run pieces beside one another, a few of each job at a time, it is
/// the one that takes least if what runs together takes all its array cycles or all its memory cycles, whichever are
/// more: found by dynamic programming for two jobs, then for these two and the next, and so on. So what the scratchpad
/// can hold ahead, a piece or two, evens out what one job needs by what another one leaves.
std::vector<Turn> balance(const std::vector<std::vector<TileCost>> &costs, std::uint32_t pieces);

} // namespace gradweave::compiler
