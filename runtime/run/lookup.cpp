#include "runtime/run/lookup.hpp"

#include "base/file/own_tree.hpp"
#include "base/text/nearest.hpp"
#include "sw_models/config/npu_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace gradweave::runtime {
namespace {

namespace fs = std::filesystem;

const std::set<std::string> kModelFiles{".graph", ".onnx", ".toml", ".csv"};

std::vector<std::string> names_in(const fs::path &directory, const std::set<std::string> &extensions) {
  std::set<std::string> names;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory))
    if (extensions.count(entry.path().extension().string()) != 0) names.insert(entry.path().stem().string());
  return {names.begin(), names.end()};
}

fs::path find(const std::string &wanted, const char *what, const char *folder,
              const std::set<std::string> &extensions) {
  if (is_path(wanted)) return wanted;
  const fs::path directory = home_directory() / folder;
  if (!wanted.empty())
    for (const std::string &extension : extensions)
      if (fs::path file = directory / (wanted + extension); fs::exists(file)) return file;
  const std::vector<std::string> names = names_in(directory, extensions);
  throw ConfigError(fmt::format("no {} '{}' in {}{} There are: {}. Or give the path of a file ({})", what, wanted,
                                directory.string(), nearest(wanted, names).empty() ? "." : did_you_mean(wanted, names),
                                fmt::join(names, ", "), fmt::join(extensions, " or ")));
}

} // namespace

bool is_network_file(const std::string &file) { return kModelFiles.count(fs::path(file).extension().string()) != 0; }

bool is_path(const std::string &text) { return text.find('/') != std::string::npos || is_network_file(text); }

fs::path home_directory() {
  if (const char *home = std::getenv("GRADWEAVE_HOME"); home != nullptr && *home != '\0') {
    if (has_models(home)) return home;
    throw ConfigError(
        fmt::format("GRADWEAVE_HOME={} has no models and configs directories; correct it or unset it", home));
  }
  const OwnTree &tree = own_tree();
  if (tree.share.empty()) throw ConfigError(tree.problem);
  return tree.share;
}

fs::path find_model(const std::string &name_or_path) { return find(name_or_path, "network", "models", kModelFiles); }

fs::path find_npu(const std::string &name_or_path) { return find(name_or_path, "NPU", "configs", {".toml"}); }

fs::path find_system(const std::string &name_or_path) {
  return find(name_or_path, "system", "configs/systems", {".toml"});
}

std::vector<std::string> model_names() { return names_in(home_directory() / "models", kModelFiles); }
std::vector<std::string> npu_names() { return names_in(home_directory() / "configs", {".toml"}); }

} // namespace gradweave::runtime
