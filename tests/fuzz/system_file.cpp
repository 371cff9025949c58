// Descriptions of several devices. What is accepted must be what plans, links and flash can take.
#include "sw_models/system/system_config.hpp"
#include "tests/fuzz/fuzz_target.hpp"

using gradweave::fuzz::require;

namespace {

void check(const gradweave::SystemConfig &system) {
  const auto devices = system.devices.size();
  require(devices >= 1 && !system.links.empty() && system.notify_ps > 0, "no device, no link, or no time between");
  for (const gradweave::LinkConfig &link : system.links) {
    require(link.bandwidth_gb_s > 0 && link.packet_bytes >= 64, "a link without bandwidth or packets");
    require(!link.port || *link.port < system.ports.size(), "a port that is not there");
  }
  for (const gradweave::FlashConfig &flash : system.flashes)
    require(flash.channels >= 1 && flash.channel_gb_s > 0 && flash.size_bytes % gradweave::kFlashBlock == 0,
            "flash without channels or whole blocks");
  for (const gradweave::DeviceConfig &device : system.devices) {
    require(device.link < system.links.size(), "a link that is not there");
    require(!device.flash || *device.flash < system.flashes.size(), "flash that is not there");
    require(!device.processor || *device.processor < system.processors.size(), "a processor that is not there");
  }
  for (const std::uint32_t device : system.tables.devices)
    require(device < devices && system.devices[device].processor &&
                system.flashes[system.devices[device].flash.value()].program_ps > 0,
            "tables where no flash is written");
  require(!system.partition.routes.empty() && system.partition.micro_batches >= 1, "no route or micro-batch");
  for (const gradweave::RouteConfig &route : system.partition.routes) {
    require(route.share >= 1 && route.devices.size() == route.cuts.size() + 1, "a route without share or cuts");
    for (const std::uint32_t device : route.devices)
      require(device < devices, "a device that is not there");
  }
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  constexpr const char *kFile = GW_SYSTEMS "/system.toml"; // beside those whose NPUs are there
  try {
    check(gradweave::parse_system(gradweave::fuzz::text_of(data, size), kFile));
  } catch (const gradweave::ConfigError &rejection) {
    gradweave::fuzz::require_place(rejection, kFile);
  }
  return 0;
}
