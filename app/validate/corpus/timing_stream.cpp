#include "app/validate/corpus/timing_stream.hpp"

#include "app/validate/corpus/parts/errors.hpp"
#include "app/validate/corpus/parts/images.hpp"
#include "app/validate/corpus/parts/tokens.hpp"
#include "app/validate/corpus/vector/any_work.hpp"
#include "base/random/dice.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace gradweave::corpus {

namespace {

constexpr std::uint64_t kPage = 4096;           // bursts end at its multiples
constexpr std::uint32_t kCommandCycles = 3000;  // what one command should take at most, roughly
constexpr std::size_t kStore = 1, kCompute = 2; // the first core; they are the last engines
constexpr std::size_t kPosts = 3;               // of a command
constexpr std::uint64_t kAddSalt = 0x616464;    // what is drawn for ADDs is apart from what the seed decides otherwise

constexpr std::uint64_t kConvSalt = 0x636f6e76; // and so for convolutions

constexpr std::uint32_t height_of(bool fp32) { return fp32 ? 2 : 1; }
constexpr std::uint32_t bytes_of(bool fp32) { return fp32 ? 4 : 2; }

class Generator {
public:
  Generator(const Machine &config, const TimingStreamOptions &options)
      : npu_(config), options_(options), engines_(config.engines()), dice_(options.seed),
        tokens_(engines_, config.semaphores, dice_), adds_(Dice(options.seed ^ kAddSalt).chance(0.5)),
        convs_(Dice(options.seed ^ kConvSalt).chance(0.4)) {
    for (std::uint32_t unit = 0; unit < config.vectors(); ++unit)
      units_.emplace_back(static_cast<std::uint8_t>(unit), dice_);
  }

  TimingStream run() {
    const bool overflow = dice_.chance(options_.share_of_overflows);
    while (out_.size() < options_.commands) {
      sync_chance_ = std::array<double, 4>{0, 0.05, 0.3, 0.8}[dice_.below(4)];
      episode();
    }
    if (overflow) overflow_a_semaphore(out_, npu_, dice_);
    TimingStream stream;
    for (const isa::Decoded &d : out_)
      stream.commands.push_back(isa::encode(d));
    const bool error = !overflow && !fault_ && dice_.chance(options_.share_of_errors);
    if (error) break_stream(stream.commands, npu_, tokens_.never_posted(), dice_);
    stream.broken = overflow || error || fault_;
    return stream;
  }

private:
  // --- commands -----------------------------------------------------------------------------------

  template <typename Op> isa::Decoded &emit(const Op &op) {
    isa::Decoded d;
    d.op = op;
    d.tag = static_cast<std::uint16_t>(dice_.below(65536));
    if (awaited_) tokens_.wait_for_all(d.sync, *awaited_);
    awaited_.reset();
    tokens_.wait(d.sync, isa::engine_place(d.engine(), npu_.cores), sync_chance_);
    tokens_.post(d.sync, sync_chance_);
    out_.push_back(d);
    return out_.back();
  }

  isa::Decoded &sync(std::size_t engine) {
    return emit(isa::SyncCommand{isa::engine_at(static_cast<std::uint32_t>(engine), npu_.cores)});
  }

  std::uint32_t spm_extent(std::uint32_t rows, std::uint32_t cols, bool fp32, std::uint32_t pstride) const {
    return (cols - 1) / npu_.lanes() * pstride + rows * height_of(fp32);
  }

  /// Halves the larger size until the tile fits the scratchpad.
  void shrink(std::uint32_t &rows, std::uint32_t &cols, bool fp32) const {
    while (spm_extent(rows, cols, fp32, rows * height_of(fp32)) > npu_.spm_rows())
      (rows > cols ? rows : cols) /= 2;
  }

  /// Anywhere, or, if `bank` is given and has room, in that macro-bank.
  isa::SpmTile place(std::uint32_t rows, std::uint32_t cols, bool fp32, std::optional<std::uint32_t> bank = {}) {
    isa::SpmTile tile;
    tile.rot = static_cast<std::uint8_t>(dice_.below(npu_.lanes()));
    tile.pstride = rows * height_of(fp32);
    if (const std::uint32_t steps = (cols - 1) / npu_.lanes(); steps > 0 && dice_.chance(0.4)) {
      // Panels far apart: a line across two of them leaves out macro-banks between.
      const std::uint32_t room = (npu_.spm_rows() - tile.pstride) / steps - tile.pstride;
      tile.pstride += dice_.between(0, room / height_of(fp32)) * height_of(fp32);
    }
    const std::uint32_t extent = spm_extent(rows, cols, fp32, tile.pstride);
    std::uint32_t first = 0;
    std::uint32_t last = npu_.spm_rows() - extent;
    if (bank && extent <= npu_.bank_rows()) {
      first = *bank * npu_.bank_rows();
      last = first + npu_.bank_rows() - extent;
    }
    tile.row = dice_.between(first, last);
    if (fp32) tile.row = tile.row / 2 * 2;
    return tile;
  }

