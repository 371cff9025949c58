#include "trace/timeline/sketch.hpp"

#include "trace/timeline/occupancy.hpp"

#include <algorithm>
#include <map>

namespace gradweave::runtime::timeline {
namespace {

/// What an engine did, command by command.
SketchRow &row_of(std::map<std::string, SketchRow> &rows, const std::string &engine) {
  SketchRow &row = rows[engine];
  row.engine = engine;
  return row;
}

std::uint32_t place_of(std::vector<std::string> &names, const std::string &name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<std::uint32_t>(at - names.begin());
  names.push_back(name);
  return static_cast<std::uint32_t>(names.size() - 1);
}

/// One bar in the making, and what it is made of.
class Merger {
public:
  Merger(const SketchRow &row, std::uint64_t grain) : grain_(grain), cycles_(row.tensors.size()) {
    for (const SketchBar &bar : row.bars)
      add(bar);
    close();
  }
  std::vector<SketchBar> take() { return std::move(merged_); }

private:
  static std::uint64_t length(const SketchBar &bar) { return bar.end - bar.begin; }

  bool joins(const SketchBar &bar) const {
    if (open_.commands == 0 || bar.begin - open_.end >= grain_) return false;
    return bar.tensor == open_.tensor || length(bar) < grain_ || length(open_) < grain_;
  }
  void add(const SketchBar &bar) {
    if (!joins(bar)) {
      close();
      open_ = {bar.begin, bar.end, bar.tensor, 0};
    }
    open_.end = bar.end;
    open_.commands += bar.commands;
    cycles_[bar.tensor] += length(bar) + 1; // commands of no length count, too
    open_.tensor = static_cast<std::uint32_t>(std::max_element(cycles_.begin(), cycles_.end()) - cycles_.begin());
  }
  void close() {
    if (open_.commands != 0) merged_.push_back(open_);
    open_ = {};
    std::fill(cycles_.begin(), cycles_.end(), 0);
  }

  std::uint64_t grain_;
  std::vector<std::uint64_t> cycles_; ///< of the open bar, by tensor
  SketchBar open_;
  std::vector<SketchBar> merged_;
};

void thin(Sketch &drawn, std::size_t most_bars) {
  const std::vector<SketchRow> all = drawn.rows;
  const auto bars = [&drawn] {
    std::size_t count = 0;
    for (const SketchRow &row : drawn.rows)
      count += row.bars.size();
    return count;
  };
  while (bars() > std::max(most_bars, all.size()) && drawn.grain <= drawn.cycles) {
    drawn.grain = drawn.grain == 0 ? 1 : 2 * drawn.grain;
    for (std::size_t r = 0; r < all.size(); ++r)
      drawn.rows[r].bars = Merger(all[r], drawn.grain).take();
  }
}

void add_occupancy(Sketch &drawn, const std::vector<std::vector<Step>> &banks, std::size_t most_values) {
  drawn.interval = 1;
  while (drawn.cycles / drawn.interval >= most_values)
    drawn.interval *= 2;
  drawn.occupied.assign(drawn.cycles / drawn.interval + 1, 0);
  std::vector<Step> steps;
  for (const std::vector<Step> &bank : banks)
    steps.insert(steps.end(), bank.begin(), bank.end());
  std::uint64_t from = 0;
  std::uint32_t value = 0;
  const auto hold = [&](std::uint64_t until) { // of [from, until), `value` rows are occupied
    for (std::uint64_t at = from / drawn.interval; from < until && at <= (until - 1) / drawn.interval; ++at)
      drawn.occupied.at(at) = std::max(drawn.occupied.at(at), value);
  };
  for_values(steps, [&](std::uint64_t cycle, std::int64_t now) {
    hold(cycle);
    from = cycle;
    value = static_cast<std::uint32_t>(now);
  });
  hold(drawn.cycles);
}

} // namespace

Sketch sketch(const Run &run, const std::vector<std::string> &tensors, std::size_t most_bars, std::size_t most_values) {
  const std::vector<std::optional<isa::Decoded>> commands = decode_run(run);
  Sketch drawn;
  drawn.cycles = run.cycles;
  std::map<std::string, SketchRow> rows;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (!commands[i] || run.times[i].start == timing::kNever) continue;
    ++drawn.commands;
    SketchRow &row = row_of(rows, run.label(i).engine);
    const std::uint64_t free = row.bars.empty() ? 0 : row.bars.back().end;
    const std::uint64_t end = std::max(free, end_of(run.times[i], run.cycles));
    row.bars.push_back({std::max(free, run.times[i].start), end, place_of(row.tensors, tensors.at(i)), 1});
  }
  for (auto &[engine, row] : rows)
    drawn.rows.push_back(std::move(row));
  thin(drawn, most_bars);
  drawn.spm_rows = run.npu.spm_rows();
  add_occupancy(drawn, follow_occupancy(run, commands), most_values);
  return drawn;
}

} // namespace gradweave::runtime::timeline
