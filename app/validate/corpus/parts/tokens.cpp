#include "app/validate/corpus/parts/tokens.hpp"

#include <algorithm>
#include <numeric>

namespace gradweave::corpus {

namespace {

constexpr std::uint32_t kMaxTokens = 60000; ///< far from the overflow of 16 bits, whatever is posted at a time
constexpr std::uint32_t kFewestUsed = 7, kMostUsed = 15; // or as many as there are engines

} // namespace

Tokens::Tokens(std::uint32_t engines, std::uint32_t semaphores, Dice &dice)
    : dice_(dice), own_(engines), tokens_(semaphores, 0) {
  std::vector<std::uint8_t> pool(semaphores);
  std::iota(pool.begin(), pool.end(), std::uint8_t{0});
  dice_.shuffle(pool);
  never_posted_ = pool.back();
  const std::uint32_t fewest = std::min(semaphores - 1, std::max(kFewestUsed, engines));
  pool.resize(dice_.between(fewest, std::min(semaphores - 1, std::max(kMostUsed, 2 * engines))));
  for (std::size_t i = 0; i < pool.size(); ++i)
    own_[i < engines ? i : dice_.below(engines)].push_back(pool[i]);
}

void Tokens::take(isa::Sync &sync, std::uint8_t semaphore, std::uint32_t count) {
  for (isa::Wait &w : sync.waits) {
    if (w.semaphore == semaphore) return; // a command names a semaphore once
    if (w.semaphore != isa::kNoSemaphore) continue;
    w = {semaphore, static_cast<std::uint8_t>(count)};
    tokens_[semaphore] -= count;
    return;
  }
}

void Tokens::wait(isa::Sync &sync, std::size_t engine, double chance) {
  const std::vector<std::uint8_t> &own = own_[engine];
  const std::size_t first = dice_.below(own.size());
  for (std::size_t i = 0; i < std::min(own.size(), sync.waits.size()); ++i) {
    if (!dice_.chance(chance)) continue;
    const std::uint8_t semaphore = own[(first + i) % own.size()];
    const std::uint32_t held = std::min<std::uint32_t>(tokens_[semaphore], 255);
    if (held > 0) take(sync, semaphore, dice_.chance(0.3) ? held : dice_.between(1, std::min(held, 3U)));
  }
}

void Tokens::post(isa::Sync &sync, double chance) {
  for (std::size_t i = 0; i < sync.posts.size(); ++i)
    if (dice_.chance(chance)) post_for(sync, dice_.below(own_.size()));
}

std::uint8_t Tokens::post_for(isa::Sync &sync, std::size_t engine) {
  const std::uint8_t semaphore = any_of(engine);
  const auto place = std::find(sync.posts.begin(), sync.posts.end(), isa::kNoSemaphore);
  if (place != sync.posts.end() && tokens_[semaphore] < kMaxTokens) {
    *place = semaphore;
    ++tokens_[semaphore];
  }
  return semaphore;
}

void Tokens::wait_for_all(isa::Sync &sync, std::uint8_t semaphore) {
  if (tokens_[semaphore] > 0) take(sync, semaphore, std::min<std::uint32_t>(tokens_[semaphore], 255));
}

} // namespace gradweave::corpus
