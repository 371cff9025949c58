#include "device/rtl_build.hpp"
#include "base/file/own_tree.hpp"
#include "base/process/command.hpp"
#include "device/device.hpp"

#include <fmt/format.h>

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

} // namespace

void build_missing_rtl_library(const NpuConfig &config, const std::string &source) {
  const OwnTree &own = own_tree();
  const fs::path script = own.share / "scripts" / "npu.sh";
  if (std::getenv("GRADWEAVE_LIB_DIR") != nullptr || fs::exists(own.root / "lib" / rtl_library_name(config)) ||
      !fs::exists(script) || !made_with_rtl(own.root))
    return;
  fmt::print(stderr, "gradweave: there is no Verilated NPU '{}' yet: building it in {}\n", config.name,
             own.root.string());
  if (const int code = run_visibly({"env", "BUILD=" + own.root.string(), script.string(), source}); code != 0)
    throw std::runtime_error(fmt::format("the Verilated NPU '{}' was not built, see above: {} {} ended with exit code "
                                         "{}",
                                         config.name, script.string(), source, code));
}

} // namespace gradweave
