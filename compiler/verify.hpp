// Independent checks of what the passes produce. Each function returns an empty text, or what is wrong.
#pragma once

#include "compiler/layout.hpp"
#include "compiler/program.hpp"

namespace gradweave::compiler {

/// Whether the rectangles cover a rows x cols tensor, each element once.
std::string verify_cover(std::vector<Rect> rects, std::uint32_t rows, std::uint32_t cols);

/// Residency: every tile lies inside the scratchpad and over no other live one, every GEMM finds its operands and
/// partial sums where it looks for them, every load comes from where the data is, and every result is stored once.
std::string verify_program(const Program &program, const Layout &layout, const NpuConfig &npu);

/// The compiled layer, from its binary commands and tensor bindings alone: legal commands, a legal serial order,
/// paired semaphores, no scratchpad or DRAM hazard, every tile product once with an ascending reduction, every
/// result element stored once from a complete sum of the right type, and the traffic the layer states.
std::string verify_stream(const CompiledLayer &compiled, const NpuConfig &npu);

} // namespace gradweave::compiler
