#include "compiler/search.hpp"
#include "compiler/cost.hpp"
#include "compiler/estimate.hpp"
#include "compiler/hazards.hpp"
#include "compiler/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gradweave::compiler {
namespace {

/// Tile products that the search of a phase may play through; sets its run time.
constexpr std::uint64_t kPhaseBudget = 100'000;
/// Tilings and orders of a phase that are played at all.
constexpr std::size_t kPlayed = 64;
/// Of those, how many are tried with other splits and windows.
constexpr std::size_t kRefined = 6;
/// Plans of a phase that are tried together with those of the layer's other phases.
constexpr std::size_t kJoined = 3;

struct Candidate {
  PhasePlan plan;
  RoughEstimate rough;
  double cycles = std::numeric_limits<double>::infinity();
};

std::string_view to_string(PhaseKind kind) {
  switch (kind) {
  case PhaseKind::kForward:
    return "Y";
  case PhaseKind::kDx:
    return "dX";
  case PhaseKind::kDw:
    return "dW";
  case PhaseKind::kInterleave:
    return "interleave";
  case PhaseKind::kDxMajor:
    return "dx_major";
  default:
    return "dw_major";
  }
}

/// Splits on bank boundaries near the wanted shares, the closest first, and last the whole scratchpad as one area.
std::vector<SpmSplit> splits(const RoughEstimate &rough, const NpuConfig &npu, int reach) {
  const auto banks = static_cast<int>(npu.spm_banks);
  const std::uint32_t bank = npu.bank_rows();
  const double total = rough.shared_rows + rough.other_rows + rough.result_rows;
  std::vector<SpmSplit> result;
  const auto add = [&](int shared, int other) {
    if (shared < 1 || other < 1 || shared + other >= banks) return;
    const auto rows = [&](int n) { return static_cast<std::uint32_t>(n) * bank; };
    result.push_back(
        {{0, rows(shared)}, {rows(shared), rows(other)}, {rows(shared + other), rows(banks - shared - other)}});
  };
  const auto wanted = [&](double rows) {
    return std::clamp(static_cast<int>(rows / total * banks + 0.5), 1, std::max(1, banks - 2));
  };
  const int shared = wanted(rough.shared_rows);
  const int other = std::min(wanted(rough.other_rows), std::max(1, banks - shared - 1));
  for (int distance = 0; distance <= reach; ++distance)
    for (int ds = -distance; ds <= distance; ++ds)
      for (int d_other = -distance; d_other <= distance; ++d_other)
        if (std::max(std::abs(ds), std::abs(d_other)) == distance) add(shared + ds, other + d_other);
  if (banks >= 2) {
    const auto cut = static_cast<std::uint32_t>(std::clamp(shared, 1, banks - 1)) * bank;
    const RowRange rest{cut, npu.spm_rows() - cut};
    result.push_back({{0, cut}, rest, rest});
  }
  const RowRange all{0, npu.spm_rows()};
  result.push_back({all, all, all});
  return result;
}

class PhaseSearch {
public:
  PhaseSearch(PhaseKind kind, const Layer &layer, const Layout &layout, const NpuConfig &npu)
      : kind_(kind), layer_(layer), layout_(layout), npu_(npu) {}

  /// The best plans found, best first; empty if nothing fits.
  std::vector<Candidate> run();

private:
  std::vector<Candidate> ranked() const;
  /// Plays the plan and keeps it if it is among the best.
  void play(Candidate candidate);
  double best() const { return found_.empty() ? std::numeric_limits<double>::infinity() : found_.front().cycles; }

  PhaseKind kind_;
  const Layer &layer_;
  const Layout &layout_;
  const NpuConfig &npu_;
  std::uint64_t played_ = 0; ///< tile products
  std::vector<Candidate> found_;
};

std::vector<Candidate> PhaseSearch::ranked() const {
  const std::uint32_t beat = npu_.bus_bytes / 2;
  const bool k_rows = kind_ == PhaseKind::kDw;
  const auto ms = tile_sides(layer_.m, npu_.rows, beat);
  const auto ks = tile_sides(layer_.k, k_rows ? npu_.rows : npu_.cols, beat);
  const auto ns = tile_sides(layer_.n, npu_.cols, beat);
  const RowRange all{0, npu_.spm_rows()};
  std::vector<Candidate> candidates;
  for (const std::uint32_t m : ms)
    for (const std::uint32_t k : ks)
      for (const std::uint32_t n : ns) {
        const TileShape tile{m, k, n};
        if (!fits(kind_, tile, {all, all, all}, layer_, npu_)) continue;
        for (const LoopOrder &loops : loop_orders(kind_)) {
          Candidate c;
          c.plan.kind = kind_;
          c.plan.tile = tile;
          c.plan.loops = loops;
          c.rough = rough_estimate(kind_, loops, tile, layer_, npu_);
          candidates.push_back(std::move(c));
        }
      }
  const std::size_t keep = std::min(candidates.size(), kPlayed);
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(keep), candidates.end(),
                    [](const Candidate &x, const Candidate &y) { return x.rough.cycles < y.rough.cycles; });
  candidates.resize(keep);
  return candidates;
}

