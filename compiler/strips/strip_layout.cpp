#include "compiler/strips/strip_layout.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/stage/stage.hpp"

#include <algorithm>
#include <set>

namespace gradweave::compiler {
namespace {

using Kind = StripTile::Kind;
using PassKind = StripPass::Kind;

constexpr std::size_t kToTheEnd = ~std::size_t{0};
constexpr std::size_t kMostSets = 3;
constexpr std::size_t kTogether = 3; ///< bundles at most that pass at a time

std::uint32_t even(std::size_t rows) { return static_cast<std::uint32_t>((rows + 1) / 2 * 2); }
std::uint32_t height_of(const OpJobs &jobs, std::size_t value) {
  return jobs.values[value].type == graph::ElementType::kBf16 ? 1 : 2;
}

/// Which stage of a pass of elements reads or writes a value last.
class LastUses {
public:
  LastUses(const StripJobs &jobs, std::size_t pass) : jobs_(jobs), pass_(pass) {
    const std::vector<StripStage> &stages = jobs.passes[pass].stages;
    for (std::size_t s = 0; s < stages.size(); ++s)
      for (const auto *tiles : {&stages[s].operands, &stages[s].results})
        for (const StripTile &t : *tiles)
          if (t.kind == Kind::kMatrix) last_[t.value] = s;
    for (const StripStage &stage : stages)
      for (const StripTile &t : stage.results)
        if (jobs.in_memory[t.value]) last_[t.value] = kToTheEnd;
  }

  /// Whether the value's place may be written by a stage behind `stage`, or by it, if it has read it.
  bool ends_with(std::size_t value, std::size_t stage) const {
    return last_.at(value) <= stage && !is_read_later(value);
  }

private:
  bool is_read_later(std::size_t value) const {
    for (std::size_t p = pass_ + 1; p < jobs_.passes.size(); ++p)
      for (const StripStage &stage : jobs_.passes[p].stages)
        for (const StripTile &t : stage.operands)
          if (t.kind == Kind::kMatrix && t.value == value) return true;
    return false;
  }

