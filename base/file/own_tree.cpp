#include "base/file/own_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <dlfcn.h>
#include <fstream>
#include <string_view>
#include <system_error>

namespace gradweave {
namespace {

namespace fs = std::filesystem;

constexpr const char *kCache = "CMakeCache.txt";

/// What CMake noted of itself in its cache.
struct BuildNote {
  fs::path source, build;
};

BuildNote read_note(const fs::path &cache) {
  constexpr std::string_view kSource = "CMAKE_HOME_DIRECTORY:INTERNAL=", kBuild = "CMAKE_CACHEFILE_DIR:INTERNAL=";
  BuildNote note;
  std::ifstream in(cache);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, kSource.size(), kSource) == 0) note.source = line.substr(kSource.size());
    if (line.compare(0, kBuild.size(), kBuild) == 0) note.build = line.substr(kBuild.size());
  }
  return note;
}

bool only_upwards(const fs::path &path) {
  return !path.empty() && std::all_of(path.begin(), path.end(), [](const fs::path &part) { return part == ".."; });
}

OwnTree build_tree(const fs::path &root) {
  const BuildNote note = read_note(root / kCache);
  const fs::path up = note.source.lexically_relative(note.build);
  std::error_code error;
  if (only_upwards(up)) {
    if (fs::path source = fs::weakly_canonical(root / up, error); has_models(source)) return {root, source, {}};
  } else if (fs::equivalent(root, note.build, error) && has_models(note.source)) {
    return {root, note.source, {}};
  }
  return {root,
          {},
          fmt::format("the build directory {} is not where it was made, in {} for the source tree {}, whose models and "
                      "configs are not those of a copy; copy the source tree with it, use `cmake --install` instead of "
                      "a copy, or set GRADWEAVE_HOME to a directory with models and configs",
                      root.string(), note.build.string(), note.source.string())};
}

/// The file that this code is in: the program, or the shared library that a program of others has loaded.
fs::path own_file() {
  std::error_code error;
  Dl_info here{}; // of a program it says what it was called as, which may be no path
  if (::dladdr(reinterpret_cast<const void *>(&has_models), &here) != 0)
    if (const fs::path file = here.dli_fname; file.filename().string().find(".so") != std::string::npos)
      return fs::canonical(file, error);
  return fs::read_symlink("/proc/self/exe", error);
}

} // namespace

bool has_models(const fs::path &directory) {
  std::error_code error;
  return fs::is_directory(directory / "models", error) && fs::is_directory(directory / "configs", error);
}

OwnTree tree_of(const fs::path &program) {
  const fs::path prefix = program.parent_path().parent_path();
  const fs::path share = prefix / "share" / "gradweave";
  if (has_models(share)) return {prefix, share, {}};
  std::error_code error;
  for (fs::path dir = program.parent_path(); dir.has_relative_path(); dir = dir.parent_path()) {
    if (fs::exists(dir / kCache, error)) return build_tree(dir);
    if (has_models(dir / "share" / "gradweave")) return {dir, dir / "share" / "gradweave", {}};
  }
  return {prefix,
          {},
          fmt::format("there are no models and configs in {}, which belongs to {}; move an installation as a whole, or "
                      "set GRADWEAVE_HOME to a directory with models and configs",
                      share.string(), program.string())};
}

const OwnTree &own_tree() {
  static const OwnTree tree = tree_of(own_file());
  return tree;
}

} // namespace gradweave
