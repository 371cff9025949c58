#include "runtime/corpus/tokens.hpp"

#include <algorithm>

namespace gradweave::corpus {

namespace {

constexpr std::uint32_t kMaxTokens = 60000; ///< far from the overflow of 16 bits, whatever is posted at a time

} // namespace

Tokens::Tokens(std::uint32_t semaphores, Dice &dice) : dice_(dice), tokens_(semaphores - 1, 0) {
  for (std::size_t s = 0; s < tokens_.size(); ++s)
    own_[s < own_.size() ? s : dice_.below(own_.size())].push_back(static_cast<std::uint8_t>(s));
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
  for (std::size_t i = 0; i < sync.waits.size(); ++i) {
    if (!dice_.chance(chance)) continue;
    const std::uint8_t semaphore = any_of(engine);
    const std::uint32_t held = std::min<std::uint32_t>(tokens_[semaphore], 255);
    if (held > 0) take(sync, semaphore, dice_.chance(0.5) ? held : dice_.between(1, held));
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
