#include "compiler/strips/strip_commands.hpp"

#include "compiler/items/ordered_commands.hpp"
#include "compiler/strips/strip_items.hpp"
#include "compiler/vector_stream/stage/programs.hpp"

#include <algorithm>
#include <optional>

namespace gradweave::compiler {
namespace {

constexpr std::uint64_t kRunCycles = 40, kMoveCycles = 20; ///< that a command costs beside its lanes, its beats

/// Nearly when memory and the vector unit do what, so that LOADs stand in the stream where their turn comes: a queue
/// holds few, and a full one holds up the runs behind it.
class Clock {
public:
  explicit Clock(const NpuConfig &npu) : npu_(npu) {}

  void move(const isa::DmaCommand &dma) {
    const std::uint64_t row = std::uint64_t{dma.cols} * (dma.fp32 ? 4 : 2);
    memory_ += kMoveCycles + dma.rows * row * kBeatShare / (npu_.bus_bytes * kBeatsAShare);
  }
  /// A run begins when its LOADs are done.
  void run(std::uint64_t cycles, std::uint64_t loaded) { vector_ = std::max(vector_, loaded) + kRunCycles + cycles; }
  /// Behind an item: LOADs that stand here come to memory when the runs of the item before are done.
  void end_item() {
    memory_ = std::max(memory_, begun_);
    begun_ = vector_;
  }
  std::uint64_t memory() const { return memory_; }
  bool memory_is_ahead() const { return memory_ > vector_; }

private:
  /// Memory is slower than the bus: three cycles for two beats, nearly.
  static constexpr std::uint64_t kBeatShare = 3, kBeatsAShare = 2;

  const NpuConfig &npu_;
  std::uint64_t memory_ = 0, vector_ = 0, begun_ = 0;
};

class Emitter {
public:
  Emitter(const StripItems &plan, std::size_t regions, const NpuConfig &npu)
      : plan_(plan), clock_(npu), commands_(regions), programs_(write_programs(plan.programs)),
        is_added_(plan.loads.size()), loaded_(plan.items.size()) {}

  std::vector<isa::Command> run(std::uint32_t first_semaphore) {
    for (const isa::ProgramCommand &p : programs_.commands)
      commands_.add(p);
    for (std::size_t at = 0; at < plan_.items.size(); ++at) {
      for (; next_ < plan_.loads.size() && plan_.loads[next_].before <= at; ++next_)
        if (!is_added_[next_]) add_load(next_);
      for (const StripRun &run : plan_.items[at].runs)
        add_run(run, loaded_[at]);
      for (const StripStore &store : plan_.items[at].stores) {
        commands_.add(store.dma, {store.regions});
        clock_.move(store.dma);
      }
      clock_.end_item();
      for (std::size_t load = next_; load < plan_.loads.size() && !clock_.memory_is_ahead(); ++load)
        if (!is_added_[load] && plan_.loads[load].from <= at + 1) add_load(load);
    }
    return commands_.encoded(first_semaphore);
  }

private:
  /// Before others whose places are not free yet, too: those of the next strip go beside this one's elements.
  void add_load(std::size_t which) {
    is_added_[which] = true;
    const StripLoad &load = plan_.loads[which];
    commands_.add(load.dma, {}, {load.regions});
    clock_.move(load.dma);
    loaded_[load.before] = std::max(loaded_[load.before], clock_.memory());
  }

  void add_run(const StripRun &run, std::uint64_t loaded) {
    for (const isa::TileCommand &tiles : tile_commands(run.tiles))
      commands_.add(tiles);
    isa::VectorCommand v;
    v.first = programs_.first_words[run.program];
    v.elements = run.elements;
    v.steps = run.steps;
    commands_.add(v, run.reads, run.writes);
    clock_.run(run.cycles, loaded);
  }

  const StripItems &plan_;
  Clock clock_;
  OrderedCommands commands_;
  WrittenPrograms programs_;
  std::size_t next_ = 0;              ///< LOAD, behind those that had to come before a run
  std::vector<bool> is_added_;        ///< of each LOAD
  std::vector<std::uint64_t> loaded_; ///< of each item, when its LOADs are done
};

} // namespace

std::vector<isa::Command> strip_commands(const StripJobs &jobs, const OpJobs &of, const StripCut &cut,
                                         const std::vector<std::uint64_t> &addresses, const NpuConfig &npu,
                                         std::uint32_t first_semaphore) {
  const std::optional<StripLayout> layout = StripLayout::make(jobs, of, cut, npu);
  if (!layout) return {};
  const std::optional<StripItems> items = strip_items(jobs, of, cut, *layout, addresses, npu);
  if (!items) return {};
  return Emitter(*items, layout->regions(), npu).run(first_semaphore);
}

} // namespace gradweave::compiler
