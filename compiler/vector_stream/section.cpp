#include "compiler/vector_stream/section.hpp"

#include "compiler/vector_stream/places.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace gradweave::compiler {
namespace {

using isa::VectorTile;

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

bool same_place(const VectorTile &a, const VectorTile &b) {
  return a.spm.row == b.spm.row && a.spm.pstride == b.spm.pstride && a.rows == b.rows && a.cols == b.cols &&
         a.fp32 == b.fp32;
}

bool same(const AreaTile &a, const AreaTile &b) {
  return a.value == b.value && a.first == b.first && a.pitch == b.pitch && same_place(a.tile, b.tile);
}

/// Elements of a value that areas of a layout have stored.
struct Stored {
  std::size_t value, first, end, layout;
};

class Section {
public:
  Section(const AreaPlan &plan, const std::vector<std::uint64_t> &addresses, const NpuConfig &npu)
      : plan_(plan), addresses_(addresses), npu_(npu) {}

  std::vector<isa::Command> run() {
    find_reads_of_stored();
    for (std::size_t n = 0; n < plan_.areas.size(); ++n)
      emit_area(n);
    return std::move(out_);
  }

private:
  const Area &area(std::size_t n) const { return plan_.areas[n]; }

  /// Areas that wait until all before is in memory.
  void find_reads_of_stored() {
    waits_for_memory_.assign(plan_.areas.size() + 1, false);
    std::vector<Stored> stored;
    for (std::size_t n = 0; n < plan_.areas.size(); ++n) {
      const bool waits = std::any_of(area(n).loaded.begin(), area(n).loaded.end(), [&](const AreaTile &t) {
        return std::any_of(stored.begin(), stored.end(), [&](const Stored &s) {
          return s.layout != area(n).layout && s.value == t.value && s.first < t.end() && t.first < s.end;
        });
      });
      if (waits) stored.clear();
      waits_for_memory_[n] = waits;
      for (const AreaTile &t : area(n).stored)
        stored.push_back({t.value, t.first, t.end(), area(n).layout});
    }
  }

  /// Whether the next area in the place has its tiles where this one has them: then operands and results are replaced
  /// each for itself.
  bool goes_on(std::size_t n) const {
    return n + 2 < plan_.areas.size() && area(n).run && area(n + 2).layout == area(n).layout;
  }
  bool is_last_in_place(std::size_t n) const { return n + 2 >= plan_.areas.size(); }

  void emit_area(std::size_t n) {
    const Area &a = area(n);
    if (n >= 2 && !goes_on(n - 2)) held_[n % 2].clear();
    emit_loads(n);
    if (a.run) emit_run(n);
    emit_stores(n);
  }

  template <typename Op> void emit(const Op &op, const Semaphores &waits = {}, const Semaphores &posts = {}) {
    isa::Sync sync;
    for (std::size_t i = 0; i < waits.size(); ++i)
      sync.waits.at(i) = {waits[i], 1};
    std::copy(posts.begin(), posts.end(), sync.posts.begin());
    out_.push_back(isa::encode({op, sync, 0}));
  }

  isa::DmaCommand transfer(const AreaTile &t, std::size_t n, bool store) const {
    const std::uint32_t bytes = t.tile.fp32 ? 4 : 2;
    isa::DmaCommand d;
    d.store = store;
    d.fp32 = t.tile.fp32;
    d.dram_addr = addresses_.at(t.value) + t.first * bytes;
    d.pitch = t.tile.rows == 1 ? 0 : static_cast<std::uint32_t>(t.pitch * bytes);
    d.rows = t.tile.rows;
    d.cols = t.tile.cols;
    d.spm = in_place(t.tile, n).spm;
    return d;
  }

  /// The transfers, or a SYNC if there are none: the first waits, the last posts.
  void emit_transfers(const std::vector<const AreaTile *> &tiles, std::size_t n, bool store, const Semaphores &waits,
                      const Semaphores &posts) {
    if (tiles.empty()) emit(isa::SyncCommand{store ? kStoreEngine : kLoadEngine}, waits, posts);
    for (const AreaTile *t : tiles)
      emit(transfer(*t, n, store), t == tiles.front() ? waits : Semaphores(), t == tiles.back() ? posts : Semaphores());
  }

