#include "compiler/depthwise/weights/weight_section.hpp"

#include "compiler/depthwise/programs.hpp"
#include "compiler/depthwise/weights/weight_loads.hpp"
#include "compiler/vector_stream/pair_semaphores.hpp"
#include "compiler/vector_stream/stage/places.hpp"
#include "compiler/vector_stream/stage/programs.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler::depthwise {
namespace {

/// Who waits for whom, and why.
using Token = std::pair<SectionEngine, SectionEngine>;
constexpr Token kLoaded{SectionEngine::kLoad, SectionEngine::kArray}; ///< X and dY are there
constexpr Token kBegun{SectionEngine::kLoad, SectionEngine::kUnit};   ///< LOADs may replace what was there before
constexpr Token kCleared{SectionEngine::kUnit, SectionEngine::kLoad}; ///< lines beside images are +0
constexpr Token kRead{SectionEngine::kArray, SectionEngine::kLoad};   ///< both may be replaced
constexpr Token kAdded{SectionEngine::kArray, SectionEngine::kArray}; ///< sums are there that the next area begins with
constexpr Token kSummed{SectionEngine::kArray, SectionEngine::kUnit}; ///< a pass's sums are complete
constexpr Token kTaken{SectionEngine::kUnit, SectionEngine::kArray};  ///< they may be replaced
constexpr Token kComputed{SectionEngine::kUnit, SectionEngine::kStore}; ///< results are there
constexpr Token kStored{SectionEngine::kStore, SectionEngine::kUnit};   ///< they may be replaced
using Tokens = std::vector<Token>;

enum Programs : std::uint8_t { kDiagonal, kCopy, kZero };

/// A queue holds no more commands: what is behind them in the stream waits.
constexpr std::size_t kQueue = 8;

/// A core reads what its products begin with behind the results of the third product before, and of all earlier ones.
constexpr std::size_t kInOrder = 3;

class WeightSection {
public:
  WeightSection(const DepthwiseWork &work, const WeightLayout &layout, const std::vector<std::uint64_t> &addresses,
                const NpuConfig &npu, const SectionRoom &room)
      : work_(work), conv_(work.conv), layout_(layout), addresses_(addresses), npu_(npu), room_(room) {}

  std::vector<std::vector<isa::Command>> run() {
    add_areas();
    if (layout_.has_edges()) clear_edges();
    std::vector<std::vector<isa::Command>> pieces;
    emit_loads(loads_of(0), 0, 1, 1);
    for (std::size_t n = 0; n < areas_.size(); ++n) {
      multiply(n);
      if (areas_[n].ends) take_diagonals(areas_[n]);
      pieces.push_back(std::exchange(out_, {}));
    }
    return pieces;
  }

private:
  std::size_t all_products() const { return conv_.kernel_height * layout_.across; }
  std::size_t all_taps() const { return std::size_t{conv_.kernel_height} * conv_.kernel_width; }
  /// The first tap of a product, and how many it has.
  std::size_t tap_of(std::size_t product) const {
    return product / layout_.across * conv_.kernel_width + product % layout_.across * layout_.side;
  }
  std::size_t taps_of(std::size_t product) const {
    return std::min(layout_.side, conv_.kernel_width - product % layout_.across * layout_.side);
  }
  bool is_whole() const { return layout_.rows == conv_.out_height(); }

  void add_areas() {
    for (std::size_t channel = 0; channel < conv_.channels; channel += layout_.channels())
      for (std::size_t product = 0; product < all_products(); product += layout_.products) {
        const WeightPass pass{channel, std::min<std::size_t>(layout_.channels(), conv_.channels - channel), product,
                              std::min(layout_.products, all_products() - product)};
        const std::size_t first = areas_.size();
        for (std::size_t image = 0; image < conv_.batch; image += layout_.images)
          for (std::size_t row = 0; row < conv_.out_height(); row += layout_.rows)
            areas_.push_back({pass, image, std::min<std::size_t>(layout_.images, conv_.batch - image), row,
                              std::min<std::size_t>(layout_.rows, conv_.out_height() - row), false, false});
        areas_[first].begins = areas_.back().ends = true;
      }
  }

