#include "sw_models/config/energy_config.hpp"

#include "sw_models/config/toml_section.hpp"

#include <array>
#include <cmath>

namespace gradweave {
namespace {

/// Far above anything that was ever built, and small enough that sums stay finite.
constexpr double kMost = 1e9;

struct MemoryEnergy {
  double bytes, pj_per_byte;
};
constexpr std::array<MemoryEnergy, 3> kMemories{{{8192, 10.0 / 8}, {32768, 20.0 / 8}, {1048576, 100.0 / 8}}};

} // namespace

double spm_pj_per_byte(std::uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  for (const MemoryEnergy &memory : kMemories)
    if (memory.bytes == size) return memory.pj_per_byte;
  const std::size_t line = size < kMemories[1].bytes ? 0 : 1;
  const MemoryEnergy &from = kMemories.at(line), &to = kMemories.at(line + 1);
  const double exponent = std::log(to.pj_per_byte / from.pj_per_byte) / std::log(to.bytes / from.bytes);
  return from.pj_per_byte * std::pow(size / from.bytes, exponent);
}

const std::vector<EnergyKey> &energy_keys() {
  using E = EnergyConfig;
  static const std::vector<EnergyKey> keys{
      {"mac_pj", "bf16 multiply-add of the array", &E::mac_pj, nullptr},
      {"idle_mac_pj", "step of a PE without work", &E::idle_mac_pj, nullptr},
      {"add_pj", "fp32 addition of an ADD", &E::add_pj, nullptr},
      {"spm_read_pj_per_byte", "scratchpad read", nullptr, &E::spm_read_pj_per_byte},
      {"spm_write_pj_per_byte", "scratchpad write", nullptr, &E::spm_write_pj_per_byte},
      {"bus_pj_per_byte", "bus", &E::bus_pj_per_byte, nullptr},
      {"dram_pj_per_byte", "DRAM", &E::dram_pj_per_byte, nullptr},
      {"static_mw", "static power", &E::static_mw, nullptr}};
  return keys;
}

EnergyConfig read_energy_config(TomlSection &section) {
  EnergyConfig energy;
  for (const EnergyKey &key : energy_keys()) {
    const std::optional<double> value = section.number_if_any(key.name, 0, kMost, "2.0");
    if (value && key.field != nullptr) energy.*key.field = *value;
    if (value && key.optional_field != nullptr) energy.*key.optional_field = value;
  }
  section.reject_unknown_keys();
  return energy;
}

Fingerprint fingerprint(const EnergyConfig &energy) {
  const auto &[mac, idle_mac, add, spm_read, spm_write, bus, dram, static_power] = energy;
  return Fingerprint().add(mac, idle_mac, add, spm_read, spm_write, bus, dram, static_power);
}

} // namespace gradweave