  const StripJobs &jobs_;
  std::size_t pass_;
  std::map<std::size_t, std::size_t> last_;
};

} // namespace

StripLayout::LineKey StripLayout::key_of(const StripTile &tile) {
  return {tile.kind == Kind::kNumber ? Kind::kNumber : Kind::kLine, tile.value};
}

/// False: parts have no room beside each other, or lines are not by part.
bool StripLayout::find_bundles(const StripJobs &jobs, const StripCut &cut, const NpuConfig &npu) {
  lanes_ = npu.lanes();
  columns_ = cut.columns;
  abreast_ = cut.abreast;
  parts_ = jobs.parts();
  whole_ = jobs.rows / jobs.part_rows;
  bundles_ = divide_up(whole_, abreast_) + (whole_ < parts_ ? 1 : 0);
  panels_ = divide_up(columns_, lanes_);
  part_rows_ = even(jobs.part_rows);
  last_rows_ = even(jobs.rows_of(parts_ - 1));
  if (abreast_ == 1) return true;
  for (const StripPass &pass : jobs.passes)
    for (std::size_t part = 0; pass.kind == PassKind::kSums && part < parts_; ++part)
      for (const StripTile &t : pass.stages[part].results)
        if (t.index != part) return false;
  return abreast_ * columns_ <= lanes_;
}

PartBundle StripLayout::bundle(std::size_t which) const {
  if (which == divide_up(whole_, abreast_)) return {whole_, 1};
  return {which * abreast_, std::min(abreast_, whole_ - which * abreast_)};
}

void StripLayout::find_groups(const StripJobs &jobs) {
  groups_.assign(summed_.size(), kToTheEnd);
  std::size_t group = 0;
  for (const StripPass &pass : jobs.passes) {
    if (pass.kind != PassKind::kSums) continue;
    std::size_t of_pass = kToTheEnd;
    std::vector<std::size_t> members;
    for (const StripTile &t : pass.stages.front().operands)
      if (t.kind == Kind::kMatrix) {
        members.push_back(index_of(t.value));
        of_pass = std::min(of_pass, groups_[members.back()]);
      }
    if (of_pass == kToTheEnd) of_pass = group++;
    for (const std::size_t member : members)
      groups_[member] = of_pass;
  }
}

std::size_t StripLayout::index_of(std::size_t value) const {
  return static_cast<std::size_t>(std::find(summed_.begin(), summed_.end(), value) - summed_.begin());
}

bool StripLayout::is_kept(std::size_t value) const {
  const std::size_t at = index_of(value);
  return at < summed_.size() && groups_[at] == *std::max_element(groups_.begin(), groups_.end());
}

void StripLayout::find_lines(const StripJobs &jobs, std::size_t merged) {
  for (const StripPass &pass : jobs.passes)
    for (const StripStage &stage : pass.stages) {
      for (const auto *tiles : {&stage.operands, &stage.results})
        for (const StripTile &t : *tiles) {
          if (t.kind == Kind::kMatrix) continue;
          Lines &lines = lines_[key_of(t)];
          lines.entries = std::max(lines.entries, t.kind == Kind::kLines ? stage.rows : t.index + 1);
        }
      if (pass.kind == PassKind::kLines) continue;
      for (const StripTile &t : stage.operands)
        if (t.kind == Kind::kLine) {
          std::size_t &copies = lines_[key_of(t)].copies;
          copies = std::max(copies, pass.kind == PassKind::kSums ? merged : folds_ * abreast_);
        }
    }
  for (auto &[key, lines] : lines_) {
    lines.first_row = line_rows_;
    lines.first_region = line_regions_;
    const std::size_t entries = abreast_ == 1 || lines.entries < parts_ ? lines.entries : bundles_;
    const std::size_t copies = lines.copies / abreast_ + (first_is_line() || lines.copies == 1 ? 0 : 1);
    const std::size_t count = std::max(entries, copies);
    line_rows_ += count * 2 * panels_;
    line_regions_ += count;
  }
}

void StripLayout::find_homes(const StripJobs &jobs, const OpJobs &of) {
  for (std::size_t pass = 0; pass < jobs.passes.size(); ++pass)
    if (jobs.passes[pass].kind == PassKind::kElements) place_elements(jobs, pass, of);
}

/// What is loaded has a slot of its own; a result takes the place of an operand that is not read again, a free slot, or
/// a new one.
void StripLayout::place_elements(const StripJobs &jobs, std::size_t pass, const OpJobs &of) {
  const std::vector<StripStage> &stages = jobs.passes[pass].stages;
  const LastUses last(jobs, pass);
  std::vector<std::vector<std::size_t>> tenants(block_heights_.size()); // values, of each slot of blocks
  const auto new_slot = [&](std::size_t value) {
    block_heights_.push_back(height_of(of, value));
    tenants.push_back({value});
    homes_[{pass, value}] = {false, tenants.size() - 1};
  };
  std::set<std::size_t> given;
  for (const StripStage &stage : stages) {
    for (const StripTile &t : stage.operands) {
      if (t.kind != Kind::kMatrix || given.count(t.value) != 0 || homes_.count({pass, t.value}) != 0) continue;
      if (is_kept(t.value))
        homes_[{pass, t.value}] = {true, t.value};
      else
        new_slot(t.value);
    }
    for (const StripTile &t : stage.results)
      given.insert(t.value);
  }
  for (std::size_t s = 0; s < stages.size(); ++s)
    for (std::size_t r = 0; r < stages[s].results.size(); ++r) {
      const std::size_t value = stages[s].results[r].value;
      bool placed = false;
      for (std::size_t o = 0; o < stages[s].operands.size() && !placed; ++o) {
        const StripTile &operand = stages[s].operands[o];
        if (operand.kind != Kind::kMatrix || height_of(of, operand.value) != height_of(of, value)) continue;
        const auto users = std::count_if(stages[s].operands.begin(), stages[s].operands.end(),
                                         [&](const StripTile &t) { return t == operand; });
        const Home home = homes_.at({pass, operand.value});
        const bool taken =
            std::any_of(stages[s].results.begin(), stages[s].results.begin() + static_cast<std::ptrdiff_t>(r),
                        [&](const StripTile &t) {
                          const Home &other = homes_.at({pass, t.value});
                          return other.summed == home.summed && other.slot == home.slot;
                        });
        if (users != 1 || taken || !last.ends_with(operand.value, s) || !reads_before(*stages[s].program, o, r))
          continue;
        homes_[{pass, value}] = home;
        if (!home.summed) tenants[home.slot].push_back(value);
        placed = true;
      }
      for (std::size_t slot = 0; slot < tenants.size() && !placed; ++slot) {
        const bool is_free = std::all_of(tenants[slot].begin(), tenants[slot].end(),
                                         [&](std::size_t tenant) { return s > 0 && last.ends_with(tenant, s - 1); });
        if (!is_free || block_heights_[slot] != height_of(of, value)) continue;
        homes_[{pass, value}] = {false, slot};
        tenants[slot].push_back(value);
        placed = true;
      }
      if (!placed) new_slot(value);
    }
}

std::optional<StripLayout> StripLayout::make(const StripJobs &jobs, const OpJobs &of, const StripCut &cut,
                                             const NpuConfig &npu) {
  StripLayout l;
  if (!l.find_bundles(jobs, cut, npu)) return std::nullopt;
  if (l.panels_ == 1) l.folds_ = std::max<std::size_t>(cut.block_rows / npu.lanes(), 1);
  l.block_rows_ = static_cast<std::uint32_t>(cut.block_rows);
  l.blocks_ = divide_up(jobs.part_rows, cut.block_rows);
  l.summed_ = jobs.summed();
  l.find_groups(jobs);
  l.find_lines(jobs, divide_up(cut.merged, cut.abreast) * cut.abreast);
  for (const auto &[key, lines] : l.lines_)
    if (lines.entries > 1 && (lines.copies > 1 || (l.abreast_ > 1 && lines.entries != l.parts_))) return std::nullopt;
  l.find_homes(jobs, of);
  const auto panels = static_cast<std::uint32_t>(l.panels_);
  l.state_row_ = static_cast<std::uint32_t>(l.line_rows_ * kLineSets);
  l.state_region_ = l.line_regions_ * kLineSets;
  l.state_panels_ = l.panels_ * divide_up(cut.merged, cut.abreast);
  l.blocks_row_ = l.state_row_ + kStateLines * 2 * static_cast<std::uint32_t>(l.state_panels_);
  l.blocks_region_ = l.state_region_ + kStateLines;
  for (const std::uint32_t height : l.block_heights_) {
    l.block_firsts_.push_back(l.block_set_rows_);
    l.block_set_rows_ += l.block_pstride(height) * panels;
  }
  l.slots_row_ = l.blocks_row_ + static_cast<std::uint32_t>(kBlockSets) * l.block_set_rows_;
  l.slots_region_ = l.blocks_region_ + kBlockSets * l.block_heights_.size();
  if (l.slots_row_ >= npu.spm_rows()) return std::nullopt;
  std::map<std::size_t, std::vector<std::uint32_t>> heights; // of each group: they lie in the same places
  for (std::size_t at = 0; at < l.summed_.size(); ++at) {
    std::vector<std::uint32_t> &of_group = heights[l.groups_[at]];
    l.ranks_.push_back(of_group.size());
    of_group.push_back(height_of(of, l.summed_[at]));
  }
  l.heights_ = heights.begin()->second;
  for (const auto &[group, of_group] : heights)
    if (of_group != l.heights_) return std::nullopt;
  if (!l.find_slots(npu.spm_rows() - l.slots_row_, cut)) return std::nullopt;
  return l;
}

/// `rows`: of the scratchpad.
bool StripLayout::find_slots(std::size_t rows, const StripCut &cut) {
  std::uint32_t row = 0; // of the scratchpad for one of each matrix
  for (const std::uint32_t height : heights_)
    row += height * static_cast<std::uint32_t>(panels_);
  rows /= row;
  const bool is_small = last_rows_ < part_rows_;
  const std::size_t alike = bundles_ - (is_small ? 1 : 0), last = is_small ? last_rows_ : 0;
  const std::size_t all = alike * part_rows_ + last;
  if (rows >= all) {
    slots_ = {bundles_, 0, std::min(rows / all, kMostSets), alike};
    const std::size_t ahead = rows - all > last ? std::min((rows - all - last) / part_rows_, alike) : 0;
    if (slots_.sets == 1 && ahead > 0) slots_.sets = 2, slots_.shift = ahead;
  } else {
    slots_.passing = std::min(divide_up(cut.merged, cut.abreast), kTogether);
    passing_rows_ = even(cut.block_rows);
    const std::size_t passing = kPassingPlaces * slots_.passing * passing_rows_;
    if (rows < passing) return false;
    slots_.kept = std::min((rows - passing) / part_rows_, bundles_ - 1);
  }
  small_ = slots_.passing == 0 && is_small ? slots_.sets : 0;
  alike_ = slots_.kept - (small_ > 0 ? 1 : 0) + (slots_.sets - 1) * slots_.shift;
  const std::size_t places = kPassingPlaces * slots_.passing;
  regions_ = slots_region_;
  std::uint32_t first_row = slots_row_;
  for (const std::uint32_t height : heights_) {
    first_rows_.push_back(first_row);
    first_regions_.push_back(regions_);
    const std::size_t of_one = alike_ * part_rows_ + small_ * last_rows_ + places * passing_rows_;
    first_row += static_cast<std::uint32_t>(of_one * panels_) * height;
    regions_ += (alike_ + small_) * blocks_ + places;
  }
  return true;
}

std::uint32_t StripLayout::pstride(std::size_t value, std::size_t slot) const {
  const std::uint32_t rows = is_small(slot) ? last_rows_ : passes(slot) ? passing_rows_ : part_rows_;
  return heights_[ranks_[index_of(value)]] * rows;
}

StripPlace StripLayout::slot(std::size_t set, std::size_t value, std::size_t slot) const {
  const std::size_t at = ranks_[index_of(value)], which = is_small(slot) ? alike_ + set : slot + set * slots_.shift;
  const std::size_t rows = is_small(slot) ? alike_ * part_rows_ + set * last_rows_ : which * part_rows_;
  return {first_rows_[at] + static_cast<std::uint32_t>(rows * panels_) * heights_[at],
          first_regions_[at] + which * blocks_};
}

StripPlace StripLayout::passing(std::size_t place, std::size_t value, std::size_t slot) const {
  const std::size_t at = ranks_[index_of(value)], which = place * slots_.passing + slot - slots_.kept;
  const std::size_t rows = alike_ * part_rows_ + which * passing_rows_;
  return {first_rows_[at] + static_cast<std::uint32_t>(rows * panels_) * heights_[at],
          first_regions_[at] + alike_ * blocks_ + which};
}

std::uint32_t StripLayout::block_pstride(std::uint32_t height) const { return even(std::size_t{height} * block_rows_); }

StripPlace StripLayout::block(std::size_t set, std::size_t slot) const {
  return {blocks_row_ + static_cast<std::uint32_t>(set) * block_set_rows_ + block_firsts_[slot],
          blocks_region_ + set * block_heights_.size() + slot};
}

StripPlace StripLayout::line(std::size_t set, const StripTile &tile, std::size_t entry) const {
  const Lines &lines = lines_.at(key_of(tile));
  const bool is_last = lines.entries > 1 && entry >= whole_; // of the parts: its bundle is its own
  const std::size_t at = is_last ? divide_up(entry, abreast_) : entry / abreast_;
  return {static_cast<std::uint32_t>(set * line_rows_ + lines.first_row + at * 2 * panels_),
          set * line_regions_ + lines.first_region + at, is_last ? 0 : lane_in_panel(entry)};
}

StripPlace StripLayout::copy(std::size_t set, const StripTile &tile, std::size_t copy) const {
  StripPlace place = line(set, tile, 0);
  const std::size_t panel = copy / abreast_ + (first_is_line() ? 0 : 1);
  place.row += static_cast<std::uint32_t>(panel * 2 * panels_);
  place.region += panel;
  place.lane = lane_in_panel(copy);
  return place;
}

StripPlace StripLayout::state(std::size_t variable) const {
  return {state_row_ + static_cast<std::uint32_t>(variable * 2 * state_panels_), state_region_ + variable};
}

} // namespace gradweave::compiler
