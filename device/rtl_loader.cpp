// make_rtl_devices(): finds and loads the shared libraries of the testbench and of each configuration's Verilated NPU.
#include "base/file/own_tree.hpp"
#include "device/device.hpp"
#include "device/rtl_build.hpp"
#include "device/rtl_library.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace gradweave {

namespace {

namespace fs = std::filesystem;

fs::path library_directory() {
  if (const char *dir = std::getenv("GRADWEAVE_LIB_DIR")) return dir;
  return own_tree().root / "lib";
}

/// The testbench lies beside the NPU's library, unless that is a directory for NPUs of another's making.
fs::path find_testbench(const fs::path &npu_library) {
  constexpr const char *kName = "libgradweave_tb.so";
  fs::path beside = npu_library.parent_path() / kName;
  if (fs::exists(beside)) return beside;
  fs::path own = own_tree().root / "lib" / kName;
  if (fs::exists(own)) return own;
  throw std::runtime_error(fmt::format("no testbench for {}: there is neither {} nor {}; `make cosim` in the source "
                                       "tree builds it",
                                       npu_library.string(), beside.string(), own.string()));
}

/// The symbol's address in the library, which stays loaded: SystemC's kernel cannot be unloaded, and what the library
/// made may outlive all else. `what` it is without the symbol is not.
template <class Function> Function *load(const fs::path &library, const char *symbol, const char *what) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw std::runtime_error(fmt::format("cannot load {}: {}", library.string(), dlerror()));
  if (void *address = dlsym(handle, symbol)) return reinterpret_cast<Function *>(address);
  throw std::runtime_error(
      fmt::format("{} is not {} of this gradweave: {}; rebuild it", library.string(), what, dlerror()));
}

struct Loaded {
  std::vector<tb::RtlNpu> npus;
  fs::path testbench;
};

Loaded load_npus(const std::vector<DeviceSpec> &specs) {
  Loaded loaded;
  fs::path library;
  for (const auto &[config, options] : specs) {
    library = find_rtl_library(config);
    loaded.npus.push_back({config, options, load<tb::MakeNpuModel>(library, tb::kMakeNpuModelSymbol, "an NPU")});
  }
  loaded.testbench = find_testbench(library);
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0); // its banner would precede every report
  return loaded;
}

} // namespace

std::string rtl_library_name(const NpuConfig &config) { return "libgradweave_rtl_" + rtl_name(config) + ".so"; }

fs::path find_rtl_library(const NpuConfig &config, const std::string &source) {
  fs::path file = library_directory() / rtl_library_name(config);
  if (fs::exists(file)) return file;
  throw std::runtime_error(
      fmt::format("no Verilated NPU for configuration '{}': there is no {}; `make cosim NPU={}` in the source tree "
                  "builds it, or set GRADWEAVE_LIB_DIR to the directory that holds it",
                  config.name, file.string(), source.empty() ? config.name : source));
}

std::vector<std::unique_ptr<Device>> make_rtl_devices(const std::vector<DeviceSpec> &npus) {
  std::vector<std::unique_ptr<Device>> devices;
  if (npus.empty()) return devices;
  const Loaded loaded = load_npus(npus);
  load<tb::MakeRtlDevices>(loaded.testbench, tb::kMakeRtlDevicesSymbol, "the testbench")(loaded.npus, devices);
  return devices;
}

std::unique_ptr<SystemDevices> make_rtl_system(const SystemConfig &system, const SystemOptions &options) {
  std::vector<DeviceSpec> specs;
  for (std::size_t d = 0; d < system.devices.size(); ++d)
    specs.push_back({system.devices[d].machine, options.devices.empty() ? DeviceOptions{} : options.devices.at(d)});
  const Loaded loaded = load_npus(specs);
  std::unique_ptr<SystemDevices> made;
  load<tb::MakeRtlSystem>(loaded.testbench, tb::kMakeRtlSystemSymbol, "the testbench")(system, options.faults,
                                                                                       loaded.npus, made);
  return made;
}

std::unique_ptr<Device> make_rtl_device(const Machine &config, const DeviceOptions &options) {
  return std::move(make_rtl_devices({{config, options}}).front());
}

} // namespace gradweave
