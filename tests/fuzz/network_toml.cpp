// Networks in TOML (models/README.md).
#include "tests/fuzz/network_checks.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  gradweave::fuzz::parse_network(gradweave::compiler::parse_network_toml, gradweave::fuzz::text_of(data, size),
                                 "network.toml");
  return 0;
}
