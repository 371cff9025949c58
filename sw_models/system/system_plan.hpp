// What the devices of a system are to do: streams on NPUs, transfers over links and from and to flash, work of the
// processors beside flash.
#pragma once

#include "isa/command.hpp"
#include "sw_models/system/system_config.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gradweave {

using CommandId = std::uint32_t; ///< index into SystemPlan::commands()

struct SystemCommand {
  enum class Kind : std::uint8_t {
    kRun,     ///< a stream on the NPU of `device`
    kMove,    ///< bytes of the memory of `device` to that of `to`
    kFlash,   ///< bytes of the flash of `device` to its memory
    kProgram, ///< bytes of the memory of `device` to its flash
    kProcess, ///< the processor of `device` works on its memory
  };
  static constexpr std::size_t kKinds = 5;
  Kind kind = Kind::kRun;
  std::string label; ///< layer or tensor, for people
  std::uint32_t device = 0, to = 0;
  // Of kRun:
  std::shared_ptr<const std::vector<isa::Command>> stream = {};
  std::uint64_t stream_addr = 0; ///< in device memory
  // Of transfers. Addresses are multiples of kFlashBlock; `from` of kFlash and `target` of kProgram are of flash.
  std::uint64_t from = 0, target = 0;
  std::uint64_t bytes = 0; ///< of a transfer; those that a processor reads and writes
  /// Of kFlash and kProgram, unless bytes follow one another in flash: the block that holds the n-th kFlashBlock bytes,
  /// counted from that at the address of flash.
  std::vector<std::uint32_t> blocks = {};
  std::vector<CommandId> waits = {}; ///< commands before it, ascending, whose end it waits for

  /// The device whose memory it writes.
  std::uint32_t target_device() const { return kind == Kind::kMove ? to : device; }
  /// Of what is `offset` bytes behind the first byte, a multiple of kFlashBlock: where that is in flash.
  std::uint64_t flash_addr(std::uint64_t offset) const;
};
std::string_view to_string(SystemCommand::Kind kind); ///< "run", "move", "flash", "program", "process"

/// Commands in an order in which they could run one after another. The memory of a device serves its NPU, its
/// processor, or the links and flash, not two of them at a time: add() makes what computes wait for all earlier
/// commands of its device, and a transfer for what earlier ones compute at both its ends. Transfers may run beside one
/// another.
class SystemPlan {
public:
  explicit SystemPlan(const SystemConfig &system);

  /// Appends a command, with the waits of its devices added to its own. Throws std::invalid_argument naming the command
  /// and the value: a device that is not there, a wait that is not for an earlier command, an empty stream, flash that
  /// the device does not have or that cannot be written, no processor, a transfer to where it comes from, of no bytes,
  /// not from and to multiples of kFlashBlock, of other bytes than its blocks have, or beyond the end of a memory.
  CommandId add(SystemCommand command);
  const std::vector<SystemCommand> &commands() const { return commands_; }
  const SystemConfig &system() const { return *system_; }

private:
  struct Uses {
    std::vector<CommandId> since_run; ///< what a device computed last, and all transfers since
    bool ran = false;                 ///< the first of them is no transfer
  };
  void check(const SystemCommand &command) const;
  void check_flash(const SystemCommand &command) const;
  void check_transfer(const SystemCommand &command) const;
  [[noreturn]] void refuse(const SystemCommand &command, const std::string &problem) const;
  void check_range(const SystemCommand &command, std::uint64_t first, std::uint64_t size, std::string_view what) const;

  const SystemConfig *system_;
  std::vector<SystemCommand> commands_;
  std::vector<Uses> uses_; ///< by device
};

/// When a command began and ended, in ps from the plan's begin: begin is when all that it waited for has been told,
/// end when it is complete.
struct CommandSpan {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const CommandSpan &o) const { return begin == o.begin && end == o.end; }
};

/// When commands may begin: how many of what each waits for has not ended.
class PlanProgress {
public:
  explicit PlanProgress(const SystemPlan &plan);

  /// Commands that wait for nothing, ascending.
  std::vector<CommandId> first() const;
  /// A command ended; those that waited for it alone any more, ascending.
  std::vector<CommandId> end(CommandId id);
  bool all_ended() const { return ended_ == open_.size(); }
  std::size_t ended() const { return ended_; }

private:
  std::vector<std::uint32_t> open_; ///< of each command: those it still waits for
  std::vector<std::vector<CommandId>> readers_;
  std::size_t ended_ = 0;
};

} // namespace gradweave
