// What fused layers take of array, vector unit and memory, nearly.
#pragma once

#include "compiler/depthwise/fused/fused_layout.hpp"

#include <cstdint>

namespace gradweave::compiler::depthwise {

/// Of the array, for a product of an area that has the rows [begin, end) of each column.
std::uint64_t fused_array_cycles(const Layer &layer, const FusedMap &map, std::size_t begin, std::size_t end,
                                 const Machine &npu);
/// Of the vector unit, for a depthwise layer of an area whose image has so many rows.
std::uint64_t fused_unit_cycles(const Layer &layer, const FusedMap &to, std::size_t rows, const Machine &npu);
/// Of the memory, for so many rows of a tensor's matrix.
double fused_memory_cycles(std::uint64_t rows, std::uint64_t cols, const Machine &npu);

/// Of the whole section: the memory, and a share of what array and vector unit take, which other jobs can mostly hide.
double fused_cycles(const std::vector<Layer> &layers, const FusedLayout &layout, const Machine &npu);

/// The same of a layer that is a product by itself: all of its tensors pass through memory.
double unfused_cycles(const Layer &layer, const Machine &npu);

} // namespace gradweave::compiler::depthwise
