#include "compiler/emit/hazards.hpp"
#include "compiler/lower/tiling.hpp"

#include <algorithm>
#include <unordered_map>

namespace gradweave::compiler {

std::uint8_t semaphore(std::size_t from, std::size_t to) {
  static constexpr std::array<std::array<std::uint8_t, 3>, 3> one_core{
      {{isa::kNoSemaphore, 0, 1}, {2, isa::kNoSemaphore, 3}, {4, 5, 6}}};
  if (from < one_core.size() && to < one_core.size()) return one_core[from][to];
  // A further core brings those to and from all engines before it, and its own.
  const std::size_t later = std::max(from, to), other = std::min(from, to);
  const std::size_t before = later * later - 2; // of all engines before: pairs, less load to load and store to store
  return static_cast<std::uint8_t>(before + (from == to ? 2 * later : 2 * other + (from < to ? 1 : 0)));
}

std::uint32_t semaphores_used(std::uint32_t cores) {
  const std::uint32_t engines = static_cast<std::uint32_t>(kComputeEngine) + cores;
  return engines * engines - 2;
}

namespace {

constexpr std::int32_t kNone = Ordering::kNone;
/// Blocks after which a block's results can be read as initial values without a wait (docs/microarchitecture.md).
constexpr std::uint64_t kSafeBlocks = 3;

/// For each engine an action.
using PerEngine = std::array<std::int32_t, kMostEngines>;
constexpr PerEngine nothing() {
  PerEngine none{};
  for (std::int32_t &e : none)
    e = kNone;
  return none;
}
constexpr PerEngine kNothing = nothing();

/// Last accesses to runs of scratchpad rows.
class RowTracker {
public:
  struct Run {
    std::uint32_t first = 0;
    std::int32_t writer = kNone;
    PerEngine readers = kNothing; ///< since the write, the last of each engine
  };

  explicit RowTracker(std::uint32_t rows) : rows_(rows) { runs_.push_back({}); }

  template <typename Visit> void visit(const RowRange &range, Visit visit) {
    for (std::size_t i = cut(range.first), end = cut(range.end()); i < end; ++i)
      visit(runs_[i]);
  }

  /// Visits what the action overwrites.
  template <typename Visit> void write(const RowRange &range, std::int32_t action, Visit visit) {
    const std::size_t begin = cut(range.first);
    const std::size_t end = cut(range.end());
    for (std::size_t i = begin; i < end; ++i)
      visit(runs_[i]);
    runs_[begin] = {range.first, action, kNothing};
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                runs_.begin() + static_cast<std::ptrdiff_t>(end));
  }

private:
  /// Index of the run that begins at `row`, after splitting if need be.
  std::size_t cut(std::uint32_t row) {
    const auto after = std::upper_bound(runs_.begin(), runs_.end(), row,
                                        [](std::uint32_t r, const Run &run) { return r < run.first; });
    const auto index = static_cast<std::size_t>(after - runs_.begin());
    if (runs_[index - 1].first == row) return index - 1;
    if (row >= rows_) return index;
    Run tail = runs_[index - 1];
    tail.first = row;
    runs_.insert(after, tail);
    return index;
  }

  std::uint32_t rows_;
  std::vector<Run> runs_;
};

using Clock = PerEngine; ///< for each engine, the last of its actions known to be complete

class Orderer {
public:
  Orderer(const Program &program, const NpuConfig &npu)
      : program_(program), npu_(npu), rows_(npu.spm_rows()), orderings_(program.actions.size()),
        clocks_(program.actions.size(), kNothing), first_block_(program.actions.size()),
        engines_(kComputeEngine + npu.cores) {}

  std::vector<Ordering> run();

private:
  const Action &action(std::int32_t i) const { return program_.actions[static_cast<std::size_t>(i)]; }
  std::uint64_t blocks(const Action &a) const { return block_count(a.rect.rows, a.rect.cols, npu_); }
  void need(std::int32_t other) {
    if (other != kNone) {
      std::int32_t &latest = needs_[engine_of(action(other))];
      latest = std::max(latest, other);
    }
  }
  bool initial_values_ready(std::int32_t producer, const Action &consumer) const;
  void read(const RowRange &range, bool initial_values);
  void write(const RowRange &range);
  void collect(const Action &a);
  void settle(Ordering &ordering, Clock &clock);

