// What CONV and WGRAD read and compute, line by line and tap by tap.
#include "compiler/verify/operands/image_operands.hpp"
#include "compiler/verify/verify_content.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Of so many lines of row `grid_y`, from its first on, those that a tap reads inside the image.
PlaceRun lines_inside(const isa::ImageWalk &i, std::uint32_t grid_y, std::uint32_t lines, std::uint32_t row,
                      std::uint32_t col) {
  const std::int64_t y = isa::image_row(i, grid_y, row);
  return y >= 0 && y < i.img_h ? places_inside(isa::image_col(i, 0, col), i.stride, i.img_w, lines) : PlaceRun{};
}

/// Calls f(row of the scratchpad, rows) for the lines that taps read inside the image.
template <typename F> void for_lines_read(const isa::ConvCommand &v, F f) {
  const isa::ImageWalk &i = v.image;
  const std::uint32_t lines = v.weights ? v.product.k : v.product.m;
  for (std::uint32_t row = 0; row < i.taps_y; ++row)
    for (std::uint32_t col = 0; col < i.taps_x; ++col) {
      const std::int64_t shift = isa::tap_shift(i, row, col);
      for (std::uint32_t begin = 0; begin < lines; begin += i.grid_w) { // a row of the grid
        const std::uint32_t gy = (i.grid_y + begin / i.grid_w) % i.grid_h;
        std::uint32_t most = std::min<std::uint32_t>(i.grid_w, lines - begin);
        if (v.weights) most = gy < i.out_h ? std::min<std::uint32_t>(most, i.out_w) : 0;
        const PlaceRun read = lines_inside(i, gy, most, row, col);
        if (!read.empty()) f(v.product.a.row + begin + read.first + shift, read.end - read.first);
      }
    }
}

} // namespace

std::vector<SpmView> image_views(const isa::ConvCommand &v) {
  const isa::GemmCommand &g = v.product;
  const isa::RowSpan span = isa::tap_span(v.image);
  const std::int64_t first = g.a.row + span.lo;
  std::vector<bool> read(static_cast<std::size_t>(span.hi - span.lo) + (v.weights ? g.k : g.m));
  for_lines_read(v,
                 [&](std::int64_t row, std::uint32_t rows) { std::fill_n(read.begin() + (row - first), rows, true); });
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
  if (owner_[at] == found_number_) return found_;
  for (auto it = tiles_.upper_bound(at); it != tiles_.begin();)
    if (--it; it->second.first == owner_[at]) {
      found_number_ = owner_[at];
      found_ = &it->second.second;
      return found_;
    }
  return nullptr;
}

const ContentReplay::Tile *ContentReplay::find_rows(const SpmView &view, std::uint32_t &skipped) const {
  const Tile *tile = tile_at(view.place.row);
  if (tile == nullptr) return nullptr;
  const SpmView &whole = tile->view;
  const std::uint32_t each = view.fp32 ? 2 : 1;
  skipped = (view.place.row - whole.place.row) / each;
  const bool fits = view.place.row == whole.place.row + skipped * each && skipped + view.rows <= whole.rows &&
                    view.cols == whole.cols && view.fp32 == whole.fp32 && view.place.pstride == whole.place.pstride &&
                    view.place.rot == (whole.place.rot + skipped) % npu_.lanes();
  return fits && holds(view, owner_[view.place.row]) ? tile : nullptr;
}

std::optional<ContentReplay::Content> ContentReplay::content_of(const SpmView &view) const {
  if (const Tile *tile = find(view)) return tile->content;
  if (view.fp32) return std::nullopt;
  const Tile *first = tile_at(view.place.row);
  if (first == nullptr || first->content.sum() || !first->content.plain()) return std::nullopt;
  Content content = first->content;
  const auto row = content.row(view.place.row - first->view.place.row);
  if (!row) return std::nullopt;
  content.rect.row = *row;
  content.rect.rows = view.rows;
  const PixelRun run{content.binding, *row, 1, content.rect.col, view.cols};
  return check_lines(view.place, 0, view.rows, run).empty() ? std::optional(content) : std::nullopt;
}

