#include "app/validate/corpus/random_stream.hpp"

#include "app/validate/corpus/dram_regions.hpp"
#include "app/validate/corpus/parts/hazards.hpp"
#include "app/validate/corpus/parts/images.hpp"
#include "app/validate/corpus/parts/live_tiles.hpp"
#include "app/validate/corpus/parts/semaphores.hpp"
#include "app/validate/corpus/vector/tile_work.hpp"
#include "base/random/dice.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace gradweave::corpus {

namespace {

constexpr std::size_t kMaxObjects = 8;
constexpr std::uint64_t kAddSalt = 0x616464;    // what is drawn for ADDs is apart from what the seed decides otherwise
constexpr std::uint64_t kConvSalt = 0x636f6e76; // and so for convolutions
constexpr double kShareOfVectors = 0.8;         // of the streams of an NPU that has vector units

class Generator {
public:
  Generator(const NpuConfig &config, const RandomStreamOptions &options)
      : npu_(config), options_(options), dice_(options.seed), adds_(Dice(options.seed ^ kAddSalt).chance(0.5)),
        convs_(Dice(options.seed ^ kConvSalt).chance(0.4)), lanes_(config.lanes()), tiles_(config, dice_),
        max_elements_(window_words() / 6), max_row_words_(window_words() / 2),
        dram_(options.dram_base, max_row_words_, dice_), engines_(draw_engines()),
        vectors_(config.vectors() != 0 && dice_.chance(kShareOfVectors)) {
    for (std::uint32_t unit = 0; unit < config.vectors(); ++unit)
      units_.emplace_back(static_cast<std::uint8_t>(unit), dice_);
  }

  RandomStream run() {
    while (ops_.size() < options_.commands)
      step();
    store_everything();

    RandomStream stream;
    stream.dram_base = options_.dram_base;
    stream.dram_image = dram_.image();
    HazardTracker tracker(npu_, options_.dram_base, stream.dram_image.size());
    std::vector<Needs> needs;
    for (const isa::Decoded &op : ops_)
      needs.push_back(tracker.add(op));
    for (const isa::Decoded &op : synchronise(ops_, needs, engines_, npu_, dice_))
      stream.commands.push_back(isa::encode(op));
    return stream;
  }

private:
  std::uint64_t window_words() const { return std::uint64_t{tiles_.window_rows()} * lanes_; }

  /// Load, store, and as many cores and vector units as there are semaphores for, any of them, a core at least.
  std::vector<std::uint8_t> draw_engines() {
    std::vector<std::uint8_t> engines(npu_.engines());
    std::iota(engines.begin(), engines.end(), std::uint8_t{0});
    while (semaphores_needed(engines, npu_) > npu_.semaphores) {
      const std::size_t which = kComputeEngine + dice_.below(engines.size() - kComputeEngine);
      if (cores_among(engines) > 1 || engines[which] >= first_unit())
        engines.erase(engines.begin() + static_cast<std::ptrdiff_t>(which));
    }
    return engines;
  }
  std::size_t first_unit() const { return kComputeEngine + npu_.cores; }
  /// Places of cores; those of vector units follow.
  std::size_t cores_among(const std::vector<std::uint8_t> &engines) const {
    return static_cast<std::size_t>(std::count_if(engines.begin() + kComputeEngine, engines.end(),
                                                  [&](std::uint8_t e) { return e < first_unit(); }));
  }
  /// Often the one before: commands of a core overlap in other ways than those of several.
  std::uint8_t any_core() {
    const std::size_t cores = cores_among(engines_);
    if (cores > 1 && dice_.chance(0.6)) last_core_ = dice_.below(cores);
    return static_cast<std::uint8_t>(engines_[kComputeEngine + last_core_] - kComputeEngine);
  }

  void step() {
    if (tiles_.all().size() > kMaxObjects) retire_smallest();
    if (tiles_.count(false) < 2) return load_new(false);
    if (tiles_.count(true) < 1 && dice_.chance(0.5)) return load_new(true);
    if (vectors_ && dice_.chance(0.3)) return vector();
    const std::uint64_t choice = dice_.below(100);
    if (choice < 20) return load_new(dice_.chance(0.35));
    if (choice < 32) return load_part();
    if (choice < 55) return store(tiles_.pick_any(), false);
    if (adds_ && tiles_.count(true) != 0 && dice_.chance(0.4)) return add();
    if (convs_ && dice_.chance(0.6)) return convolution();
    gemm();
  }

