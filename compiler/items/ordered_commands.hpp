// Commands of four engines, and the semaphores that follow from what they read and write in the scratchpad.
#pragma once

#include "compiler/vector_stream/pair_semaphores.hpp"
#include "isa/command.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler {

inline constexpr std::size_t kOrderedEngines = kSectionEngines;
inline constexpr std::uint32_t kOrderedSemaphores = kPairSemaphores;

/// Part of the scratchpad; regions are numbered, and do not meet.
struct RegionRange {
  std::size_t first = 0, count = 1;
};

/// Takes commands in a legal serial order. Each waits for those before it, on other engines, that write what it reads,
/// or read or write what it writes; a GEMM for a GEMM that writes its operands, too. What is known from earlier waits,
/// of the same engine or of who is waited for, is not waited for again.
class OrderedCommands {
public:
  using Op = decltype(isa::Decoded::op);

  explicit OrderedCommands(std::size_t regions) : regions_(regions) {}

  void add(const Op &op, const std::vector<RegionRange> &reads = {}, const std::vector<RegionRange> &writes = {});
  /// Semaphores from `first_semaphore` on, each of one pair of engines; all are zero at the end.
  std::vector<isa::Command> encoded(std::uint32_t first_semaphore) const;

private:
  using Positions = std::array<std::uint32_t, kOrderedEngines>; ///< of commands in their engines, from 1 on; 0: none
  struct Region {
    std::optional<std::size_t> writer; ///< engine
    std::uint32_t written = 0;         ///< by which of its commands
    Positions read{};                  ///< since then
  };
  struct Ordered {
    Op op;
    std::size_t engine = 0;
    Positions known{}; ///< of each engine, the last command that is complete when this one starts
    std::array<bool, kOrderedEngines> waits{}, posts{};
  };

  Positions needs(std::size_t engine, const std::vector<RegionRange> &reads,
                  const std::vector<RegionRange> &writes) const;
  void wait(Ordered &command, std::size_t engine, std::uint32_t position);

  std::vector<Region> regions_;
  std::vector<Ordered> commands_;
  std::array<std::vector<std::size_t>, kOrderedEngines> of_engine_; ///< their places in commands_
};

} // namespace gradweave::compiler
