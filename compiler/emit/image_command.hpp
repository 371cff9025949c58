// Products that read images, as commands.
#pragma once

#include "compiler/lower/order.hpp"
#include "isa/command.hpp"

namespace gradweave::compiler {

/// The CONV or WGRAD of a product of a layer that reads images. `whole` is the product as a GEMM of its tiles as they
/// lie, in a scratchpad of `lanes` lanes; of them the command takes the lines and channels of the product.
isa::ConvCommand image_command(const isa::GemmCommand &whole, const GemmRoles &roles, const TileProduct &p,
                               const Layer &layer, std::uint32_t lanes);

} // namespace gradweave::compiler
