// Waits and posts that can be anything but a deadlock.
#pragma once

#include "base/random/dice.hpp"
#include "isa/command.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::corpus {

/// Follows the semaphores in memory order. Each semaphore has one engine that may wait for it, which takes its tokens
/// in order; any engine posts. So commands in memory order are a legal serial order, whatever engine runs ahead.
class Tokens {
public:
  /// Deals out a few of the NPU's semaphores to `engines` engines, so that each gets many tokens, and keeps one that
  /// nobody posts. There must be more semaphores than engines.
  Tokens(std::uint32_t engines, std::uint32_t semaphores, Dice &dice);

  /// Adds waits for tokens that earlier commands have posted, up to three, each with the given chance. Waits of a
  /// command come before its posts: it must not wait for itself.
  void wait(isa::Sync &sync, std::size_t engine, double chance);
  /// Adds up to three posts, each with the given chance.
  void post(isa::Sync &sync, double chance);
  /// Adds one post of a semaphore that `engine` can wait for, which it returns; takes the next free place.
  std::uint8_t post_for(isa::Sync &sync, std::size_t engine);
  /// Adds a wait for all tokens of a semaphore, at most 255, if it has any.
  void wait_for_all(isa::Sync &sync, std::uint8_t semaphore);

  std::uint8_t never_posted() const { return never_posted_; }

private:
  std::uint8_t any_of(std::size_t engine) { return own_[engine][dice_.below(own_[engine].size())]; }
  void take(isa::Sync &sync, std::uint8_t semaphore, std::uint32_t count);

  Dice &dice_;
  std::vector<std::vector<std::uint8_t>> own_; ///< semaphores that an engine waits for
  std::uint8_t never_posted_ = 0;
  std::vector<std::uint32_t> tokens_; ///< of each semaphore: posted and not taken, in memory order
};

} // namespace gradweave::corpus