  /// Rows of which the engine can fetch so many, a burst each, in the time of a command.
  std::uint32_t most_rows() const {
    return std::clamp(kCommandCycles / (1 + npu_.memory.latency_cycles / npu_.outstanding), 2U, 400U);
  }

  /// Braces, unlike arguments, are evaluated in order: a seed means the same stream with every compiler.
  struct Transfer {
    bool store;
    std::uint32_t rows, cols;
    std::uint64_t pitch_room;
  };
  struct Product {
    std::uint32_t m, n, k;
    std::optional<std::uint32_t> bank; ///< for all tiles
  };
  struct Sum {
    std::uint32_t m, n;
    std::optional<std::uint32_t> bank; ///< for all tiles
  };

  void dma(const Transfer &t) {
    isa::DmaCommand d;
    d.store = t.store;
    d.fp32 = dice_.chance(0.4);
    const std::uint64_t element = bytes_of(d.fp32);
    std::uint32_t rows = t.rows;
    std::uint32_t cols = std::clamp(t.cols, 1U, static_cast<std::uint32_t>(kPage / element));
    shrink(rows, cols, d.fp32);
    const std::uint64_t row = cols * element;
    const std::uint64_t gap = dice_.below(t.pitch_room + 1) * element;
    const std::array<std::uint64_t, 5> pitches{row, row + gap, t.pitch_room, t.pitch_room + npu_.bus_bytes, 0};
    std::uint64_t pitch = pitches[dice_.below(pitches.size())];
    pitch = pitch / element * element;
    rows = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(rows, pitch == 0 ? rows : 1 + (options_.dram_bytes - row) / pitch));
    const std::uint64_t room = options_.dram_bytes - (row + (rows - 1) * pitch);
    std::uint64_t at = dice_.below(room / element + 1) * element;
    switch (dice_.below(4)) {
    case 0: // the start of a beat
      at = at / npu_.bus_bytes * npu_.bus_bytes;
      break;
    case 1: // the first row ends just behind a page
      at = std::min(room, at / kPage * kPage + kPage - dice_.between(1, cols) * element) / element * element;
      break;
    default:
      break;
    }
    d.rows = rows;
    d.cols = cols;
    d.pitch = static_cast<std::uint32_t>(pitch);
    d.dram_addr = at;
    d.spm = place(rows, cols, d.fp32);
    emit(d);
  }

  std::size_t any_core() { return npu_.cores == 1 ? kCompute : kCompute + dice_.below(npu_.cores); }
  static std::uint8_t core_of(std::size_t engine) { return static_cast<std::uint8_t>(engine - kCompute); }

  void gemm(std::size_t engine, const Product &p) {
    auto [m, n, k, bank] = p;
    if (convs_ && npu_.spm_rows() >= 8 && dice_.chance(0.5)) return convolution(engine, p);
    isa::GemmCommand g;
    g.core = core_of(engine);
    g.a_col = dice_.chance(0.5);
    g.b_col = dice_.chance(0.5);
    g.acc = dice_.chance(0.5);
    g.out_bf16 = dice_.chance(0.3);
    // Both walks and the fp32 result of the shape must fit.
    shrink(m, k, false);
    shrink(k, m, false);
    shrink(n, k, false);
    shrink(k, n, false);
    shrink(m, n, true);
    g.m = m;
    g.n = n;
    g.k = k;
    g.a = place(g.a_col ? m : k, g.a_col ? k : m, false, bank);
    g.b = place(g.b_col ? n : k, g.b_col ? k : n, false, bank);
    if (g.acc) g.cin = place(m, n, true, bank);
    g.cout = g.acc && !g.out_bf16 && dice_.chance(0.5) ? g.cin : place(m, n, !g.out_bf16, bank);
    emit(g);
  }

