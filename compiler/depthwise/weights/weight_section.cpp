#include "compiler/depthwise/weights/weight_section.hpp"

#include "compiler/depthwise/programs.hpp"
#include "compiler/vector_stream/pair_semaphores.hpp"
#include "compiler/vector_stream/stage/programs.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler::depthwise {
namespace {

/// Who waits for whom, and why.
using Token = std::pair<SectionEngine, SectionEngine>;
constexpr Token kLoaded{SectionEngine::kLoad, SectionEngine::kArray}; ///< X and dY are there
constexpr Token kRead{SectionEngine::kArray, SectionEngine::kLoad};   ///< both may be replaced
constexpr Token kAdded{SectionEngine::kArray, SectionEngine::kArray}; ///< sums are there that the next area begins with
constexpr Token kSummed{SectionEngine::kArray, SectionEngine::kUnit}; ///< a pass's sums are complete
constexpr Token kTaken{SectionEngine::kUnit, SectionEngine::kArray};  ///< they may be replaced
constexpr Token kComputed{SectionEngine::kUnit, SectionEngine::kStore}; ///< results are there
constexpr Token kStored{SectionEngine::kStore, SectionEngine::kUnit};   ///< they may be replaced
using Tokens = std::vector<Token>;

enum Programs : std::uint8_t { kDiagonal, kCopy };

/// A queue holds no more commands: what is behind them in the stream waits.
constexpr std::size_t kQueue = 8;

/// A core reads what its products begin with behind the results of the third product before, and of all earlier ones.
constexpr std::size_t kInOrder = 3;

/// Channels and taps that go through all images together.
struct Pass {
  std::size_t channel = 0, channels = 1, tap = 0, taps = 1;
};

/// Rows of the result in an image, or whole images.
struct WeightArea {
  Pass pass;
  std::size_t image = 0, images = 1, row = 0, rows = 1;
  bool begins = false, ends = false; ///< the pass
};

class WeightSection {
public:
  WeightSection(const DepthwiseWork &work, const WeightLayout &layout, const std::vector<std::uint64_t> &addresses,
                const NpuConfig &npu, const SectionRoom &room)
      : conv_(work.conv), pitch_(work.pixel_pitch() * 2), layout_(layout), addresses_(addresses), npu_(npu),
        room_(room) {}

