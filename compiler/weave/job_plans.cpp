#include "compiler/weave/job_plans.hpp"

#include "base/process/parallel.hpp"
#include "compiler/back/compile_plan.hpp"
#include "compiler/back/fused_layers.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/macro_banks.hpp"
#include "compiler/lower/dram_bytes.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/partition.hpp"
#include "graph/layer_fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

namespace gradweave::compiler {
namespace {

/// An NPU that plans are searched on: this share of the bandwidth, and of the macro-banks.
struct Price {
  std::uint32_t memory_num, memory_den;
  std::uint32_t banks_num, banks_den;
};
constexpr Price kPrices[] = {{1, 1, 1, 1}, {3, 5, 1, 1}, {1, 3, 1, 1}, {3, 5, 5, 8}, {3, 5, 3, 8}, {1, 1, 3, 8}};
/// Plans of a shape that are kept at most, beside the fastest.
constexpr std::size_t kKept = 24;

Machine priced(const Machine &npu, const Price &price) {
  Machine machine = with_banks(npu, std::max(1U, npu.spm_banks * price.banks_num / price.banks_den));
  machine.memory.bytes_num *= price.memory_num;
  machine.memory.bytes_den *= price.memory_den;
  return machine;
}

std::uint32_t banks_of(const std::vector<PhasePlan> &phases, const NpuConfig &npu) {
  std::uint32_t end = 0;
  for (const PhasePlan &p : phases)
    end = std::max({end, p.split.shared.end(), p.split.other.end(), p.split.result.end()});
  return static_cast<std::uint32_t>(divide_up(end, npu.bank_rows()));
}

std::vector<PricedPlan> search_plans(const Layer &layer, Pass pass, const Machine &npu, const Price &price,
                                     std::uint64_t plans) {
  const Machine machine = priced(npu, price);
  LayerPlans searched(machine, plans);
  searched.prepare({{&layer, pass}}, 1, {});
  std::vector<PricedPlan> found;
  for (const std::vector<PhasePlan> &phases : searched.of(layer, pass).alternatives)
    found.push_back(price_plan(phases, layer, pass, npu));
  return found;
}

bool beats(const PricedPlan &x, const PricedPlan &y) {
  return x.array <= y.array && x.memory <= y.memory && x.banks <= y.banks && x.cycles <= y.cycles;
}

bool same_rows(const RowRange &x, const RowRange &y) { return x.first == y.first && x.rows == y.rows; }

/// Whether phases of a layer are the same in all that a plan decides.
bool decided_alike(const PhasePlan &x, const PhasePlan &y) {
  return x.kind == y.kind && x.parts.dim == y.parts.dim && x.parts.count == y.parts.count && x.tile == y.tile &&
         x.loops == y.loops && same_rows(x.split.shared, y.split.shared) && same_rows(x.split.other, y.split.other) &&
         same_rows(x.split.result, y.split.result) && x.window == y.window && x.policy.reload == y.policy.reload &&
         x.policy.conflict == y.policy.conflict;
}

/// The fastest alone first, then what is not beaten by one before it.
std::vector<PricedPlan> best_of(std::vector<PricedPlan> all) {
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < all.size(); ++i)
    order.emplace_back(all[i].cycles, i);
  std::sort(order.begin(), order.end());
  std::vector<PricedPlan> kept;
  for (const auto &[cycles, i] : order)
    if (kept.size() <= kKept &&
        std::none_of(kept.begin(), kept.end(), [&, at = i](const PricedPlan &other) { return beats(other, all[at]); }))
      kept.push_back(std::move(all[i]));
  return kept;
}

} // namespace

PricedPlan price_plan(std::vector<PhasePlan> phases, const Layer &layer, Pass pass, const Machine &npu) {
  const std::vector<Layer> layers{layer};
  const Layout layout = make_layout(layers, pass, npu);
  PricedPlan priced;
  for (PhasePlan &p : phases) {
    p.layer = 0;
    p.starts_empty = p.woven = false;
    p.reach = 0;
    p.products = plan_products(p, layer, npu);
  }
  priced.banks = banks_of(phases, npu);
  priced.phases = phases;
  const TimedPlan timed = time_plans(std::move(phases), layers, layout, npu);
  priced.cycles = timed.cycles;
  const double bytes_a_cycle = static_cast<double>(npu.memory.bytes_num) / static_cast<double>(npu.memory.bytes_den);
  double loaded = 0;
  for (const Action &a : timed.program.actions) {
    if (a.computes()) {
      priced.tiles.push_back(
          {static_cast<double>(product_cycles(timed.program.products[a.product], layer, npu)), loaded});
      loaded = 0;
      continue;
    }
    const double moved = static_cast<double>(dram_bytes_of(timed.program, a, npu)) / bytes_a_cycle;
    (a.kind == Action::Kind::kLoad || priced.tiles.empty() ? loaded : priced.tiles.back().memory) += moved;
  }
  for (const TileCost &tile : priced.tiles) {
    priced.array += tile.array;
    priced.memory += tile.memory;
  }
  return priced;
}

