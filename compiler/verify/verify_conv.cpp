// What CONV and WGRAD read and compute, line by line and tap by tap.
#include "compiler/verify/operands/image_operands.hpp"
#include "compiler/verify/verify_content.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// A line that a tap reads inside an image.
struct TapLine {
  std::uint32_t line = 0;    ///< of the command
  std::int64_t row = 0;      ///< of the scratchpad, in A's first panel
  std::int64_t shift = 0;    ///< rows that the tap moves
  std::uint32_t image = 0;   ///< counted from the image in which the command begins
  std::int64_t y = 0, x = 0; ///< of the image
};

/// Calls f for each, until it returns false.
template <typename F> void for_lines_read(const isa::ConvCommand &v, F f) {
  const isa::ImageWalk &i = v.image;
  const std::uint32_t lines = v.weights ? v.product.k : v.product.m;
  for (std::uint32_t row = 0; row < i.taps_y; ++row)
    for (std::uint32_t col = 0; col < i.taps_x; ++col) {
      const std::int64_t shift = isa::tap_shift(i, row, col);
      for (std::uint32_t line = 0; line < lines; ++line) {
        const std::uint32_t grid_row = i.grid_y + line / i.grid_w, gy = grid_row % i.grid_h, gx = line % i.grid_w;
        const std::int64_t y = isa::image_row(i, gy, row), x = isa::image_col(i, gx, col);
        if (y < 0 || x < 0 || y >= i.img_h || x >= i.img_w || (v.weights && (gx >= i.out_w || gy >= i.out_h))) continue;
        if (!f(TapLine{line, v.product.a.row + line + shift, shift, grid_row / i.grid_h, y, x})) return;
      }
    }
}

} // namespace

std::vector<SpmView> image_views(const isa::ConvCommand &v) {
  const isa::GemmCommand &g = v.product;
  const isa::RowSpan span = isa::tap_span(v.image);
  const std::int64_t first = g.a.row + span.lo;
  std::vector<bool> read(static_cast<std::size_t>(span.hi - span.lo) + (v.weights ? g.k : g.m));
  for_lines_read(v, [&](const TapLine &at) {
    read[static_cast<std::size_t>(at.row - first)] = true;
    return true;
  });
  std::vector<SpmView> views;
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (!read[i]) continue;
    if (i == 0 || !read[i - 1]) {
      isa::SpmTile place = g.a;
      place.row = static_cast<std::uint32_t>(first + static_cast<std::int64_t>(i));
      views.push_back({place, 0, v.weights ? g.m : g.k, false});
    }
    ++views.back().rows;
  }
  return views;
}

const ContentReplay::Tile *ContentReplay::tile_at(std::int64_t row) const {
  if (row < 0 || row >= static_cast<std::int64_t>(owner_.size())) return nullptr;
  const auto at = static_cast<std::uint32_t>(row);
  for (auto it = tiles_.upper_bound(at); it != tiles_.begin();)
    if (--it; it->second.first == owner_[at]) return &it->second.second;
  return nullptr;
}

const ContentReplay::Tile *ContentReplay::find_rows(const SpmView &view, std::uint32_t &skipped) const {
  const Tile *tile = tile_at(view.place.row);
  if (tile == nullptr) return nullptr;
  const SpmView &whole = tile->view;
  skipped = view.place.row - whole.place.row;
  const bool fits = skipped + view.rows <= whole.rows && view.cols == whole.cols && view.fp32 == whole.fp32 &&
                    view.place.pstride == whole.place.pstride &&
                    view.place.rot == (whole.place.rot + skipped) % npu_.lanes();
  return fits && holds(view, owner_[view.place.row]) ? tile : nullptr;
}

