// Several devices, what connects them, and the file that describes them (configs/systems/*.toml).
#pragma once

#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave {

/// What a device is for.
enum class DeviceRole : std::uint8_t {
  kNpu,     ///< computes
  kStorage, ///< computes near flash, which may lie behind it
};

/// A full-duplex link between a device and the switch: PCIe as packets. Each direction sends one packet at a time.
struct LinkConfig {
  std::string name;
  double bandwidth_gb_s = 0;
  std::uint64_t latency_ps = 0;           ///< from a packet's last byte at one end to the same at the other
  std::uint32_t packet_bytes = 0;         ///< of data, at most; a power of two
  std::uint32_t overhead_bytes = 0;       ///< of header, sequence number and CRC, which each packet has besides
  std::optional<std::uint32_t> port = {}; ///< that it shares with other links; index of SystemConfig::ports

  /// Picoseconds, rounded up, that `bytes` (up to some MB) take on a line of such bandwidth.
  static std::uint64_t packet_ps(std::uint64_t bytes, double bandwidth_gb_s);
};

/// A root port of the switch, full duplex: what leaves or enters the group of links that name it goes through, in
/// packets one after another. Peers of one port do not use it.
struct PortConfig {
  std::string name;
  double bandwidth_gb_s = 0;
};

/// Flash of a device: blocks of kFlashBlock bytes, block b on channel b mod channels.
struct FlashConfig {
  std::string name;
  std::uint64_t size_bytes = 0;
  std::uint32_t channels = 0;
  std::uint64_t read_ps = 0; ///< from the command to the first byte of a block
  double channel_gb_s = 0;   ///< of a channel, which is busy for read_ps and then for the block's bytes
};
inline constexpr std::uint32_t kFlashBlock = 4096;

struct DeviceConfig {
  std::string name;
  DeviceRole role = DeviceRole::kNpu;
  Machine machine;
  std::uint32_t link = 0;                  ///< index of SystemConfig::links, whose numbers are the device's own link's
  std::optional<std::uint32_t> flash = {}; ///< index of SystemConfig::flashes
};

/// Which devices train which layers. A layer is a product of the forward pass and what follows it up to the next.
struct PartitionConfig {
  std::uint32_t cut = 0;            ///< layers 0 to cut - 1 are the lower ones
  std::vector<std::uint32_t> lower; ///< devices, each with its part of the mini-batch
  std::uint32_t upper = 0;          ///< the device of all other layers
  std::uint32_t cut_line = 0;       ///< of the file, for messages
};

struct SystemConfig {
  std::string file; ///< for messages
  std::string name;
  std::uint64_t notify_ps = 0; ///< from the end of a command to the start of what waited for it, on any device
  std::vector<LinkConfig> links;
  std::vector<PortConfig> ports;
  std::vector<FlashConfig> flashes;
  std::vector<DeviceConfig> devices;
  PartitionConfig partition;

  const LinkConfig &link_of(std::uint32_t device) const { return links[devices[device].link]; }
};

/// Reads and checks a system file. Throws ConfigError naming file, line, key, value and remedy: a device, link, port or
/// flash that is not there, two of one name, a value out of range.
SystemConfig load_system(const std::filesystem::path &file);

/// The system that `text` describes; `file` stands for it in messages, and paths of NPUs in it begin at its directory.
SystemConfig parse_system(std::string_view text, const std::string &file);

} // namespace gradweave
