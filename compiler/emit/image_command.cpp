#include "compiler/emit/image_command.hpp"

#include "compiler/ir/grid/tile_rows.hpp"
#include "compiler/ir/image.hpp"

namespace gradweave::compiler {
namespace {

/// The tile from a later row on.
void skip_rows(isa::SpmTile &tile, std::uint32_t rows, std::uint32_t lanes) {
  tile.row += rows;
  tile.rot = static_cast<isa::Lane>((tile.rot + rows) % lanes);
}

/// The tile from a later column of its first panel on.
void skip_cols(isa::SpmTile &tile, std::uint32_t cols, std::uint32_t lanes) {
  tile.rot = static_cast<isa::Lane>((tile.rot + cols) % lanes);
}

std::int32_t signed_of(std::uint32_t value) { return static_cast<std::int32_t>(value); }

/// The image in the grid, and the row that the product begins with.
isa::ImageWalk walk_of(const TileProduct &p, const Layer &layer, const IndexRange &rows) {
  const Convolution &conv = *layer.conv;
  const Grid grid = grid_of(conv);
  const bool turned = turns_kernel(p.result);
  isa::ImageWalk image;
  image.grid_w = grid.width;
  image.grid_h = grid.height;
  image.grid_y = rows.first % grid.height;
  image.img_w = turned ? conv.out_width() : conv.width;
  image.img_h = turned ? conv.out_height() : conv.height;
  return image;
}

std::int32_t floor_div(std::int32_t a, std::int32_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// The tap of dW as one of the phase that it reads, in this phase's pixels; which phase that is.
std::uint32_t enter_phase(isa::ImageWalk &image, std::int32_t stride) {
  const std::int32_t down = floor_div(image.off_y, stride), right = floor_div(image.off_x, stride);
  const std::int32_t y = image.off_y - down * stride, x = image.off_x - right * stride;
  image.off_y = down;
  image.off_x = right;
  image.img_h = static_cast<std::uint32_t>((signed_of(image.img_h) - y + stride - 1) / stride);
  image.img_w = static_cast<std::uint32_t>((signed_of(image.img_w) - x + stride - 1) / stride);
  return static_cast<std::uint32_t>(y * stride + x);
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

/// The same from a pixel of a phase of the image to the pixels of the result that read it.
void turn_taps(isa::ImageWalk &image, const Phase &phase) {
  image.off_y = (signed_of(phase.y) - image.off_y) / signed_of(phase.stride);
  image.off_x = (signed_of(phase.x) - image.off_x) / signed_of(phase.stride);
  image.step_y = -image.step_y;
  image.step_x = -image.step_x;
}

} // namespace

isa::ConvCommand image_command(const isa::GemmCommand &whole, const GemmRoles &roles, const TileProduct &p,
                               const Layer &layer, std::uint32_t lanes) {
  isa::ConvCommand command;
  command.product = whole;
  const RowMoves moves = row_moves(layer, p);
  const IndexRange &rows = moves.rows;
  const auto skip_to_rows = [&](isa::SpmTile &tile, Tensor tensor, const Rect &rect) {
    skip_rows(tile, (rows.first - row_of(layer, tensor, rect.row)) * line_width(layer), lanes);
  };
  command.image = walk_of(p, layer, rows);
  skip_to_rows(command.product.a, roles.a, roles.a_rect);
  const TapRange taps = taps_of(layer, p);
  set_taps(command.image, taps, *layer.conv);
  if (reads_one_row(layer, p)) command.image.off_y = static_cast<std::int32_t>(moves.first);
  const std::uint32_t channels = kernel_channels(layer);
  if (layer.packed && roles.a == Tensor::kX) skip_cols(command.product.a, taps.channel, lanes);
  if (takes_one_tap(p.result)) {
    command.weights = true;
    command.product.k = lines_of(layer, p.result, {p.m, p.m_size});
    command.image.out_w = layer.conv->out_width();
    command.image.out_h = layer.conv->out_height();
    const std::uint32_t phase = enter_phase(command.image, signed_of(layer.conv->stride_width));
    if (layer.packed)
      skip_cols(command.product.a, phase * channels, lanes);
    else
      skip_rows(command.product.a, phase * plane_rows(roles.a_rect), lanes);
    skip_to_rows(command.product.b, roles.b, roles.b_rect);
    return command;
  }
  const bool turned = turns_kernel(p.result);
  if (turned) {
    turn_taps(command.image, phase_of(layer, p.result, p.m));
  } else {
    command.image.stride = layer.conv->stride_width;
    command.image.packed = layer.packed;
    command.image.plane = layer.packed ? channels : plane_rows(roles.a_rect);
  }
  command.product.k = taps.channels;
  if (taps.count() == 1) return command;
  const bool in_runs = roles.b_rect.taps.rows != 0;
  command.image.b_tap = in_runs ? roles.b_rect.taps.rows : channels;
  if (turned && !in_runs) skip_rows(command.product.b, p.k, lanes);
  return command;
}

} // namespace gradweave::compiler
