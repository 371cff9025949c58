#include "compiler/vector_stream/section.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/stage/places.hpp"
#include "compiler/vector_stream/stage/programs.hpp"
#include "compiler/vector_stream/stage/ranges.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace gradweave::compiler {
namespace {

/// From whom to whom a token goes. Each pair of engines posts and waits in the order of areas.
enum Semaphore : std::uint8_t {
  kLoaded,   ///< LOAD to VECTOR: operands are there
  kMoved,    ///< LOAD to STORE: what is moved is there
  kComputed, ///< VECTOR to STORE: results are there
  kRead,     ///< VECTOR to LOAD: operands of the place may be replaced
  kStored,   ///< STORE to VECTOR: results of the place may be replaced
  kFree,     ///< STORE to LOAD: all of the place may be replaced
  kInMemory  ///< STORE to LOAD: all that was stored so far may be read
};

constexpr auto kLoadEngine = static_cast<std::uint8_t>(isa::Engine::LOAD);
constexpr auto kStoreEngine = static_cast<std::uint8_t>(isa::Engine::STORE);

using Semaphores = std::vector<std::uint8_t>;

/// A queue holds no more commands: what is behind them in the stream waits.
constexpr std::size_t kQueue = 8;

bool same(const AreaTile &a, const AreaTile &b) {
  return a.value == b.value && a.first == b.first && a.pitch == b.pitch && a.rows == b.rows && a.cols == b.cols &&
         a.phase == b.phase && a.spm.row == b.spm.row && a.spm.rot == b.spm.rot;
}

class Section {
public:
  Section(const AreaPlan &plan, const std::vector<std::uint64_t> &addresses, const NpuConfig &npu,
          const SectionRoom &room)
      : plan_(plan), addresses_(addresses), npu_(npu), room_(room) {}

  std::vector<std::vector<isa::Command>> run() {
    find_reads_of_stored();
    std::vector<std::vector<isa::Command>> pieces;
    for (std::size_t n = 0; n < plan_.areas.size(); ++n) {
      if (n == 0) emit_loads(0, false);
      // LOADs stand before the runs that they overlap with: whose queue would hold them up.
      const bool next = n + 1 < plan_.areas.size();
      Transfers loads;
      if (next) loads = loads_of(n + 1, false);
      emit_runs(n, std::move(loads));
      if (!may_spread(n)) { // else its STOREs stand among the next area's runs
        emit_all(stores_of(n));
        if (next && waits_for_memory(n + 1)) emit_loads(n + 1, true);
      }
      pieces.push_back(std::move(out_));
      out_.clear();
    }
    return pieces;
  }

private:
  const Area &area(std::size_t n) const { return plan_.areas[n]; }

  /// Tiles that are loaded when all before their area is in memory.
  void find_reads_of_stored() {
    std::map<std::size_t, std::map<std::size_t, Ranges>> stored; // of each value, by areas of each layout
    for (const Area &area : plan_.areas) {
      std::vector<bool> waits;
      for (const AreaTile &t : area.loaded) {
        const std::map<std::size_t, Ranges> &by = stored[t.value];
        waits.push_back(std::any_of(by.begin(), by.end(), [&](const auto &s) {
          return s.first != area.layout && s.second.overlap(t.first, t.end());
        }));
      }
      reads_stored_.push_back(std::move(waits));
      if (waits_for_memory(reads_stored_.size() - 1)) stored.clear();
      for (const AreaTile &t : area.stored)
        stored[t.value][area.layout].add(t.first, t.end());
    }
  }
  bool waits_for_memory(std::size_t n) const {
    return n < reads_stored_.size() &&
           std::find(reads_stored_[n].begin(), reads_stored_[n].end(), true) != reads_stored_[n].end();
  }

  /// So many STOREs that the queue holds up all behind them, among them the runs of the next area: these go first. No
  /// LOAD must wait for the STOREs.
  bool may_spread(std::size_t n) const {
    return n + 1 < plan_.areas.size() && goes_on(n) && area(n).stored.size() > kQueue && !area(n + 1).runs.empty() &&
           !waits_for_memory(n + 1) && !waits_for_memory(n + 2);
  }

  /// Whether the next area in the place has its tiles where this one has them: then operands and results are replaced
  /// each for itself.
  bool goes_on(std::size_t n) const {
    return n + 2 < plan_.areas.size() && !area(n).runs.empty() && area(n + 2).layout == area(n).layout;
  }
  bool is_last_in_place(std::size_t n) const { return n + 2 >= plan_.areas.size(); }

  template <typename Op> void emit(const Op &op, const Semaphores &waits = {}, const Semaphores &posts = {}) {
    isa::Sync sync;
    for (std::size_t i = 0; i < waits.size(); ++i)
      sync.waits.at(i) = {semaphore(waits[i]), 1};
    std::transform(posts.begin(), posts.end(), sync.posts.begin(), [this](std::uint8_t id) { return semaphore(id); });
    out_.push_back(isa::encode({op, sync, 0}));
  }

