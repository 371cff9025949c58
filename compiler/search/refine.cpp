#include "compiler/search/refine.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/request/error.hpp"
#include "compiler/request/options.hpp"
#include "compiler/spm/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

namespace gradweave::compiler {
namespace {

/// A plan whose array steps alone take so many times as long as the best one is not kept, even if there is room: plans
/// of tiles of a few elements take far longer to place than all others.
constexpr std::uint64_t kFarOff = 4;
/// Consecutive changes of one plan that turn out to be known already, before the search ends: its surroundings are
/// exhausted.
constexpr std::uint32_t kGiveUp = 2000;

/// Plans that are kept to be changed.
constexpr std::size_t kKept = 16;

} // namespace

Refinement::Refinement(const std::vector<std::vector<PhasePlan>> &plans, const Layer &layer, const Layout &layout,
                       const Machine &npu, const std::function<void()> &tried, std::uint64_t seed, Objective objective)
    : layer_(layer), layers_{layer}, layout_(layout), npu_(npu), judge_(npu, objective), changer_(npu, seed) {
  for (const std::vector<PhasePlan> &p : plans) {
    if (seen_.insert(fingerprint(p)).second) evaluate(p);
    if (tried) tried();
  }
}

Refinement::Fingerprint Refinement::fingerprint(const std::vector<PhasePlan> &plans) {
  Fingerprint f;
  for (const PhasePlan &p : plans) {
    for (const std::uint32_t v :
         {p.tile.m, p.tile.k, p.tile.n, p.split.shared.first, p.split.shared.rows, p.split.other.first,
          p.split.other.rows, p.split.result.first, p.split.result.rows, p.window})
      f.push_back(v);
    for (const Dim d : p.loops)
      f.push_back(static_cast<double>(d));
    f.push_back(p.policy.reload);
    f.push_back(p.policy.conflict);
  }
  return f;
}

void Refinement::evaluate(std::vector<PhasePlan> plans) {
  ++effort_.candidates;
  const bool full = kept_.size() == kKept;
  const std::uint64_t limit = full ? kept_.back().cost : kTooSlow;
  std::uint64_t compute = 0;
  for (const PhasePlan &p : plans) {
    if (!fits(p.kind, p.tile, p.split, layer_, npu_, p.parts)) return;
    compute += plan_cycles(p, layer_, npu_);
  }
  if (full && judge_.least_of_cycles(compute) >= limit) return;
  const bool judged_by_cycles = full && judge_.objective() == Objective::kCycles;
  if (!judged_by_cycles && !kept_.empty() && compute >= kFarOff * kept_.front().cycles) return;
  for (PhasePlan &p : plans)
    p.products = plan_products(p, layer_, npu_);
  auto program = allocate(plans, layers_, layout_, npu_, judge_.traffic_limit(limit), &worked_);
  if (!program) return;
  worked_ += program->work();
  const Room room = program->room();
  if (room.bytes() < least_room_.bytes()) least_room_ = room;
  if (room.bytes() > npu_.memory.size_bytes) return;
  if (full && judge_.bound(*program) >= limit) return;
  ++effort_.simulated;
  simulation_ += simulation_work(*program);
  const Judged judged = simulate(*program, limit);
  if (judged.cost == kTooSlow) return;
  if (kept_.empty() || judged.cost < kept_.front().cost) ++effort_.improvements;
  for (PhasePlan &p : plans)
    p.products = {}; // many, and made again when they are needed
  const auto at = std::upper_bound(kept_.begin(), kept_.end(), judged.cost,
                                   [](std::uint64_t c, const Kept &other) { return c < other.cost; });
  kept_.insert(at, {std::move(plans), judged.cost, judged.cycles});
  if (kept_.size() > kKept) kept_.pop_back();
}

Judged Refinement::simulate(const Program &program, std::uint64_t limit) {
  const ProgramKey key = key_of(program);
  const auto known = programs_.find(key);
  if (known != programs_.end() && (known->second.judged.cost != kTooSlow || limit <= known->second.limit))
    return known->second.judged.cost < limit ? known->second.judged : Judged{};
  const Judged judged = judge_.judge(program, limit);
  programs_[key] = {limit, judged};
  return judged;
}

void Refinement::run(std::uint64_t candidates, std::uint64_t work, const RefineProgress &progress) {
  const std::uint64_t start = effort_.candidates, worked = worked_;
  std::uint32_t known = 0;
  while (effort_.candidates - start < candidates && worked_ - worked < work && known < kGiveUp) {
    // The better of two: good plans are changed more often.
    std::vector<PhasePlan> plans = kept_[std::min(changer_.pick(kept_.size()), changer_.pick(kept_.size()))].plans;
    changer_.change(plans, layer_);
    if (!seen_.insert(fingerprint(plans)).second) {
      ++known;
      continue;
    }
    known = 0;
    evaluate(std::move(plans));
    if (progress) progress(effort_.candidates - start);
  }
}

std::uint64_t work_of(std::uint64_t plans) {
  constexpr std::uint64_t kLeast = 100'000, kUsual = 2'000'000;
  return std::max(kLeast, std::min(kUsual, plans * (kUsual / CompileOptions{}.plans)));
}

Layer sample_of(const Layer &layer, const NpuConfig &npu, std::uint32_t parts) {
  constexpr std::uint32_t kGroups = 4, kTimes = 2;
  constexpr std::uint64_t kWorthIt = 4; // less, and the plan for the sample's last tiles costs more than it saves
  // Of the smallest of the tensors that have M rows.
  const std::uint64_t panels = std::min(divide_up(layer.k, npu.lanes()), divide_up(layer.n, npu.lanes()));
  const std::uint64_t turns = divide_up(parts, npu.cores); // parts that have the scratchpad one after the other
  const std::uint64_t rows = divide_up(kTimes * turns * npu.spm_rows(), panels);
  const std::uint64_t least = std::uint64_t{32} * parts * npu.lanes();
  Layer sample = layer;
  const std::uint64_t groups = std::max<std::uint64_t>({kGroups, std::uint64_t{2} * parts, divide_up(rows, layer.m)});
  if (groups < layer.groups / 2) sample.groups = static_cast<std::uint32_t>(groups);
  // An even part of the layer, so that tiles that cut the sample evenly cut the layer evenly too.
  const std::uint64_t times = layer.m / std::max(rows, least);
  if (times >= kWorthIt && layer.image && !keeps_size(*layer.conv)) {
    sample.conv->batch = static_cast<std::uint32_t>(divide_up(layer.conv->batch, times));
    sample.m = sample.conv->m();
  } else if (times >= kWorthIt) {
    sample.m = static_cast<std::uint32_t>(round_up(divide_up(layer.m, times), layer.image ? line_width(layer) : 1));
  }
  return sample;
}

namespace {

/// The plans for all of the layer, found for it or for a sample of it. `room` is what they take; nothing is returned if
/// the device memory has less, which mostly shows before tiles are placed.
std::optional<TimedPlan> plan_for(const Layer &layer, const std::vector<PhasePlan> &plans, const Layout &layout,
                                  const Machine &npu, Room &room) {
  room = {layout.bytes, 0};
  for (const PhasePlan &p : plans)
    room.commands += product_count(p.kind, p.tile, layer);
  if (room.bytes() > npu.memory.size_bytes) return std::nullopt;
  TimedPlan timed;
  timed.plans = plans;
  for (PhasePlan &p : timed.plans)
    p.products = plan_products(p, layer, npu);
  std::optional<Program> program = allocate(timed.plans, {layer}, layout, npu);
  if (!program) throw CompilerDefect("a plan that fits a sample of a layer does not fit all of it; please report it");
  room = program->room();
  if (room.bytes() > npu.memory.size_bytes) return std::nullopt;
  timed.program = std::move(*program);
  for (PhasePlan &p : timed.plans)
    p.products = {}; // the program has them
  timed.cycles = program_cycles(timed.program, npu);
  return timed;
}

} // namespace

void refuse_plans(const Layer &layer, const Room &least, const Machine &npu) {
  if (least.data_bytes == kNoRoom.data_bytes) refuse_scratchpad(layer, npu);
  check_room({layer}, least, npu);
}

TimedPlan fastest_for(const Layer &layer, const Layer &sample, const std::vector<Refinement::Kept> &kept,
                      const Layout &layout, const Machine &npu, Objective objective) {
  const Judge judge(npu, objective);
  const std::size_t wanted = is_whole(sample, layer) ? 1 : 4;
  std::optional<TimedPlan> timed; // one at a time: programs are large
  Room room, least = kNoRoom;
  std::size_t tried = 0, best = 0, last = 0;
  std::uint64_t least_cost = ~std::uint64_t{0};
  for (std::size_t i = 0; i < kept.size() && tried < wanted; ++i) {
    timed.reset();
    timed = plan_for(layer, kept[i].plans, layout, npu, room);
    if (room.bytes() < least.bytes()) least = room;
    if (!timed) continue;
    ++tried;
    last = i;
    const std::uint64_t cost = judge.cost_of(timed->program, timed->cycles);
    if (cost < least_cost) best = i;
    least_cost = std::min(least_cost, cost);
  }
  if (tried == 0) refuse_plans(layer, least, npu);
  if (!timed || best != last) {
    timed.reset();
    timed = plan_for(layer, kept[best].plans, layout, npu, room);
  }
  return std::move(*timed);
}

} // namespace gradweave::compiler
