#include "compiler/epilogue/add_epilogues.hpp"

#include "compiler/epilogue/epilogue_areas.hpp"
#include "compiler/ir/macro_banks.hpp"
#include "compiler/vector_stream/stage/programs.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace gradweave::compiler {
namespace {

/// From whom to whom a token goes, counted from the room's first semaphore: those of a pair of engines are the same as
/// in sections of jobs.
enum Semaphore : std::uint8_t {
  kLoaded = 0,    ///< LOAD to VECTOR: operands are there
  kComputed = 2,  ///< VECTOR to STORE: results are there
  kFreeOfAll = 4, ///< STORE to VECTOR: all of the place may be replaced, by results
  kFree = 5,      ///< STORE to LOAD: all of the place may be replaced
  kReady = 7      ///< STORE to VECTOR: the product's tile is there
};

constexpr auto kLoadEngine = static_cast<std::uint8_t>(isa::Engine::LOAD);
constexpr auto kStoreEngine = static_cast<std::uint8_t>(isa::Engine::STORE);

using Semaphores = std::vector<std::uint8_t>;

class Adding {
public:
  Adding(const std::vector<isa::Command> &product, const std::vector<ResultStore> &stores, const EpilogueAreas &plan,
         const EpilogueRoom &room)
      : product_(product), stores_(stores), plan_(plan), room_(room), programs_(write_programs(plan.programs)) {}

  std::vector<isa::Command> run() {
    for (const isa::ProgramCommand &p : programs_.commands)
      emit(p);
    find_last_products();
    std::size_t next = 0;
    for (std::size_t i = 0; i < product_.size(); ++i) {
      while (!due_.empty() && due_.front() <= i)
        emit_area();
      if (next < stores_.size() && last_products_[next] == i) load_first(next);
      if (next < stores_.size() && stores_[next].command == i)
        begin_tile(next++);
      else
        pass_on(*isa::decode(product_[i]));
    }
    emit_all_areas();
    return std::move(out_);
  }

private:
  std::uint8_t id(Semaphore s) const { return static_cast<std::uint8_t>(room_.first_semaphore + s); }

  void put(const isa::Decoded &command) {
    for (const isa::Wait &wait : command.sync.waits)
      if (wait.semaphore != isa::kNoSemaphore) tokens_[wait.semaphore] -= wait.count;
    for (const std::uint8_t post : command.sync.posts)
      if (post != isa::kNoSemaphore) ++tokens_[post];
    out_.push_back(isa::encode(command));
  }

  template <typename Op> void emit(const Op &op, const Semaphores &waits = {}, const Semaphores &posts = {}) {
    isa::Decoded command;
    command.op = op;
    for (std::size_t i = 0; i < waits.size(); ++i)
      command.sync.waits.at(i) = {waits[i], 1};
    for (std::size_t i = 0; i < posts.size(); ++i)
      command.sync.posts.at(i) = posts[i];
    put(command);
  }

  /// For each tile the command that completes it, nearly: the last of a core before its STORE; its STORE if there is
  /// none behind that of the tile before.
  void find_last_products() {
    std::size_t begin = 0;
    for (const ResultStore &store : stores_) {
      std::size_t last = store.command;
      for (std::size_t i = begin; i < store.command; ++i)
        if (const auto engine = isa::decode(product_[i])->engine();
            engine >= static_cast<std::uint8_t>(isa::Engine::COMPUTE0) && !isa::is_vector_engine(engine))
          last = i;
      last_products_.push_back(last);
      begin = store.command + 1;
    }
  }

  std::size_t first_area(std::size_t tile) const { return tile == 0 ? 0 : plan_.ends[tile - 1]; }

  /// What the first area of a tile loads comes before the product that completes the tile: not much earlier, as the
  /// LOAD engine stands still until the place is free.
  void load_first(std::size_t tile) {
    while (next_area_ + kEpiloguePlaces <= first_area(tile))
      emit_area();
    load_up_to(first_area(tile));
  }

  void load_up_to(std::size_t area) {
    for (; loaded_ <= area; ++loaded_)
      emit_loads(loaded_);
  }

  bool waits_hold(const isa::Decoded &command) {
    return std::all_of(command.sync.waits.begin(), command.sync.waits.end(), [this](const isa::Wait &wait) {
      return wait.semaphore == isa::kNoSemaphore || tokens_[wait.semaphore] >= wait.count;
    });
  }

  /// A command of the product. What posts to the same engines does so in the order of the product: a STORE comes behind
  /// those of all areas before it, and whoever waits for one of these does.
  void pass_on(const isa::Decoded &command) {
    if (command.engine() == kStoreEngine) emit_all_areas();
    while (!due_.empty() && !waits_hold(command))
      emit_area();
    put(command);
  }

  /// The areas of a tile, spread over the product's commands up to the next tile.
  void begin_tile(std::size_t tile) {
    const isa::Decoded store = *isa::decode(product_[stores_[tile].command]);
    while (!due_.empty() && !waits_hold(store))
      emit_area();
    isa::Decoded sync;
    sync.op = isa::SyncCommand{kStoreEngine};
    sync.sync.waits = store.sync.waits;
    sync.sync.posts[0] = id(kReady);
    put(sync);
    emit_all_areas();
    const std::size_t begin = first_area(tile), areas = plan_.ends[tile] - begin, at = stores_[tile].command;
    const std::size_t end = tile + 1 < stores_.size() ? last_products_[tile + 1] : product_.size();
    for (std::size_t n = 0; n < areas; ++n) {
      const std::size_t shares = room_.among == EpilogueRoom::Among::kBefore   ? n
                                 : room_.among == EpilogueRoom::Among::kBehind ? n + 1
                                                                               : areas;
      due_.push_back(at + 1 + shares * (end - at) / areas);
    }
    tile_begin_ = begin;
    tile_end_ = plan_.ends[tile];
    posts_.clear();
    for (const std::uint8_t post : store.sync.posts)
      if (post != isa::kNoSemaphore) posts_.push_back(post);
  }

