// Layers that follow one another a row of an image at a time: a 3 x 3 convolution takes a row of its kernel at a time,
// so that it reads single rows of what the layer before it computes (reads_one_row()). These come and go one by one:
// the maps between the layers are never in the scratchpad as a whole, and never in memory.
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/schedule/step/step_walk.hpp"

#include <algorithm>
#include <tuple>

namespace gradweave::compiler {
namespace {

/// Sections of a strip at most.
constexpr std::size_t kLongest = 4;
/// Parts of a row of the image that layers without taps may take at a time.
constexpr std::array<std::uint32_t, 3> kRowParts{1, 2, 4};
constexpr std::array<std::uint32_t, 3> kRanges{1, 2, 4};
constexpr std::array<std::uint32_t, 4> kWindows{1, 2, 3, 6};

bool takes_rows(const Layer &layer) {
  return layer.image && !layer.packed && layer.conv->stride_height == 1 && layer.conv->kernel_height > 1;
}

} // namespace

/// How a section takes part in a strip.
struct StepWalk::Strip {
  std::uint32_t row_parts = 1;   ///< of a row of the image that a layer without taps takes at a time
  std::uint32_t columns = 1;     ///< ranges of the columns that it computes
  std::uint32_t terms = 1;       ///< ranges of the terms, of a layer without taps
  bool by_columns = false;       ///< cores take turns along the columns, else along the rows
  std::uint32_t cores = 1;       ///< that take turns
  std::uint32_t window = 1;      ///< PhasePlan::window
  std::uint32_t weight_rows = 0; ///< of the scratchpad that are for weights alone; 0: they lie anywhere
  bool columns_first = false;    ///< all rows of a range of columns, then of the next
};

/// Whether the section reads what one of those from `first` on computes, or the same as one of them.
bool StepWalk::follows(std::size_t first, std::size_t section) const {
  const std::int32_t x = layout_.place(sections_[section].layer, Tensor::kX);
  for (std::size_t s = first; s < section; ++s)
    if (layout_.place(sections_[s].layer, Tensor::kY) == x || layout_.place(sections_[s].layer, Tensor::kX) == x)
      return true;
  return false;
}

/// Lines of a row of the image that the strip's layers hand on; 0: none of them reads it by rows, or the layers' lines
/// are others.
std::uint32_t StepWalk::strip_width(std::size_t first, std::size_t last) const {
  std::uint32_t width = 0;
  for (std::size_t s = first; s <= last; ++s) {
    const Layer &layer = layers_[sections_[s].layer];
    if (layer.m != layers_[sections_[first].layer].m || layer.groups != 1) return 0;
    if (layer.image && !takes_rows(layer)) return 0;
    if (layer.image) width = layer.conv->width;
  }
  return width;
}

/// Gives the section the plan of a strip.
void StepWalk::cut_into_rows(Section &section, const Strip &strip, std::uint32_t width) const {
  const Layer &layer = layers_[section.layer];
  const RowRange all{0, npu_.spm_rows()};
  const std::uint32_t columns = static_cast<std::uint32_t>(divide_up(layer.n, strip.columns));
  PhasePlan plan = section.plans.front();
  plan.tile = {width, layer.k, columns};
  plan.loops = strip.columns_first ? LoopOrder{Dim::kN, Dim::kM, Dim::kK} : LoopOrder{Dim::kM, Dim::kN, Dim::kK};
  if (layer.image) {
    plan.tile.k = kernel_channels(layer) * layer.conv->kernel_width;
  } else {
    plan.tile.m = static_cast<std::uint32_t>(divide_up(width, strip.row_parts));
    plan.tile.k = static_cast<std::uint32_t>(divide_up(layer.k, strip.terms));
  }
  plan.parts = {};
  if (strip.cores > 1) {
    plan.parts.dim = strip.by_columns ? Dim::kN : Dim::kM;
    plan.parts.count = plan.parts.cores = strip.cores;
    plan.parts.sharing = Sharing::kTurns;
  }
  const RowRange weights{0, strip.weight_rows}, rest{strip.weight_rows, all.rows - strip.weight_rows};
  plan.split = strip.weight_rows == 0 ? SpmSplit{all, all, all} : SpmSplit{rest, weights, rest};
  plan.window = strip.window;
  set(section, {plan});
}

/// Whole banks of the scratchpad that hold the weights of all sections; 0: they take more than leaves room for others.
std::uint32_t StepWalk::rows_of_weights(std::size_t first, std::size_t last) const {
  std::uint64_t rows = 0;
  for (std::size_t s = first; s <= last; ++s) {
    const Layer &layer = layers_[sections_[s].layer];
    rows += divide_up(layer.n, npu_.lanes()) * layer.k;
  }
  rows = round_up(rows, npu_.bank_rows());
  return rows < npu_.spm_rows() ? static_cast<std::uint32_t>(rows) : 0;
}

/// Any strip's plan, with areas for weights as given or none.
StepWalk::Strip StepWalk::any_strip(std::uint32_t weight_rows) {
  Strip strip;
  strip.weight_rows = mover_.pick(2) == 0 ? weight_rows : 0;
  strip.row_parts = kRowParts[mover_.pick(kRowParts.size())];
  strip.columns = kRanges[mover_.pick(kRanges.size())];
  strip.terms = kRanges[mover_.pick(2)];
  strip.by_columns = mover_.pick(3) == 0;
  strip.cores = npu_.cores >> mover_.pick(2);
  strip.window = kWindows[mover_.pick(kWindows.size())];
  strip.columns_first = mover_.pick(4) == 0;
  return strip;
}

/// Lets the sections run in a strip, those without taps on all cores.
void StepWalk::run_as_strip(std::size_t first, std::size_t last, const Strip &strip, std::uint32_t width) {
  for (std::size_t s = first; s <= last; ++s) {
    Section &section = sections_[s];
    Strip own = strip;
    if (!layers_[section.layer].image) {
      own.cores = npu_.cores;
      own.columns = 1;
      own.by_columns = false;
    }
    cut_into_rows(section, own, width);
    section.parts = true;
    section.woven = s > first;
    if (s > first) section.alone = false;
  }
}

/// Looks for plans with which the sections, in strips, take less than now.
bool StepWalk::run_in_strips(std::size_t first, std::size_t last, std::uint64_t changes) {
  const std::size_t begin = around(first).first, end = around(last).second;
  const std::uint64_t apart = cost(begin, end, kNoPlan);
  std::uint64_t best = apart;
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  std::vector<std::function<void()>> strips;
  const auto try_all = [&](std::size_t one, std::size_t other, const Strip &strip) {
    const std::uint32_t width = strip_width(one, other);
    if (width == 0 || width % strip.row_parts != 0 || strip.cores == 0) return;
    runs.emplace_back(one, other);
    strips.emplace_back([=] { run_as_strip(one, other, strip, width); });
  };
  for (std::size_t one = first; one < last; ++one)
    for (std::size_t other = last; other > one; --other)
      for (const std::uint32_t weight_rows : {rows_of_weights(one, other), 0U})
        for (const std::uint32_t window : {1U, 3U})
          for (const std::uint32_t row_parts : kRowParts)
            for (const std::uint32_t cores : {npu_.cores, npu_.cores / 2})
              for (const std::uint32_t columns : {1U, cores})
                try_all(one, other, {row_parts, columns, 1, columns > 1, cores, window, weight_rows});
  // A layer by itself whose weights do not fit: all rows for some of them.
  for (std::size_t one = first; one <= last; ++one)
    for (const std::uint32_t columns : kRanges)
      for (const std::uint32_t window : {1U, 3U})
        if (layers_[sections_[one].layer].image) try_all(one, one, {1, columns, 1, false, npu_.cores, window, 0, true});
  std::size_t from = first, to = last;
  Trials trials = trials_of(first, last + 1, begin, end);
  trials.kept = [&](std::size_t i) { std::tie(from, to) = runs[i]; };
  keep_gains(trials, strips, best);
  if (best == apart) return false;
  const std::uint32_t width = strip_width(from, to), weight_rows = rows_of_weights(from, to);
  trials.more = [&](std::size_t i) { return i < changes; };
  trials.change = [&](std::size_t) {
    Section &section = sections_[from + mover_.pick(to - from + 1)];
    if (mover_.pick(3) == 0) return cut_into_rows(section, any_strip(weight_rows), width);
    std::vector<PhasePlan> plans = section.plans;
    const TileShape tile = plans.front().tile;
    mover_.change(plans, layers_[section.layer]);
    if (mover_.pick(4) != 0) plans.front().tile = tile;
    set(section, std::move(plans));
  };
  trials.draws = {&mover_};
  trials.kept = {};
  keep_gains(trials, best);
  return true;
}

void StepWalk::try_strips(std::uint64_t changes) {
  const std::uint64_t begun = work_.bursts;
  ShapeRuns runs(*this);
  for (std::size_t first = 0; first + 1 < forward_sections();) {
    std::size_t last = first;
    while (last + 1 < forward_sections() && last + 1 < first + kLongest && follows(first, last + 1))
      ++last;
    if (last > first || takes_rows(layers_[sections_[first].layer]))
      runs.try_run(first, last, [&] { return run_in_strips(first, last, changes); });
    first = last + 1;
  }
  around_.clear();
  woven_bursts_ += work_.bursts - begun;
}

} // namespace gradweave::compiler