  std::uint8_t semaphore(std::uint8_t id) const { return static_cast<std::uint8_t>(room_.first_semaphore + id); }

  isa::SpmTile in_place(isa::SpmTile tile, std::size_t n) const {
    const std::uint32_t region = plan_.region.value_or(state_rows(npu_));
    tile.row += room_.first_row + region + (n % 2 == 1 ? place_rows(npu_, region) : 0);
    return tile;
  }

  isa::DmaCommand transfer(const AreaTile &t, std::size_t n, bool store) const {
    const std::uint32_t bytes = t.fp32 ? 4 : 2;
    isa::DmaCommand d;
    d.store = store;
    d.fp32 = t.fp32;
    d.dram_addr = addresses_.at(t.value) + t.first * bytes;
    d.pitch = t.rows == 1 ? 0 : static_cast<std::uint32_t>(t.pitch * bytes);
    d.rows = t.rows;
    d.cols = t.cols;
    d.spm = in_place(t.spm, n);
    return d;
  }

  /// LOADs of a row of equal parts: each of a part, or of the piece of it that lies in a panel.
  std::vector<isa::DmaCommand> pieces(const AreaTile &t, std::size_t n) const {
    std::vector<isa::DmaCommand> all;
    for (std::uint32_t col = 0; col < t.cols; col += all.back().cols) {
      isa::DmaCommand d = transfer(t, n, false);
      const std::uint32_t lane = col % npu_.lanes(), begin = (t.phase + col) % t.period;
      d.dram_addr += std::uint64_t{begin} * (t.fp32 ? 4 : 2);
      d.cols = std::min({t.period - begin, npu_.lanes() - lane, t.cols - col});
      d.spm.row += col / npu_.lanes() * t.spm.pstride;
      d.spm.rot = static_cast<isa::Lane>(lane);
      all.push_back(d);
    }
    return all;
  }

  /// LOADs or STOREs of an area, or a SYNC if there are none: the first waits, the last posts.
  struct Transfers {
    std::vector<isa::DmaCommand> all;
    bool store = false;
    bool some = false;    ///< there is something to emit
    std::size_t next = 0; ///< that is not emitted yet
    Semaphores waits, posts;
  };

  /// Those that are not emitted yet, up to the `end`-th.
  void emit_up_to(Transfers &t, std::size_t end) {
    if (t.some && t.all.empty()) emit(isa::SyncCommand{t.store ? kStoreEngine : kLoadEngine}, t.waits, t.posts);
    t.some = t.some && !t.all.empty();
    for (; t.some && t.next < std::min(end, t.all.size()); ++t.next)
      emit(t.all[t.next], t.next == 0 ? t.waits : Semaphores(), t.next + 1 == t.all.size() ? t.posts : Semaphores());
  }
  void emit_all(Transfers &&t) { emit_up_to(t, t.all.size()); }

  void emit_loads(std::size_t n, bool of_stored) { emit_all(loads_of(n, of_stored)); }

  /// LOADs of what nothing in the section stores before, or of the rest, which waits for that. The first waits for
  /// room.
  Transfers loads_of(std::size_t n, bool of_stored) {
    Transfers transfers;
    std::vector<AreaTile> &held = held_[n % 2];
    if (!of_stored && n >= 2 && !goes_on(n - 2)) held.clear();
    std::vector<isa::DmaCommand> loads;
    for (std::size_t i = 0; i < area(n).loaded.size(); ++i) {
      const AreaTile &t = area(n).loaded[i];
      if (reads_stored_[n][i] != of_stored) continue;
      if (std::any_of(held.begin(), held.end(), [&](const AreaTile &h) { return same(h, t); })) continue;
      const std::vector<isa::DmaCommand> all = t.period == 0 ? std::vector{transfer(t, n, false)} : pieces(t, n);
      loads.insert(loads.end(), all.begin(), all.end());
    }
    const bool all = of_stored || !waits_for_memory(n), goes_first = !of_stored || !has_room_;
    has_room_ = all || !loads.empty();
    if (!has_room_) return transfers;
    transfers.some = true;
    if (n >= 2 && goes_first) transfers.waits.push_back(goes_on(n - 2) ? kRead : kFree);
    if (of_stored) transfers.waits.push_back(kInMemory);
    if (all) transfers.posts.push_back(area(n).runs.empty() ? kMoved : kLoaded);
    if (all) held = area(n).loaded;
    transfers.all = std::move(loads);
    return transfers;
  }