  template <typename Op> void emit(const Op &op, const Tokens &waits = {}, const Tokens &posts = {}) {
    isa::Sync sync;
    for (std::size_t i = 0; i < waits.size(); ++i)
      sync.waits.at(i) = {semaphore(waits[i]), 1};
    std::transform(posts.begin(), posts.end(), sync.posts.begin(),
                   [this](const Token &token) { return semaphore(token); });
    out_.push_back(isa::encode({op, sync, 0}));
  }
  std::uint8_t semaphore(const Token &token) const {
    return pair_semaphore(room_.first_semaphore, token.first, token.second);
  }

  /// A tile from a row of it and a panel on.
  isa::SpmTile tile_at(const PlaceTile &tile, std::size_t row, std::size_t panel) const {
    isa::SpmTile spm = transfer_tile(tile, row, panel, npu_.lanes());
    spm.row += room_.first_row;
    return spm;
  }
  isa::VectorTile window_at(const PlaceTile &tile, const Part &part, std::uint32_t slot) const {
    isa::VectorTile v = window(tile, part, slot, npu_.lanes());
    v.spm.row += room_.first_row;
    return v;
  }
  std::size_t blocks_of(const WeightPass &pass) const { return divide_up(pass.channels, layout_.block); }
  std::size_t channels_of(const WeightPass &pass, std::size_t block) const {
    return std::min(layout_.block, pass.channels - block * layout_.block);
  }

  // LOADs.

  WeightLoads loads_of(std::size_t n) const { return weight_loads(work_, layout_, addresses_, npu_, areas_[n], n % 2); }

  /// Those of area `n` up to a share of all, that stand ahead of what they overlap with; the first waits for room, the
  /// last posts.
  void emit_loads(const WeightLoads &loads, std::size_t n, std::size_t done, std::size_t of) {
    const std::size_t all = loads.all.size(), ahead = std::min(kQueue, all);
    const std::size_t end = ahead + (all - ahead) * done / of;
    for (; loaded_ < end; ++loaded_) {
      Tokens waits;
      if (loaded_ == 0 && n >= 2) waits.push_back(kRead);
      if (loaded_ + 1 == loads.before_edges && n == 0 && layout_.has_edges()) waits.push_back(kCleared);
      isa::DmaCommand load = loads.all[loaded_];
      load.spm.row += room_.first_row;
      emit(load, waits, loaded_ + 1 == all ? Tokens{kLoaded} : Tokens());
    }
  }

  // Lines at the edges.

  /// What LOADs leave of lines at the edges is beside the image in all areas. Panels as far apart as rows of the grid
  /// are such a line of each.
  void clear_edges() {
    emit(isa::SyncCommand{static_cast<std::uint8_t>(isa::Engine::LOAD)}, {}, {kBegun});
    write_programs();
    const std::size_t width = layout_.planes.front().width, most = kMostInField / npu_.lanes();
    struct Lines {
      std::size_t first, count;
    };
    std::vector<isa::VectorTile> tiles;
    for (const WeightPlane &plane : layout_.planes)
      for (const PlaceTile &place : plane.places)
        for (const Lines &lines : {Lines{0, layout_.whole}, Lines{layout_.whole_end, width - layout_.whole_end}})
          for (std::size_t row = 0; row < layout_.height && lines.count > 0; row += most) {
            isa::VectorTile tile;
            tile.slot = isa::kOperandSlots;
            tile.spm = tile_at(place, row * layout_.grid_w + lines.first, 0);
            tile.spm.rot = 0; // all lanes
            tile.spm.pstride = static_cast<std::uint32_t>(layout_.grid_w);
            tile.rows = static_cast<std::uint32_t>(lines.count);
            tile.cols = static_cast<std::uint32_t>(std::min(most, layout_.height - row) * npu_.lanes());
            tiles.push_back(tile);
          }
    for (std::size_t i = 0; i < tiles.size(); ++i)
      emit_run(kZero, tiles[i].cols, tiles[i].rows, {tiles[i]}, i == 0 ? Tokens{kBegun} : Tokens(),
               i + 1 == tiles.size() ? Tokens{kCleared} : Tokens());
  }

  // Products.

