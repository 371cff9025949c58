// The details of a command that the viewer shows when its slice is selected.
#pragma once

#include "isa/command.hpp"
#include "sw_models/timing/engines/command_times.hpp"
#include "trace/command_label.hpp"

#include <cstddef>
#include <string>

namespace gradweave::runtime::timeline {

/// The inside of a JSON object: index in the stream, opcode, layer, tile, issue, start and done in cycles of the run
/// (null: never), waits as "SEMAPHORExCOUNT ..." and posts as "SEMAPHORE ..." where there are any; of a LOAD or STORE
/// shape, bytes, DRAM address and scratchpad row; of a GEMM shape, multiply-adds and the scratchpad rows of its tiles.
std::string slice_args(std::size_t index, const CommandLabel &label, const isa::Decoded &command,
                       const timing::CommandTimes &times);

} // namespace gradweave::runtime::timeline
