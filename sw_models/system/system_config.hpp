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
  std::uint64_t read_ps = 0;    ///< from the command to the first byte of a block
  double channel_gb_s = 0;      ///< of a channel, which is busy for read_ps and then for the block's bytes
  std::uint64_t program_ps = 0; ///< from a block's last byte, which the channel brings, to the end of writing it; 0: it
                                ///< is read only
};
inline constexpr std::uint32_t kFlashBlock = 4096;

/// A processor beside a device's memory, as SSDs have them: looks up, adds up and updates rows of tables.
struct ProcessorConfig {
  std::string name;
  std::uint64_t start_ps = 0; ///< of each command, besides its bytes
  double gb_s = 0;            ///< that it reads and writes

  /// Picoseconds of a command.
  std::uint64_t command_ps(std::uint64_t bytes) const;
};

struct DeviceConfig {
  std::string name;
  DeviceRole role = DeviceRole::kNpu;
  Machine machine;
  std::string npu_file = {};               ///< that describes the machine, a path: what its RTL is built from
  std::uint32_t link = 0;                  ///< index of SystemConfig::links, whose numbers are the device's own link's
  std::optional<std::uint32_t> flash = {}; ///< index of SystemConfig::flashes
  std::optional<std::uint32_t> processor = {}; ///< index of SystemConfig::processors
};

/// Where embedding tables lie, which nothing but a look-up of rows reads: in flash.
struct TablesConfig {
  std::vector<std::uint32_t> devices; ///< the n-th table is on the n-th of them, in turn; none: tables are no such
  bool reduced = true;                ///< what is looked up is added up there; else rows cross the link
};

/// By what devices choose among the commands that they could begin, and when transfers are due. Bits do not depend on
/// it.
struct PipelineOrder {
  bool backward_first = true; ///< of micro-batches, one that is on its way back; else one on its way forward
  bool eager_moves = true;    ///< a transfer comes before the streams that have not begun; else streams fill the time
  bool operator==(const PipelineOrder &o) const {
    return backward_first == o.backward_first && eager_moves == o.eager_moves;
  }
};
std::string to_string(const PipelineOrder &order); ///< "backward_first, eager_moves" and so on

/// A part of the mini-batch, and the devices that it goes through. A layer is a product of the forward pass and what
/// follows it up to the next.
struct RouteConfig {
  std::uint32_t share = 1;            ///< of the images, beside the other routes' shares
  std::vector<std::uint32_t> devices; ///< in the order of layers
  std::vector<std::uint32_t> cuts;    ///< of each device but the first, its first layer; none is below the one before
  std::uint32_t line = 0;             ///< of the file, for messages

  bool operator==(const RouteConfig &o) const { return share == o.share && devices == o.devices && cuts == o.cuts; }
};

/// Which devices train which layers of which images.
struct PartitionConfig {
  std::vector<RouteConfig> routes; ///< one at least
  std::uint32_t micro_batches = 1; ///< of each part of the mini-batch
  PipelineOrder order = {};

  /// Layers 0 to cut - 1 on the devices `lower`, each with its part of the mini-batch, all others on `upper`.
  static PartitionConfig of_cut(std::uint32_t cut, const std::vector<std::uint32_t> &lower, std::uint32_t upper);
};

struct SystemConfig {
  std::string file; ///< for messages
  std::string name;
  std::uint64_t notify_ps = 0; ///< from the end of a command to the start of what waited for it, on any device
  std::vector<LinkConfig> links;
  std::vector<PortConfig> ports;
  std::vector<FlashConfig> flashes;
  std::vector<ProcessorConfig> processors;
  std::vector<DeviceConfig> devices;
  TablesConfig tables;
  PartitionConfig partition;

  const LinkConfig &link_of(std::uint32_t device) const { return links[devices[device].link]; }
};

/// Reads and checks a system file. Throws ConfigError naming file, line, key, value and remedy: a device, link, port or
/// flash that is not there, two of one name, a value out of range.
SystemConfig load_system(const std::filesystem::path &file);

/// The system that `text` describes; `file` stands for it in messages, and paths of NPUs in it begin at its directory.
SystemConfig parse_system(std::string_view text, const std::string &file);

} // namespace gradweave