  /// The product's shape, its reduction over the taps of some image that fits.
  void convolution(std::size_t engine, const Product &p) {
    auto [m, n, k, bank] = p;
    isa::ConvCommand v;
    v.weights = dice_.chance(0.35);
    const std::uint32_t most = std::clamp(npu_.spm_rows() / 4, 1U, 400U);
    shrink(m, n, true);
    k = std::min({k, v.weights ? most : npu_.lanes(), most});
    m = std::min(m, v.weights ? 2 * npu_.lanes() : most);
    n = std::min(n, most);
    v.image = draw_image(v.weights, most, dice_).value_or(isa::ImageWalk{});
    isa::GemmCommand &g = v.product;
    g.core = core_of(engine);
    g.a_col = !v.weights;
    g.b_col = dice_.chance(0.5);
    g.acc = dice_.chance(0.5);
    g.out_bf16 = dice_.chance(0.3);
    if (const std::uint32_t others = v.image.taps() - 1; others != 0)
      v.image.b_tap = std::min(dice_.chance(0.5) ? most / others : dice_.between(0, 9), most / others);
    g.m = m;
    g.n = std::min(n, npu_.lanes());
    g.k = std::min(k, g.b_col ? 2 * npu_.lanes() : k);
    const std::uint32_t rows = reach_of(v.image) + (v.weights ? g.k : g.m);
    g.a = before_taps(place(rows, v.weights ? g.m : g.k, false, bank), v.image, npu_.lanes());
    g.b = place(v.b_rows(), g.b_col ? g.k : g.n, false, bank);
    if (g.acc) g.cin = place(g.m, g.n, true, bank);
    g.cout = place(g.m, g.n, !g.out_bf16, bank);
    emit(v);
  }

  void add(std::size_t engine, const Sum &sum) {
    auto [m, n, bank] = sum;
    isa::AddCommand a;
    a.core = core_of(engine);
    a.out_bf16 = dice_.chance(0.3);
    shrink(m, n, true);
    a.m = m;
    a.n = n;
    a.a = place(m, n, true, bank);
    a.cin = dice_.chance(0.2) ? a.a : place(m, n, true, bank);
    a.cout = !a.out_bf16 && dice_.chance(0.5) ? (dice_.chance(0.5) ? a.a : a.cin) : place(m, n, !a.out_bf16, bank);
    emit(a);
  }

  std::optional<std::uint32_t> any_bank() { return dice_.between(0, npu_.spm_banks - 1); }

  /// Around multiples of `unit`, up to three.
  std::uint32_t around(std::uint32_t unit) {
    const std::uint32_t multiple = unit * dice_.between(1, 3);
    return std::max(1U, multiple + dice_.between(0, 2) - 1);
  }

  // --- episodes -----------------------------------------------------------------------------------

  bool is_unit(std::size_t engine) const { return engine >= kCompute + npu_.cores; }

  /// Those of vector units come beside the others, so that an NPU without any has the streams that it had.
  void episode() {
    if (!units_.empty() && dice_.chance(0.35)) return vector_run();
    (this->*kEpisodes[dice_.below(kEpisodes.size() - (adds_ ? 0 : kAddEpisodes))])();
  }

  void tiny(std::size_t engine) {
    if (dice_.chance(0.4)) {
      sync(engine);
    } else if (is_unit(engine)) {
      vector(engine, VectorSize::kTiny);
    } else if (engine >= kCompute && adds_ && dice_.chance(0.4)) {
      add(engine, {dice_.between(1, 3), dice_.between(1, 3), std::nullopt});
    } else if (engine >= kCompute) {
      gemm(engine, {1, 1, dice_.between(1, 3), std::nullopt});
    } else {
      dma({engine == kStore, 1, 1, npu_.bus_bytes});
    }
  }

