// Weaving neighbours of a step: while one waits for memory, the other computes.
#include "compiler/cost/cost.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/schedule/step/step_guest.hpp"
#include "compiler/schedule/step/step_walk.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace gradweave::compiler {
namespace {

/// Lines of the largest bands that woven sections are cut into to begin with, and their windows.
constexpr std::uint32_t kMostLines = 4096, kBandWindow = 6, kShortWindow = 2;
/// Tiles of a section take one part of so many of the scratchpad, of a longer run of sections also fewer.
constexpr std::uint32_t kPairShare = 2, kRunShare = 4;

} // namespace

/// A change of two sections that are woven.
void StepWalk::change_pair(Section &one, Section &other) {
  const auto take_alternative = [this](Section &section) { set(section, draw_plans(section, weaver_)); };
  const auto change_plans = [this](Section &section) {
    std::vector<PhasePlan> plans = section.plans;
    weaver_.change(plans, layers_[section.layer]);
    set(section, std::move(plans));
  };
  if (one.unit || other.unit) { // whose plans stay as they are
    Section &product = one.unit ? other : one;
    if (weaver_.pick(3) == 0)
      take_alternative(product);
    else
      change_plans(product);
    return;
  }
  switch (weaver_.pick(9)) {
  case 8: {
    Section &section = weaver_.pick(2) == 0 ? one : other;
    std::vector<PhasePlan> plans = section.plans;
    walk_lines_first(plans);
    set(section, std::move(plans));
    break;
  }
  case 0:
    take_alternative(one);
    break;
  case 1:
    take_alternative(other);
    break;
  case 2:
    align(other, one.plans.back());
    break;
  case 3:
    align(one, other.plans.front());
    break;
  case 4:
  case 5:
    change_plans(one);
    break;
  default:
    change_plans(other);
  }
}

/// Walks lines first: what reads them then may begin soon.
void StepWalk::walk_lines_first(std::vector<PhasePlan> &plans) {
  for (PhasePlan &p : plans)
    for (const LoopOrder &loops : form_of(p.kind).loops)
      if (loops.front() == Dim::kM && p.loops.front() != Dim::kM) p.loops = loops;
}

/// Plans of the section that can walk lines first, if any do.
std::vector<PhasePlan> StepWalk::plans_by_lines(const Section &section) {
  const auto walks_lines = [](const PhasePlan &p) {
    const std::vector<LoopOrder> &orders = form_of(p.kind).loops;
    return std::any_of(orders.begin(), orders.end(), [](const LoopOrder &o) { return o.front() == Dim::kM; });
  };
  const auto &alternatives = section.choice->alternatives;
  const auto found = std::find_if(alternatives.begin(), alternatives.end(), [&](const std::vector<PhasePlan> &plans) {
    return std::all_of(plans.begin(), plans.end(), walks_lines);
  });
  std::vector<PhasePlan> plans = found == alternatives.end() ? section.plans : *found;
  walk_lines_first(plans);
  return plans;
}

/// Gives the section the plans, with tiles of `lines` lines and as much of the other dimensions as one part of `share`
/// of the scratchpad holds.
void StepWalk::cut_into_bands(Section &section, std::vector<PhasePlan> plans, std::uint32_t lines,
                              std::uint32_t share) const {
  if (section.unit) return;
  const Layer &layer = layers_[section.layer];
  const RowRange part{0, npu_.spm_rows() / share}, all{0, npu_.spm_rows()};
  for (PhasePlan &p : plans) {
    p.tile = largest_tile(p.kind, layer);
    p.tile.m = std::min(lines, p.tile.m);
    while (!fits(p.kind, p.tile, {part, part, part}, layer, npu_) && p.tile.k * p.tile.n > 1) {
      std::uint32_t &side = p.tile.k >= p.tile.n ? p.tile.k : p.tile.n;
      side = (side + 1) / 2;
    }
    p.split = {all, all, all};
    p.window = kBandWindow;
  }
  set(section, std::move(plans));
}

