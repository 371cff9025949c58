#include "runtime/corpus/random_stream.hpp"

#include "runtime/corpus/dice.hpp"
#include "runtime/corpus/hazards.hpp"
#include "runtime/corpus/random_data.hpp"
#include "runtime/corpus/semaphores.hpp"

#include <algorithm>
#include <optional>

namespace gradweave::corpus {

namespace {

constexpr std::uint64_t kPage = 4096; // bursts end at its multiples
constexpr std::size_t kMaxObjects = 8;

constexpr std::uint32_t height_of(bool fp32) { return fp32 ? 2 : 1; }
constexpr std::uint64_t bytes_of(bool fp32) { return fp32 ? 4 : 2; }

/// A tile in the scratchpad all of whose elements are defined and of one type.
struct Object {
  isa::SpmTile tile;
  std::uint32_t rows = 0, cols = 0;
  bool fp32 = false;
  std::uint32_t end = 0; ///< first row behind it, gaps between panels included
  std::uint64_t size() const { return std::uint64_t{rows} * cols; }
};

/// Part of an object.
struct Part {
  isa::SpmTile tile;
  std::uint32_t rows = 0, cols = 0;
};

struct Region {
  std::uint64_t offset = 0, bytes = 0;
};

class Generator {
public:
  Generator(const NpuConfig &config, const RandomStreamOptions &options)
      : npu_(config), options_(options), dice_(options.seed), lanes_(config.lanes()) {
    // Large scratchpads would keep tiles so far apart that they never meet; a window brings them together.
    const std::uint32_t window = std::min(config.spm_rows(), 40 * lanes_) / 2 * 2;
    first_row_ = dice_.between(0, config.spm_rows() - window) / 2 * 2;
    end_row_ = first_row_ + window;
    const std::uint64_t window_words = std::uint64_t{window} * lanes_;
    max_elements_ = window_words / 6;
    max_row_words_ = window_words / 2;
    regions_[0].bytes = (2 * max_row_words_ + kPage - 1) / kPage * kPage + 2 * kPage;
    regions_[1] = {regions_[0].bytes, regions_[0].bytes};
    end_ = regions_[1].offset + regions_[1].bytes;
  }

  RandomStream run() {
    while (ops_.size() < options_.commands)
      step();
    store_everything();
    end_ = (end_ + kPage - 1) / kPage * kPage;

    RandomStream stream;
    stream.dram_base = options_.dram_base;
    stream.dram_image.resize(end_);
    fill(stream.dram_image);
    HazardTracker tracker(npu_, options_.dram_base, end_);
    std::vector<Needs> needs;
    for (const isa::Decoded &op : ops_)
      needs.push_back(tracker.add(op));
    for (const isa::Decoded &op : synchronise(ops_, needs, npu_.semaphores, dice_))
      stream.commands.push_back(isa::encode(op));
    return stream;
  }

private:
  void step() {
    if (objects_.size() > kMaxObjects) retire_smallest();
    if (count(false) < 2) return load_new(false);
    if (count(true) < 1 && dice_.chance(0.5)) return load_new(true);
    const std::uint64_t choice = dice_.below(100);
    if (choice < 20) return load_new(dice_.chance(0.35));
    if (choice < 32) return load_part();
    if (choice < 55) return store(pick_any(), false);
    gemm();
  }

  // --- scratchpad ---------------------------------------------------------------------------------

  std::size_t count(bool fp32) const {
    return static_cast<std::size_t>(
        std::count_if(objects_.begin(), objects_.end(), [&](const Object &o) { return o.fp32 == fp32; }));
  }

  const Object &pick_any() { return objects_[dice_.below(objects_.size())]; }
  /// One of the type, the larger of two more often.
  const Object &pick(bool fp32) {
    const auto any = [&]() -> const Object & {
      for (;;)
        if (const Object &o = pick_any(); o.fp32 == fp32) return o;
    };
    const Object &a = any();
    const Object &b = any();
    return dice_.chance(0.8) == (a.size() > b.size()) ? a : b;
  }

  /// Sizes that matter: one, around multiples of the array's, and anything up to three arrays.
  std::uint32_t dimension() {
    const std::uint32_t unit = dice_.chance(0.5) ? npu_.rows : npu_.cols;
    switch (dice_.below(5)) {
    case 0:
      return dice_.between(1, 3);
    case 1:
      return (dice_.chance(0.5) ? unit + 1 : 2 * unit + 1) - 2 * dice_.between(0, 1);
    case 2:
      return dice_.between(1, 3 * lanes_);
    default:
      return dice_.between(1, lanes_);
    }
  }