  void multiply(std::size_t n) {
    const WeightArea &area = areas_[n];
    const bool next = n + 1 < areas_.size();
    const WeightLoads loads = next ? loads_of(n + 1) : WeightLoads();
    loaded_ = 0;
    const std::size_t all = blocks_of(area.pass) * area.pass.products;
    for (std::size_t i = 0; i < all; ++i) {
      emit_loads(loads, n + 1, all > kQueue ? i : 0, all); // else all products wait in the queue
      Tokens waits, posts;
      if (i == 0) waits.push_back(kLoaded);
      if (i == 0 && area.begins && n > 0) waits.push_back(kTaken);
      if (i == 0 && !area.begins && all < kInOrder) waits.push_back(kAdded);
      if (i + 1 == all && n + 2 < areas_.size()) posts.push_back(kRead);
      if (i + 1 == all) {
        if (area.ends)
          posts.push_back(kSummed);
        else if (all < kInOrder)
          posts.push_back(kAdded);
      }
      emit(product(area, n % 2, i / area.pass.products, i % area.pass.products), waits, posts);
    }
    emit_loads(loads, n + 1, all, all);
  }

  isa::ConvCommand product(const WeightArea &area, std::size_t place, std::size_t block, std::size_t index) const {
    const auto enter = [](std::size_t k, std::uint32_t dilation, std::uint32_t pad, std::uint32_t stride) {
      const std::int32_t offset = static_cast<std::int32_t>(k * dilation) - static_cast<std::int32_t>(pad);
      const std::int32_t move = floor_div(offset, static_cast<std::int32_t>(stride));
      return std::pair{move, static_cast<std::uint32_t>(offset - move * static_cast<std::int32_t>(stride))};
    };
    const std::size_t tap = tap_of(area.pass.product + index), channels = channels_of(area.pass, block);
    const auto [move_y, phase_y] =
        enter(tap / conv_.kernel_width, conv_.dilation_height, conv_.pad_top, conv_.stride_height);
    // Lines with pixels of several taps have padding in them, too.
    const auto [move_x, phase_x] = enter(tap % conv_.kernel_width, conv_.dilation_width,
                                         layout_.side == 1 ? conv_.pad_left : 0, conv_.stride_width);
    const WeightPlane &plane = plane_of(phase_y, phase_x);
    isa::ConvCommand v;
    v.weights = true;
    v.image.off_y = move_y;
    v.image.off_x = move_x;
    v.image.img_w = plane.width;
    v.image.img_h = plane.height;
    v.image.grid_w = static_cast<std::uint32_t>(layout_.grid_w);
    v.image.grid_h = static_cast<std::uint32_t>(layout_.grid_h);
    v.image.grid_y = static_cast<std::uint32_t>(area.row);
    v.image.out_w = conv_.out_width();
    v.image.out_h = conv_.out_height();
    isa::GemmCommand &g = v.product;
    g.acc = !area.begins;
    g.m = static_cast<std::uint32_t>(layout_.product_rows(taps_of(area.pass.product + index), channels));
    g.n = static_cast<std::uint32_t>(channels);
    g.k = static_cast<std::uint32_t>(((area.images - 1) * layout_.grid_h + area.rows - 1) * layout_.grid_w +
                                     conv_.out_width());
    g.a = tile_at(plane.places.at(place), static_cast<std::size_t>(-layout_.first) * layout_.grid_w, block);
    g.b = tile_at(layout_.dy.at(place), 0, block);
    g.cout = tile_at(layout_.sums, 0, block * layout_.products + index);
    if (g.acc) g.cin = g.cout;
    return v;
  }

  const WeightPlane &plane_of(std::uint32_t phase_y, std::uint32_t phase_x) const {
    return *std::find_if(layout_.planes.begin(), layout_.planes.end(),
                         [&](const WeightPlane &p) { return p.phase_y == phase_y && p.phase_x == phase_x; });
  }

  // Diagonals.

  void emit_run(std::size_t program, std::size_t elements, std::size_t steps, const std::vector<isa::VectorTile> &tiles,
                const Tokens &waits, const Tokens &posts) {
    for (const isa::TileCommand &command : tile_commands(tiles))
      emit(command);
    isa::VectorCommand v;
    v.first = first_words_[program];
    v.elements = static_cast<std::uint32_t>(elements);
    v.steps = static_cast<std::uint32_t>(steps);
    emit(v, waits, posts);
  }

  void write_programs() {
    std::vector<isa::vector::Words> programs{encode(diagonal()), encode(copies())};
    if (layout_.has_edges()) programs.push_back(encode(zeros()));
    WrittenPrograms written = compiler::write_programs(programs);
    for (const isa::ProgramCommand &p : written.commands)
      emit(p);
    first_words_ = std::move(written.first_words);
  }

