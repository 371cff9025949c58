// NPU configurations. What is accepted must have sizes that RTL, models and compiler can take.
#include "sw_models/config/machine.hpp"
#include "tests/fuzz/fuzz_target.hpp"

#include "isa_defs.hpp"

using gradweave::fuzz::require;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  constexpr const char *kFile = "npu.toml";
  try {
    const gradweave::Machine npu = gradweave::parse_machine(gradweave::fuzz::text_of(data, size), kFile);
    require(npu.rows >= 2 && npu.cols >= 2 && npu.lanes() <= gradweave::isa::kMaxLanes, "array out of range");
    require(npu.cores >= 1 && npu.cores <= 8 && npu.spm_banks >= 1, "no core or no bank");
    require(npu.bank_rows() >= 2 && npu.spm_rows() <= gradweave::isa::kMaxSpmRows, "scratchpad rows out of range");
    require(npu.bus_bytes <= 2 * npu.lanes() * npu.cores, "a bus wider than the scratchpad");
    require(npu.port_bytes >= 4 && npu.port_bytes <= gradweave::kMaxPortBytes, "a port that AXI4 does not have");
    require(npu.ports() >= 1 && npu.ports() <= gradweave::kMaxPorts && npu.ports() * npu.port_bytes == npu.bus_bytes,
            "ports that do not make a bus");
    require(npu.memory.bytes_num >= 1 && npu.memory.bytes_den >= 1, "no bandwidth");
    require(npu.memory.access_bytes >= 4 && npu.memory.access_bytes <= npu.bus_bytes, "access size out of range");
    for (const gradweave::EnergyKey &key : gradweave::energy_keys()) {
      const double price = key.field != nullptr ? npu.energy.*key.field : (npu.energy.*key.optional_field).value_or(0);
      require(price >= 0 && price <= 1e9, "a price that is negative, infinite or no number");
    }
  } catch (const gradweave::ConfigError &rejection) {
    gradweave::fuzz::require_place(rejection, kFile);
  }
  return 0;
}