  std::vector<std::vector<isa::Command>> run() {
    add_areas();
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
  std::size_t all_taps() const { return std::size_t{conv_.kernel_height} * conv_.kernel_width; }
  bool is_whole() const { return layout_.rows == conv_.out_height(); }

  void add_areas() {
    for (std::size_t channel = 0; channel < conv_.channels; channel += layout_.channels())
      for (std::size_t tap = 0; tap < all_taps(); tap += layout_.taps) {
        const Pass pass{channel, std::min<std::size_t>(layout_.channels(), conv_.channels - channel), tap,
                        std::min(layout_.taps, all_taps() - tap)};
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
  std::size_t blocks_of(const Pass &pass) const { return divide_up(pass.channels, layout_.block); }
  std::size_t channels_of(const Pass &pass, std::size_t block) const {
    return std::min(layout_.block, pass.channels - block * layout_.block);
  }

  // LOADs.

  /// Rows of pixels in memory that follow one another, and lines of a tile.
  struct Rows {
    std::size_t image = 0, row = 0; ///< in memory
    std::size_t line = 0;           ///< of the tile, where the first one lies
  };
  struct Pixels {
    std::size_t value = 0;                           ///< X or dY
    std::size_t height = 0, width = 0;               ///< of an image in memory
    std::size_t step_y = 1, step_x = 1, first_x = 0; ///< from row to row, and of the pixels of a row
    std::size_t count = 0;                           ///< pixels of a row
  };

  /// All rows; in one LOAD what is so in memory and in the tile. A block has a panel of its own.
  void add_loads(const WeightArea &area, const Pixels &pixels, const std::vector<Rows> &rows, const PlaceTile &tile,
                 std::vector<isa::DmaCommand> &loads) const {
    const bool dense = pixels.step_x == 1 && pixels.count == pixels.width;
    for (std::size_t i = 0, next = 0; i < rows.size(); i = next) {
      const auto place = [&](const Rows &r) { return r.image * pixels.height + r.row; };
      for (next = i + 1; next < rows.size() && dense; ++next)
        if (place(rows[next]) != place(rows[i]) + (next - i) ||
            rows[next].line != rows[i].line + (next - i) * pixels.count)
          break;
      const std::size_t blocks = blocks_of(area.pass), together = layout_.block == npu_.lanes() ? blocks : 1;
      for (std::size_t block = 0; block < blocks; block += together) {
        const std::size_t channel = block * layout_.block;
        isa::DmaCommand d;
        d.dram_addr = addresses_[pixels.value] + (place(rows[i]) * pixels.width + pixels.first_x) * pitch_ +
                      (area.pass.channel + channel) * 2;
        d.rows = static_cast<std::uint32_t>((next - i) * pixels.count);
        d.pitch = d.rows == 1 ? 0 : static_cast<std::uint32_t>(pixels.step_x * pitch_);
        d.cols = static_cast<std::uint32_t>(together > 1 ? area.pass.channels : channels_of(area.pass, block));
        d.spm = tile_at(tile, rows[i].line, block);
        loads.push_back(d);
      }
    }
  }

  std::vector<isa::DmaCommand> loads_of(std::size_t n) const {
    const WeightArea &area = areas_[n];
    std::vector<isa::DmaCommand> loads;
    for (const WeightPlane &plane : layout_.planes) {
      Pixels pixels{0, conv_.height, conv_.width, conv_.stride_height, conv_.stride_width, plane.phase_x, plane.width};
      add_loads(area, pixels, rows_of(area, plane), plane.places.at(n % 2), loads);
    }
    std::vector<Rows> rows;
    for (std::size_t image = 0; image < area.images; ++image)
      for (std::size_t row = 0; row < area.rows; ++row)
        rows.push_back({area.image + image, area.row + row, (image * layout_.grid_h + row) * layout_.grid_w});
    add_loads(area, {1, conv_.out_height(), conv_.out_width(), 1, 1, 0, conv_.out_width()}, rows, layout_.dy.at(n % 2),
              loads);
    return loads;
  }

  /// Rows of the image in a phase that an area reads.
  std::vector<Rows> rows_of(const WeightArea &area, const WeightPlane &plane) const {
    const std::int64_t first = static_cast<std::int64_t>(area.row) + layout_.first;
    const std::size_t height = is_whole() ? plane.height : layout_.height - (layout_.rows - area.rows);
    std::vector<Rows> rows;
    for (std::size_t image = 0; image < area.images; ++image)
      for (std::size_t i = 0; i < height; ++i) {
        const std::int64_t row = first + static_cast<std::int64_t>(i);
        if (row >= 0 && row < std::int64_t{plane.height})
          rows.push_back({area.image + image, static_cast<std::size_t>(row) * conv_.stride_height + plane.phase_y,
                          (image * layout_.grid_h + i) * layout_.grid_w});
      }
    return rows;
  }

  /// Those up to a share of all, that stand ahead of what they overlap with; the first waits for room, the last posts.
  void emit_loads(const std::vector<isa::DmaCommand> &loads, std::size_t n, std::size_t done, std::size_t of) {
    const std::size_t ahead = std::min(kQueue, loads.size());
    const std::size_t end = ahead + (loads.size() - ahead) * done / of;
    for (; loaded_ < end; ++loaded_)
      emit(loads[loaded_], loaded_ == 0 && n >= 2 ? Tokens{kRead} : Tokens(),
           loaded_ + 1 == loads.size() ? Tokens{kLoaded} : Tokens());
  }

  // Products.

  void multiply(std::size_t n) {
    const WeightArea &area = areas_[n];
    const bool next = n + 1 < areas_.size();
    const std::vector<isa::DmaCommand> loads = next ? loads_of(n + 1) : std::vector<isa::DmaCommand>();
    loaded_ = 0;
    const std::size_t all = blocks_of(area.pass) * area.pass.taps;
    for (std::size_t i = 0; i < all; ++i) {
      emit_loads(loads, n + 1, i, all);
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
      emit(product(area, n % 2, i / area.pass.taps, i % area.pass.taps), waits, posts);
    }
    emit_loads(loads, n + 1, all, all);
  }

  isa::ConvCommand product(const WeightArea &area, std::size_t place, std::size_t block, std::size_t tap) const {
    const auto enter = [](std::size_t k, std::uint32_t dilation, std::uint32_t pad, std::uint32_t stride) {
      const std::int32_t offset = static_cast<std::int32_t>(k * dilation) - static_cast<std::int32_t>(pad);
      const std::int32_t move = floor_div(offset, static_cast<std::int32_t>(stride));
      return std::pair{move, static_cast<std::uint32_t>(offset - move * static_cast<std::int32_t>(stride))};
    };
    const std::size_t of_kernel = area.pass.tap + tap;
    const auto [move_y, phase_y] =
        enter(of_kernel / conv_.kernel_width, conv_.dilation_height, conv_.pad_top, conv_.stride_height);
    const auto [move_x, phase_x] =
        enter(of_kernel % conv_.kernel_width, conv_.dilation_width, conv_.pad_left, conv_.stride_width);
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
    g.m = g.n = static_cast<std::uint32_t>(channels_of(area.pass, block));
    g.k = static_cast<std::uint32_t>(((area.images - 1) * layout_.grid_h + area.rows - 1) * layout_.grid_w +
                                     conv_.out_width());
    g.a = tile_at(plane.places.at(place), static_cast<std::size_t>(-layout_.first) * layout_.grid_w, block);
    g.b = tile_at(layout_.dy.at(place), 0, block);
    g.cout = tile_at(layout_.sums, 0, block * layout_.taps + tap);
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

  void take_diagonals(const WeightArea &area) {
    const Pass &pass = area.pass;
    const bool last = &area == &areas_.back(), first = first_words_.empty();
    if (first) {
      WrittenPrograms written = write_programs({encode(diagonal()), encode(copies())});
      for (const isa::ProgramCommand &p : written.commands)
        emit(p);
      first_words_ = std::move(written.first_words);
    }
    const std::size_t blocks = blocks_of(pass), lanes = npu_.lanes();
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::size_t channels = channels_of(pass, block), elements = (pass.taps - 1) * lanes + channels;
      Tokens waits;
      if (block == 0) waits.push_back(kSummed);
      if (block == 0 && !first) waits.push_back(kStored);
      const Part sums{0, block * layout_.taps * lanes, channels, elements};
      isa::VectorTile lines = window_at(layout_.lines, {0, 0, 1, elements}, isa::kOperandSlots);
      lines.same_step = true;
      emit_run(kDiagonal, elements, channels, {window_at(layout_.sums, sums, 0), lines}, waits,
               block + 1 == blocks && !last ? Tokens{kTaken} : Tokens());
      for (std::size_t tap = 0; tap < pass.taps; ++tap) {
        const Part line{0, tap * lanes, 1, channels}, column{block * layout_.block, tap, channels, 1};
        isa::VectorTile to = window_at(layout_.result, column, isa::kOperandSlots);
        to.by_col = true;
        const bool ends = block + 1 == blocks && tap + 1 == pass.taps;
        emit_run(kCopy, channels, 1, {window_at(layout_.lines, line, 0), to}, {}, ends ? Tokens{kComputed} : Tokens());
      }
    }
    isa::DmaCommand d;
    d.store = d.fp32 = true;
    d.dram_addr = addresses_[2] + (pass.channel * all_taps() + pass.tap) * 4;
    d.rows = static_cast<std::uint32_t>(pass.channels);
    d.cols = static_cast<std::uint32_t>(pass.taps);
    d.pitch = d.rows == 1 ? 0 : static_cast<std::uint32_t>(all_taps() * 4);
    d.spm = tile_at(layout_.result, 0, 0);
    emit(d, {kComputed}, last ? Tokens() : Tokens{kStored});
  }

  const Convolution &conv_;
  std::size_t pitch_; ///< bytes from pixel to pixel
  const WeightLayout &layout_;
  const std::vector<std::uint64_t> &addresses_; ///< of X, dY and dW
  const NpuConfig &npu_;
  SectionRoom room_;
  std::vector<WeightArea> areas_;
  std::size_t loaded_ = 0;                 ///< LOADs of the next area that are emitted
  std::vector<std::uint32_t> first_words_; ///< of each program
  std::vector<isa::Command> out_;
};

} // namespace

std::vector<std::vector<isa::Command>> weight_pieces(const DepthwiseWork &work, const WeightLayout &layout,
                                                     const std::vector<std::uint64_t> &addresses, const NpuConfig &npu,
                                                     const SectionRoom &room) {
  return WeightSection(work, layout, addresses, npu, room).run();
}

} // namespace gradweave::compiler::depthwise
