// What a program costs: exactly, by the timing model, and bounds from below that cost nothing to compute.
#pragma once

#include "compiler/cost/product_cycles.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/ir/compiled.hpp"
#include "compiler/ir/program.hpp"
#include "compiler/lower/dram_bytes.hpp"
#include "compiler/request/error.hpp"
#include "compiler/spm/residency.hpp"
#include "sw_models/config/machine.hpp"

#include <array>

namespace gradweave::compiler {

/// Bytes of whole bus beats of a LOAD or STORE of a program.
std::uint64_t bus_bytes_of(const Program &program, const Action &dma, const NpuConfig &npu);

/// What the program's LOADs and STOREs move, for each of its layers; of a tensor that layers share, for the one that
/// computes it.
std::vector<LayerTraffic> traffic_by_layer(const Program &program, const Machine &npu);
/// Of all layers and tensors, read and written.
std::uint64_t element_bytes(const std::vector<LayerTraffic> &traffic);

/// Bytes of whole accesses of the DRAM that the program's LOADs and STOREs take.
std::uint64_t moved_bytes(const Program &program, const Machine &npu);

/// Bursts that the program's LOADs and STOREs take, a tile row each, and its commands: what the time of a simulation
/// follows.
std::uint64_t simulation_work(const Program &program);

/// Cycles that the program cannot take less than. All its beats, commands included, pass the DRAM channel. And for each
/// GEMM: the loads up to its own must pass before it, then it and those after it on its core need the array, then the
/// last result leaves.
std::uint64_t program_bound(const Program &program, const Machine &npu);

/// What LOADs and STOREs, and with `commands` commands, may take of the DRAM if all is to take less than `cycles`.
TrafficLimit traffic_limit(std::uint64_t cycles, bool commands, const Machine &npu);

/// Tells apart, by 128 bits, programs of one layer whose streams differ.
using ProgramKey = std::array<std::uint64_t, 2>;
ProgramKey key_of(const Program &program);

/// In place of the cycles of what is not to be had, or takes too many.
inline constexpr std::uint64_t kTooSlow = ~std::uint64_t{0};

/// Cycles of the program's stream on an idle NPU: those of the RTL, by the timing model; or kTooSlow as soon as it is
/// clear that they are `limit` or more. Throws CompilerDefect if the NPU would refuse the stream.
std::uint64_t program_cycles(const Program &program, const Machine &npu, std::uint64_t limit = kTooSlow);

} // namespace gradweave::compiler
