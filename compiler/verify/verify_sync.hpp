// Happens-before, rebuilt from the waits and posts of a command stream.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// Replays a stream in memory order and tells, for the command at hand, which earlier commands are complete when it
/// starts, whatever the timing. Engines are places (isa::engine_place()); positions count from 1 within an engine.
class SyncReplay {
public:
  explicit SyncReplay(const NpuConfig &npu);

  /// Next command. Returns what is wrong with its waits and posts, or an empty text.
  std::string step(const isa::Decoded &command);
  /// Whether the semaphores are back at zero.
  std::string finish() const;

  /// Position of the command at hand in its engine.
  std::uint32_t position() const { return issued_[engine_]; }
  std::size_t engine() const { return engine_; }
  /// Whether the command at `position` of `engine` is complete when the command at hand starts.
  bool complete(std::size_t engine, std::uint32_t position) const { return clock_[engine_][engine] >= position; }
  std::size_t engines() const { return issued_.size(); }

private:
  using Clock = std::vector<std::uint32_t>; ///< for each engine, how many commands are known to be complete
  struct Semaphore {
    static constexpr std::size_t kNobody = ~std::size_t{0};
    std::size_t poster = kNobody, taker = kNobody;
    std::uint64_t posted = 0, taken = 0;
    std::deque<Clock> tokens; ///< that nobody has taken: what the post's completion implies
  };

  std::string take(const isa::Wait &wait);
  std::string post(std::uint8_t id);

  std::uint32_t cores_;
  std::uint64_t queue_depth_;
  std::size_t engine_ = 0;
  std::vector<std::uint32_t> issued_;
  std::vector<Clock> clock_; ///< by engine: known when its latest command starts
  std::vector<Semaphore> semaphores_;
};

} // namespace gradweave::compiler