  void emit_loads(std::size_t n) {
    std::vector<AreaTile> &held = held_[n % 2];
    std::vector<const AreaTile *> missing;
    for (const AreaTile &t : area(n).loaded)
      if (std::none_of(held.begin(), held.end(), [&](const AreaTile &h) { return same(h, t); })) missing.push_back(&t);
    Semaphores waits;
    if (n >= 2) waits.push_back(goes_on(n - 2) ? kRead : kFree);
    if (waits_for_memory_[n]) waits.push_back(kInMemory);
    emit_transfers(missing, n, false, waits, {area(n).run ? kLoaded : kMoved});
    held = area(n).loaded;
  }

  void emit_stores(std::size_t n) {
    std::vector<const AreaTile *> tiles;
    for (const AreaTile &t : area(n).stored)
      tiles.push_back(&t);
    Semaphores posts;
    if (!is_last_in_place(n)) posts.push_back(goes_on(n) ? kStored : kFree);
    if (waits_for_memory_[n + 1]) posts.push_back(kInMemory);
    emit_transfers(tiles, n, true, {area(n).run ? kComputed : kMoved}, posts);
    for (std::vector<AreaTile> &held : held_)
      held.erase(std::remove_if(held.begin(), held.end(), [&](const AreaTile &h) { return stores(area(n), h.value); }),
                 held.end());
  }

  static bool stores(const Area &a, std::size_t value) {
    return std::any_of(a.stored.begin(), a.stored.end(), [&](const AreaTile &t) { return t.value == value; });
  }

  VectorTile in_place(VectorTile tile, std::size_t n) const {
    tile.spm.row += state_rows(npu_) + (n % 2 == 1 ? place_rows(npu_) : 0);
    return tile;
  }

  void emit_run(std::size_t n) {
    const Area &a = area(n);
    isa::VectorCommand v;
    v.first = program_at(a.run->program);
    v.elements = a.run->elements;
    v.steps = a.run->steps;
    std::vector<VectorTile> tiles = a.state;
    for (const auto *of : {&a.loaded, &a.stored})
      for (const AreaTile &t : *of)
        tiles.push_back(in_place(t.tile, n));
    for (std::size_t i = 0; i < tiles.size();) {
      isa::TileCommand command;
      for (VectorTile &t : command.tiles)
        if (i < tiles.size()) t = tiles[i++];
      emit(command);
    }
    Semaphores waits{kLoaded}, posts{kComputed};
    if (n >= 2 && goes_on(n - 2)) waits.push_back(kStored);
    if (goes_on(n)) posts.push_back(kRead);
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
    for (std::uint32_t done = 0; done < count;) {
      isa::ProgramCommand p;
      p.at = next_word_ + done;
      p.count = std::min<std::uint32_t>(count - done, static_cast<std::uint32_t>(p.words.size()));
      std::copy_n(words.begin() + done, p.count, p.words.begin());
      emit(p);
      done += p.count;
    }
    const std::uint32_t at = next_word_;
    programs_[program] = at;
    next_word_ += count;
    return at;
  }

  const AreaPlan &plan_;
  const std::vector<std::uint64_t> &addresses_;
  const NpuConfig &npu_;
  std::vector<bool> waits_for_memory_;            ///< of each area
  std::array<std::vector<AreaTile>, 2> held_;     ///< what was loaded into each place, and is there
  std::map<std::size_t, std::uint32_t> programs_; ///< where the program memory has them
  std::uint32_t next_word_ = 0;
  std::vector<isa::Command> out_;
};

} // namespace

std::vector<isa::Command> section_commands(const AreaPlan &plan, const std::vector<std::uint64_t> &addresses,
                                           const NpuConfig &npu) {
  return Section(plan, addresses, npu).run();
}

} // namespace gradweave::compiler
