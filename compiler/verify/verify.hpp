// Independent checks of what the passes produce. Each function returns an empty text, or what is wrong.
#pragma once

#include "compiler/ir/layout.hpp"
#include "compiler/ir/program.hpp"
#include "sw_models/npu_config.hpp"

namespace gradweave::compiler {

/// Empty if the tile sizes are legal for the layer, else what is wrong.
std::string verify_tiling(const TileShape &tile, const Layer &layer);

/// Empty if the products compute every result of the pass completely, each part once, every reduction ascending and as
/// the reduction plans say; else what is wrong. Works from the products alone.
std::string verify_order(const std::vector<TileProduct> &products, const Layer &layer, Pass pass,
                         const ReductionPlans &plans = {});

/// Whether the rectangles cover a rows x cols tensor, each element once; if it need not be complete, once at most.
std::string verify_cover(std::vector<Rect> rects, std::uint32_t rows, std::uint32_t cols, bool complete = true);

/// Residency: every tile lies inside the scratchpad and over no other live one, every GEMM finds its operands and
/// partial sums where it looks for them, every load comes from where the data is, and every result is stored once.
std::string verify_program(const Program &program, const Layout &layout, const NpuConfig &npu);

/// What verify_stream() looks at. The references must outlive it.
struct StreamView {
  const std::vector<Layer> &layers;
  const Layout &layout;
  const std::vector<ReductionPlans> &reductions; ///< of each layer
  Pass pass;
  std::uint64_t dram_bytes;
  const std::vector<isa::Command> &stream;
  const std::vector<CommandInfo> &info;
  const std::vector<std::array<Traffic, kTensorCount>> &traffic; ///< of each layer
};

/// Layers compiled together, from their binary commands and the places of their tensors alone: all that the next
/// function says, and that what one layer reads of another has been computed, and stored if it is read from memory.
std::string verify_stream(const StreamView &view, const NpuConfig &npu);

/// The compiled layer, from its binary commands and tensor bindings alone: legal commands, a legal serial order,
/// paired semaphores, no scratchpad or DRAM hazard, every tile product once with an ascending reduction, every
/// result element stored once from a complete sum of the right type, and the traffic the layer states.
std::string verify_stream(const CompiledLayer &compiled, const NpuConfig &npu);

} // namespace gradweave::compiler
