// What a run does with its semaphores.
#pragma once

#include "trace/timeline/run.hpp"
#include "trace/timeline/steps.hpp"

#include <map>
#include <optional>

namespace gradweave::runtime::timeline {

/// The post that a command's start had to wait for last.
struct Release {
  std::uint8_t semaphore = isa::kNoSemaphore;
  std::uint64_t cycle = timing::kNever; ///< first in which all its waits could be taken; kNever: not in this run
  std::optional<std::uint32_t> poster;  ///< index of the posting command
};

struct SemaphoreUse {
  /// By semaphore, of those that the run posts or takes. A take holds from the start of its command, a post from the
  /// cycle after the completion of its command, in which it can be taken for the first time.
  std::map<std::uint8_t, std::vector<Step>> steps;
  /// By command; without semaphore if it waits for none.
  std::vector<Release> releases;
};

/// Throws TimelineError if a command takes what was not posted before.
SemaphoreUse follow_semaphores(const Run &run, const std::vector<std::optional<isa::Decoded>> &commands);

} // namespace gradweave::runtime::timeline