/// The sections that are woven with this one, from the first to before the end.
std::pair<std::size_t, std::size_t> StepWalk::run_with(std::size_t section) const {
  std::size_t first = section, end = section + 1;
  while (first > 0 && sections_[first].woven)
    --first;
  while (end < sections_.size() && sections_[end].woven)
    ++end;
  return {first, end};
}

/// The sections that are woven with this one and the one before it, or would be.
std::pair<std::size_t, std::size_t> StepWalk::run_of(std::size_t section) const {
  return {run_with(section - 1).first, run_with(section).second};
}

/// Lets the sections around `to` run like those that are woven with `from`, as far as they are of the same shapes.
void StepWalk::copy_run(std::size_t from, std::size_t to) {
  const auto [first, end] = run_of(from);
  for (std::size_t s = first; s < end; ++s) {
    const std::size_t at = to + s - from;
    if (at < sections_.size() && sections_[at].choice == sections_[s].choice) run_like(sections_[at], sections_[s]);
  }
}

/// Lines of a row of the images that a section of the run reads; 0: none does.
std::uint32_t StepWalk::row_of_image(std::pair<std::size_t, std::size_t> run) const {
  for (std::size_t s = run.first; s < run.second; ++s)
    if (const Layer &layer = layers_[sections_[s].layer]; layer.image) return line_width(layer);
  return 0;
}

/// Gives dX of the section a phase of its own, in bands, and behind it dW, where it can.
void StepWalk::part_gradients(Section &section, std::uint32_t lines) const {
  const std::vector<std::vector<PhasePlan>> &alternatives = section.choice->alternatives;
  const auto split = std::find_if(alternatives.begin(), alternatives.end(), splits);
  if (split == alternatives.end()) return;
  std::vector<PhasePlan> plans = *split;
  std::swap(plans.front(), *std::find_if_not(plans.begin(), plans.end(), is_dw));
  const std::vector<PhasePlan> dw(plans.begin() + 1, plans.end());
  plans.resize(1);
  cut_into_bands(section, plans, lines, kPairShare);
  plans = section.plans;
  plans.insert(plans.end(), dw.begin(), dw.end());
  set(section, std::move(plans));
}

/// Cuts the run into bands whose images stay in tiles of parts, in less room: layers that read no image take half of a
/// band at a time, and what the last one computes comes in so many ranges of columns. `dx_alone`: layers that read an
/// image take dW behind dX, those before them are woven with the one and those behind them with the other.
void StepWalk::cut_run_finely(std::pair<std::size_t, std::size_t> run, std::uint32_t lines, std::uint32_t ranges,
                              bool dx_alone) {
  cut_run(run, lines, kPairShare, true);
  for (std::size_t s = run.first; s < run.second; ++s) {
    Section &section = sections_[s];
    const bool reads_image = layers_[section.layer].image;
    if (reads_image && dx_alone) part_gradients(section, lines);
    std::vector<PhasePlan> plans = section.plans;
    for (PhasePlan &p : plans) {
      if (reads_image && is_dw(p)) continue;
      p.window = kShortWindow;
      if (reads_image) continue;
      p.tile.m = (p.tile.m + 1) / 2;
      if (s + 1 != run.second) continue;
      std::uint32_t &side = s < forward_sections() ? p.tile.n : p.tile.k;
      side = (side + ranges - 1) / ranges;
    }
    set(section, std::move(plans));
  }
}

/// Cuts all sections of the run into bands. `in_parts`: an image that one computes stays for the others of it, in tiles
/// of all channels.
void StepWalk::cut_run(std::pair<std::size_t, std::size_t> run, std::uint32_t lines, std::uint32_t share,
                       bool in_parts) {
  for (std::size_t s = run.first; s < run.second; ++s)
    cut_into_bands(sections_[s], plans_by_lines(sections_[s]), lines, share);
  for (std::size_t s = run.first; in_parts && s < run.second; ++s)
    if (const std::size_t last = std::min(last_reader(s), run.second - 1); last > s) share_tiles(s, last, 1);
}

