// Independent checks of what the passes produce. Each function returns an empty text, or what is wrong.
#pragma once

#include "compiler/ir/compiled.hpp"
#include "compiler/ir/program.hpp"
#include "sw_models/config/npu_config.hpp"

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

/// The compiled layers, from their binary commands and the places of their tensors alone: legal commands, a legal
/// serial order, paired semaphores, no scratchpad or DRAM hazard, every tile product once with an ascending reduction,
/// every result element stored once from a complete sum of the right type, what one layer reads of another computed
/// before, and stored if it is read from memory, no Y of a job after a gradient of it, and the traffic the layers
/// state.
std::string verify_stream(const Compiled &compiled, const NpuConfig &npu);

/// Jobs of one stream (Compiled::jobs), likewise: every row of the scratchpad that a command reads was last written by
/// one of the same job, and every byte of memory that it reads or writes is of that job's tensors or of spill space
/// that no other job has used. Whose a command is its information says; a product's operands have to agree.
std::string verify_jobs(const Compiled &compiled, const NpuConfig &npu);

} // namespace gradweave::compiler
