#include "app/validate/corpus/timing_stream.hpp"

#include "app/validate/corpus/parts/errors.hpp"
#include "app/validate/corpus/timing_commands.hpp"
#include "app/validate/corpus/vector/any_work.hpp"
#include "base/random/dice.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace gradweave::corpus {

namespace {

constexpr std::uint64_t kPage = 4096;        // bursts end at its multiples
constexpr std::size_t kPosts = 3;            // of a command
constexpr std::uint64_t kAddSalt = 0x616464; // what is drawn for ADDs is apart from what the seed decides otherwise

class Generator : TimingCommands {
public:
  Generator(const Machine &config, const TimingStreamOptions &options)
      : TimingCommands(config, options.dram_bytes, options.seed), options_(options),
        adds_(Dice(options.seed ^ kAddSalt).chance(0.5)) {
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
        semaphore[order[i]] = post_for(order[i]);
      }
      for (const std::size_t e : order) {
        await(semaphore[e]);
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
      await(post_for(engine));
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
        await(post_for(engine));
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
      await(before);
      add(engine, {m, n, any_bank()});
      engine = any_core();
      before = post_for(engine);
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
      if (dice_.chance(0.2)) {
        sync_of_another(engine);
        await(post_for(engine));
      }
      vector(engine, dice_.chance(0.3) ? VectorSize::kTiny : VectorSize::kAny);
    }
    if (fault_ || !dice_.chance(options_.share_of_errors / 10)) return;
    UnitWriter &unit = units_[engine - kCompute - npu_.cores];
    fault_ = true;
    for (const Operation &op : unit.run(draw_faulty_work(unit, npu_, dice_)))
      emit(op);
  }

  void sync_of_another(std::size_t engine) {
    const std::size_t other = dice_.below(engines_);
    sync(other == engine ? kStore : other);
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

  const TimingStreamOptions &options_;
  bool adds_; ///< half of the streams have ADDs
  std::vector<UnitWriter> units_;
  bool fault_ = false; ///< a VECTOR has one
};

} // namespace

TimingStream make_timing_stream(const Machine &config, const TimingStreamOptions &options) {
  return Generator(config, options).run();
}

} // namespace gradweave::corpus
