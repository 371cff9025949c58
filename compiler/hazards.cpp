#include "compiler/hazards.hpp"

#include <algorithm>
#include <unordered_map>

namespace gradweave::compiler {

std::uint8_t semaphore(std::size_t from, std::size_t to) {
  static constexpr std::array<std::array<std::uint8_t, kEngines>, kEngines> ids{
      {{isa::kNoSemaphore, 0, 1}, {2, isa::kNoSemaphore, 3}, {4, 5, 6}}};
  return ids.at(from).at(to);
}

namespace {

constexpr std::int32_t kNone = -1;
/// Blocks after which a block's results can be read as initial values without a wait (docs/microarchitecture.md).
constexpr std::uint64_t kSafeBlocks = 3;

/// Last accesses to runs of scratchpad rows.
class RowTracker {
public:
  struct Run {
    std::uint32_t first = 0;
    std::int32_t writer = kNone;
    std::array<std::int32_t, kEngines> readers{kNone, kNone, kNone}; ///< since the write, the last of each engine
  };

  explicit RowTracker(std::uint32_t rows) : rows_(rows) { runs_.push_back({}); }

  template <typename Visit> void visit(const RowRange &range, Visit visit) {
    for (std::size_t i = cut(range.first), end = cut(range.end()); i < end; ++i)
      visit(runs_[i]);
  }

  void write(const RowRange &range, std::int32_t action) {
    const std::size_t begin = cut(range.first);
    const std::size_t end = cut(range.end());
    runs_[begin] = {range.first, action, {kNone, kNone, kNone}};
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

using Clock = std::array<std::int32_t, kEngines>; ///< for each engine, the last of its actions known to be complete

class Orderer {
public:
  Orderer(const Program &program, const NpuConfig &npu)
      : program_(program), npu_(npu), rows_(npu.spm_rows()), orderings_(program.actions.size()),
        clocks_(program.actions.size(), Clock{kNone, kNone, kNone}), first_block_(program.actions.size()) {}

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
  std::uint64_t next_block_ = 0;
  std::unordered_map<std::uint64_t, std::int32_t> spill_store_, spill_load_; ///< last access by DRAM address
  std::int32_t now_ = 0;
  Clock needs_{};
};

/// Whether a GEMM may read an earlier GEMM's results as initial values without waiting for its completion.
bool Orderer::initial_values_ready(std::int32_t producer, const Action &consumer) const {
  const Action &p = action(producer);
  const std::uint64_t first = first_block_[static_cast<std::size_t>(producer)];
  const bool same_tile = p.cout.rows.first == consumer.cin.rows.first && p.rect == consumer.rect && !p.out_bf16;
  const std::uint64_t last_needed = same_tile ? first : first + blocks(p) - 1;
  return next_block_ >= last_needed + kSafeBlocks;
}

void Orderer::read(const RowRange &range, bool initial_values) {
  const Action &self = action(now_);
  const std::size_t engine = engine_of(self);
  rows_.visit(range, [&](RowTracker::Run &run) {
    if (run.writer != kNone) {
      const bool same_engine = engine_of(action(run.writer)) == engine;
      if (!same_engine || !initial_values || !initial_values_ready(run.writer, self)) need(run.writer);
    }
    run.readers[engine] = now_;
  });
}

void Orderer::write(const RowRange &range) {
  const std::size_t engine = engine_of(action(now_));
  // An engine's own accesses are in order: loads and results complete in order, and a GEMM has read its operands
  // before a later one's results leave the array.
  rows_.visit(range, [&](const RowTracker::Run &run) {
    if (run.writer != kNone && engine_of(action(run.writer)) != engine) need(run.writer);
    for (std::size_t e = 0; e < kEngines; ++e)
      if (e != engine) need(run.readers[e]);
  });
  rows_.write(range, now_);
}

void Orderer::collect(const Action &a) {
  needs_ = {kNone, kNone, kNone};
  if (a.kind == Action::Kind::kGemm) {
    read(a.a.rows, false);
    read(a.b.rows, false);
    if (a.acc) read(a.cin.rows, true);
    write(a.cout.rows);
    return;
  }
  const auto last = [](const auto &map, std::uint64_t address) {
    const auto it = map.find(address);
    return it == map.end() ? kNone : it->second;
  };
  if (a.kind == Action::Kind::kLoad) {
    write(a.place.rows);
    if (a.spill) {
      need(last(spill_store_, a.dram_addr));
      spill_load_[a.dram_addr] = now_;
    }
  } else {
    read(a.place.rows, false);
    if (a.spill) {
      need(last(spill_load_, a.dram_addr));
      spill_store_[a.dram_addr] = now_;
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
  for (std::size_t e = 0; e < kEngines; ++e) {
    bool implied = needs_[e] <= clock[e];
    for (std::size_t other = 0; other < kEngines && !implied; ++other)
      implied = other != e && needs_[other] > clock[other] && knows(needs_[other], e) >= needs_[e];
    if (implied) continue;
    ordering.after[e] = needs_[e];
    orderings_[static_cast<std::size_t>(needs_[e])].posts[self] = true;
  }
  for (const std::int32_t done : ordering.after)
    if (done != kNone)
      for (std::size_t e = 0; e < kEngines; ++e)
        clock[e] = std::max(clock[e], knows(done, e));
}

std::vector<Ordering> Orderer::run() {
  Clock last_of_engine{kNone, kNone, kNone};
  for (const Action &a : program_.actions) {
    const auto index = static_cast<std::size_t>(now_);
    const std::size_t engine = engine_of(a);
    Clock &clock = clocks_[index];
    if (last_of_engine[engine] != kNone) clock = clocks_[static_cast<std::size_t>(last_of_engine[engine])];
    first_block_[index] = next_block_;
    collect(a);
    settle(orderings_[index], clock);
    if (a.kind == Action::Kind::kGemm) next_block_ += blocks(a);
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