  bool overlap(const Object &a, const Object &b) const { return a.tile.row < b.end && b.tile.row < a.end; }

  /// Places a tile somewhere in the window, away from `avoid`; nothing if there is no room.
  std::optional<Object> place(std::uint32_t rows, std::uint32_t cols, bool fp32, const std::vector<Object> &avoid) {
    const std::uint32_t height = rows * height_of(fp32);
    const std::uint32_t panels = (cols + lanes_ - 1) / lanes_;
    Object o;
    o.rows = rows;
    o.cols = cols;
    o.fp32 = fp32;
    o.tile.rot = static_cast<std::uint8_t>(dice_.below(lanes_));
    o.tile.pstride = height + (dice_.chance(0.5) ? 0 : dice_.between(0, 4) * 2);
    const std::uint64_t extent = std::uint64_t{panels - 1} * o.tile.pstride + height;
    if (extent > end_row_ - first_row_) return std::nullopt;
    if (panels == 1 && dice_.chance(0.5)) o.tile.pstride = dice_.between(0, 100) * 2; // of no effect
    const auto last_start = static_cast<std::uint32_t>(end_row_ - extent);
    for (int attempt = 0; attempt < 20; ++attempt) {
      o.tile.row = dice_.between(first_row_, last_start);
      if (fp32) o.tile.row = o.tile.row / 2 * 2;
      o.end = static_cast<std::uint32_t>(o.tile.row + extent);
      if (std::none_of(avoid.begin(), avoid.end(), [&](const Object &a) { return overlap(a, o); })) return o;
    }
    return std::nullopt;
  }

  /// A place for a new tile that spares live ones if chance offers one of a few.
  std::optional<Object> place_sparing(std::uint32_t rows, std::uint32_t cols, bool fp32,
                                      const std::vector<Object> &avoid) {
    if (dice_.chance(0.6))
      if (std::optional<Object> o = place(rows, cols, fp32, objects_)) return o;
    return place(rows, cols, fp32, avoid);
  }

  /// Before a new tile overwrites live ones, most of these are stored: results that nobody looks at test nothing.
  void make_room(const Object &o) {
    for (const Object &a : objects_)
      if (overlap(a, o) && dice_.chance(0.7)) store(a, true);
    objects_.erase(std::remove_if(objects_.begin(), objects_.end(), [&](const Object &a) { return overlap(a, o); }),
                   objects_.end());
  }

  /// Small tiles fill the gaps between others and live long; without this they would soon be all there is.
  void retire_smallest() {
    const auto smallest = std::min_element(objects_.begin(), objects_.end(),
                                           [](const Object &a, const Object &b) { return a.size() < b.size(); });
    if (dice_.chance(0.7)) store(*smallest, true);
    objects_.erase(smallest);
  }

  /// A part of any size.
  Part part_of(const Object &o) {
    const std::uint32_t rows = up_to(o.rows);
    const std::uint32_t cols = up_to(o.cols);
    return part_of(o, rows, cols);
  }
  /// A part of the given size. Parts across panels start at a panel: the layout can express no others.
  Part part_of(const Object &o, std::uint32_t rows, std::uint32_t cols) {
    const std::uint32_t i0 = dice_.between(0, o.rows - rows);
    std::uint32_t j0 = dice_.between(0, o.cols - cols);
    if (j0 % lanes_ + cols > lanes_) j0 = j0 / lanes_ * lanes_;
    Part p{o.tile, rows, cols};
    p.tile.row += j0 / lanes_ * o.tile.pstride + i0 * height_of(o.fp32);
    p.tile.rot = static_cast<std::uint8_t>((o.tile.rot + i0 + j0) % lanes_);
    return p;
  }

  std::uint32_t up_to(std::uint32_t limit) { return dice_.chance(0.6) ? limit : dice_.between(1, limit); }
  /// The same, with whole blocks more often than chance gives them.
  std::uint32_t up_to(std::uint32_t limit, std::uint32_t unit) {
    return limit >= unit && dice_.chance(0.3) ? unit * dice_.between(1, limit / unit) : up_to(limit);
  }

