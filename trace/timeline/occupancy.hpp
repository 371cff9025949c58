// How many scratchpad rows hold something that is still needed.
#pragma once

#include "trace/timeline/run.hpp"
#include "trace/timeline/steps.hpp"

#include <optional>

namespace gradweave::runtime::timeline {

/// Occupied rows of each bank over time. A write (LOAD, result of a GEMM) gives each row of its tile a new content. Of
/// commands in stream order, those that read the row until the next write are the content's users. It lives from the
/// start of its writer to the completion of the writer and of its last user. A row counts once, also where the lives
/// of two contents overlap (a GEMM that accumulates in place). The row is the grain: a tile that fills only some lanes
/// of a row counts as the whole row, and a write to other lanes of it as a new content.
std::vector<std::vector<Step>> follow_occupancy(const Run &run,
                                                const std::vector<std::optional<isa::Decoded>> &commands);

} // namespace gradweave::runtime::timeline