void PhaseSearch::play(Candidate candidate) {
  PhasePlan &plan = candidate.plan;
  if (!fits(kind_, plan.tile, plan.split, layer_, npu_)) return;
  plan.products = make_order(kind_, plan.loops, plan.tile, layer_);
  played_ += plan.products.size();
  const auto program = allocate({plan}, layer_, layout_, npu_);
  if (!program) return;
  candidate.cycles = static_cast<double>(estimate_cycles(*program, order_actions(*program, npu_), npu_));
  // One entry for each tiling and order, so that the best ones stay different.
  const auto twin = std::find_if(found_.begin(), found_.end(), [&](const Candidate &c) {
    return c.plan.tile == candidate.plan.tile && c.plan.loops == candidate.plan.loops;
  });
  if (twin != found_.end()) {
    if (twin->cycles <= candidate.cycles) return;
    found_.erase(twin);
  }
  const auto at = std::upper_bound(found_.begin(), found_.end(), candidate.cycles,
                                   [](double cycles, const Candidate &c) { return cycles < c.cycles; });
  found_.insert(at, std::move(candidate));
  if (found_.size() > kRefined) found_.pop_back();
}

std::vector<Candidate> PhaseSearch::run() {
  for (Candidate &c : ranked()) {
    if (played_ > kPhaseBudget / 2 && !found_.empty()) break;
    if (c.rough.bound > best()) continue;
    for (const SpmSplit &split : splits(c.rough, npu_, 0)) {
      c.plan.split = split;
      play(c);
    }
  }
  std::vector<Candidate> refine = found_;
  for (Candidate &c : refine)
    for (const std::uint32_t window : {1U, 2U, 3U, 4U, 6U})
      for (const SpmSplit &split : splits(c.rough, npu_, window == 1 ? 2 : 1)) {
        if (played_ > kPhaseBudget) break;
        c.plan.split = split;
        c.plan.window = window;
        play(c);
      }
  return std::move(found_);
}

} // namespace

std::string describe(const std::vector<PhasePlan> &plans) {
  std::string text;
  for (const PhasePlan &p : plans)
    text += fmt::format("{}{} {} m{} k{} n{} w{}", text.empty() ? "" : "; ", to_string(p.kind), to_string(p.loops),
                        p.tile.m, p.tile.k, p.tile.n, p.window);
  return text;
}

SearchResult search(const Layer &layer, Schedule schedule, Pass pass, const Layout &layout, const NpuConfig &npu) {
  std::vector<std::vector<Candidate>> choices;
  for (const PhaseKind kind : phases(schedule, pass, layer)) {
    choices.push_back(PhaseSearch(kind, layer, layout, npu).run());
    if (choices.back().empty())
      throw CompileError(
          fmt::format("layer '{}': no tiling fits the scratchpad of NPU '{}' ({} rows of {} elements), not "
                      "even single elements; give it more spm_bytes",
                      layer.name, npu.name, npu.spm_rows(), npu.lanes()));
    choices.back().resize(std::min(choices.back().size(), kJoined));
  }
  // Phases meet in the scratchpad: what one leaves there can serve the next.
  SearchResult best;
  std::vector<std::size_t> pick(choices.size(), 0);
  for (;;) {
    std::vector<PhasePlan> plans;
    for (std::size_t i = 0; i < choices.size(); ++i)
      plans.push_back(choices[i][pick[i]].plan);
    if (auto program = allocate(plans, layer, layout, npu)) {
      const std::uint64_t cycles = estimate_cycles(*program, order_actions(*program, npu), npu);
      if (best.plans.empty() || cycles < best.estimated_cycles) best = {std::move(plans), std::move(*program), cycles};
    }
    std::size_t i = 0;
    while (i < pick.size() && ++pick[i] == choices[i].size())
      pick[i++] = 0;
    if (i == pick.size()) return best;
  }
}

} // namespace gradweave::compiler
