#include "device/rtl_build.hpp"
#include "base/file/output_file.hpp"
#include "base/file/own_tree.hpp"
#include "base/process/command.hpp"
#include "device/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace gradweave {
namespace {

namespace fs = std::filesystem;

/// Whether `make` has configured the build directory, its RTL with it: the lines that scripts/common.sh notes.
bool made_with_rtl(const fs::path &build) {
  std::ifstream stamp(build / ".gw-configured");
  std::string root, npus, warnings, rtl;
  return std::getline(stamp, root) && std::getline(stamp, npus) && std::getline(stamp, warnings) &&
         std::getline(stamp, rtl) && rtl == "ON";
}

/// The NPU as a file of configs/ has it.
std::string toml_of(const NpuConfig &config) {
  const auto &[name, rows, cols, cores, spm_bytes, spm_banks, bus_bytes, port_bytes, clock_ghz, queue_depth, semaphores,
               outstanding, vector_groups] = config;
  return fmt::format("# {}\n[npu]\nname = \"{}\"\nrows = {}\ncols = {}\ncores = {}\nspm_bytes = {}\nspm_banks = {}\n"
                     "bus_bytes = {}\nport_bytes = {}\nclock_ghz = {:#}\nqueue_depth = {}\nsemaphores = {}\n"
                     "outstanding = {}\nvector_groups = {}\n",
                     name, rtl_name(config), rows, cols, cores, spm_bytes, spm_banks, bus_bytes, port_bytes, clock_ghz,
                     queue_depth, semaphores, outstanding, vector_groups);
}

/// Writes that file into the build directory; its path.
std::string write_source(const NpuConfig &config, const fs::path &build) {
  fs::create_directories(build / "npus");
  const fs::path file = build / "npus" / (rtl_name(config) + ".toml");
  OutputFile(file).commit(toml_of(config));
  return file.string();
}

} // namespace

std::string rtl_name(const NpuConfig &config) {
  constexpr std::size_t kLongest = 64; // as read_npu_config() has it
  std::string name = config.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '+' || c == '=' || c == '.'; }, '-');
  if (name.size() <= kLongest) return name;
  const std::string own = "-" + fingerprint(config).hex();
  return name.substr(0, kLongest - own.size()) + own;
}

void build_missing_rtl_library(const NpuConfig &config, const std::string &source) {
  const OwnTree &own = own_tree();
  const fs::path script = own.share / "scripts" / "npu.sh";
  if (std::getenv("GRADWEAVE_LIB_DIR") != nullptr || fs::exists(own.root / "lib" / rtl_library_name(config)) ||
      !fs::exists(script) || !made_with_rtl(own.root))
    return;
  fmt::print(stderr, "gradweave: there is no Verilated NPU '{}' yet: building it in {}\n", config.name,
             own.root.string());
  const std::string from = source.empty() ? write_source(config, own.root) : source;
  if (const int code = run_visibly({"env", "BUILD=" + own.root.string(), script.string(), from}); code != 0)
    throw std::runtime_error(fmt::format("the Verilated NPU '{}' was not built, see above: {} {} ended with exit code "
                                         "{}",
                                         config.name, script.string(), from, code));
}

} // namespace gradweave
