#include "compiler/emit/hazards.hpp"
#include "compiler/lower/tiling.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

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

/// For any number of engines.
class RunningOrder::Orderer {
public:
  virtual ~Orderer() = default;
  virtual void begin() = 0;
  virtual void follow(const Program &program) = 0;
  const Orderings &orderings() const { return orderings_; }
  /// If no more actions are to come.
  Orderings take() { return std::move(orderings_); }

protected:
  explicit Orderer(std::size_t engines) : orderings_(engines) {}
  Orderings orderings_;
};

namespace {

constexpr std::int32_t kNone = Ordering::kNone;
/// Blocks after which a block's results can be read as initial values without a wait (docs/microarchitecture.md).
constexpr std::uint64_t kSafeBlocks = 3;

/// For each of E engines an action.
template <std::size_t E> using PerEngine = std::array<std::int32_t, E>;
template <std::size_t E> constexpr PerEngine<E> nothing() {
  PerEngine<E> none{};
  for (std::int32_t &e : none)
    e = kNone;
  return none;
}

/// Last accesses to runs of scratchpad rows.
template <std::size_t E> class RowTracker {
public:
  struct Run {
    std::int32_t writer = kNone;
    std::uint32_t writing_engine = 0;
    PerEngine<E> readers = nothing<E>(); ///< since the write, the last of each engine
  };

  explicit RowTracker(std::uint32_t rows) : rows_(rows) { clear(); }

  /// No access yet.
  void clear() {
    firsts_.assign(1, 0);
    runs_.assign(1, {});
  }

  template <typename Visit> void visit(const RowRange &range, Visit visit) {
    for (auto [i, end] = runs_of(range); i < end; ++i)
      visit(runs_[i]);
  }

  /// Visits what the action of an engine overwrites.
  template <typename Visit> void write(const RowRange &range, std::int32_t action, std::size_t engine, Visit visit) {
    const auto [begin, end] = runs_of(range);
    for (std::size_t i = begin; i < end; ++i)
      visit(runs_[i]);
    runs_[begin] = {action, static_cast<std::uint32_t>(engine), nothing<E>()};
    const auto first = static_cast<std::ptrdiff_t>(begin) + 1, last = static_cast<std::ptrdiff_t>(end);
    runs_.erase(runs_.begin() + first, runs_.begin() + last);
    firsts_.erase(firsts_.begin() + first, firsts_.begin() + last);
  }

private:
  /// The first of the runs of the range, and the one behind them, after splitting those at its ends if need be.
  std::pair<std::size_t, std::size_t> runs_of(const RowRange &range) {
    const std::size_t last = last_from(range.first);
    const std::size_t begin = firsts_[last] == range.first || range.first >= rows_ ? last : split(last, range.first);
    std::size_t end = begin;
    while (end < firsts_.size() && firsts_[end] < range.end())
      ++end;
    const std::uint32_t behind = end < firsts_.size() ? firsts_[end] : rows_;
    if (end > begin && behind > range.end()) split(end - 1, range.end());
    return {begin, end};
  }

  /// Splits a run in two, of which the second begins at `row`: its index.
  std::size_t split(std::size_t index, std::uint32_t row) {
    const Run tail = runs_[index];
    const auto after = static_cast<std::ptrdiff_t>(index) + 1;
    runs_.insert(runs_.begin() + after, tail);
    firsts_.insert(firsts_.begin() + after, row);
    return index + 1;
  }

  /// The last run that begins at `row` or before: by halves, without a branch to be guessed.
  std::size_t last_from(std::uint32_t row) const {
    const std::uint32_t *base = firsts_.data();
    for (std::size_t left = firsts_.size(); left > 1;) {
      const std::size_t half = left / 2;
      base = base[half] <= row ? base + half : base;
      left -= half;
    }
    return static_cast<std::size_t>(base - firsts_.data());
  }

  std::uint32_t rows_;
  std::vector<std::uint32_t> firsts_; ///< rows of the runs
  std::vector<Run> runs_;
};

/// For an NPU of E engines.
template <std::size_t E> class OrdererOf : public RunningOrder::Orderer {
public:
  explicit OrdererOf(const NpuConfig &npu) : Orderer(E), npu_(npu), rows_(npu.spm_rows()) {}

  void begin() override;
  void follow(const Program &program) override;

private:
  using Clock = PerEngine<E>; ///< for each engine, the last of its actions known to be complete
  using Run = typename RowTracker<E>::Run;

  const Action &action(std::int32_t i) const { return actions_[static_cast<std::size_t>(i)]; }
  std::uint32_t blocks(const Action &a) const {
    const TileForm &form = (*forms_)[a.place.form];
    return static_cast<std::uint32_t>(block_count(form.lines, form.cols, npu_));
  }
  void need(std::int32_t other, std::size_t engine) { needs_[engine] = std::max(needs_[engine], other); }
  bool initial_values_ready(std::int32_t producer, const Action &consumer) const;
  void read(const Spot &spot, bool initial_values);
  void write(const Spot &spot);
  void collect(const Action &a);
  void collect_move(const Action &a);
  void settle(Clock &clock);

  const NpuConfig &npu_;
  const Action *actions_ = nullptr; ///< of the program, likewise their forms
  const TileForms *forms_ = nullptr;
  RowTracker<E> rows_;
  /// By action, of those that were followed; longer than that.
  std::vector<Clock> clocks_; ///< known when the action starts
  std::vector<std::uint32_t> first_block_;
  std::array<std::uint32_t, E> next_block_{};                                ///< by engine
  std::unordered_map<std::uint64_t, std::int32_t> spill_store_, spill_load_; ///< last access by DRAM address
  std::vector<std::int32_t> stored_;                                         ///< last STORE by tensor
  std::int32_t vector_done_ = kNone;                                         ///< the last kDone
  PerEngine<E> last_add_ = nothing<E>(), last_of_engine_ = nothing<E>();
  std::int32_t now_ = 0;
  std::size_t engine_ = 0; ///< of the action at hand
  PerEngine<E> needs_ = nothing<E>();
};

/// Whether a GEMM may read an earlier GEMM's results, of the same core, as initial values without waiting for its
/// completion.
template <std::size_t E> bool OrdererOf<E>::initial_values_ready(std::int32_t producer, const Action &consumer) const {
  const Action &p = action(producer);
  const std::uint64_t first = first_block_[static_cast<std::size_t>(producer)];
  const bool same_tile = p.place.row == consumer.in.cin.row && p.row == consumer.row && p.col == consumer.col &&
                         (*forms_)[p.place.form].same_rect((*forms_)[consumer.place.form]) && !p.out_bf16;
  const std::uint64_t last_needed = same_tile ? first : first + blocks(p) - 1;
  return first_block_[static_cast<std::size_t>(now_)] >= last_needed + kSafeBlocks;
}

template <std::size_t E> void OrdererOf<E>::read(const Spot &spot, bool initial_values) {
  const Action &self = action(now_);
  const auto visit = [&](Run &run) {
    if (run.writer != kNone) {
      const bool same_engine = run.writing_engine == engine_;
      // An ADD begins when all that its core did before is written, and nothing begins on the core before it ends.
      const bool after_add = last_add_[engine_] >= run.writer || self.kind == Action::Kind::kAdd;
      const bool ready = after_add || (initial_values && initial_values_ready(run.writer, self));
      if (!same_engine || !ready) need(run.writer, run.writing_engine);
    }
    run.readers[engine_] = now_;
  };
  (*forms_)[spot.form].place(spot.row).for_runs([&](const RowRange &range) { rows_.visit(range, visit); });
}

template <std::size_t E> void OrdererOf<E>::write(const Spot &spot) {
  // An engine's own accesses are in order: loads and results complete in order, and a GEMM has read its operands
  // before a later one's results leave the array.
  const auto visit = [&](const Run &run) {
    if (run.writer != kNone && run.writing_engine != engine_) need(run.writer, run.writing_engine);
    for (std::size_t e = 0; e < E; ++e)
      if (e != engine_) need(run.readers[e], e);
  };
  (*forms_)[spot.form].place(spot.row).for_runs(
      [&](const RowRange &range) { rows_.write(range, now_, engine_, visit); });
}

template <std::size_t E> void OrdererOf<E>::collect(const Action &a) {
  needs_ = nothing<E>();
  if (!a.computes()) return collect_move(a);
  read(a.in.a, false);
  read(a.in.b, false);
  if (a.acc || a.kind == Action::Kind::kAdd) read(a.in.cin, true);
  write(a.place);
}

template <std::size_t E> void OrdererOf<E>::collect_move(const Action &a) {
  const auto last = [](const auto &map, auto key) {
    const auto it = map.find(key);
    return it == map.end() ? kNone : it->second;
  };
  const auto tensor = static_cast<std::size_t>(a.binding) + 1; // no binding, -1: 0
  if (tensor >= stored_.size()) stored_.resize(tensor + 1, kNone);
  const auto stored = [&] { return a.memory.stored_by == Action::kLast ? stored_[tensor] : a.memory.stored_by; };
  if (a.kind == Action::Kind::kGate) {
    need(stored(), kStoreEngine);
    return need(vector_done_, kStoreEngine);
  }
  if (a.kind == Action::Kind::kRows || a.kind == Action::Kind::kDone) {
    stored_[tensor] = now_;
    if (a.kind == Action::Kind::kDone) vector_done_ = now_;
    return;
  }
  if (a.kind == Action::Kind::kLoad) {
    write(a.place);
    if (a.spill) {
      need(last(spill_store_, a.memory.address), kStoreEngine);
      spill_load_[a.memory.address] = now_;
    } else { // elements are stored once; tiles may be cut differently, so all that was stored must have arrived
      need(stored(), kStoreEngine);
    }
  } else {
    read(a.place, false);
    if (a.spill) {
      need(last(spill_load_, a.memory.address), kLoadEngine);
      spill_store_[a.memory.address] = now_;
    } else {
      stored_[tensor] = now_;
    }
  }
}

/// Turns needs into waits, leaving out what the engine knows already and what another wait implies.
template <std::size_t E> void OrdererOf<E>::settle(Clock &clock) {
  // What is known of an engine once an action of another is complete.
  const auto knows = [&](std::size_t other, std::size_t engine) {
    const std::int32_t done = needs_[other];
    return other == engine ? done : clocks_[static_cast<std::size_t>(done)][engine];
  };
  std::array<bool, E> waits{};
  for (std::size_t e = 0; e < E; ++e) {
    bool implied = needs_[e] <= clock[e];
    for (std::size_t other = 0; other < E && !implied; ++other)
      implied = other != e && needs_[other] > clock[other] && knows(other, e) >= needs_[e];
    if (implied) continue;
    waits[e] = true;
    orderings_.wait(static_cast<std::size_t>(now_), engine_, static_cast<std::size_t>(needs_[e]), e);
  }
  for (std::size_t other = 0; other < E; ++other)
    if (waits[other])
      for (std::size_t e = 0; e < E; ++e)
        clock[e] = std::max(clock[e], knows(other, e));
}

template <std::size_t E> void OrdererOf<E>::begin() {
  rows_.clear();
  orderings_.resize(0);
  next_block_ = {};
  spill_store_.clear();
  spill_load_.clear();
  stored_.clear();
  vector_done_ = kNone;
  last_add_ = last_of_engine_ = nothing<E>();
  now_ = 0;
}

template <std::size_t E> void OrdererOf<E>::follow(const Program &program) {
  const std::size_t count = program.actions.size();
  actions_ = program.actions.data();
  forms_ = &program.forms;
  orderings_.resize(count);
  if (clocks_.size() < count) {
    clocks_.resize(std::max(count, 2 * clocks_.size()));
    first_block_.resize(clocks_.size());
  }
  for (auto index = static_cast<std::size_t>(now_); index < count; ++index) {
    const Action &a = actions_[index];
    if (a.kind == Action::Kind::kPiece) {
      ++now_;
      continue;
    }
    engine_ = engine_of(a);
    Clock &clock = clocks_[index];
    const std::int32_t last = last_of_engine_[engine_];
    clock = last != kNone ? clocks_[static_cast<std::size_t>(last)] : nothing<E>();
    first_block_[index] = next_block_[engine_];
    collect(a);
    settle(clock);
    if (a.kind == Action::Kind::kGemm) next_block_[engine_] += blocks(a);
    if (a.kind == Action::Kind::kAdd) last_add_[engine_] = now_;
    last_of_engine_[engine_] = now_;
    ++now_;
  }
}

} // namespace

