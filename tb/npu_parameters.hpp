// The parameters that an NPU's RTL is built with.
#pragma once

#include "isa_defs.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace gradweave::tb {

/// A parameter of module gw_npu.
struct RtlParameter {
  std::string_view name;
  std::uint32_t value = 0;
};
std::vector<RtlParameter> rtl_parameters(const NpuConfig &npu);

/// What a register that is `built` (isa::kCsrs) says of an NPU, in its lowest `bits` bits from `lsb` on.
struct BuiltValue {
  isa::Csr csr{};
  std::string_view what; ///< the key in the configuration, for people
  std::uint32_t value = 0;
  unsigned lsb = 0, bits = 32;

  /// Of the register's contents.
  std::uint32_t read(std::uint32_t contents) const {
    return static_cast<std::uint32_t>(contents >> lsb & ((std::uint64_t{1} << bits) - 1));
  }
};
std::vector<BuiltValue> built_values(const NpuConfig &npu);

} // namespace gradweave::tb
