// gw_coverage: judges the coverage of the RTL and of the C++, and writes the report. scripts/coverage.sh runs it.
#include "tests/coverage/page.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace {

using namespace gradweave::coverage;
namespace fs = std::filesystem;

struct Arguments {
  std::string runs, bins, waivers, cxx, out, source, measured;
  double cxx_wanted = 0;
};

/// Directories of stimuli in the order of their names, which is that in which they ran.
std::vector<fs::path> stimuli(const std::string &runs) {
  std::vector<fs::path> list;
  for (const auto &entry : fs::directory_iterator(runs))
    if (entry.is_directory()) list.push_back(entry.path());
  std::sort(list.begin(), list.end());
  return list;
}

std::vector<std::string> files(const fs::path &directory, const char *extension) {
  std::vector<std::string> list;
  for (const auto &entry : fs::directory_iterator(directory))
    if (entry.path().extension() == extension) list.push_back(entry.path().string());
  std::sort(list.begin(), list.end());
  return list;
}

int run(const Arguments &a) {
  Report report;
  report.measured = a.measured;
  report.waivers = load_waivers(a.waivers);
  report.bins = load_bins(a.bins);
  std::vector<std::string> points, unknown;
  report.measured += " Stimuli:";
  for (const fs::path &stimulus : stimuli(a.runs)) {
    report.measured += " " + stimulus.filename().string();
    for (std::string &file : files(stimulus, ".dat"))
      points.push_back(std::move(file));
    for (std::string &name : add_hits(report.bins, stimulus.filename().string(), files(stimulus, ".bins")))
      unknown.push_back(std::move(name));
  }
  report.points = read_rtl_points(points, a.source);
  report.gates.push_back(judge_lines(report.points, report.waivers));
  report.gates.push_back(judge_toggles(report.points, report.waivers, &report.toggles));
  report.gates.push_back(judge_bins(report.bins, unknown));
  if (!a.cxx.empty()) report.gates.push_back(judge_cxx(a.cxx, a.source, a.cxx_wanted, report.cxx));
  write_pages(report, a.out);

  bool met = true;
  fmt::print("{:<24} {:>8} {:>8} {:>8}   {}\n", "coverage", "covered", "of", "%", "wanted");
  for (const Gate &g : report.gates) {
    fmt::print("{:<24} {:>8} {:>8} {:>8.2f}   {}{:.0f} %: {}\n", g.what, g.covered, g.total, g.percent(),
               g.wanted >= 100 ? "" : "> ", g.wanted, g.met() ? "met" : "MISSED");
    met = met && g.met();
  }
  for (const FileShare &d : report.cxx)
    fmt::print("  C++ {:<18} {:>8} {:>8} {:>8.2f}\n", d.file, d.covered, d.total,
               100.0 * static_cast<double>(d.covered) / static_cast<double>(std::max<std::uint64_t>(d.total, 1)));
  for (const Gate &g : report.gates) {
    if (g.met()) continue;
    for (const std::string &defect : g.defects)
      fmt::print("{}: {}\n", g.what, defect);
    for (const std::string &missed : g.missed)
      fmt::print("{}: not covered: {}\n", g.what, missed);
  }
  fmt::print("report: {}/index.html\n", a.out);
  return met ? 0 : 1;
}

} // namespace

int main(int argc, char *argv[]) {
  Arguments a;
  CLI::App app{"Judges coverage and writes the report"};
  app.add_option("--runs", a.runs, "directory with a directory of .dat and .bins files for each stimulus")->required();
  app.add_option("--bins", a.bins, "list of functional bins")->required();
  app.add_option("--waivers", a.waivers, "waivers of lines and rules for toggles")->required();
  app.add_option("--cxx", a.cxx, "lines of the C++, in lcov's format");
  app.add_option("--cxx-wanted", a.cxx_wanted, "percent of the C++ lines")->check(CLI::Range(0.0, 100.0));
  app.add_option("--source", a.source, "root of the sources")->required();
  app.add_option("--measured", a.measured, "what ran, for the report");
  app.add_option("--out", a.out, "existing directory for the report")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    return run(a);
  } catch (const std::exception &e) {
    fmt::print(stderr, "gw_coverage: {}\n", e.what());
    return 2;
  }
}