Ordering Orderings::operator[](std::size_t action) const {
  Ordering ordering;
  std::copy_n(after(action), engines_, ordering.after.begin());
  for (std::size_t e = 0; e < kMostEngines; ++e)
    ordering.posts[e] = (handshakes_[action].posts >> e & 1U) != 0;
  return ordering;
}

namespace {

std::unique_ptr<RunningOrder::Orderer> make_orderer(const NpuConfig &npu) {
  constexpr std::size_t kOneCore = kComputeEngine + 1;
  if (npu.cores == 1) return std::make_unique<OrdererOf<kOneCore>>(npu);
  return std::make_unique<OrdererOf<kMostEngines>>(npu);
}

} // namespace

RunningOrder::RunningOrder(const NpuConfig &npu) : orderer_(make_orderer(npu)) {}

RunningOrder::~RunningOrder() = default;

void RunningOrder::begin() { orderer_->begin(); }

const Orderings &RunningOrder::follow(const Program &program) {
  orderer_->follow(program);
  return orderer_->orderings();
}

Orderings order_actions(const Program &program, const NpuConfig &npu) {
  const std::unique_ptr<RunningOrder::Orderer> orderer = make_orderer(npu);
  orderer->follow(program);
  return orderer->take();
}

} // namespace gradweave::compiler
