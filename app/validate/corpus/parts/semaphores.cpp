#include "app/validate/corpus/parts/semaphores.hpp"

#include <algorithm>
#include <numeric>

namespace gradweave::corpus {

namespace {

/// Semaphores of one producing and one waiting engine. Load after load, store after store and all that a vector unit
/// does are ordered by the engine itself: they have none.
using Channel = std::vector<std::uint8_t>;

constexpr std::size_t kPlaces = 3; // for waits, and for posts, of a command

bool is_core(std::size_t engine, const NpuConfig &npu) {
  return engine >= kComputeEngine && engine < kComputeEngine + npu.cores;
}

/// All state of one pass over a stream.
class Synchroniser {
public:
  Synchroniser(const std::vector<std::uint8_t> &engines, const NpuConfig &npu, Dice &dice)
      : engines_(engines), cores_(npu.cores), dice_(dice), semaphores_(npu.semaphores) {
    std::vector<Channel *> channels;
    for (const std::uint8_t producer : engines)
      for (const std::uint8_t waiter : engines)
        if (producer != waiter || is_core(producer, npu)) channels.push_back(&channel(producer, waiter));
    std::vector<std::uint8_t> pool(npu.semaphores);
    std::iota(pool.begin(), pool.end(), std::uint8_t{0});
    dice_.shuffle(pool);
    for (std::size_t i = 0; i < pool.size(); ++i) {
      const std::size_t c = i < channels.size() ? i : dice_.below(channels.size());
      if (i < channels.size() || dice_.chance(0.3)) channels[c]->push_back(pool[i]);
    }
  }

  std::vector<isa::Decoded> run(const std::vector<isa::Decoded> &commands, const std::vector<Needs> &needs) {
    plan(commands, needs);
    for (std::size_t i = 0; i < commands.size(); ++i)
      emit(commands[i], plan_[i]);
    return std::move(out_);
  }

private:
  struct Planned {
    Needs wait_for = no_needs();                    ///< command of each engine
    std::array<bool, kMaxEngines> awaited{};        ///< by each engine
    std::array<std::uint8_t, kMaxEngines> token{};  ///< semaphore of the token for each engine
    std::array<std::uint32_t, kMaxEngines> count{}; ///< tokens up to and including this command's
  };

  Channel &channel(std::size_t producer, std::size_t waiter) { return channels_[producer * kMaxEngines + waiter]; }

  /// Keeps the needs that earlier waits of the same engine do not cover, and marks who is waited for.
  void plan(const std::vector<isa::Decoded> &commands, const std::vector<Needs> &needs) {
    plan_.resize(commands.size());
    std::array<Needs, kMaxEngines> covered;
    covered.fill(no_needs());
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const std::size_t engine = isa::engine_place(commands[i].engine(), cores_);
      for (const std::uint8_t producer : engines_) {
        const std::int64_t need = needs[i][producer];
        if (need <= covered[engine][producer]) continue;
        covered[engine][producer] = need;
        plan_[i].wait_for[producer] = need;
        plan_[static_cast<std::size_t>(need)].awaited[engine] = true;
      }
    }
  }

  void emit(isa::Decoded command, Planned &p) {
    const auto engine = static_cast<std::uint8_t>(isa::engine_place(command.engine(), cores_));
    std::vector<isa::Wait> all_waits = take_tokens(engine, p);
    while (all_waits.size() > kPlaces)
      emit_sync(engine, next_waits(all_waits));
    isa::Sync waits = next_waits(all_waits);
    std::vector<std::uint8_t> all_posts = post_tokens(engine, p);
    const isa::Sync posts = next_posts(all_posts);
    if (dice_.chance(0.15)) {
      emit_sync(engine, waits);
      waits = {};
    }
    const bool post_later = dice_.chance(0.15);
    command.sync.waits = waits.waits;
    if (!post_later) command.sync.posts = posts.posts;
    out_.push_back(command);
    if (post_later) emit_sync(engine, posts);
    while (!all_posts.empty())
      emit_sync(engine, next_posts(all_posts));
    if (dice_.chance(0.03)) emit_sync(engines_[dice_.below(engines_.size())], {});
  }

