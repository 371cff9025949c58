// An NPU whose scratchpad is a part of another's.
#pragma once

#include "sw_models/config/machine.hpp"

#include <cstdint>

namespace gradweave::compiler {

/// The NPU with so many macro-banks of its size; 0: with none, which fits nothing.
inline Machine with_banks(const Machine &npu, std::uint32_t banks) {
  Machine machine = npu;
  machine.spm_bytes = std::uint64_t{2} * npu.lanes() * npu.bank_rows() * banks;
  machine.spm_banks = banks;
  return machine;
}

} // namespace gradweave::compiler