  void take_diagonals(const WeightArea &area) {
    const WeightPass &pass = area.pass;
    const bool last = &area == &areas_.back();
    if (first_words_.empty()) write_programs();
    const std::size_t blocks = blocks_of(pass), first = tap_of(pass.product), final = pass.product + pass.products - 1,
                      taps = tap_of(final) + taps_of(final) - first;
    for (std::size_t block = 0; block < blocks; ++block) {
      Tokens waits;
      if (block == 0) waits.push_back(kSummed);
      if (block == 0 && has_stored_) waits.push_back(kStored);
      for (std::size_t beside = 0; beside < layout_.side; ++beside) {
        const bool ends = beside + 1 == layout_.side && block + 1 == blocks && !last;
        take_lines(pass, block, beside, beside == 0 ? waits : Tokens(), ends ? Tokens{kTaken} : Tokens());
      }
      for (std::size_t tap = 0; tap < taps; ++tap) {
        const bool ends = block + 1 == blocks && tap + 1 == taps;
        copy_line(pass, block, first + tap, ends ? Tokens{kComputed} : Tokens());
      }
    }
    has_stored_ = true;
    isa::DmaCommand d;
    d.store = d.fp32 = true;
    d.dram_addr = addresses_[2] + (pass.channel * all_taps() + first) * 4;
    d.rows = static_cast<std::uint32_t>(pass.channels);
    d.cols = static_cast<std::uint32_t>(taps);
    d.pitch = d.rows == 1 ? 0 : static_cast<std::uint32_t>(all_taps() * 4);
    d.spm = tile_at(layout_.result, 0, 0);
    emit(d, {kComputed}, last ? Tokens() : Tokens{kStored});
  }

  /// The diagonals of the taps that are `beside` others in their products, a line each; those that a product does not
  /// have are of no use.
  void take_lines(const WeightPass &pass, std::size_t block, std::size_t beside, const Tokens &waits,
                  const Tokens &posts) {
    const std::size_t channels = channels_of(pass, block), lanes = npu_.lanes(),
                      elements = (pass.products - 1) * lanes + channels;
    const Part sums{beside * layout_.tap_pitch, block * layout_.products * lanes, channels, elements};
    isa::VectorTile lines =
        window_at(layout_.lines, {0, beside * layout_.products * lanes, 1, elements}, isa::kOperandSlots);
    lines.same_step = true;
    emit_run(kDiagonal, elements, channels, {window_at(layout_.sums, sums, 0), lines}, waits, posts);
  }

  /// A tap's line becomes a column of the result.
  void copy_line(const WeightPass &pass, std::size_t block, std::size_t tap, const Tokens &posts) {
    const std::size_t in_row = tap % conv_.kernel_width,
                      product = tap / conv_.kernel_width * layout_.across + in_row / layout_.side - pass.product,
                      panel = in_row % layout_.side * layout_.products + product, channels = channels_of(pass, block);
    const Part line{0, panel * npu_.lanes(), 1, channels},
        column{block * layout_.block, tap - tap_of(pass.product), channels, 1};
    isa::VectorTile to = window_at(layout_.result, column, isa::kOperandSlots);
    to.by_col = true;
    emit_run(kCopy, channels, 1, {window_at(layout_.lines, line, 0), to}, {}, posts);
  }

  const DepthwiseWork &work_;
  const Convolution &conv_;
  const WeightLayout &layout_;
  const std::vector<std::uint64_t> &addresses_; ///< of X, dY and dW
  const NpuConfig &npu_;
  SectionRoom room_;
  std::vector<WeightArea> areas_;
  std::size_t loaded_ = 0;                 ///< LOADs of the next area that are emitted
  std::vector<std::uint32_t> first_words_; ///< of each program
  bool has_stored_ = false;                ///< a pass's results
  std::vector<isa::Command> out_;
};

} // namespace

std::vector<std::vector<isa::Command>> weight_pieces(const DepthwiseWork &work, const WeightLayout &layout,
                                                     const std::vector<std::uint64_t> &addresses, const NpuConfig &npu,
                                                     const SectionRoom &room) {
  return WeightSection(work, layout, addresses, npu, room).run();
}

} // namespace gradweave::compiler::depthwise
