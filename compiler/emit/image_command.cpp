#include "compiler/emit/image_command.hpp"

#include "compiler/ir/image.hpp"

namespace gradweave::compiler {
namespace {

/// The tile from a later row on.
void skip_rows(isa::SpmTile &tile, std::uint32_t rows, std::uint32_t lanes) {
  tile.row += rows;
  tile.rot = static_cast<std::uint8_t>((tile.rot + rows) % lanes);
}

std::int32_t signed_of(std::uint32_t value) { return static_cast<std::int32_t>(value); }

/// Where the image lies in the grid, and the lines that the product begins with.
isa::ImageWalk grid_of(const TileProduct &p, const Layer &layer) {
  const Convolution &conv = *layer.conv;
  isa::ImageWalk image;
  image.grid_w = image.img_w = conv.width;
  image.grid_h = image.img_h = conv.height;
  image.grid_y = p.m / conv.width % conv.height;
  return image;
}

/// The taps, from an output pixel to those that it reads.
void set_taps(isa::ImageWalk &image, const TapRange &taps, const Convolution &conv) {
  image.taps_y = taps.rows;
  image.taps_x = taps.cols;
  image.off_y = signed_of(taps.row * conv.dilation_height) - signed_of(conv.pad_top);
  image.off_x = signed_of(taps.col * conv.dilation_width) - signed_of(conv.pad_left);
  image.step_y = signed_of(conv.dilation_height);
  image.step_x = signed_of(conv.dilation_width);
}

/// The same from an input pixel to the output pixels that read it.
void turn_taps(isa::ImageWalk &image) {
  image.off_y = -image.off_y;
  image.off_x = -image.off_x;
  image.step_y = -image.step_y;
  image.step_x = -image.step_x;
}

} // namespace

isa::ConvCommand image_command(const isa::GemmCommand &whole, const GemmRoles &roles, const TileProduct &p,
                               const Layer &layer, std::uint32_t lanes) {
  isa::ConvCommand command;
  command.product = whole;
  command.image = grid_of(p, layer);
  skip_rows(command.product.a, p.m - roles.a_rect.row, lanes);
  if (takes_one_tap(p.result)) {
    const std::uint32_t channels = tap_channels(layer, p.result);
    command.weights = true;
    set_taps(command.image, tap_range(layer, {p.k, p.k_size}, channels, false), *layer.conv);
    command.image.out_w = command.image.img_w;
    command.image.out_h = command.image.img_h;
    skip_rows(command.product.b, p.m - roles.b_rect.row, lanes);
    return command;
  }
  const bool turned = turns_kernel(p.result);
  const IndexRange terms{roles.red, roles.red_size};
  const TapRange taps = tap_range(layer, terms, tap_channels(layer, p.result), p.blocked);
  set_taps(command.image, taps, *layer.conv);
  if (turned) turn_taps(command.image);
  command.product.k = taps.channels;
  if (taps.count() == 1) return command;
  command.image.b_tap = roles.b_rect.run != 0 ? roles.b_rect.run : kernel_channels(layer);
  if (turned) skip_rows(command.product.b, p.k, lanes);
  return command;
}

} // namespace gradweave::compiler
