#include "app/cli/sweep/collect.hpp"

#include "app/cli/common/work.hpp"
#include "app/cli/sweep/outputs.hpp"
#include "app/sweep/store.hpp"
#include "base/process/process_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace gradweave::cli {
namespace {

namespace fs = std::filesystem;

struct CollectArguments {
  std::vector<std::string> files;
  std::string out;
  SweepOutputs outputs;
};

/// The files, and those in the directories among them.
std::vector<fs::path> databases(const std::vector<std::string> &names) {
  std::vector<fs::path> files;
  for (const std::string &name : names) {
    std::error_code ignored;
    if (!fs::is_directory(name, ignored)) {
      files.emplace_back(name);
      continue;
    }
    const std::size_t before = files.size();
    for (const fs::directory_entry &entry : fs::directory_iterator(name))
      if (entry.path().extension() == ".db") files.push_back(entry.path());
    if (files.size() == before)
      throw DatabaseError(fmt::format("{}: no file of a sweep (*.db) is in this directory; name another one", name));
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

int collect(const CollectArguments &a) {
  const std::vector<fs::path> files = databases(a.files);
  OpenOutputs outputs(a.outputs);
  std::string command = "gradweave sweep collect";
  for (const std::string &name : a.files)
    command += ' ' + shell_word(name);
  if (a.out.empty()) {
    if (files.size() != 1)
      throw std::invalid_argument("several files are collected in another one; name it with --out");
    return outputs.finish(sweep::read_table(files.front()), command);
  }
  const auto [identity, points] = sweep::read_points(files.front());
  sweep::Store store(a.out, identity, points, DatabaseAccess::kShared);
  const std::size_t merged = merge_all(store, files);
  tell_dropped(store, "they are left out");
  std::fprintf(stderr, "gradweave: %zu new results from %zu files are in %s\n", merged, files.size(), a.out.c_str());
  return outputs.finish(sweep::read_table(a.out), command + " --out " + shell_word(a.out));
}

} // namespace

std::size_t merge_all(sweep::Store &store, const std::vector<fs::path> &files) {
  std::size_t merged = 0;
  for (const fs::path &file : files)
    try {
      merged += store.merge(file);
    } catch (const DatabaseBusy &error) {
      std::fprintf(stderr, "gradweave: left out: %s\n", error.what());
    }
  return merged;
}

void tell_dropped(const sweep::Store &store, const char *consequence) {
  if (store.dropped() != 0)
    std::fprintf(stderr, "gradweave: warning: %s: %zu results are not as they were written, by an edit or damage: %s\n",
                 store.file().c_str(), store.dropped(), consequence);
}

void add_collect(CLI::App &sweep, Chosen &chosen) {
  const auto arguments = std::make_shared<CollectArguments>(); // as long as the parser
  CollectArguments &a = *arguments;
  CLI::App *command =
      sweep.add_subcommand("collect", "Bring results of one study together, and write tables and pages of them");
  command->add_option("FILES", a.files, "Files of a sweep, or directories with such")->required();
  command->add_option("--out", a.out, "SQLite file that gets all of them; may be left out with one file");
  add_sweep_outputs(*command, a.outputs);
  command->footer("Examples:\n"
                  "  gradweave sweep collect --out all.db share-1.db share-2.db --csv all.csv\n"
                  "  gradweave sweep collect sweep.db --html sweep.html");
  command->callback(
      [arguments, &chosen] { chosen = [arguments](const SignalGuard &) { return collect(*arguments); }; });
}

} // namespace gradweave::cli
