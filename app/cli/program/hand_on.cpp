#include "app/cli/program/hand_on.hpp"

#include "app/cli/common/arguments.hpp"
#include "base/file/own_tree.hpp"
#include "base/process/command.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>

namespace gradweave::cli {
namespace {

namespace fs = std::filesystem;

/// Beside this program, as in a build directory, or where an installation has it; else where it would be built.
fs::path place_of(const std::string &name) {
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path();
  fs::path installed = beside.parent_path() / "libexec" / "gradweave" / name;
  return fs::exists(installed, error) ? installed : beside / name;
}

/// Builds the program, if its build directory is one that `make` has configured; the exit code.
int build(const std::string &name) {
  const OwnTree &own = own_tree();
  const fs::path script = own.share / "scripts" / "program.sh";
  if (!fs::exists(own.root / ".gw-configured") || !fs::exists(script)) return 0;
  fmt::print(stderr, "gradweave: {} is not built yet, which has this subcommand: building it in {}\n", name,
             own.root.string());
  return run_visibly({"env", "BUILD=" + own.root.string(), script.string(), name});
}

} // namespace

int hand_on(Program program, char **argv) {
  const std::string name(file_name(program));
  const fs::path file = place_of(name);
  if (std::error_code error; !fs::exists(file, error))
    if (const int code = build(name); code != 0) {
      fmt::print(stderr, "gradweave: error: {} was not built, see above; the exit code is {}\n", name, code);
      return kDevice;
    }
  ::execv(file.c_str(), argv);
  fmt::print(stderr,
             "gradweave: error: {}, which has this subcommand, cannot be run: {}; build it (ninja {}), or move an "
             "installation as a whole\n",
             file.string(), std::strerror(errno), name);
  return kDevice;
}

} // namespace gradweave::cli