  /// Fills queues and empties them, faster than commands can be fetched.
  void tiny_burst() {
    const std::uint32_t count = dice_.between(1, std::min(4 * npu_.queue_depth, 40U));
    const bool one_engine = dice_.chance(0.4);
    std::size_t engine = dice_.below(engines_);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!one_engine) engine = dice_.below(engines_);
      tiny(engine);
    }
  }

  /// A few posts in successive cycles let the next command of every engine start: more than the arbiter can serve.
  void ready_at_once() {
    sync_chance_ = 0;
    const std::uint32_t rounds = dice_.between(1, 4);
    for (std::uint32_t r = 0; r < rounds; ++r) {
      std::optional<std::size_t> worker;
      if (dice_.chance(0.5)) {
        worker = dice_.below(engines_);
        work(*worker);
      }
      const std::size_t poster = worker && npu_.cores > 1 && dice_.chance(0.7) ? *worker : dice_.below(engines_);
      std::vector<std::size_t> order(engines_);
      std::iota(order.begin(), order.end(), std::size_t{0});
      if (npu_.cores > 1) dice_.shuffle(order);
      std::vector<std::uint8_t> semaphore(engines_);
      for (std::size_t i = 0; i < engines_; ++i) {
        if (i % kPosts == 0) sync(poster);
        semaphore[order[i]] = tokens_.post_for(out_.back().sync, order[i]);
      }
      for (const std::size_t e : order) {
        awaited_ = semaphore[e];
        tiny(e);
      }
    }
  }

  /// Long transfers in both directions: the memory serves them in batches and turns around between.
  void duel() {
    const std::uint32_t pairs = dice_.between(1, 3);
    const std::uint32_t bytes = dice_.between(256, 8192);
    for (std::uint32_t i = 0; i < 2 * pairs; ++i) {
      const std::uint32_t cols = dice_.between(1, std::min(bytes / 4, 1000U));
      dma({i % 2 == 0, std::clamp(bytes / 4 / cols, 1U, most_rows()), cols, 64});
    }
  }

  /// A burst for an element: as many as can wait for an answer, and more.
  void thin_rows() {
    const std::uint32_t most = std::min(most_rows(), 4 * npu_.outstanding + 8);
    for (std::uint32_t i = dice_.between(1, 3); i > 0; --i)
      dma({dice_.chance(0.5), dice_.between(1, most), dice_.between(1, 2), dice_.chance(0.5) ? npu_.bus_bytes : kPage});
  }

  /// Rows that pages cut into several bursts.
  void page_rows() {
    for (std::uint32_t i = dice_.between(1, 3); i > 0; --i)
      dma({dice_.chance(0.5), dice_.between(1, std::min(8U, most_rows())), dice_.between(1, 2048), kPage});
  }

  /// GEMMs one behind the other, often with all tiles in one macro-bank.
  void gemm_run() {
    const std::optional<std::uint32_t> bank = dice_.chance(0.6) ? any_bank() : std::nullopt;
    const std::size_t engine = any_core();
    for (std::uint32_t i = dice_.between(1, 5); i > 0; --i) {
      const std::uint32_t shortest = std::max(2 * npu_.rows + 5, npu_.rows + npu_.cols + 2);
      const std::uint32_t k = dice_.chance(0.5) ? dice_.between(1, 5) : dice_.between(1, 2 * shortest);
      gemm(engine, {around(npu_.rows), around(npu_.cols), k, bank});
    }
  }

  /// The array runs dry while the next GEMM waits for a transfer, and flushes the last block.
  void flush_gap() {
    const std::size_t engine = any_core();
    for (std::uint32_t i = dice_.between(1, 3); i > 0; --i) {
      gemm(engine, {around(npu_.rows), dice_.between(1, npu_.cols), dice_.between(1, 3 * npu_.rows), any_bank()});
      const bool store = dice_.chance(0.5);
      dma({store, dice_.between(1, 6), dice_.between(1, 300), 64});
      awaited_ = tokens_.post_for(out_.back().sync, engine);
      if (dice_.chance(0.5)) sync(engine);
      gemm(engine, {dice_.between(1, npu_.rows), dice_.between(1, npu_.cols), dice_.between(1, npu_.rows), any_bank()});
    }
  }

  std::uint32_t up_to_panels(std::uint32_t panels) { return dice_.between(1, panels * npu_.lanes()); }

  /// ADDs of all shapes between GEMMs of a core, before and behind a SYNC, with or without a pause before.
  void add_run() {
    const std::size_t engine = any_core();
    for (std::uint32_t i = dice_.between(2, 6); i > 0; --i)
      switch (dice_.below(5)) {
      case 0:
        sync(engine);
        break;
      case 1:
        gemm(engine, {around(npu_.rows), dice_.between(1, npu_.cols), dice_.between(1, 3 * npu_.rows), any_bank()});
        break;
      case 2:
        dma({dice_.chance(0.5), dice_.between(1, 4), dice_.between(1, 100), 64});
        awaited_ = tokens_.post_for(out_.back().sync, engine);
        add(engine, {dice_.between(1, 2 * npu_.rows), up_to_panels(2), any_bank()});
        break;
      default:
        add(engine, {dice_.between(1, 3 * npu_.rows), up_to_panels(3), dice_.chance(0.5) ? any_bank() : std::nullopt});
        break;
      }
  }

  /// A sum that goes from core to core: each multiplies, waits for the one before, and adds.
  void relay() {
    const std::uint32_t m = dice_.between(1, npu_.rows);
    const std::uint32_t n = dice_.between(1, npu_.cols);
    std::optional<std::uint8_t> before;
    std::size_t engine = any_core();
    for (std::uint32_t i = dice_.between(2, npu_.cores + 2); i > 0; --i) {
      gemm(engine, {m, n, dice_.between(1, 3 * npu_.rows), any_bank()});
      awaited_ = before;
      add(engine, {m, n, any_bank()});
      isa::Sync &posts = out_.back().sync;
      engine = any_core();
      before = tokens_.post_for(posts, engine);
    }
  }

  /// Work of a unit, and what it needs before.
  void vector(std::size_t engine, VectorSize size) {
    UnitWriter &unit = units_[engine - kCompute - npu_.cores];
    for (const Operation &op : unit.run(draw_any_work(unit, npu_, size, dice_)))
      emit(op);
  }

  /// Runs one behind the other, beside what other engines do; now and then one that has a fault and ends the stream.
  void vector_run() {
    const std::size_t engine = kCompute + npu_.cores + dice_.below(units_.size());
    for (std::uint32_t i = dice_.between(1, 4); i > 0; --i) {
      if (dice_.chance(0.3)) work(dice_.below(engines_));
      if (dice_.chance(0.2)) awaited_ = tokens_.post_for(emit_tiny_before(engine), engine);
      vector(engine, dice_.chance(0.3) ? VectorSize::kTiny : VectorSize::kAny);
    }
    if (fault_ || !dice_.chance(options_.share_of_errors / 10)) return;
    UnitWriter &unit = units_[engine - kCompute - npu_.cores];
    fault_ = true;
    for (const Operation &op : unit.run(draw_faulty_work(unit, npu_, dice_)))
      emit(op);
  }

  /// A command of another engine; its posts.
  isa::Sync &emit_tiny_before(std::size_t engine) {
    std::size_t other = dice_.below(engines_);
    if (other == engine) other = kStore;
    sync(other);
    return out_.back().sync;
  }

  void work(std::size_t engine) {
    if (is_unit(engine))
      vector(engine, VectorSize::kAny);
    else if (engine >= kCompute)
      gemm(engine, {dice_.between(1, 2 * npu_.rows), dice_.between(1, 2 * npu_.cols), dice_.between(1, 4 * npu_.rows),
                    dice_.chance(0.5) ? any_bank() : std::nullopt});
    else
      dma({engine == kStore, dice_.between(1, std::min(2 * npu_.lanes(), most_rows())),
           dice_.between(1, 2 * npu_.lanes()), dice_.below(300)});
  }

  /// All engines at ordinary work.
  void mixture() {
    for (std::uint32_t i = dice_.between(3, 12); i > 0; --i)
      work(dice_.below(engines_));
  }

  static constexpr std::array<void (Generator::*)(), 10> kEpisodes{
      &Generator::tiny_burst, &Generator::ready_at_once, &Generator::duel,      &Generator::thin_rows,
      &Generator::page_rows,  &Generator::gemm_run,      &Generator::flush_gap, &Generator::mixture,
      &Generator::add_run,    &Generator::relay};
  static constexpr std::size_t kAddEpisodes = 2; ///< the last ones

  const Machine &npu_;
  const TimingStreamOptions &options_;
  std::uint32_t engines_;
  Dice dice_;
  Tokens tokens_;
  bool adds_;                           ///< half of the streams have ADDs
  bool convs_;                          ///< some have convolutions
  double sync_chance_ = 0;              ///< of each wait and post
  std::optional<std::uint8_t> awaited_; ///< the next command waits for this semaphore, which is its engine's
  std::vector<UnitWriter> units_;
  bool fault_ = false; ///< a VECTOR has one
  std::vector<isa::Decoded> out_;
};

} // namespace

TimingStream make_timing_stream(const Machine &config, const TimingStreamOptions &options) {
  return Generator(config, options).run();
}

} // namespace gradweave::corpus