  // --- DRAM ---------------------------------------------------------------------------------------

  /// Address and pitch of rows x cols elements somewhere in the region of the type.
  void place_in_dram(isa::DmaCommand &d) {
    const std::uint64_t element = bytes_of(d.fp32);
    const std::uint64_t row = d.cols * element;
    const Region &region = regions_[d.fp32 ? 1 : 0];
    std::uint64_t pitch = row;
    switch (dice_.below(4)) {
    case 0:
      pitch = row + dice_.below(40) * element;
      break;
    case 1:
      pitch = row + dice_.below(3000) * element;
      break;
    case 2:
      pitch = d.store ? row : dice_.below(d.cols + 1) * element;
      break; // rows that overlap may be read
    default:
      break;
    }
    if ((d.rows - 1) * pitch + row > region.bytes) pitch = row;
    const std::uint64_t room = region.bytes - ((d.rows - 1) * pitch + row);
    std::uint64_t at = dice_.below(room / element + 1) * element;
    if (dice_.chance(0.3)) { // a row that starts just before the end of a page
      const std::uint64_t before = kPage - (dice_.below(std::min<std::uint64_t>(d.cols, 64)) + 1) * element;
      const std::uint64_t snapped = at / kPage * kPage + before;
      if (snapped <= room) at = snapped;
    }
    d.dram_addr = options_.dram_base + region.offset + at;
    d.pitch = static_cast<std::uint32_t>(pitch);
    if (d.rows == 1 && dice_.chance(0.5)) d.pitch = static_cast<std::uint32_t>(dice_.bits()); // of no effect
  }

  // --- commands -----------------------------------------------------------------------------------

  template <typename Op> void emit(const Op &op) {
    isa::Decoded d;
    d.op = op;
    d.tag = static_cast<std::uint16_t>(dice_.below(65536));
    ops_.push_back(d);
  }

  void load(const isa::SpmTile &tile, std::uint32_t rows, std::uint32_t cols, bool fp32) {
    isa::DmaCommand d;
    d.fp32 = fp32;
    d.rows = rows;
    d.cols = cols;
    d.spm = tile;
    place_in_dram(d);
    emit(d);
  }

  void load_new(bool fp32) {
    std::uint32_t rows = dimension();
    std::uint32_t cols = dimension();
    if (dice_.chance(0.08)) { // rows of several bursts
      rows = dice_.between(1, 2);
      cols = static_cast<std::uint32_t>(std::min<std::uint64_t>(max_row_words_ / (rows * height_of(fp32)), 65535));
      cols = dice_.between(cols / 2, cols);
    } else {
      while (std::uint64_t{rows} * cols > max_elements_)
        (rows > cols ? rows : cols) /= 2;
    }
    const std::optional<Object> o = place_sparing(rows, cols, fp32, {});
    if (!o) return;
    make_room(*o);
    load(o->tile, rows, cols, fp32);
    objects_.push_back(*o);
  }

  void load_part() {
    const Object &o = pick_any();
    const Part p = part_of(o);
    load(p.tile, p.rows, p.cols, o.fp32);
  }

  void store(const Object &o, bool whole) {
    isa::DmaCommand d;
    d.store = true;
    d.fp32 = o.fp32;
    const Part p = whole ? part_of(o, o.rows, o.cols) : part_of(o);
    d.rows = p.rows;
    d.cols = p.cols;
    d.spm = p.tile;
    if (whole) {
      d.pitch = static_cast<std::uint32_t>((d.cols + dice_.below(9)) * bytes_of(o.fp32));
      end_ = (end_ + 3) / 4 * 4 + dice_.below(8) * 4;
      d.dram_addr = options_.dram_base + end_;
      end_ += std::uint64_t{d.pitch} * d.rows;
    } else {
      place_in_dram(d);
    }
    emit(d);
  }

  void store_everything() {
    for (const Object &o : objects_)
      store(o, true);
  }

  /// Operands and sizes of a GEMM, without the tiles' places.
  struct Product {
    isa::GemmCommand g;
    Object a, b;
    std::optional<Object> initial;
    std::uint64_t macs() const { return std::uint64_t{g.m} * g.n * g.k; }
  };

