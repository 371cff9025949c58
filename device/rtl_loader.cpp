// make_rtl_device(): finds and loads the shared library that holds a configuration's Verilated NPU and its testbench.
#include "base/own_tree.hpp"
#include "device/device.hpp"
#include "device/rtl_factory.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <stdexcept>

namespace gradweave {

namespace {

namespace fs = std::filesystem;

fs::path library_directory() {
  if (const char *dir = std::getenv("GRADWEAVE_LIB_DIR")) return dir;
  return runtime::own_tree().root / "lib";
}

} // namespace

fs::path find_rtl_library(const NpuConfig &config, const std::string &source) {
  fs::path file = library_directory() / ("libgradweave_rtl_" + config.name + ".so");
  if (fs::exists(file)) return file;
  throw std::runtime_error(
      fmt::format("no Verilated NPU for configuration '{}': there is no {}; `make cosim NPU={}` in the source tree "
                  "builds it, or set GRADWEAVE_LIB_DIR to the directory that holds it",
                  config.name, file.string(), source.empty() ? config.name : source));
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