std::string ContentReplay::check_lines(const isa::SpmTile &tile, std::int64_t line, std::uint32_t lines,
                                       const PixelRun &run) const {
  const std::uint32_t lanes = npu_.lanes();
  for (std::uint32_t done = 0; done < lines;) {
    const std::int64_t row = tile.row + line + done;
    const Tile *held = tile_at(row);
    if (held == nullptr) return fmt::format("reads an image's line in scratchpad row {}, which holds no tile", row);
    const auto at = static_cast<std::uint32_t>(row), offset = at - held->view.place.row;
    // Of the columns of a single panel a command may read some, as those of one pixel of a block.
    const std::int64_t skipped = std::int64_t{run.col} - held->content.rect.col;
    const bool all = skipped == 0 && held->view.cols == run.cols;
    const bool some = held->view.cols <= lanes && skipped >= 0 && skipped + run.cols <= held->view.cols;
    const bool tile_is_right =
        !held->content.sum() && held->content.binding == run.binding && (all || some) &&
        held->view.place.pstride == tile.pstride &&
        (std::int64_t{held->view.place.rot} + offset + skipped - tile.rot - line - done) % lanes == 0;
    const std::uint32_t number = owner_[at];
    std::uint32_t right = 0; // lines of this tile
    for (; tile_is_right && done + right < lines && offset + right < held->view.rows; ++right) {
      bool there = held->content.row(offset + right) == run.pixel + (done + right) * run.step;
      for (std::uint32_t panel = 0; there && panel * lanes < run.cols; ++panel)
        there = owner_[at + right + panel * tile.pstride] == number;
      if (!there) break;
    }
    if (right == 0)
      return fmt::format("reads pixel {} of {}, columns {} to {}, in scratchpad row {}, which holds {} from its line "
                         "{} on",
                         run.pixel + done * run.step, to_string(this->binding(run.binding).tensor), run.col,
                         run.col + run.cols, row, name(held->content), offset);
    done += right;
  }
  return {};
}

/// Every line that is read for a pixel of the result must be the pixel that the convolution multiplies with the tap's
/// weights, and every other masked.
std::string ContentReplay::check_image(const isa::ConvCommand &v, const Claim &claim) const {
  const isa::ImageWalk &i = v.image;
  const std::uint32_t lines = v.weights ? v.product.k : v.product.m, cols = v.weights ? v.product.m : v.product.k;
  const Tensor read = claim.turned ? Tensor::kDY : Tensor::kX;
  const auto binding = static_cast<std::size_t>(compiled_.layout.place(claim.product.layer, read));
  for (std::uint32_t row = 0; row < i.taps_y; ++row)
    for (std::uint32_t col = 0; col < i.taps_x; ++col) {
      const std::int64_t shift = isa::tap_shift(i, row, col), lanes = npu_.lanes();
      isa::SpmTile tile = v.product.a; // and the lanes by which the tap turns it beside those of its rows
      tile.rot = static_cast<isa::Lane>((tile.rot + (isa::tap_turn(i, row, col) - shift) % lanes + lanes) % lanes);
      for (std::uint32_t begin = 0; begin < lines; begin += i.grid_w) { // a row of the grid
        const Lines::At at = claim.lines.at(begin);
        if (!claim.lines.has(at)) continue;
        const std::uint32_t most = std::min({std::uint32_t{i.grid_w}, lines - begin, claim.lines.width});
        const TapRow wanted = tap_row(*claim.layer, claim.turned, claim.lines, at, claim.ky + row * claim.apart,
                                      claim.kx + col * claim.apart, most);
        const std::uint32_t grid_y = (i.grid_y + begin / i.grid_w) % i.grid_h;
        const PlaceRun own = lines_inside(i, grid_y, most, row, col);
        if (!wanted.pixel.meets || !(own == wanted.inside))
          return fmt::format("reads pixels {} to {} of line {} on at tap ({}, {}), and not {} to {}", own.first,
                             own.end, begin, row, col, wanted.inside.first, wanted.inside.end);
        if (own.empty()) continue;
        if (const std::int64_t y = isa::image_row(i, grid_y, row);
            !v.weights && !i.packed && wanted.pixel.row / i.img_w % i.img_h != y)
          return fmt::format("takes pixel {} for one of row {}", wanted.pixel.row, y);
        const PixelRun run{binding, wanted.pixel.row, wanted.step, wanted.pixel.col + claim.a_col, cols};
        if (std::string problem = check_lines(tile, begin + own.first + shift, own.end - own.first, run);
            !problem.empty())
          return problem;
      }
    }
  return {};
}

/// The lines of dY that take part, and no others.
std::string ContentReplay::check_gradient(const isa::ConvCommand &v, const Claim &claim) const {
  if (v.image.out_w != claim.lines.width || v.image.out_h != claim.lines.height)
    return fmt::format("takes {} x {} of the grid, of which Y has {} x {}", v.image.out_w, v.image.out_h,
                       claim.lines.width, claim.lines.height);
  const auto binding = static_cast<std::size_t>(compiled_.layout.place(claim.product.layer, Tensor::kDY));
  for (std::uint32_t begin = 0; begin < v.product.k; begin += claim.lines.grid_w) // a row of the grid
    if (const auto pixel = claim.lines.pixel(begin)) {
      const std::uint32_t lines = std::min(claim.lines.width, v.product.k - begin);
      const PixelRun run{binding, *pixel, 1, claim.b_col, v.product.n};
      if (std::string problem = check_lines(v.product.b, begin, lines, run); !problem.empty()) return problem;
    }
  return {};
}