  /// `limit` or less, with whole blocks more often than chance gives them.
  std::uint32_t blocks_up_to(std::uint32_t limit, std::uint32_t unit) {
    return limit >= unit && dice_.chance(0.3) ? unit * dice_.between(1, limit / unit) : up_to(limit, dice_);
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

  /// Before a new tile overwrites live ones, most of these are stored: results that nobody looks at test nothing.
  void make_room(const Object &o) {
    for (const Object &a : tiles_.all())
      if (a.overlaps(o) && dice_.chance(0.7)) store(a, true);
    tiles_.remove_overlapping(o);
  }

  void retire_smallest() {
    const Object smallest = tiles_.remove_smallest();
    if (dice_.chance(0.7)) store(smallest, true);
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
    dram_.place(d);
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
    const std::optional<Object> o = tiles_.place(rows, cols, fp32, {});
    if (!o) return;
    make_room(*o);
    load(o->tile, rows, cols, fp32);
    tiles_.add(*o);
  }

  void load_part() {
    const Object &o = tiles_.pick_any();
    const Part p = tiles_.part_of(o);
    load(p.tile, p.rows, p.cols, o.fp32);
  }

  void store(const Object &o, bool whole) {
    isa::DmaCommand d;
    d.store = true;
    d.fp32 = o.fp32;
    const Part p = whole ? tiles_.part_of(o, o.rows, o.cols) : tiles_.part_of(o);
    d.rows = p.rows;
    d.cols = p.cols;
    d.spm = p.tile;
    if (whole)
      dram_.append(d);
    else
      dram_.place(d);
    emit(d);
  }

  void store_everything() {
    for (const Object &o : tiles_.all())
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
    g.core = any_core();
    p.a = tiles_.pick(false);
    p.b = tiles_.pick(false);
    g.a_col = dice_.chance(0.5);
    g.b_col = dice_.chance(0.5);
    g.out_bf16 = dice_.chance(0.35);
    g.k = up_to(std::min(g.a_col ? p.a.cols : p.a.rows, g.b_col ? p.b.cols : p.b.rows), dice_);
    g.m = blocks_up_to(g.a_col ? p.a.rows : p.a.cols, npu_.rows);
    g.n = blocks_up_to(g.b_col ? p.b.rows : p.b.cols, npu_.cols);
    if (tiles_.count(true) != 0 && dice_.chance(0.6)) {
      p.initial =
          accumulated_ && tiles_.is_live(*accumulated_) && dice_.chance(0.5) ? *accumulated_ : tiles_.pick(true);
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
    g.a = tiles_.part_of(p.a, g.a_col ? g.m : g.k, g.a_col ? g.k : g.m).tile;
    g.b = tiles_.part_of(p.b, g.b_col ? g.n : g.k, g.b_col ? g.k : g.n).tile;
    std::vector<Object> used{p.a, p.b};
    if (p.initial) {
      g.cin = tiles_.part_of(*p.initial, g.m, g.n).tile;
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

  /// Of a tile of `cols` columns, those that a tap may have; phases that are packed lie in its first panel.
  std::uint32_t pack(isa::ImageWalk &image, std::uint32_t cols) const {
    const std::uint32_t phases = image.stride * image.stride - 1, panel = std::min(cols, lanes_);
    if (!image.packed || phases == 0) return cols;
    image.plane = std::min(image.plane, (panel - 1) / phases);
    return panel - phases * image.plane;
  }

  /// What A and B allow, and B's rows from tap to tap; false if chance found no image that A can hold.
  bool draw_shape(isa::ConvCommand &v, const Object &a, const Object &b) {
    isa::GemmCommand &g = v.product;
    const std::optional<isa::ImageWalk> image = draw_image(v.weights, a.rows, dice_);
    if (!image) return false;
    v.image = *image;
    const std::uint32_t lines = a.rows - reach_of(v.image);
    const std::uint32_t others = v.image.taps() - 1;
    if (others >= b.rows)
      v.image.b_tap = 0;
    else if (others == 0)
      v.image.b_tap = dice_.between(0, 9);
    else
      v.image.b_tap = dice_.chance(0.7) ? b.rows / (others + 1) : dice_.between(0, (b.rows - 1) / others);
    const std::uint32_t b_rows = others == 0 ? b.rows : b.rows - others * v.image.b_tap;
    g.k = up_to(std::min(v.weights ? lines : pack(v.image, a.cols), g.b_col ? b.cols : b_rows), dice_);
    g.m = blocks_up_to(v.weights ? a.cols : lines, npu_.rows);
    g.n = blocks_up_to(g.b_col ? b_rows : b.cols, npu_.cols);
    while (std::uint64_t{g.m} * g.n * v.steps() > options_.max_gemm_macs && g.m * g.n > 1)
      (g.m > g.n ? g.m : g.n) /= 2;
    return true;
  }

  /// A convolution of an image in a live tile, whose edges, strides and padding are wherever chance has them.
  void convolution() {
    const Object a = tiles_.pick(false);
    const Object b = tiles_.pick(false);
    isa::ConvCommand v;
    v.weights = dice_.chance(0.35);
    isa::GemmCommand &g = v.product;
    g.core = any_core();
    g.a_col = !v.weights;
    g.b_col = dice_.chance(0.5);
    g.out_bf16 = dice_.chance(0.35);
    if (!draw_shape(v, a, b)) return gemm();
    std::vector<Object> used{a, b};
    if (tiles_.count(true) != 0 && dice_.chance(0.5)) {
      const Object initial = tiles_.pick(true);
      g.acc = true;
      g.m = std::min(g.m, initial.rows);
      g.n = std::min(g.n, initial.cols);
      g.cin = tiles_.part_of(initial, g.m, g.n).tile;
      used.push_back(initial);
    }
    const std::uint32_t rows = reach_of(v.image) + (v.weights ? g.k : g.m);
    const std::uint32_t phases = v.image.packed ? v.image.stride * v.image.stride - 1 : 0;
    g.a = before_taps(tiles_.part_of(a, rows, v.weights ? g.m : phases * v.image.plane + g.k).tile, v.image, lanes_);
    g.b = tiles_.part_of(b, v.b_rows(), g.b_col ? g.k : g.n).tile;
    if (g.acc && !g.out_bf16 && dice_.chance(0.5)) {
      g.cout = g.cin;
      emit(v);
    } else {
      emit_with_result(v, used);
    }
  }

  /// Two partial sums, or one with itself; the sum in place of one of them or elsewhere.
  void add() {
    const Object a = tiles_.pick(true);
    const Object b = dice_.chance(0.8) ? tiles_.pick(true) : a;
    isa::AddCommand c;
    c.core = any_core();
    c.out_bf16 = dice_.chance(0.35);
    c.m = blocks_up_to(std::min(a.rows, b.rows), npu_.rows);
    c.n = blocks_up_to(std::min(a.cols, b.cols), npu_.cols);
    c.a = tiles_.part_of(a, c.m, c.n).tile;
    const bool one_tile = same(a, b);
    c.cin = one_tile && dice_.chance(0.5) ? c.a : tiles_.part_of(b, c.m, c.n).tile;
    const bool overlapping = one_tile && !same(c.a, c.cin);
    if (!c.out_bf16 && !overlapping && dice_.chance(0.6)) {
      c.cout = dice_.chance(0.5) ? c.a : c.cin;
      emit(c);
    } else {
      emit_with_result(c, {a, b});
    }
  }

  /// A run of a program, with all that it needs before it, on one of the vector units in use.
  void vector() {
    const std::size_t units = engines_.size() - kComputeEngine - cores_among(engines_);
    if (units == 0) return gemm();
    UnitWriter &unit = units_[engines_[engines_.size() - units + dice_.below(units)] - first_unit()];
    const std::optional<TileWork> drawn = draw_tile_work(tiles_, unit, lanes_, dice_);
    if (!drawn) return;
    for (const Object &result : drawn->results)
      make_room(result);
    for (const Operation &op : unit.run(drawn->work))
      emit(op);
    for (const Object &result : drawn->results)
      tiles_.add(result);
  }

  /// The result goes into part of a live tile or into a new one; never over what the same command reads.
  template <typename Op> void emit_with_result(Op &command, const std::vector<Object> &used) {
    auto &g = result_of(command);
    if (dice_.chance(0.4)) {
      const Object &o = tiles_.pick_any();
      const bool free = std::none_of(used.begin(), used.end(), [&](const Object &u) { return u.overlaps(o); });
      if (free && o.fp32 != g.out_bf16 && o.rows >= g.m && o.cols >= g.n) {
        g.cout = tiles_.part_of(o, g.m, g.n).tile;
        emit(command);
        return;
      }
    }
    const std::optional<Object> o = tiles_.place(g.m, g.n, !g.out_bf16, used);
    if (!o) return;
    make_room(*o);
    g.cout = o->tile;
    emit(command);
    tiles_.add(*o);
  }

  /// The part of a command that says what comes out.
  template <typename Op> static Op &result_of(Op &command) { return command; }
  static isa::GemmCommand &result_of(isa::ConvCommand &conv) { return conv.product; }

  const NpuConfig &npu_;
  const RandomStreamOptions &options_;
  Dice dice_;
  bool adds_;  ///< half of the streams have ADDs
  bool convs_; ///< some have convolutions
  std::uint32_t lanes_;
  LiveTiles tiles_;
  std::uint64_t max_elements_, max_row_words_;
  DramRegions dram_;
  std::optional<Object> accumulated_;
  std::vector<std::uint8_t> engines_; ///< places of those in use
  bool vectors_;                      ///< most have programs of vector units, if there are any
  std::vector<UnitWriter> units_;
  std::size_t last_core_ = 0; ///< of these
  std::vector<isa::Decoded> ops_;
};

} // namespace

RandomStream make_random_stream(const NpuConfig &config, const RandomStreamOptions &options) {
  return Generator(config, options).run();
}

} // namespace gradweave::corpus
