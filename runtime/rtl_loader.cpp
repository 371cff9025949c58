// make_rtl_device(): finds and loads the shared library that holds a configuration's Verilated NPU and its testbench.
#include "runtime/device.hpp"
#include "tb/rtl_factory.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace gradweave {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> search_path() {
  if (const char *dir = std::getenv("GRADWEAVE_LIB_DIR")) return {dir};
  std::vector<fs::path> path;
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  // Beside the executable, in an install tree's ../lib, and in lib/ of the build tree that holds the executable.
  for (fs::path dir = executable.parent_path(); !error && dir.has_relative_path(); dir = dir.parent_path()) {
    path.push_back(dir);
    path.push_back(dir / "lib");
  }
  return path;
}

} // namespace

fs::path find_rtl_library(const NpuConfig &config) {
  const std::string file = "libgradweave_rtl_" + config.name + ".so";
  const std::vector<fs::path> path = search_path();
  for (const fs::path &dir : path)
    if (fs::exists(dir / file)) return dir / file;
  throw std::runtime_error(
      fmt::format("no Verilated NPU for configuration '{0}': {1} is not in {2} or a directory above; "
                  "build the CMake target gradweave_rtl_{0}, or set GRADWEAVE_LIB_DIR to the directory "
                  "that holds it",
                  config.name, file, path.empty() ? "?" : path.front().string()));
}

std::unique_ptr<Device> make_rtl_device(const NpuConfig &config, const DeviceOptions &options) {
  const fs::path library = find_rtl_library(config);
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);           // its banner would precede every report
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL); // stays loaded: SystemC's kernel cannot be unloaded
  if (!handle) throw std::runtime_error(fmt::format("cannot load {}: {}", library.string(), dlerror()));
  const auto make = reinterpret_cast<tb::MakeRtlDevice *>(dlsym(handle, tb::kMakeRtlDeviceSymbol));
  if (!make)
    throw std::runtime_error(
        fmt::format("{} is not a gradweave NPU library: {}; rebuild it", library.string(), dlerror()));
  return std::unique_ptr<Device>(make(config, options));
}

} // namespace gradweave