/// W's channels of the command's taps, each a run of rows of a tile.
ContentReplay::KernelRead ContentReplay::read_kernel(const isa::ConvCommand &v, std::string &problem) const {
  const isa::GemmCommand &g = v.product;
  KernelRead read;
  for (std::uint32_t tap = 0; tap < v.image.taps(); ++tap) {
    SpmView view{g.b, g.b_col ? g.n : g.k, g.b_col ? g.k : g.n, false};
    view.place.row += tap * v.image.b_tap;
    view.place.rot = static_cast<isa::Lane>((view.place.rot + tap * v.image.b_tap) % npu_.lanes());
    std::uint32_t skipped = 0;
    const Tile *tile = find_rows(view, skipped);
    if (tile == nullptr || tile->content.sum() || !tile->content.plain()) {
      problem = "operand B is not rows of a tile";
      return read;
    }
    if (tap == 0) read.content = tile->content;
    read.rows.push_back(tile->content.rect.row + skipped);
    if (tile->content.binding != read.content.binding || tile->content.rect.col != read.content.rect.col)
      problem = fmt::format("takes for tap {} W from row {} on", tap, read.rows.back());
  }
  return read;
}

/// The grid and the image of the layer, and the row of the grid in which the claim's lines begin.
std::string ContentReplay::check_walk(const isa::ConvCommand &v, const Claim &claim) const {
  const isa::ImageWalk &i = v.image;
  const Convolution &conv = *claim.layer->conv;
  // WGRAD walks the plane of its tap's phase.
  const auto side = [&](std::uint32_t size, std::uint32_t tap, std::uint32_t dilation, std::uint32_t pad) {
    if (!v.weights) return size;
    const std::int64_t stride = conv.stride_width, move = std::int64_t{tap} * dilation - pad;
    return static_cast<std::uint32_t>((size + stride - 1 - (move % stride + stride) % stride) / stride);
  };
  const std::uint32_t height =
      side(claim.turned ? conv.out_height() : conv.height, claim.ky, conv.dilation_height, conv.pad_top);
  const std::uint32_t width =
      side(claim.turned ? conv.out_width() : conv.width, claim.kx, conv.dilation_width, conv.pad_left);
  if (i.grid_w != claim.lines.grid_w || i.grid_h != claim.lines.grid_h || i.img_w != width || i.img_h != height ||
      i.stride != (v.weights || claim.turned ? 1 : conv.stride_width))
    return "walks an image that is not its layer's";
  const std::int32_t sign = claim.turned ? -1 : 1;
  if ((i.taps_y > 1 && i.step_y != sign * static_cast<std::int32_t>(conv.dilation_height)) ||
      (i.taps_x > 1 && i.step_x != sign * static_cast<std::int32_t>(conv.dilation_width)))
    return fmt::format("moves by ({}, {}) from tap to tap", i.step_y, i.step_x);
  // A CONV may begin with the row of the image that its first tap reads, instead of moving to it from its result's.
  const bool may_begin_elsewhere = !v.weights && conv.stride_width == 1;
  const std::int64_t move = sign * (std::int64_t{claim.ky} * conv.dilation_height - conv.pad_top),
                     row = claim.lines.row;
  const bool meets = may_begin_elsewhere ? i.grid_y + std::int64_t{i.off_y} == row + move : i.grid_y == row;
  if (!meets || i.grid_y >= i.grid_h || !claim.lines.pixel(0))
    return fmt::format("begins in row {} of the grid and moves by {}, its result in row {}", i.grid_y, i.off_y, row);
  return check_image(v, claim);
}

