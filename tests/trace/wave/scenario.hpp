// A stream of the catalog: commands, and what happens to the NPU while it executes them.
#pragma once

#include "device/device.hpp"
#include "isa/command.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::wave {

/// Read from a file under tests/trace/wave/streams: the text form of commands (isa/assembler.hpp), with directives in
/// comments that begin with "#!" and, as `gradweave compile --listing` writes it, "# INDEX: TILE" behind a command.
///
///   #! npu test8              NPU that runs it
///   #! about TEXT             what it is for
///   #! layer NAME             layer that the tiles belong to
///   #! stall PERCENT SEED      back-pressure on all channels
///   #! watchdog CYCLES
///   #! offset BYTES           place of the stream in its 4 KB page
///   #! fault KIND DIR ADDR BYTES   slverr, decerr or hang; read or write; ADDR "stream+N": from the first command on
///   #! reset CYCLE            the reset pin, that long after the start; then the stream runs once more, whole
///   #! base ADDRESS           DRAM_BASE: what the stream may address begins there
///   #! poll                   registers are read all the time that the stream runs, and accesses that the NPU refuses
///   tried
///   #! ring PLACES            commands come two at a time, into a ring of so many places; the host takes MARKs
///   #! again                  the stream runs a second time, without a reset in between
///   #! end CODE [INDEX]       how it ends (docs/isa.md); default: NONE
struct Scenario {
  std::string name; ///< of the file, without extension
  std::string npu, about, layer;
  std::vector<isa::Command> commands;
  std::vector<std::string> tiles; ///< of each command; empty where the file tells none
  DeviceOptions device;           ///< fault addresses are absolute
  std::optional<std::uint64_t> reset_cycle;
  std::uint32_t base = 0, ring = 0;
  bool poll = false, again = false;
  RunStatus end;
};

/// Where streams lie in device memory: behind the data, which streams address from 0 on.
constexpr std::uint64_t kDataBytes = 1U << 20U;

/// Throws ConfigError with file and line, or isa::AssemblyError.
Scenario read_scenario(const std::filesystem::path &file);

/// All scenarios of a directory, by name. Throws as read_scenario(), or ConfigError if there is none.
std::vector<Scenario> read_catalog(const std::filesystem::path &directory);

} // namespace gradweave::wave