/// Every line that is read must be the pixel that the command's geometry says, with these channels: the tile may have
/// more lines.
ContentReplay::ImageRead ContentReplay::read_image(const isa::ConvCommand &v, std::string &problem) const {
  const isa::GemmCommand &g = v.product;
  const std::uint32_t cols = v.weights ? g.m : g.k, panels = (cols + npu_.lanes() - 1) / npu_.lanes();
  ImageRead read;
  for_lines_read(v, [&](const TapLine &at) {
    const Tile *tile = tile_at(at.row);
    const auto line = static_cast<std::uint32_t>(at.row);
    if (tile == nullptr || tile->content.sum() || tile->view.cols != cols || tile->view.place.pstride != g.a.pstride ||
        line - tile->view.place.row >= tile->view.rows) {
      problem = fmt::format("reads an image's line in scratchpad row {}, which holds no such tile", at.row);
      return false;
    }
    const std::uint32_t offset = line - tile->view.place.row;
    bool there = true;
    for (std::uint32_t panel = 1; panel < panels; ++panel)
      there = there && owner_[line + panel * g.a.pstride] == owner_[line];
    const std::int64_t lanes = npu_.lanes(), turned = g.a.rot + at.line + at.shift;
    const std::int64_t pixel = tile->content.rect.row + offset;
    const std::int64_t first =
        pixel - (at.y * v.image.img_w + at.x) - std::int64_t{at.image} * v.image.img_w * v.image.img_h;
    if (read.binding == kNowhere) {
      read = {tile->content.binding, first, tile->content.rect.col};
      there = there && first >= 0 && first % (std::int64_t{v.image.img_w} * v.image.img_h) == 0;
    }
    if (!there || read.binding != tile->content.binding || read.first_pixel != first ||
        read.col != tile->content.rect.col ||
        (tile->view.place.rot + offset) % lanes != (turned % lanes + lanes) % lanes) {
      problem =
          fmt::format("reads for pixel ({}, {}) of an image scratchpad row {}, which holds {} from its line {} on",
                      at.y, at.x, at.row, name(tile->content), offset);
      return false;
    }
    return true;
  });
  if (!problem.empty() || read.binding != kNowhere) return read;
  // Padding only: then the line that no tap has moved from tells where it begins.
  const Tile *tile = tile_at(g.a.row);
  if (tile == nullptr || tile->content.sum() || tile->view.cols != cols)
    problem = "reads padding only, around no tile";
  else
    read = {tile->content.binding,
            std::int64_t{tile->content.rect.row} + g.a.row - tile->view.place.row -
                std::int64_t{v.image.grid_y} * v.image.grid_w,
            tile->content.rect.col};
  return read;
}

/// W's channels of the command's taps, each a run of rows of a tile: those of a tap lie where the layer's W has them.
ContentReplay::KernelRead ContentReplay::read_kernel(const isa::ConvCommand &v, std::string &problem) const {
  const isa::GemmCommand &g = v.product;
  KernelRead read;
  for (std::uint32_t tap = 0; tap < v.image.taps(); ++tap) {
    SpmView view{g.b, g.b_col ? g.n : g.k, g.b_col ? g.k : g.n, false};
    view.place.row += tap * v.image.b_tap;
    view.place.rot = static_cast<std::uint8_t>((view.place.rot + tap * v.image.b_tap) % npu_.lanes());
    std::uint32_t skipped = 0;
    const Tile *tile = find_rows(view, skipped);
    if (tile == nullptr || tile->content.sum()) {
      problem = "operand B is not rows of a tile";
      return read;
    }
    const std::uint32_t row = tile->content.rect.row + skipped;
    if (tap == 0) read = {tile->content, row, 0};
    if (tap == 1) read.apart = row - read.row;
    if (tile->content.binding != read.content.binding || tile->content.rect.col != read.content.rect.col ||
        row != read.row + tap * read.apart)
      problem = fmt::format("takes for tap {} W from row {} on", tap, row);
  }
  return read;
}

/// The product of CONV: Y, or dX over dY.
std::string ContentReplay::cover_conv(const isa::ConvCommand &v, const ImageRead &a, const KernelRead &b,
                                      const Product &product, Content &c) const {
  const Layer &l = compiled_.layers[product.layer];
  const Convolution &conv = *l.conv;
  const isa::GemmCommand &g = v.product;
  const isa::ImageWalk &i = v.image;
  const std::uint32_t channels = conv.channels / conv.groups, all_taps = conv.kernel_height * conv.kernel_width;
  const std::uint32_t group = b.row / l.k, tap = b.row % l.k / channels, channel = b.row % channels;
  const std::uint32_t row = tap / conv.kernel_width, col = tap % conv.kernel_width, n = b.content.rect.col;
  if (i.taps() > 1 && (b.apart != channels || col + i.taps_x > conv.kernel_width ||
                       row + i.taps_y > conv.kernel_height || (i.taps_y > 1 && i.taps_x != conv.kernel_width)))
    return "walks taps that are not those of W's rows in their order";
  const bool turned = is_turned(product.result);
  const std::int64_t sign = turned ? -1 : 1, dy = conv.dilation_height, dx = conv.dilation_width;
  if (i.off_y != sign * (row * dy - conv.pad_top) || i.off_x != sign * (col * dx - conv.pad_left) ||
      (i.taps_y > 1 && i.step_y != sign * dy) || (i.taps_x > 1 && i.step_x != sign * dx))
    return fmt::format("moves by ({}, {}) for tap ({}, {})", i.off_y, i.off_x, row, col);
  const auto line = static_cast<std::uint32_t>(a.first_pixel) + i.grid_y * conv.width;
  // What is summed in each tap: input channels for Y, output channels for dX.
  const std::uint32_t first = turned ? n : channel, extent = turned ? l.n : channels;
  if (channel + (turned ? g.n : g.k) > channels || a.col != group * extent + first || first + g.k > extent)
    return fmt::format("multiplies channels from {} on and W from ({}, {}) on", a.col, b.row, n);
  c.rect = turned ? Rect{line, group * channels + channel, g.m, g.n} : Rect{line, group * l.n + n, g.m, g.n};
  if (const std::uint32_t block = compiled_.reductions[product.layer].block_of(product.result); block != 0) {
    if (i.taps() != all_taps || first % block != 0 || g.k != std::min(block, extent - first))
      return fmt::format("takes {} taps of channels {} to {}, where its reduction plan takes all of {}", i.taps(),
                         first, first + g.k, block);
    c.first = first * all_taps;
  } else {
    if (i.taps() > 1 && g.k != extent) return fmt::format("takes {} of {} channels of each tap", g.k, extent);
    c.first = tap * extent + first;
  }
  c.done = c.first + v.steps();
  return {};
}