  Product draw_product() {
    Product p;
    isa::GemmCommand &g = p.g;
    p.a = pick(false);
    p.b = pick(false);
    g.a_col = dice_.chance(0.5);
    g.b_col = dice_.chance(0.5);
    g.out_bf16 = dice_.chance(0.35);
    g.k = up_to(std::min(g.a_col ? p.a.cols : p.a.rows, g.b_col ? p.b.cols : p.b.rows));
    g.m = up_to(g.a_col ? p.a.rows : p.a.cols, npu_.rows);
    g.n = up_to(g.b_col ? p.b.rows : p.b.cols, npu_.cols);
    if (count(true) != 0 && dice_.chance(0.6)) {
      p.initial = accumulated_ && is_live(*accumulated_) && dice_.chance(0.5) ? *accumulated_ : pick(true);
      g.acc = true;
      g.m = std::min(g.m, p.initial->rows);
      g.n = std::min(g.n, p.initial->cols);
    }
    while (p.macs() > options_.max_gemm_macs)
      (g.m > g.n ? g.m : g.n) /= 2;
    return p;
  }

  void gemm() {
    Product p = draw_product();
    const int others = dice_.chance(0.7) ? 4 : 0; // large products are rare, as all three sizes must be large
    for (int i = 0; i < others; ++i)
      if (const Product q = draw_product(); q.macs() > p.macs()) p = q;

    isa::GemmCommand &g = p.g;
    g.a = part_of(p.a, g.a_col ? g.m : g.k, g.a_col ? g.k : g.m).tile;
    g.b = part_of(p.b, g.b_col ? g.n : g.k, g.b_col ? g.k : g.n).tile;
    std::vector<Object> used{p.a, p.b};
    if (p.initial) {
      g.cin = part_of(*p.initial, g.m, g.n).tile;
      used.push_back(*p.initial);
    }
    if (p.initial && !g.out_bf16 && dice_.chance(0.7)) {
      g.cout = g.cin;
      accumulated_ = p.initial;
      emit(g);
    } else {
      emit_with_result(g, used);
    }
  }

  /// The result goes into part of a live tile or into a new one; never over what the same GEMM reads.
  void emit_with_result(isa::GemmCommand &g, const std::vector<Object> &used) {
    if (dice_.chance(0.4)) {
      const Object &o = pick_any();
      const bool free = std::none_of(used.begin(), used.end(), [&](const Object &u) { return overlap(u, o); });
      if (free && o.fp32 != g.out_bf16 && o.rows >= g.m && o.cols >= g.n) {
        g.cout = part_of(o, g.m, g.n).tile;
        emit(g);
        return;
      }
    }
    const std::optional<Object> o = place_sparing(g.m, g.n, !g.out_bf16, used);
    if (!o) return;
    make_room(*o);
    g.cout = o->tile;
    emit(g);
    objects_.push_back(*o);
  }

  bool is_live(const Object &o) const {
    return std::any_of(objects_.begin(), objects_.end(), [&](const Object &a) {
      return a.tile.row == o.tile.row && a.end == o.end && a.fp32 == o.fp32 && a.rows == o.rows && a.cols == o.cols &&
             a.tile.rot == o.tile.rot && a.tile.pstride == o.tile.pstride;
    });
  }

  // --- data ---------------------------------------------------------------------------------------

  void fill(std::vector<std::uint8_t> &image) {
    const DataMix mix = random_mix(dice_);
    fill_bf16(image.data() + regions_[0].offset, regions_[0].bytes / 2, mix, dice_);
    fill_fp32(image.data() + regions_[1].offset, regions_[1].bytes / 4, mix, dice_);
    for (std::uint64_t i = regions_[1].offset + regions_[1].bytes; i < image.size(); ++i)
      image[i] = static_cast<std::uint8_t>(dice_.bits());
  }

  const NpuConfig &npu_;
  const RandomStreamOptions &options_;
  Dice dice_;
  std::uint32_t lanes_, first_row_ = 0, end_row_ = 0;
  std::uint64_t max_elements_ = 0, max_row_words_ = 0;
  std::array<Region, 2> regions_; ///< bf16 and fp32 elements
  std::uint64_t end_ = 0;         ///< of the DRAM in use
  std::vector<Object> objects_;   ///< live tiles; none shares a row with another
  std::optional<Object> accumulated_;
  std::vector<isa::Decoded> ops_;
};

} // namespace

RandomStream make_random_stream(const NpuConfig &config, const RandomStreamOptions &options) {
  return Generator(config, options).run();
}

} // namespace gradweave::corpus
