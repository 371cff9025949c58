// gw_waves: the waveform regression. docs/waves.md describes it.
#include "tests/trace/wave/regression.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <set>

namespace {

using namespace gradweave;
using wave::Outcome;
using wave::Places;
using wave::Scenario;

constexpr int kEqual = 0, kDifferent = 1, kBroken = 2;

struct Arguments {
  std::string source = GW_SOURCE_DIR, recorders = GW_RECORDERS, out = GW_OUT, goldens;
  std::vector<std::string> names;
  bool accept = false, list = false;
};

Places places(const Arguments &a) {
  const std::filesystem::path source = a.source, wave = source / "tests/trace/wave";
  return {wave / "streams",
          a.goldens.empty() ? wave / "goldens" : std::filesystem::path(a.goldens),
          source / "configs",
          wave / "signals.txt",
          wave / "bundles.txt",
          a.recorders,
          a.out};
}

std::vector<Scenario> chosen(std::vector<Scenario> catalog, const std::vector<std::string> &names) {
  if (names.empty()) return catalog;
  for (const std::string &name : names)
    if (std::none_of(catalog.begin(), catalog.end(), [&](const Scenario &s) { return s.name == name; }))
      throw std::invalid_argument(
          fmt::format("the catalog has no stream '{}'; gw_waves --list tells what it has", name));
  catalog.erase(
      std::remove_if(catalog.begin(), catalog.end(),
                     [&](const Scenario &s) { return std::find(names.begin(), names.end(), s.name) == names.end(); }),
      catalog.end());
  return catalog;
}

/// Goldens that no stream has any more.
std::vector<std::filesystem::path> left_over(const std::vector<Scenario> &catalog, const Places &places) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(places.goldens)) return files;
  for (const auto &entry : std::filesystem::directory_iterator(places.goldens))
    if (entry.path().extension() == ".fst" &&
        std::none_of(catalog.begin(), catalog.end(), [&](const Scenario &s) { return s.name == entry.path().stem(); }))
      files.push_back(entry.path());
  return files;
}

int check(const std::vector<Scenario> &catalog, const Places &places) {
  std::size_t different = 0;
  for (const Scenario &scenario : catalog) {
    const Outcome outcome = wave::run_scenario(scenario, places);
    if (outcome.equal()) continue;
    fmt::print("{}{}", different++ == 0 ? "" : "\n", wave::explain(outcome, scenario, places));
    std::fflush(stdout);
  }
  fmt::print("{}waves: {} streams, {} differ from their goldens\n", different == 0 ? "" : "\n", catalog.size(),
             different);
  if (different != 0)
    fmt::print("if that is meant: make waves ACCEPT=1 takes the new waveforms and tells what changed\n");
  return different == 0 ? kEqual : kDifferent;
}

int accept(const std::vector<Scenario> &catalog, const Places &places) {
  std::filesystem::create_directories(places.goldens);
  std::size_t changed = 0;
  for (const Scenario &scenario : catalog) {
    const Outcome outcome = wave::run_scenario(scenario, places);
    if (outcome.equal()) continue;
    fmt::print("{}\n", wave::accept(outcome, places));
    ++changed;
  }
  fmt::print("waves: {} streams, {} goldens changed\n", catalog.size(), changed);
  return kEqual;
}

int run(const Arguments &a) {
  const Places where = places(a);
  const std::vector<Scenario> all = wave::read_catalog(where.streams), catalog = chosen(all, a.names);
  if (a.list) {
    for (const Scenario &s : catalog)
      fmt::print("{:<16} {:<9} {}\n", s.name, s.npu, s.about);
    return kEqual;
  }
  std::filesystem::create_directories(where.out);
  const std::vector<std::filesystem::path> needless = left_over(all, where);
  for (const std::filesystem::path &file : needless) {
    fmt::print("{}: golden of no stream{}\n", file.string(), a.accept ? ", removed" : "");
    if (a.accept) std::filesystem::remove(file);
  }
  if (a.accept) return accept(catalog, where);
  const int code = check(catalog, where);
  return needless.empty() ? code : kDifferent;
}

} // namespace

int main(int argc, char *argv[]) {
  Arguments a;
  CLI::App app{"Waveform regression: the catalog's streams on the Verilated NPU against their golden waveforms"};
  app.add_option("STREAM", a.names, "Streams of the catalog; default: all");
  app.add_flag("--accept", a.accept, "Make what the runs give the goldens, and tell what changed");
  app.add_flag("--list", a.list, "Tell what the catalog has");
  app.add_option("--source", a.source, "Source tree")->capture_default_str();
  app.add_option("--goldens", a.goldens, "Directory of the goldens; default: tests/trace/wave/goldens");
  app.add_option("--recorders", a.recorders, "Directory of the programs gw_wave_record_NPU")->capture_default_str();
  app.add_option("--out", a.out, "Directory of waveforms of streams that differ")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return run(a);
  } catch (const std::exception &error) {
    std::fflush(stdout);
    fmt::print(stderr, "gw_waves: error: {}\n", error.what());
    return kBroken;
  }
}