std::string ContentReplay::cover_wgrad(const isa::ConvCommand &v, const ImageRead &a, const Content &b,
                                       std::uint32_t skipped, const Product &product, Content &c) const {
  const Layer &l = compiled_.layers[product.layer];
  const Convolution &conv = *l.conv;
  const isa::GemmCommand &g = v.product;
  const std::int64_t y = std::int64_t{v.image.off_y} + conv.pad_top, x = std::int64_t{v.image.off_x} + conv.pad_left;
  const std::int64_t row = y / conv.dilation_height, col = x / conv.dilation_width;
  if (y < 0 || x < 0 || y % conv.dilation_height != 0 || x % conv.dilation_width != 0 || row >= conv.kernel_height ||
      col >= conv.kernel_width || v.image.out_w != conv.width || v.image.out_h != conv.height)
    return fmt::format("moves by ({}, {}), which is no tap", v.image.off_y, v.image.off_x);
  const std::uint32_t channels = conv.channels / conv.groups, group = a.col / channels;
  const auto line = static_cast<std::uint32_t>(a.first_pixel) + v.image.grid_y * conv.width;
  if (group != b.rect.col / l.n || b.rect.row + skipped != line)
    return fmt::format("multiplies lines from {} on of group {} and dY from ({}, {}) on", line, group,
                       b.rect.row + skipped, b.rect.col);
  const auto tap = static_cast<std::uint32_t>(row * conv.kernel_width + col);
  c.rect = {group * l.k + tap * channels + a.col % channels, b.rect.col % l.n, g.m, g.n};
  c.first = line;
  c.done = line + g.k;
  return {};
}

std::string ContentReplay::conv(const isa::ConvCommand &v) {
  const isa::GemmCommand &g = v.product;
  std::string problem;
  const ImageRead a = read_image(v, problem);
  if (!problem.empty()) return problem;
  const KernelRead kernel = v.weights ? KernelRead{} : read_kernel(v, problem);
  if (!problem.empty()) return problem;
  std::uint32_t skipped = 0;
  const Tile *gradient = v.weights ? find_rows({g.b, g.k, g.n, false}, skipped) : nullptr;
  if (v.weights && (gradient == nullptr || gradient->content.sum())) return "operand B is not rows of a tile";
  Content image;
  image.binding = a.binding;
  const Product product = product_of(g, image, v.weights ? gradient->content : kernel.content, problem);
  if (!problem.empty()) return problem;
  const Layer &l = compiled_.layers[product.layer];
  const isa::ImageWalk &i = v.image;
  if (!l.image || i.stride != 1 || i.img_w != l.conv->width || i.img_h != l.conv->height || i.grid_w != l.conv->width ||
      i.grid_h != l.conv->height)
    return "walks an image that is not its layer's";
  Content c;
  c.binding = static_cast<std::size_t>(compiled_.layout.place(product.layer, product.result));
  problem =
      v.weights ? cover_wgrad(v, a, gradient->content, skipped, product, c) : cover_conv(v, a, kernel, product, c);
  if (!problem.empty()) return problem;
  return finish_product(g, v.steps(), product, c);
}

} // namespace gradweave::compiler