/// Looks for plans with which the section and the one before it, woven, take less than now. Whether there are any.
bool StepWalk::weave_with_last(std::size_t section, std::uint64_t changes, std::uint64_t patience) {
  Section &one = sections_[section - 1], &other = sections_[section];
  const std::pair<std::size_t, std::size_t> run = run_of(section);
  const std::uint64_t apart = cost(run.first, run.second, kNoPlan);
  other.woven = true;
  other.alone = false;
  std::uint64_t best = cost(run.first, run.second, kNoPlan);
  std::vector<std::function<void()>> bands;
  const Layer &layer = layers_[other.layer];
  const std::vector<PhasePlan> as_it_is = one.plans, other_as_it_is = other.plans;
  const std::uint32_t width = layer.image ? line_width(layer) : layer.conv ? layer.conv->width : npu_.rows;
  for (std::uint32_t lines = width; lines < layer.m && lines <= kMostLines; lines *= 2)
    for (const bool one_by_lines : {true, false})
      for (const bool other_by_lines : {true, false}) {
        if ((one.unit && !one_by_lines) || (other.unit && !other_by_lines)) continue;
        bands.emplace_back([=, &one, &other, &as_it_is, &other_as_it_is] {
          cut_into_bands(one, one_by_lines ? plans_by_lines(one) : as_it_is, lines, kPairShare);
          cut_into_bands(other, other_by_lines ? plans_by_lines(other) : other_as_it_is, lines, kPairShare);
        });
      }
  for (std::uint32_t lines = width; lines < layer.m && lines <= kMostLines; lines *= 2)
    for (const std::uint32_t share : {kPairShare, kRunShare})
      for (const bool in_parts : {false, true})
        bands.emplace_back([=] { cut_run(run, lines, share, in_parts); });
  const std::uint32_t row = row_of_image(run);
  for (std::uint32_t lines = 2 * row; row > 0 && lines < layer.m && lines <= kMostLines; lines *= 2)
    for (const std::uint32_t ranges : {1U, 2U, 3U})
      for (const bool dx_alone : {false, true})
        if (!dx_alone || section > forward_sections())
          bands.emplace_back([=] { cut_run_finely(run, lines, ranges, dx_alone); });
  for (Section *thrifty : {&one, &other})
    for (std::size_t i = 0; thrifty->thrifty && i < thrifty->thrifty->alternatives.size(); ++i)
      bands.emplace_back([=] { set(*thrifty, thrifty->thrifty->alternatives[i]); });
  Trials trials = trials_of(run.first, run.second, run.first, run.second);
  keep_gains(trials, bands, best);
  trials.more = [&](std::size_t i) { return i < changes && (i < patience || best < apart); };
  trials.change = [&](std::size_t) { change_pair(one, other); };
  trials.draws = {&weaver_};
  keep_gains(trials, best);
  return best < apart;
}

