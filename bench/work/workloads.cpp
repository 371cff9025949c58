#include "bench/work/workloads.hpp"
#include "graph/frontend/load_network.hpp"

#include "runtime/run/lookup.hpp"

#include <string>

namespace gradweave::bench {

const std::vector<BusyGemm> &busy_gemms() {
  static const std::vector<BusyGemm> gemms{{"small", 45, {"gemm_small", 2700, 900, 450, false, 0}},
                                           {"large", 128, {"gemm_large", 1024, 1024, 1024, false, 0}}};
  return gemms;
}

Machine load_npu(std::string_view name) { return load_machine(runtime::find_npu(std::string(name))); }

compiler::Network load_model(std::string_view name, std::uint32_t batch) {
  return compiler::load_network(runtime::find_model(std::string(name)), batch);
}

} // namespace gradweave::bench