  const Program &program_;
  const NpuConfig &npu_;
  RowTracker rows_;
  std::vector<Ordering> orderings_;
  std::vector<Clock> clocks_; ///< known when the action starts
  std::vector<std::uint64_t> first_block_;
  std::array<std::uint64_t, kMostEngines> next_block_{}; ///< by engine
  std::size_t engines_;
  std::unordered_map<std::uint64_t, std::int32_t> spill_store_, spill_load_; ///< last access by DRAM address
  std::unordered_map<std::int32_t, std::int32_t> stored_;                    ///< last STORE by tensor
  PerEngine last_add_ = kNothing;
  std::int32_t now_ = 0;
  PerEngine needs_ = kNothing;
};

/// Whether a GEMM may read an earlier GEMM's results, of the same core, as initial values without waiting for its
/// completion.
bool Orderer::initial_values_ready(std::int32_t producer, const Action &consumer) const {
  const Action &p = action(producer);
  const std::uint64_t first = first_block_[static_cast<std::size_t>(producer)];
  const bool same_tile = p.cout.rows.first == consumer.cin.rows.first && p.rect == consumer.rect && !p.out_bf16;
  const std::uint64_t last_needed = same_tile ? first : first + blocks(p) - 1;
  return first_block_[static_cast<std::size_t>(now_)] >= last_needed + kSafeBlocks;
}

void Orderer::read(const RowRange &range, bool initial_values) {
  const Action &self = action(now_);
  const std::size_t engine = engine_of(self);
  rows_.visit(range, [&](RowTracker::Run &run) {
    if (run.writer != kNone) {
      const bool same_engine = engine_of(action(run.writer)) == engine;
      // An ADD begins when all that its core did before is written, and nothing begins on the core before it ends.
      const bool after_add = last_add_[engine] >= run.writer || self.kind == Action::Kind::kAdd;
      const bool ready = after_add || (initial_values && initial_values_ready(run.writer, self));
      if (!same_engine || !ready) need(run.writer);
    }
    run.readers[engine] = now_;
  });
}

void Orderer::write(const RowRange &range) {
  const std::size_t engine = engine_of(action(now_));
  // An engine's own accesses are in order: loads and results complete in order, and a GEMM has read its operands
  // before a later one's results leave the array.
  rows_.write(range, now_, [&](const RowTracker::Run &run) {
    if (run.writer != kNone && engine_of(action(run.writer)) != engine) need(run.writer);
    for (std::size_t e = 0; e < engines_; ++e)
      if (e != engine) need(run.readers[e]);
  });
}

void Orderer::collect(const Action &a) {
  needs_ = kNothing;
  if (a.computes()) {
    read(a.a.rows, false);
    read(a.b.rows, false);
    if (a.acc || a.kind == Action::Kind::kAdd) read(a.cin.rows, true);
    write(a.cout.rows);
    return;
  }
  const auto last = [](const auto &map, auto key) {
    const auto it = map.find(key);
    return it == map.end() ? kNone : it->second;
  };
  if (a.kind == Action::Kind::kLoad) {
    write(a.place.rows);
    if (a.spill) {
      need(last(spill_store_, a.dram_addr));
      spill_load_[a.dram_addr] = now_;
    } else { // elements are stored once; tiles may be cut differently, so all that was stored must have arrived
      need(last(stored_, a.binding));
    }
  } else {
    read(a.place.rows, false);
    if (a.spill) {
      need(last(spill_load_, a.dram_addr));
      spill_store_[a.dram_addr] = now_;
    } else {
      stored_[a.binding] = now_;
    }
  }
}

/// Turns needs into waits, leaving out what the engine knows already and what another wait implies.
void Orderer::settle(Ordering &ordering, Clock &clock) {
  const std::size_t self = engine_of(action(now_));
  const auto knows = [&](std::int32_t done, std::size_t engine) {
    const Clock &c = clocks_[static_cast<std::size_t>(done)];
    return engine_of(action(done)) == engine ? done : c[engine];
  };
  for (std::size_t e = 0; e < engines_; ++e) {
    bool implied = needs_[e] <= clock[e];
    for (std::size_t other = 0; other < engines_ && !implied; ++other)
      implied = other != e && needs_[other] > clock[other] && knows(needs_[other], e) >= needs_[e];
    if (implied) continue;
    ordering.after[e] = needs_[e];
    orderings_[static_cast<std::size_t>(needs_[e])].posts[self] = true;
  }
  for (std::size_t other = 0; other < engines_; ++other)
    if (const std::int32_t done = ordering.after[other]; done != kNone)
      for (std::size_t e = 0; e < engines_; ++e)
        clock[e] = std::max(clock[e], knows(done, e));
}

std::vector<Ordering> Orderer::run() {
  PerEngine last_of_engine = kNothing;
  for (const Action &a : program_.actions) {
    const auto index = static_cast<std::size_t>(now_);
    const std::size_t engine = engine_of(a);
    Clock &clock = clocks_[index];
    if (last_of_engine[engine] != kNone) clock = clocks_[static_cast<std::size_t>(last_of_engine[engine])];
    first_block_[index] = next_block_[engine];
    collect(a);
    settle(orderings_[index], clock);
    if (a.kind == Action::Kind::kGemm) next_block_[engine] += blocks(a);
    if (a.kind == Action::Kind::kAdd) last_add_[engine] = now_;
    last_of_engine[engine] = now_;
    ++now_;
  }
  return std::move(orderings_);
}

} // namespace

std::vector<Ordering> order_actions(const Program &program, const NpuConfig &npu) {
  return Orderer(program, npu).run();
}

} // namespace gradweave::compiler
