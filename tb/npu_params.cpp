// npu_params FILE: prints the RTL parameters of an NPU configuration as Verilator options, one a line.
#include "sw_models/config/machine.hpp"
#include "tb/npu_parameters.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>

int main(int argc, char *argv[]) {
  if (argc != 2) {
    fmt::print(stderr, "usage: npu_params CONFIG.toml\n");
    return 2;
  }
  try {
    const gradweave::NpuConfig c = gradweave::load_npu_config(argv[1]);
    if (c.name != std::filesystem::path(argv[1]).stem())
      throw gradweave::ConfigError(
          fmt::format("{}: name = \"{}\" must be the file's name without .toml", argv[1], c.name));
    for (const auto &[name, value] : gradweave::tb::rtl_parameters(c))
      fmt::print("-G{}={}\n", name, value);
    return 0;
  } catch (const std::exception &e) {
    fmt::print(stderr, "npu_params: {}\n", e.what());
    return 1;
  }
}