/// Sections that follow others of one shape alike, by what they could save if they were woven with them, most first.
std::vector<std::vector<std::size_t>> StepWalk::pairs_to_weave() {
  using Shape = const LayerPlans::Choice *;
  const auto shape = [&](std::size_t s) { return s < sections_.size() ? sections_[s].choice : nullptr; };
  std::map<std::tuple<Shape, Shape, Shape, Shape, std::uint64_t>, std::size_t> known;
  std::vector<std::vector<std::size_t>> pairs;
  for (std::size_t s = 1; s < sections_.size(); ++s) {
    if (is_at_turn(s)) continue;
    if (sections_[s - 1].unit && sections_[s].unit) continue; // which stand behind one another
    const auto [at, is_new] =
        known.try_emplace({shape(s - 2), shape(s - 1), shape(s), shape(s + 1), shared_tensors(s - 1, s)}, pairs.size());
    if (is_new) pairs.emplace_back();
    pairs[at->second].push_back(s);
  }
  const auto saved = [this](const std::vector<std::size_t> &pair) {
    const std::size_t s = pair.front();
    const std::optional<Program> program =
        allocate(range(sections_, s - 1, s + 1), layers_, layout_of(s - 1, s + 1), npu_);
    if (!program) return std::uint64_t{0};
    const std::uint64_t all = cost(s - 1, s + 1, kNoPlan), least = judge_.bound(*program);
    return (all - std::min(all, least)) * pair.size();
  };
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    order.emplace_back(~saved(pairs[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<std::vector<std::size_t>> sorted;
  for (const auto &[rank, i] : order)
    sorted.push_back(std::move(pairs[i]));
  return sorted;
}

/// Whether the section reads what the other one, of its direction, computes.
bool StepWalk::depends(std::size_t section, std::size_t other) const {
  const Tensor result = other < forward_sections() ? Tensor::kY : Tensor::kDX;
  const std::int32_t place = layout_.place(sections_[other].layer, result);
  return place != Layout::kNone && reads(section, place);
}

/// Whether two sections of one direction read the same X, and those between them do not.
bool StepWalk::read_alike_apart(std::size_t one, std::size_t other) const {
  if (one + 1 >= other || (one < forward_sections()) != (other < forward_sections())) return false;
  const auto x = [this](std::size_t s) { return layout_.place(sections_[s].layer, Tensor::kX); };
  if (x(one) != x(other) || x(one + 1) == x(one) || x(other - 1) == x(one)) return false;
  const auto is_free = [this](std::size_t s) { return !sections_[s].unit && !is_woven(s); };
  return is_free(one) && is_free(other);
}

/// Brings the later section next to the other one, or this to the later one, if what lies between them allows it. Where
/// the later one is then; none if it does not.
std::optional<std::size_t> StepWalk::bring_together(std::size_t one, std::size_t other) {
  const auto at = [this](std::size_t s) { return sections_.begin() + static_cast<std::ptrdiff_t>(s); };
  bool sooner = true, later = true;
  for (std::size_t s = one + 1; s < other; ++s) {
    sooner = sooner && !depends(other, s);
    later = later && !depends(s, one);
  }
  if (sooner) {
    std::rotate(at(one + 1), at(other), at(other + 1));
    return one + 1;
  }
  if (!later) return std::nullopt;
  std::rotate(at(one), at(one + 1), at(other));
  return other;
}

/// Weaves sections that read the same X, but not one after the other, where the step gains: X then comes once for both.
void StepWalk::weave_readers(std::uint64_t changes, std::uint64_t patience) {
  // What others say of sections is by their places.
  const bool in_place = !linked_.empty() || std::any_of(sections_.begin(), sections_.end(),
                                                        [](const Section &section) { return section.later > 0; });
  if (in_place) return;
  for (std::size_t other = 2; other < sections_.size(); ++other)
    for (std::size_t one = other - 1; one-- > 0;) {
      if (!read_alike_apart(one, other)) continue;
      if (progress_) progress_();
      const std::vector<Section> before = sections_;
      const std::optional<std::size_t> at = bring_together(one, other);
      if (!at) continue;
      weave_with_last(*at, changes, patience);
      if (!improves()) sections_ = before;
    }
}

/// Weaves sections with the ones before them, those of the same shapes alike, where the step gains.
void StepWalk::try_weaving(std::uint64_t changes, std::uint64_t patience) {
  const std::uint64_t begun = work_.bursts;
  weave_readers(changes, patience);
  for (const std::vector<std::size_t> &pairs : pairs_to_weave()) {
    if (progress_) progress_();
    const std::vector<Section> before = sections_;
    const std::size_t first = pairs.front();
    if (weave_with_last(first, changes, patience)) {
      for (const std::size_t s : pairs)
        copy_run(first, s);
      if (improves()) continue;
    }
    sections_ = before;
  }
  around_.clear();
  woven_bursts_ += work_.bursts - begun;
}

} // namespace gradweave::compiler