PricedPlan price_sections(const std::vector<Layer> &layers, Pass pass, const VectorRoom &room, const Machine &npu) {
  const Layout layout = make_layout(layers, pass, npu);
  const auto last = static_cast<std::uint32_t>(layers.size() - 1);
  PricedPlan priced;
  for (const Tensor result : vector_results(layers.back(), pass)) {
    PhasePlan plan;
    plan.kind = result == Tensor::kY ? PhaseKind::kForward : result == Tensor::kDX ? PhaseKind::kDx : PhaseKind::kDw;
    plan.layer = last;
    plan.section = layers.size() > 1 ? fused_section(layers, {0, layers.size()}, layout, room)
                                     : vector_section(layers.front(), 0, result, layout, room);
    plan.products = section_products(*plan.section, last);
    for (const VectorPiece &piece : plan.section->pieces)
      // What comes behind a piece waits for it: other jobs' products had better stand between.
      priced.tiles.push_back(
          {static_cast<double>(piece.array_cycles + piece.unit_cycles),
           static_cast<double>(piece.dram_bytes * npu.memory.bytes_den) / static_cast<double>(npu.memory.bytes_num)});
    priced.phases.push_back(std::move(plan));
  }
  for (const TileCost &tile : priced.tiles) {
    priced.array += tile.array;
    priced.memory += tile.memory;
  }
  priced.cycles = time_plans(priced.phases, layers, layout, npu).cycles;
  return priced;
}

void JobPlans::find_shapes(const JobSet &jobs) {
  std::map<std::pair<std::string, Pass>, std::size_t> known;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    shapes_.emplace_back();
    for (const JobSection &section : jobs.sections(job)) {
      const LayerRange fused = fused_with(jobs.layers(), section.layer);
      std::string shape = fmt::format("{} of {}", section.layer - fused.first, fused.size());
      for (std::size_t i = fused.first; i < fused.end; ++i) {
        Layer layer = jobs.layers()[i];
        layer.dx = section.pass == Pass::kForward || layer.dx;
        shape += shape_fingerprint(layer).hex();
      }
      const auto [at, is_new] = known.try_emplace({shape, section.pass}, layers_.size());
      if (is_new) {
        layers_.push_back(jobs.layers()[section.layer]);
        first_.push_back(section.layer);
        passes_.push_back(section.pass);
      }
      shapes_.back().push_back(at->second);
    }
  }
}

/// Of a layer that a section computes. Of fused layers the last one has the section, and the others nothing.
PricedPlan JobPlans::section_plan(const JobSet &jobs, std::uint32_t layer, Pass pass) {
  const LayerRange fused = fused_with(jobs.layers(), layer);
  if (layer != fused.last()) return {};
  const std::vector<Layer> layers(jobs.layers().begin() + static_cast<std::ptrdiff_t>(fused.first),
                                  jobs.layers().begin() + static_cast<std::ptrdiff_t>(fused.end));
  return price_sections(layers, pass, jobs.vector_room(), jobs.npu());
}

std::size_t JobPlans::find(std::size_t shape, const std::vector<PhasePlan> &phases) const {
  const auto same = [](const PricedPlan &plan, const std::vector<PhasePlan> &other) {
    return std::equal(plan.phases.begin(), plan.phases.end(), other.begin(), other.end(), decided_alike);
  };
  const std::vector<PricedPlan> &all = plans_[shape];
  return static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(), [&](const PricedPlan &plan) { return same(plan, phases); }) - all.begin());
}

JobPlans::JobPlans(const JobSet &jobs, std::uint64_t plans, unsigned threads,
                   const std::function<void(std::uint64_t, std::uint64_t)> &progress) {
  find_shapes(jobs);
  const std::size_t prices = std::size(kPrices), all = prices * layers_.size();
  std::vector<std::vector<PricedPlan>> found(all); // by shape and price
  std::mutex mutex;
  std::uint64_t done = 0;
  for_each_in_parallel(all, threads, [&](std::size_t i) {
    const std::size_t shape = i / prices, price = i % prices;
    const Layer &layer = layers_[shape];
    if (is_in_section(jobs.layers(), first_[shape])) {
      if (price == 0) found[i] = {section_plan(jobs, first_[shape], passes_[shape])};
    } else
      try {
        found[i] = search_plans(layer, passes_[shape], jobs.tile_npu(), kPrices[price], plans);
      } catch (const CompileError &) {
        if (price == 0) throw; // what fits the NPU need not fit a part of it
      }
    const std::lock_guard<std::mutex> lock(mutex);
    if (progress) progress(++done, all);
  });
  for (std::size_t shape = 0; shape < layers_.size(); ++shape) {
    std::vector<PricedPlan> together;
    for (std::size_t i = shape * prices; i < (shape + 1) * prices; ++i)
      std::move(found[i].begin(), found[i].end(), std::back_inserter(together));
    plans_.push_back(best_of(std::move(together)));
  }
}

} // namespace gradweave::compiler
