// Tensors that stay in the scratchpad from the section that computes them to those that read them, in tiles that each
// of these takes in parts of its own.
#include "compiler/ir/image.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/schedule/step/step_walk.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Sections behind the one that computes a tensor in which its readers are looked for.
constexpr std::size_t kFarthestReader = 4;
/// Numbers of column ranges that the tensor is cut into.
constexpr std::array<std::uint32_t, 3> kColumnParts{1, 2, 4};

std::uint32_t &side_of(PhasePlan &plan, Dim dim) {
  return dim == Dim::kM ? plan.tile.m : dim == Dim::kK ? plan.tile.k : plan.tile.n;
}

} // namespace

/// The last of the sections behind `section` that read what it computes for others; itself if there are none.
std::size_t StepWalk::last_reader(std::size_t section) const {
  const bool forward = section < forward_sections();
  const std::int32_t result = layout_.place(sections_[section].layer, forward ? Tensor::kY : Tensor::kDX);
  const std::size_t end = std::min(section + 1 + kFarthestReader, forward ? forward_sections() : sections_.size());
  std::size_t last = section;
  for (std::size_t s = section + 1; result != Layout::kNone && s < end; ++s)
    if (reads(s, result)) last = s;
  return last;
}

bool StepWalk::reads(std::size_t section, std::int32_t tensor) const {
  return layout_.place(sections_[section].layer, section < forward_sections() ? Tensor::kX : Tensor::kDY) == tensor;
}

/// Cuts the columns of what `first` computes into so many ranges for all up to `last`, which take parts of its tiles.
void StepWalk::share_tiles(std::size_t first, std::size_t last, std::uint32_t ranges) {
  const bool forward = first < forward_sections();
  const Layer &layer = layers_[sections_[first].layer];
  const std::int32_t tensor = layout_.place(sections_[first].layer, forward ? Tensor::kY : Tensor::kDX);
  const std::uint32_t all = forward ? layer.n : whole(layer).k_end;
  const std::uint32_t cols = (all + ranges - 1) / ranges;
  const auto cut = [&](std::size_t s, Dim dim) {
    std::vector<PhasePlan> plans = sections_[s].plans;
    for (PhasePlan &plan : plans) { // a side of an image's terms is that of all taps, or of channels
      std::uint32_t &side = side_of(plan, dim);
      side = layers_[plan.layer].image && s != first && ranges == 1 ? std::max(side, cols) : cols;
    }
    set(sections_[s], std::move(plans));
  };
  cut(first, forward ? Dim::kN : Dim::kK);
  for (std::size_t s = first + 1; s <= last; ++s) {
    sections_[s].alone = false;
    if (!reads(s, tensor)) continue;
    sections_[s].parts = true;
    cut(s, forward ? Dim::kK : Dim::kN);
  }
}

/// Looks for plans with which the sections take less than now if tiles of what the first computes stay for the others.
bool StepWalk::keep_for_readers(std::size_t first, std::size_t last, std::uint64_t changes) {
  const std::size_t begin = around(first).first, end = around(last).second;
  const std::uint64_t apart = cost(begin, end, kNoPlan);
  std::uint64_t best = apart;
  std::uint32_t ranges = 0; // of what was kept
  std::vector<std::uint32_t> cuts;
  const RowRange all{0, npu_.spm_rows()};
  Trials trials = trials_of(first, last + 1, begin, end);
  trials.more = [](std::size_t i) { return i < 2 * kColumnParts.size(); };
  trials.change = [&](std::size_t i) {
    for (std::size_t s = first; s <= last && i % 2 == 1; ++s)
      for (PhasePlan &plan : sections_[s].plans)
        plan.split = {all, all, all};
    share_tiles(first, last, kColumnParts[i / 2]);
  };
  trials.kept = [&](std::size_t i) { ranges = kColumnParts[i / 2]; };
  keep_gains(trials, best);
  trials.more = [&](std::size_t i) { return i < changes; };
  trials.change = [&](std::size_t i) {
    const std::uint32_t cut = ranges != 0 ? ranges : kColumnParts[mover_.pick(kColumnParts.size())];
    cuts.resize(i + 1);
    cuts[i] = cut;
    // As long as nothing gains, all change, from their own plans.
    for (std::size_t s = first; s <= last; ++s) {
      if (ranges != 0 && mover_.pick(last - first + 1) != 0) continue;
      Section &section = sections_[s];
      std::vector<PhasePlan> plans = section.plans;
      if (mover_.pick(3) == 0)
        plans = section.choice->alternatives[mover_.pick(section.choice->alternatives.size())];
      else
        mover_.change(plans, layers_[section.layer]);
      if (ranges == 0 && mover_.pick(2) == 0)
        for (PhasePlan &plan : plans)
          plan.split = {all, all, all};
      set(section, std::move(plans));
    }
    share_tiles(first, last, cut);
  };
  trials.draws = {&mover_};
  trials.kept = [&](std::size_t i) { ranges = cuts[i]; };
  keep_gains(trials, best);
  return best < apart;
}

void StepWalk::ShapeRuns::try_run(std::size_t first, std::size_t last, const std::function<bool()> &search) {
  if (walk_.progress_) walk_.progress_();
  Key key;
  for (std::size_t s = first; s <= last; ++s) {
    key.first.push_back(walk_.sections_[s].choice);
    key.second.push_back(walk_.shared_tensors(first, s));
  }
  const std::vector<Section> before = walk_.sections_;
  const auto [like, is_new] = known_.try_emplace(key, first);
  bool gains = true;
  if (is_new)
    gains = search();
  else
    for (std::size_t s = first; s <= last; ++s)
      walk_.run_like(walk_.sections_[s], walk_.sections_[like->second + s - first]);
  if (!gains || !walk_.improves()) walk_.sections_ = before;
}

void StepWalk::try_parts(std::uint64_t changes) {
  const std::uint64_t begun = work_.bursts;
  ShapeRuns runs(*this);
  for (std::size_t first = 0; first + 1 < sections_.size(); ++first) {
    const std::size_t last = last_reader(first);
    const auto from = sections_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = sections_.begin() + static_cast<std::ptrdiff_t>(last + 1);
    if (last == first || std::any_of(from, end, [](const Section &s) { return s.unit != nullptr; })) continue;
    runs.try_run(first, last, [&] { return keep_for_readers(first, last, changes); });
  }
  around_.clear();
  woven_bursts_ += work_.bursts - begun;
}

} // namespace gradweave::compiler
