#include "compiler/cost/tile_estimate.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/ir/grid/tile_rows.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"

#include <algorithm>
#include <limits>

namespace gradweave::compiler {
namespace {

/// Share of the steps in which the lines of A and B come from the same macro-bank, if both tiles are walked evenly.
double bank_conflicts(const RowRange &a, const RowRange &b, std::uint32_t bank_rows) {
  double share = 0;
  const auto overlap = [&](const RowRange &r, std::uint32_t bank) {
    const std::uint32_t first = std::max(r.first, bank * bank_rows);
    const std::uint32_t end = std::min(r.end(), (bank + 1) * bank_rows);
    return end > first ? static_cast<double>(end - first) / r.rows : 0.0;
  };
  const std::uint32_t first = std::max(a.first, b.first) / bank_rows;
  const std::uint32_t last = (std::min(a.end(), b.end()) - 1) / bank_rows;
  for (std::uint32_t bank = first; bank <= last && a.rows > 0 && b.rows > 0; ++bank)
    share += overlap(a, bank) * overlap(b, bank);
  return share;
}

class Player {
public:
  Player(const Program &program, const Machine &npu, double limit)
      : program_(program), npu_(npu), limit_(limit), done_(program.actions.size(), kPending) {
    for (std::size_t i = 0; i < program.actions.size(); ++i) {
      const Action &a = program.actions[i];
      queue_[engine_of(a)].push_back(i);
      if (a.computes())
        left_[engine_of(a)] +=
            static_cast<double>(product_cycles(program.products[a.product], program.layers[a.layer], npu));
      else
        channel_ += service(a);
    }
    ordering_ = order_unless_late();
  }

  double run();

private:
  static constexpr double kPending = -1;
  static constexpr double kPipeline = 20; ///< cycles from a semaphore's post to the next engine's first access
  static constexpr double kNotReady = std::numeric_limits<double>::infinity();

  double service(const Action &a) const {
    return static_cast<double>(dram_bytes_of(a, npu_)) * static_cast<double>(npu_.memory.bytes_den) /
           static_cast<double>(npu_.memory.bytes_num);
  }
  /// Cycles that it takes in any case.
  double least() const { return std::max(channel_, array_); }
  bool late() const { return least() >= limit_; }
  Orderings order_unless_late() const { return late() ? Orderings() : order_actions(program_, npu_); }
  double ready(std::size_t engine) const;
  void move(std::size_t engine, double start);
  void compute(std::size_t engine, double start);
  bool compute_all();

  const Program &program_;
  const Machine &npu_;
  double limit_;
  double channel_ = 0; ///< cycles of all moves, and in which the channel has been idle
  double array_ = 0;   ///< cycles until a product began, and from there to the last one of its core
  std::array<double, kMostEngines> left_{}; ///< array cycles of each core from its next action on
  Orderings ordering_;
  std::vector<double> done_;
  std::array<std::vector<std::size_t>, kMostEngines> queue_;
  std::array<std::size_t, kMostEngines> head_{};
  std::array<double, kMostEngines> free_{}; ///< when the engine can start its next action
  double channel_free_ = 0;
  double end_ = 0;
};

/// When the head of an engine's queue can start; infinity while that is unknown.
double Player::ready(std::size_t engine) const {
  if (head_[engine] == queue_[engine].size()) return kNotReady;
  const std::size_t index = queue_[engine][head_[engine]];
  // The fetch delivers the commands at the DRAM's speed.
  double start = std::max(free_[engine], static_cast<double>(index) * isa::kCommandBytes * npu_.memory.bytes_den /
                                             npu_.memory.bytes_num);
  const std::int32_t *after = ordering_.after(index);
  for (std::size_t e = 0; e < kComputeEngine + npu_.cores; ++e)
    if (const std::int32_t other = after[e]; other != Ordering::kNone) {
      const double other_done = done_[static_cast<std::size_t>(other)];
      if (other_done < 0) return kNotReady;
      start = std::max(start, other_done);
    }
  return start;
}

void Player::move(std::size_t engine, double start) {
  const std::size_t index = queue_[engine][head_[engine]++];
  const Action &a = program_.actions[index];
  const double latency = npu_.memory.latency_cycles;
  channel_ += std::max(0.0, start - channel_free_);
  channel_free_ = std::max(channel_free_, start) + service(a);
  done_[index] = channel_free_ + latency + kPipeline;
  // The next command's bursts are issued as soon as this one's are, a burst a cycle.
  free_[engine] = std::max(start + a.rect.rows, channel_free_ - latency);
  end_ = std::max(end_, done_[index]);
}

void Player::compute(std::size_t engine, double start) {
  const std::size_t index = queue_[engine][head_[engine]++];
  const Action &a = program_.actions[index];
  const TileProduct &p = program_.products[a.product];
  const double drain = 2.0 * npu_.rows + npu_.cols + 8; // last step to last result written
  double cycles = static_cast<double>(product_cycles(p, program_.layers[p.layer], npu_));
  array_ = std::max(array_, start + left_[engine]);
  left_[engine] -= cycles;
  if (p.add) { // begins and ends with an empty array
    free_[engine] = done_[index] = std::max(start, free_[engine] + drain) + cycles + kPipeline;
  } else {
    cycles += bank_conflicts(a.a.rows, a.b.rows, npu_.bank_rows()) *
              static_cast<double>(block_count(tile_rows(a.rect), a.rect.cols, npu_)) *
              range_of(p, contraction_of(p.result).red).size;
    const bool stalled = start > free_[engine];
    if (stalled && a.acc) start += npu_.rows; // nothing computes while the first initial values enter
    free_[engine] = start + cycles;
    done_[index] = free_[engine] + drain;
  }
  end_ = std::max(end_, done_[index]);
}

/// Whether any core could go on.
bool Player::compute_all() {
  bool any = false;
  for (std::size_t engine = kComputeEngine; engine < kComputeEngine + npu_.cores; ++engine)
    for (double at = ready(engine); at < kNotReady; at = ready(engine)) {
      compute(engine, at);
      any = true;
    }
  return any;
}

double Player::run() {
  for (;;) {
    if (late()) return least();
    if (compute_all()) continue;
    const double load_at = ready(kLoadEngine);
    const double store_at = ready(kStoreEngine);
    if (load_at == kNotReady && store_at == kNotReady) return end_;
    if (load_at <= store_at)
      move(kLoadEngine, load_at);
    else
      move(kStoreEngine, store_at);
  }
}

} // namespace

std::uint64_t estimate_cycles(const Program &program, const Machine &npu, std::uint64_t limit) {
  return static_cast<std::uint64_t>(Player(program, npu, static_cast<double>(limit)).run());
}

} // namespace gradweave::compiler
