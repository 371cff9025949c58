// How often the parts of an NPU are used in a run: what energy is made of (docs/energy.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradweave {

/// Of a run that ended without an error. Bytes of the scratchpad are those that its ports move in rtl/spm/gw_spm.sv:
/// reads of array and vector units bring whole lines of LANES lanes, all others the elements that they are about.
struct AccessCounts {
  std::uint64_t macs = 0;      ///< multiply-adds that belong to a result, those with the zeros of padding too
  std::uint64_t idle_macs = 0; ///< steps of other PEs: beyond a partial block, or for a line that a WGRAD passes over
  std::uint64_t adds = 0;      ///< fp32 additions of ADDs
  std::uint64_t operand_read_bytes = 0; ///< scratchpad to array: lines of A and B, bf16
  std::uint64_t sum_read_bytes = 0;     ///< scratchpad to array: lines of initial values and of ADDs' operands, fp32
  std::uint64_t result_write_bytes = 0; ///< array to scratchpad
  std::uint64_t vector_read_bytes = 0;  ///< scratchpad to vector units: whole lines of LANES elements
  std::uint64_t vector_write_bytes = 0; ///< vector units to scratchpad
  std::uint64_t load_write_bytes = 0;   ///< LOAD to scratchpad
  std::uint64_t store_read_bytes = 0;   ///< scratchpad to STORE
  std::uint64_t bus_bytes = 0;          ///< whole beats of LOADs, STOREs and the command stream
  std::uint64_t dram_read_bytes = 0;    ///< whole accesses of LOADs and the command stream
  std::uint64_t dram_write_bytes = 0;   ///< whole accesses of STOREs

  std::uint64_t spm_read_bytes() const {
    return operand_read_bytes + sum_read_bytes + vector_read_bytes + store_read_bytes;
  }
  std::uint64_t spm_write_bytes() const { return result_write_bytes + vector_write_bytes + load_write_bytes; }
  std::uint64_t dram_bytes() const { return dram_read_bytes + dram_write_bytes; }

  AccessCounts &operator+=(const AccessCounts &o);
  bool operator==(const AccessCounts &o) const;
  bool operator!=(const AccessCounts &o) const { return !(*this == o); }
};

/// A count as reports name it.
struct AccessCountForm {
  std::string_view name;
  std::uint64_t AccessCounts::*count;
};
/// All of them, in the order of the struct.
const std::array<AccessCountForm, 13> &access_count_forms();

} // namespace gradweave
