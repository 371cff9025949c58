#include "runtime/corpus/semaphores.hpp"

#include <numeric>

namespace gradweave::corpus {

namespace {

/// One producing and one waiting engine.
struct Channel {
  std::vector<std::uint8_t> semaphores;
};

/// All state of one pass over a stream.
class Synchroniser {
public:
  Synchroniser(std::uint32_t semaphores, Dice &dice) : dice_(dice), semaphores_(semaphores) {
    std::vector<std::uint8_t> pool(semaphores);
    std::iota(pool.begin(), pool.end(), std::uint8_t{0});
    dice_.shuffle(pool);
    for (std::size_t i = 0; i < pool.size(); ++i) {
      const std::size_t c = i < kChannels.size() ? i : dice_.below(kChannels.size());
      if (i < kChannels.size() || dice_.chance(0.3)) channel(kChannels[c]).semaphores.push_back(pool[i]);
    }
  }

  std::vector<isa::Decoded> run(const std::vector<isa::Decoded> &commands, const std::vector<Needs> &needs) {
    plan(commands, needs);
    for (std::size_t i = 0; i < commands.size(); ++i)
      emit(commands[i], plan_[i]);
    return std::move(out_);
  }

private:
  using Pair = std::array<std::size_t, 2>;
  // Load after load and store after store are ordered by the engine itself.
  static constexpr std::array<Pair, 7> kChannels{{{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}, {2, 2}}};

  struct Planned {
    std::array<std::int64_t, kEngines> wait_for{kNone, kNone, kNone}; ///< command of each engine
    std::array<bool, kEngines> awaited{};                             ///< by each engine
    std::array<std::uint8_t, kEngines> token{};                       ///< semaphore of the token for each engine
    std::array<std::uint32_t, kEngines> count{};                      ///< tokens up to and including this command's
  };

  Channel &channel(const Pair &p) { return channels_[p[0] * kEngines + p[1]]; }

  /// Keeps the needs that earlier waits of the same engine do not cover, and marks who is waited for.
  void plan(const std::vector<isa::Decoded> &commands, const std::vector<Needs> &needs) {
    plan_.resize(commands.size());
    std::array<Needs, kEngines> covered;
    for (Needs &n : covered)
      n.fill(kNone);
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const std::size_t engine = commands[i].engine();
      for (std::size_t producer = 0; producer < kEngines; ++producer) {
        const std::int64_t need = needs[i][producer];
        if (need <= covered[engine][producer]) continue;
        covered[engine][producer] = need;
        plan_[i].wait_for[producer] = need;
        plan_[static_cast<std::size_t>(need)].awaited[engine] = true;
      }
    }
  }

  void emit(isa::Decoded command, Planned &p) {
    isa::Sync waits = take_tokens(command.engine(), p);
    isa::Sync posts = post_tokens(command.engine(), p);
    if (dice_.chance(0.15)) {
      emit_sync(command.engine(), waits);
      waits = {};
    }
    const bool post_later = dice_.chance(0.15);
    command.sync.waits = waits.waits;
    if (!post_later) command.sync.posts = posts.posts;
    out_.push_back(command);
    if (post_later) emit_sync(command.engine(), posts);
    if (dice_.chance(0.03)) emit_sync(static_cast<std::uint8_t>(dice_.below(kEngines)), {});
  }

  void emit_sync(std::uint8_t engine, const isa::Sync &sync) {
    isa::Decoded d;
    d.op = isa::SyncCommand{engine};
    d.sync = sync;
    d.tag = static_cast<std::uint16_t>(dice_.below(65536));
    out_.push_back(d);
  }

  isa::Sync take_tokens(std::size_t engine, const Planned &p) {
    isa::Sync sync;
    std::size_t used = 0;
    for (std::size_t producer = 0; producer < kEngines; ++producer) {
      if (p.wait_for[producer] == kNone) continue;
      const Planned &from = plan_[static_cast<std::size_t>(p.wait_for[producer])];
      const std::uint8_t semaphore = from.token[engine];
      const std::uint32_t count = from.count[engine] - semaphores_[semaphore].taken;
      semaphores_[semaphore].taken = from.count[engine];
      sync.waits[used++] = {semaphore, static_cast<std::uint8_t>(count)};
    }
    dice_.shuffle(sync.waits);
    return sync;
  }

  /// A token for every engine that waits, in shuffled places; sometimes one that nobody asked for or a second one.
  isa::Sync post_tokens(std::size_t engine, Planned &p) {
    isa::Sync sync;
    std::size_t used = 0;
    const auto post = [&](std::size_t waiter) {
      sync.posts[used++] = p.token[waiter];
      p.count[waiter] = ++semaphores_[p.token[waiter]].posted;
    };
    for (std::size_t waiter = 0; waiter < kEngines; ++waiter) {
      const std::vector<std::uint8_t> &own = channel({engine, waiter}).semaphores;
      if (own.empty()) continue;
      p.token[waiter] = own[dice_.below(own.size())];
      if (p.awaited[waiter]) post(waiter);
    }
    for (std::size_t waiter = 0; waiter < kEngines && used < sync.posts.size(); ++waiter) {
      if (channel({engine, waiter}).semaphores.empty() || !dice_.chance(0.1)) continue;
      const State &s = semaphores_[p.token[waiter]];
      if (s.posted - s.taken < kMaxSurplus) post(waiter);
    }
    dice_.shuffle(sync.posts);
    return sync;
  }

  static constexpr std::uint32_t kMaxSurplus = 100; ///< a wait's count has eight bits

  struct State {
    std::uint32_t posted = 0, taken = 0;
  };

  Dice &dice_;
  std::vector<State> semaphores_;
  std::array<Channel, kEngines * kEngines> channels_;
  std::vector<Planned> plan_;
  std::vector<isa::Decoded> out_;
};

} // namespace

std::vector<isa::Decoded> synchronise(const std::vector<isa::Decoded> &commands, const std::vector<Needs> &needs,
                                      std::uint32_t semaphores, Dice &dice) {
  return Synchroniser(semaphores, dice).run(commands, needs);
}

} // namespace gradweave::corpus
