// Networks as GEMM lists and as topologies of SCALE-Sim.
#include "tests/fuzz/network_checks.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  gradweave::fuzz::parse_network(gradweave::compiler::parse_network_csv, gradweave::fuzz::text_of(data, size),
                                 "network.csv");
  return 0;
}