  void emit_all_areas() {
    while (!due_.empty())
      emit_area();
  }

  void emit_area() {
    due_.pop_front();
    const std::size_t n = next_area_++;
    load_up_to(std::min(n + room_.ahead, tile_end_ - 1));
    emit_runs(n);
    emit_stores(n);
  }

  /// An area that loads nothing waits for its place by itself.
  bool loads(std::size_t n) const { return !plan_.areas[n].loads.empty(); }

  void emit_loads(std::size_t n) {
    const std::vector<isa::DmaCommand> &all = plan_.areas[n].loads;
    for (const isa::DmaCommand &d : all)
      emit(d, &d == &all.front() && n >= kEpiloguePlaces ? Semaphores{id(kFree)} : Semaphores(),
           &d == &all.back() ? Semaphores{id(kLoaded)} : Semaphores());
  }

  void emit_runs(std::size_t n) {
    const std::vector<EpilogueRun> &runs = plan_.areas[n].runs;
    for (const EpilogueRun &run : runs) {
      Semaphores waits;
      if (&run == &runs.front()) {
        if (n == tile_begin_) waits.push_back(id(kReady));
        if (loads(n))
          waits.push_back(id(kLoaded));
        else if (n >= kEpiloguePlaces)
          waits.push_back(id(kFreeOfAll));
      }
      emit_run(run, waits, &run == &runs.back() ? Semaphores{id(kComputed)} : Semaphores());
    }
  }

  void emit_run(const EpilogueRun &run, const Semaphores &waits, const Semaphores &posts) {
    for (const isa::TileCommand &tiles : tile_commands(run.tiles))
      emit(tiles);
    isa::VectorCommand v;
    v.first = programs_.first_words[run.program];
    v.elements = run.elements;
    v.steps = run.steps;
    emit(v, waits, posts);
  }

  void emit_stores(std::size_t n) {
    const std::vector<isa::DmaCommand> &all = plan_.areas[n].stores;
    Semaphores posts;
    if (const std::size_t next = n + kEpiloguePlaces; next < plan_.areas.size())
      posts.push_back(id(loads(next) ? kFree : kFreeOfAll));
    if (n + 1 == tile_end_) posts.insert(posts.end(), posts_.begin(), posts_.end());
    const std::size_t most = isa::Sync().posts.size();
    const Semaphores more(posts.begin() + static_cast<std::ptrdiff_t>(std::min(most, posts.size())), posts.end());
    posts.resize(std::min(most, posts.size()));
    for (const isa::DmaCommand &d : all)
      emit(d, &d == &all.front() ? Semaphores{id(kComputed)} : Semaphores(), &d == &all.back() ? posts : Semaphores());
    if (!more.empty()) emit(isa::SyncCommand{kStoreEngine}, {}, more);
  }

  const std::vector<isa::Command> &product_;
  const std::vector<ResultStore> &stores_;
  const EpilogueAreas &plan_;
  const EpilogueRoom &room_;
  WrittenPrograms programs_;
  std::vector<std::size_t> last_products_; ///< of each tile
  std::map<std::uint8_t, std::int64_t> tokens_;
  std::deque<std::size_t> due_; ///< of each area of the tile that is to come: before which command of the product
  std::size_t next_area_ = 0, loaded_ = 0; ///< areas whose runs, whose LOADs stand in the stream
  std::size_t tile_begin_ = 0, tile_end_ = 0;
  Semaphores posts_; ///< of the STORE that the tile's areas replace
  std::vector<isa::Command> out_;
};

} // namespace

std::vector<Machine> without_epilogue_room(const Machine &npu) {
  std::vector<Machine> all;
  for (const std::uint32_t part : {8U, 4U}) {
    const std::uint32_t banks = npu.spm_banks - std::max(1U, npu.spm_banks / part);
    if (banks > 0 && (all.empty() || banks != all.back().spm_banks)) all.push_back(with_banks(npu, banks));
  }
  return all;
}

EpilogueRoom epilogue_room(const NpuConfig &npu, const NpuConfig &without, std::uint32_t first_semaphore) {
  return {without.spm_rows(), npu.spm_rows() - without.spm_rows(), static_cast<std::uint8_t>(first_semaphore)};
}

bool is_epilogue(const Epilogue &epilogue) {
  if (stages_on_matrix(epilogue.jobs, {epilogue.result, epilogue.rows, epilogue.cols}).empty()) return false;
  for (const JobStep &step : epilogue.jobs.steps)
    for (const JobTile &tile : std::get<VectorJob>(step).results)
      if (epilogue.in_memory[tile.value]) return true;
  return false;
}

std::vector<isa::Command> add_epilogues(const std::vector<isa::Command> &product,
                                        const std::vector<ResultStore> &stores, const std::vector<Epilogue> &epilogues,
                                        const EpilogueRoom &room, const NpuConfig &npu) {
  const EpilogueAreas plan = epilogue_areas(product, stores, epilogues, room, npu);
  if (plan.areas.empty()) return {};
  return Adding(product, stores, plan, room).run();
}

} // namespace gradweave::compiler