  /// Takes as many as a command has places for, and shuffles them over these.
  template <typename Place> void take_places(std::vector<Place> &from, std::array<Place, kPlaces> &places) {
    const std::size_t count = std::min(from.size(), kPlaces);
    std::copy_n(from.begin(), count, places.begin());
    from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
    dice_.shuffle(places);
  }
  isa::Sync next_waits(std::vector<isa::Wait> &from) {
    isa::Sync sync;
    take_places(from, sync.waits);
    return sync;
  }
  isa::Sync next_posts(std::vector<std::uint8_t> &from) {
    isa::Sync sync;
    take_places(from, sync.posts);
    return sync;
  }

  void emit_sync(std::uint8_t engine, const isa::Sync &sync) {
    isa::Decoded d;
    d.op = isa::SyncCommand{isa::engine_at(engine, cores_)};
    d.sync = sync;
    d.tag = static_cast<std::uint16_t>(dice_.below(65536));
    out_.push_back(d);
  }

  std::vector<isa::Wait> take_tokens(std::size_t engine, const Planned &p) {
    std::vector<isa::Wait> waits;
    for (const std::uint8_t producer : engines_) {
      if (p.wait_for[producer] == kNone) continue;
      const Planned &from = plan_[static_cast<std::size_t>(p.wait_for[producer])];
      const std::uint8_t semaphore = from.token[engine];
      const std::uint32_t count = from.count[engine] - semaphores_[semaphore].taken;
      semaphores_[semaphore].taken = from.count[engine];
      waits.push_back({semaphore, static_cast<std::uint8_t>(count)});
    }
    return waits;
  }

  /// A token for every engine that waits; sometimes one that nobody asked for or a second one.
  std::vector<std::uint8_t> post_tokens(std::size_t engine, Planned &p) {
    std::vector<std::uint8_t> posts;
    const auto post = [&](std::size_t waiter) {
      posts.push_back(p.token[waiter]);
      p.count[waiter] = ++semaphores_[p.token[waiter]].posted;
    };
    for (const std::uint8_t waiter : engines_) {
      const Channel &own = channel(engine, waiter);
      if (own.empty()) continue;
      p.token[waiter] = own[dice_.below(own.size())];
      if (p.awaited[waiter]) post(waiter);
    }
    for (const std::uint8_t waiter : engines_) {
      if (posts.size() >= kPlaces) break;
      if (channel(engine, waiter).empty() || !dice_.chance(0.1)) continue;
      const State &s = semaphores_[p.token[waiter]];
      if (s.posted - s.taken < kMaxSurplus) post(waiter);
    }
    return posts;
  }

  static constexpr std::uint32_t kMaxSurplus = 100; ///< a wait's count has eight bits

  struct State {
    std::uint32_t posted = 0, taken = 0;
  };

  const std::vector<std::uint8_t> &engines_;
  std::uint32_t cores_;
  Dice &dice_;
  std::vector<State> semaphores_;
  std::array<Channel, kMaxEngines * kMaxEngines> channels_;
  std::vector<Planned> plan_;
  std::vector<isa::Decoded> out_;
};

} // namespace

std::vector<isa::Decoded> synchronise(const std::vector<isa::Decoded> &commands, const std::vector<Needs> &needs,
                                      const std::vector<std::uint8_t> &engines, const NpuConfig &npu, Dice &dice) {
  return Synchroniser(engines, npu, dice).run(commands, needs);
}

std::uint32_t semaphores_needed(const std::vector<std::uint8_t> &engines, const NpuConfig &npu) {
  const auto all = static_cast<std::uint32_t>(engines.size());
  const auto own = std::count_if(engines.begin(), engines.end(), [&](std::uint8_t e) { return is_core(e, npu); });
  return all * (all - 1) + static_cast<std::uint32_t>(own);
}

} // namespace gradweave::corpus