  Transfers stores_of(std::size_t n) const {
    Transfers transfers;
    transfers.store = transfers.some = true;
    for (const AreaTile &t : area(n).stored)
      transfers.all.push_back(transfer(t, n, true));
    transfers.waits.push_back(area(n).runs.empty() ? kMoved : kComputed);
    if (!is_last_in_place(n)) transfers.posts.push_back(goes_on(n) ? kStored : kFree);
    if (waits_for_memory(n + 1)) transfers.posts.push_back(kInMemory);
    return transfers;
  }

  /// Nearly the cycles of a run.
  std::size_t weight(const AreaRun &run) const {
    const std::size_t lanes = std::size_t{4} * npu_.vector_groups * npu_.lanes();
    return divide_up(run.elements, lanes) * run.steps * plan_.programs[run.program].size();
  }

  /// The first run waits, the last posts. The next area's LOADs, and STOREs of the one before if these are spread, go
  /// beside them: as many stand behind a run in the stream as are done while those before it run, and as many as the
  /// queue holds.
  void emit_runs(std::size_t n, Transfers loads) {
    const std::vector<AreaRun> &runs = area(n).runs;
    Transfers stores = n > 0 && may_spread(n - 1) ? stores_of(n - 1) : Transfers();
    std::size_t all = 0, before = 0;
    for (const AreaRun &run : runs)
      all += weight(run);
    const auto share = [&](const Transfers &t) {
      const std::size_t ahead = std::min(kQueue, t.all.size());
      return ahead + (t.all.size() - ahead) * before / std::max<std::size_t>(all, 1);
    };
    if (!stores.some) emit_up_to(loads, share(loads));
    for (const AreaRun &run : runs) {
      Semaphores waits, posts;
      if (&run == &runs.front()) {
        waits.push_back(kLoaded);
        if (n >= 2 && goes_on(n - 2)) waits.push_back(kStored);
      }
      if (&run == &runs.back()) {
        posts.push_back(kComputed);
        if (goes_on(n)) posts.push_back(kRead);
      }
      emit_run(run, n, waits, posts);
      emit_up_to(loads, share(loads));
      emit_up_to(stores, share(stores));
      before += weight(run);
    }
    emit_all(std::move(loads));
    emit_all(std::move(stores));
  }

  void emit_run(const AreaRun &run, std::size_t n, const Semaphores &waits, const Semaphores &posts) {
    isa::VectorCommand v;
    v.first = program_at(run.program);
    v.elements = run.elements;
    v.steps = run.steps;
    std::vector<isa::VectorTile> tiles = run.tiles;
    for (isa::VectorTile &t : tiles)
      t.spm = in_place(t.spm, n);
    for (isa::VectorTile t : run.state) {
      t.spm.row += room_.first_row;
      tiles.push_back(t);
    }
    for (const isa::TileCommand &command : tile_commands(tiles))
      emit(command);
    emit(v, waits, posts);
  }

  /// Where the program lies in the unit's memory; writes it there if it is not. A unit runs its commands one after the
  /// other, so words may be replaced that earlier runs needed.
  std::uint32_t program_at(std::size_t program) {
    if (const auto found = programs_.find(program); found != programs_.end()) return found->second;
    const isa::vector::Words &words = plan_.programs[program];
    const auto count = static_cast<std::uint32_t>(words.size());
    if (next_word_ + count > isa::kProgramWords) {
      programs_.clear();
      next_word_ = 0;
    }
    for (const isa::ProgramCommand &p : program_commands(words, next_word_))
      emit(p);
    const std::uint32_t at = next_word_;
    programs_[program] = at;
    next_word_ += count;
    return at;
  }

  const AreaPlan &plan_;
  const std::vector<std::uint64_t> &addresses_;
  const NpuConfig &npu_;
  SectionRoom room_;
  std::vector<std::vector<bool>> reads_stored_; ///< of each area's loaded tiles: an earlier area may store of it
  bool has_room_ = false;                       ///< the area that is being loaded has waited for its place
  /// What was loaded into each place, and is there: areas of a layout store nothing that others of them load.
  std::array<std::vector<AreaTile>, 2> held_;
  std::map<std::size_t, std::uint32_t> programs_; ///< where the program memory has them
  std::uint32_t next_word_ = 0;
  std::vector<isa::Command> out_;
};

} // namespace

std::vector<std::vector<isa::Command>> section_pieces(const AreaPlan &plan, const std::vector<std::uint64_t> &addresses,
                                                      const NpuConfig &npu, const SectionRoom &room) {
  return Section(plan, addresses, npu, room).run();
}

std::vector<isa::Command> section_commands(const AreaPlan &plan, const std::vector<std::uint64_t> &addresses,
                                           const NpuConfig &npu, std::uint8_t first_semaphore) {
  std::vector<isa::Command> commands;
  for (const std::vector<isa::Command> &piece : section_pieces(plan, addresses, npu, {first_semaphore, 0}))
    commands.insert(commands.end(), piece.begin(), piece.end());
  return commands;
}

} // namespace gradweave::compiler
