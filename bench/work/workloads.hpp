// What the measurements share.
#pragma once

#include "compiler/compiler.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace gradweave::bench {

struct BusyGemm {
  const char *npu;
  int size; ///< rows and columns of the array
  compiler::Layer layer;
};
/// Forward GEMMs that keep the array busy: whole blocks, much work for each byte.
const std::vector<BusyGemm> &busy_gemms();

/// An NPU of configs/.
Machine load_npu(std::string_view name);
/// A network of models/.
compiler::Network load_model(std::string_view name, std::uint32_t batch);

} // namespace gradweave::bench
