// Streams of chosen length for the timing model.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::bench {

/// Y = X W with M = K = N = `side`, forward, in tile products of `tile` x `tile` x `tile`: the same work in more
/// commands the smaller the tile. Made and verified by the compiler. Throws std::runtime_error if a product does not
/// fit the scratchpad.
std::vector<isa::Command> tiled_gemm(const Machine &npu, std::uint32_t side, std::uint32_t tile);

/// Episodes that crowd one part of the hardware each (app/validate/corpus/timing_stream.hpp); no errors.
std::vector<isa::Command> random_stream(const Machine &npu, std::uint32_t commands);

/// AXI bursts of its LOADs and STOREs.
std::uint64_t count_bursts(const std::vector<isa::Command> &stream, const Machine &npu);

} // namespace gradweave::bench
