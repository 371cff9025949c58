#include "compiler/cost/latest_starts.hpp"
#include "compiler/cost/product_cycles.hpp"
#include "compiler/ir/grid/tile_rows.hpp"
#include "compiler/ir/vector_section.hpp"
#include "compiler/lower/dram_bytes.hpp"

#include <algorithm>
#include <array>

namespace gradweave::compiler {
namespace {

/// What is sure to come after a point of time, at least.
struct ToCome {
  std::uint64_t ticks = 0;             ///< to the end of the run; bytes_num a cycle, as the DRAM counts
  std::uint64_t loads = 0, stores = 0; ///< bytes that the channel serves: what an engine does, it does in order

  void include(const ToCome &other) {
    ticks = std::max(ticks, other.ticks);
    loads = std::max(loads, other.loads);
    stores = std::max(stores, other.stores);
  }
};

/// From the last action to the first.
class BackwardWalk {
public:
  BackwardWalk(const Program &program, const Orderings &orderings, const Machine &npu)
      : program_(program), orderings_(orderings), npu_(npu), behind_(program.actions.size()) {}

  std::vector<std::uint64_t> run() {
    std::vector<std::uint64_t> cycles(program_.actions.size());
    for (std::size_t i = program_.actions.size(); i-- > 0;)
      cycles[i] = visit(i) / npu_.memory.bytes_num;
    return cycles;
  }

private:
  std::uint64_t served(const ToCome &t) const { return (t.loads + t.stores) * npu_.memory.bytes_den; }

  /// Ticks of a GEMM or ADD until the array can begin the next, and from then until those that wait for it can start.
  /// The last block's results leave through the columns, behind as many steps as a shortest block lacks.
  std::array<std::uint64_t, 2> compute(const Action &a) const {
    const std::uint64_t cycles = product_cycles(program_.products[a.product], program_.layers[a.layer], npu_);
    const std::uint64_t leaves = a.kind == Action::Kind::kAdd ? 0 : npu_.cols;
    return {cycles * npu_.memory.bytes_num, leaves * npu_.memory.bytes_num};
  }

  /// Counts an action in: from when the array, or the channel, begins with it, which is not before it starts.
  std::uint64_t visit(std::size_t i) {
    const Action &a = program_.actions[i];
    if (a.kind == Action::Kind::kPiece) return 0;
    const std::size_t engine = engine_of(a);
    const ToCome &after = behind_[i]; // once it is complete
    ToCome &now = next_[engine];      // of the engine's next action
    const std::uint64_t then = std::max(after.ticks, served(after));
    const std::uint64_t next = now.ticks;
    now.include(after);
    if (a.computes()) {
      const auto [works, leaves] = compute(a);
      now.ticks = works + std::max(next, leaves + then);
    } else if (!a.moves()) { // before or behind pieces, of which nothing is counted
      now.ticks = std::max(next, then);
    } else {
      const std::uint64_t bytes = dram_bytes_of(program_, a, npu_);
      (engine == kLoadEngine ? now.loads : now.stores) += bytes;
      now.ticks = bytes * npu_.memory.bytes_den +
                  std::max(next, std::uint64_t{npu_.memory.latency_cycles} * npu_.memory.bytes_num + then);
    }
    now.ticks = std::max(now.ticks, served(now));
    const std::int32_t *waits = orderings_.after(i);
    for (std::size_t e = 0; e < kComputeEngine + npu_.cores; ++e)
      if (waits[e] != Ordering::kNone) behind_[static_cast<std::size_t>(waits[e])].include(now);
    return now.ticks;
  }

  const Program &program_;
  const Orderings &orderings_;
  const Machine &npu_;
  std::vector<ToCome> behind_;              ///< each action's end, by those that wait for it
  std::array<ToCome, kMostEngines> next_{}; ///< each engine's action that was visited last
};

enum class Work { kNone, kMove, kCompute };

Work work_of(const isa::Command &command) {
  switch (static_cast<isa::Opcode>(command.get(isa::field::OPCODE))) {
  case isa::Opcode::LOAD:
  case isa::Opcode::STORE:
    return Work::kMove;
  case isa::Opcode::GEMM:
  case isa::Opcode::ADD:
  case isa::Opcode::CONV:
  case isa::Opcode::WGRAD:
    return Work::kCompute;
  default:
    return Work::kNone;
  }
}

/// Commands of an action that work, whatever SYNCs stand between them: one that computes is one, one that moves is one
/// for each of its runs.
std::uint64_t command_count(const Program &program, const Action &a) {
  if (const VectorPiece *piece = piece_of(program, a))
    return static_cast<std::uint64_t>(std::count_if(piece->commands.begin(), piece->commands.end(),
                                                    [](const isa::Command &c) { return work_of(c) != Work::kNone; }));
  if (a.computes()) return 1;
  return a.moves() ? run_count(program.rect(a)) : 0;
}

} // namespace

std::vector<std::uint64_t> cycles_to_come(const Program &program, const Orderings &orderings, const Machine &npu) {
  return BackwardWalk(program, orderings, npu).run();
}

std::vector<std::uint64_t> latest_starts(const Program &program, const std::vector<std::uint64_t> &to_come,
                                         const std::vector<isa::Command> &commands, std::uint64_t limit) {
  std::vector<std::uint64_t> latest(commands.size(), limit);
  std::size_t command = commands.size();
  for (std::size_t i = program.actions.size(); i-- > 0;) {
    const Action &a = program.actions[i];
    const std::uint64_t count = command_count(program, a);
    const auto is_of_action = [&](Work work) { // a piece may have both
      return a.kind == Action::Kind::kPiece ? work != Work::kNone
                                            : work == (a.computes() ? Work::kCompute : Work::kMove);
    };
    for (std::uint64_t left = count; left > 0; --left)
      do
        --command;
      while (!is_of_action(work_of(commands[command])));
    if (count > 0) latest[command] = limit - std::min(limit, to_come[i]);
  }
  return latest;
}

} // namespace gradweave::compiler
