// What a tile product takes of the array.
#pragma once

#include "compiler/ir/tile.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>

namespace gradweave::compiler {

/// Array cycles of a tile product by the block formula: blocks x max(reduction, shortest block); of an ADD, the rows
/// that it reads; of a piece of the vector unit, none.
std::uint64_t product_cycles(const TileProduct &p, const Layer &layer, const NpuConfig &npu);

} // namespace gradweave::compiler