/// The product of CONV: Y, or dX over dY.
std::string ContentReplay::claim_conv(const isa::ConvCommand &v, const CommandInfo &info, Claim &claim,
                                      Content &c) const {
  const isa::GemmCommand &g = v.product;
  const isa::ImageWalk &i = v.image;
  const Layer &l = *claim.layer;
  const Convolution &conv = *l.conv;
  std::string problem;
  const KernelRead b = read_kernel(v, problem);
  if (!problem.empty()) return problem;
  if (g.b_col != claim.turned ||
      b.content.binding != static_cast<std::size_t>(compiled_.layout.place(claim.product.layer, Tensor::kW)))
    return fmt::format("multiplies {}, walked in a way that gives no {}", name(b.content), to_string(info.tensor));
  claim.lines = lines_from(l, claim.turned, info.row);
  claim.apart = claim.turned ? conv.stride_width : 1;
  const std::uint32_t channels = conv.channels / conv.groups, group = b.rows[0] / l.k, tap = b.rows[0] % l.k / channels;
  const std::uint32_t channel = b.rows[0] % channels, n = b.content.rect.col;
  claim.ky = tap / conv.kernel_width;
  claim.kx = tap % conv.kernel_width;
  for (std::uint32_t at = 0; at < i.taps(); ++at) {
    const std::uint32_t ky = claim.ky + at / i.taps_x * claim.apart, kx = claim.kx + at % i.taps_x * claim.apart;
    if (ky >= conv.kernel_height || kx >= conv.kernel_width ||
        b.rows[at] != group * l.k + (ky * conv.kernel_width + kx) * channels + channel)
      return "walks taps that are not those of W's rows in their order";
  }
  // What is summed in each tap: input channels for Y, output channels for dX.
  const std::uint32_t first = claim.turned ? n : channel, extent = claim.turned ? l.n : channels;
  if (channel + (claim.turned ? g.n : g.k) > channels || first + g.k > extent)
    return fmt::format("multiplies channels from {} on and W from ({}, {}) on", first, b.rows[0], n);
  claim.a_col = group * extent + first;
  const bool phases = claim.turned && conv.stride_width > 1;
  const std::uint32_t all = phases ? taps_that_meet(conv, claim.lines.y, claim.lines.x) : l.k / channels;
  if (phases ? i.taps() != all : i.taps_y > 1 && i.taps_x != conv.kernel_width)
    return fmt::format("takes {} taps that are not whole rows of the kernel, or not all that meet its phase", i.taps());
  c.rect = {info.row, claim.turned ? group * channels + channel : group * l.n + n, g.m, g.n};
  if (const std::uint32_t block = compiled_.reductions[claim.product.layer].block_of(info.tensor); block != 0) {
    if (i.taps() != all || first % block != 0 || g.k != std::min(block, extent - first))
      return fmt::format("takes {} taps of channels {} to {}, where its reduction plan takes all of {}", i.taps(),
                         first, first + g.k, block);
    c.first = first * all;
  } else {
    if (i.taps() > 1 && g.k != extent) return fmt::format("takes {} of {} channels of each tap", g.k, extent);
    c.first = (phases ? 0 : tap * extent) + first;
  }
  c.done = c.first + v.steps();
  return {};
}

std::string ContentReplay::claim_wgrad(const isa::ConvCommand &v, const CommandInfo &info, Claim &claim,
                                       Content &c) const {
  const isa::GemmCommand &g = v.product;
  const Layer &l = *claim.layer;
  const Convolution &conv = *l.conv;
  const std::uint32_t channels = conv.channels / conv.groups, group = info.row / l.k, tap = info.row % l.k / channels;
  if (info.row % channels + g.m > channels || info.col + g.n > l.n || group >= l.groups)
    return fmt::format("computes dW from ({}, {}) on, of more than a tap", info.row, info.col);
  claim.lines = lines_from(l, false, info.red);
  claim.ky = tap / conv.kernel_width;
  claim.kx = tap % conv.kernel_width;
  claim.a_col = group * channels + info.row % channels;
  claim.b_col = group * l.n + info.col;
  c.rect = {info.row, info.col, g.m, g.n};
  c.first = info.red;
  c.done = info.red + claim.lines.pixels(g.k);
  return check_gradient(v, claim);
}

std::string ContentReplay::conv(const isa::ConvCommand &v, const CommandInfo &info) {
  const bool turned = is_turned(info.tensor);
  if (info.layer >= compiled_.layers.size() || !compiled_.layers[info.layer].image ||
      (info.tensor != Tensor::kDW && (v.weights || !(turned || info.tensor == Tensor::kY))) ||
      (info.tensor == Tensor::kDW && !v.weights))
    return "walks an image, and is said to compute something else";
  Claim claim;
  claim.product = {info.layer, info.tensor};
  claim.layer = &compiled_.layers[info.layer];
  claim.turned = turned;
  if (compiled_.layout.place(info.layer, info.tensor) == Layout::kNone) return "computes what the pass does not use";
  Content c;
  c.binding = static_cast<std::size_t>(compiled_.layout.place(info.layer, info.tensor));
  if (std::string problem = v.weights ? claim_wgrad(v, info, claim, c) : claim_conv(v, info, claim, c);
      !problem.empty())
    return problem;
  if (std::string problem = check_walk(v, claim); !problem.empty()) return problem;
  const isa::GemmCommand &g = v.product;
  const std::uint32_t pixels = claim.lines.pixels(v.weights ? g.k : g.m);
  const std::uint64_t macs = std::uint64_t{pixels} * g.n * (v.weights ? g.m : v.steps());
  if (!v.weights && !claim.lines.plain(g.m)) c.lines = claim.lines;
  return finish_product(g, macs, claim.product, c);
}

} // namespace gradweave::compiler
