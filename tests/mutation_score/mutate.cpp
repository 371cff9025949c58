// gw_mutate: writes copies of source files with mutants in them, each selected at run time.
#include "tests/mutation_score/catalog.hpp"
#include "tests/mutation_score/cpp_places.hpp"
#include "tests/mutation_score/explained.hpp"
#include "tests/mutation_score/sv_places.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using namespace gradweave::mutation;
namespace fs = std::filesystem;

struct Arguments {
  std::string root, out, catalog, explained, compile_commands;
  std::vector<std::string> rtl, cpp;
  std::size_t rtl_count = 0, cpp_count = 0;
  std::uint64_t seed = 1;
};

std::string read(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(fmt::format("cannot read {}", file.string()));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A file that stays as it is keeps its time, so that nothing is rebuilt in vain.
void write(const fs::path &file, const std::string &text) {
  if (fs::exists(file) && read(file) == text) return;
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  if (!(out << text).flush()) throw std::runtime_error(fmt::format("cannot write {}", file.string()));
}

/// Declares in front of the file what selects the mutants; the file's own line numbers stay.
std::string prologue(const std::string &file) {
  if (language_of(file) == Language::kCpp)
    return fmt::format("#include \"tests/mutation_score/selected.hpp\"\n#line 1 \"{}\"\n", file);
  // A package variable that Verilator cannot fold into a constant, since C++ sets it.
  return fmt::format("`ifndef GW_MUTANT\n`define GW_MUTANT\npackage gw_mutant;\n"
                     "int number = $c32(\"(getenv(\\\"GW_MUTANT\\\") ? atoi(getenv(\\\"GW_MUTANT\\\")) : 0)\");\n"
                     "endpackage\n`endif\n`line 1 \"{}\" 0\n",
                     file);
}

std::vector<Source> rtl_sources(const Arguments &a) {
  std::vector<Source> sources;
  for (const std::string &file : a.rtl) {
    const std::string text = read(fs::path(a.root) / file);
    try {
      sources.push_back(make_source(file, text, sv_places(text)));
    } catch (const std::exception &e) {
      throw std::runtime_error(fmt::format("{}, {}", file, e.what()));
    }
  }
  return sources;
}

std::vector<Source> cpp_sources(const Arguments &a) {
  std::vector<Source> sources;
  if (a.cpp.empty()) return sources;
  for (auto &[file, places] : cpp_places(a.root, a.compile_commands, a.cpp))
    sources.push_back(make_source(file, read(fs::path(a.root) / file), places));
  return sources;
}

std::size_t possible(const std::vector<Source> &sources) {
  std::size_t count = 0;
  for (const Source &source : sources)
    for (const std::vector<Mutant> &mutants : source.mutants)
      count += mutants.size();
  return count;
}

unsigned emit(const Arguments &a, const std::vector<Source> &sources, Catalog &catalog) {
  unsigned count = 0;
  for (const Source &source : sources) {
    write(fs::path(a.out) / source.file, prologue(source.file) + with_mutants(source));
    for (const std::vector<Mutant> &mutants : source.mutants)
      for (const Mutant &m : mutants)
        if (m.number != 0) {
          catalog.mutants.push_back(m);
          ++count;
        }
  }
  return count;
}

int run(const Arguments &a) {
  std::vector<Source> rtl = rtl_sources(a), cpp = cpp_sources(a);
  std::vector<std::string> stale;
  if (!a.explained.empty()) {
    const auto explained = read_explained(a.explained);
    stale = stale_explanations(explained, rtl);
    for (const std::string &message : stale_explanations(explained, cpp))
      stale.push_back(message);
  }
  for (const std::string &message : stale)
    fmt::print(stderr, "error: {}: {}\n", a.explained, message);
  if (a.out.empty()) return stale.empty() ? 0 : 1;

  Catalog catalog;
  catalog.seed = a.seed;
  catalog.possible = {{"rtl", possible(rtl)}, {"cpp", possible(cpp)}};
  choose_mutants(rtl, a.rtl_count, a.seed, 1);
  const unsigned rtl_built = emit(a, rtl, catalog);
  choose_mutants(cpp, a.cpp_count, a.seed, rtl_built + 1);
  const unsigned cpp_built = emit(a, cpp, catalog);
  write_catalog(a.catalog, catalog);
  fmt::print("{} of {} faults of the RTL and {} of {} of the C++ are built in, seed {}\n", rtl_built, possible(rtl),
             cpp_built, possible(cpp), a.seed);
  return stale.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char *argv[]) {
  Arguments a;
  CLI::App app{"Copies of source files with mutants in them, selected at run time by GW_MUTANT=<number>"};
  app.add_option("--root", a.root, "the tree")->required();
  app.add_option("--rtl", a.rtl, "SystemVerilog files, relative to the tree");
  app.add_option("--cpp", a.cpp, "C++ files, relative to the tree: headers count if one of the others includes them");
  app.add_option("--compile-commands", a.compile_commands, "compile_commands.json, for C++");
  app.add_option("--out", a.out, "where the copies go; without it, only the explanations are checked");
  app.add_option("--catalog", a.catalog, "file for the list of mutants");
  app.add_option("--rtl-count", a.rtl_count, "mutants of the RTL, about")->capture_default_str();
  app.add_option("--cpp-count", a.cpp_count, "mutants of the C++, about")->capture_default_str();
  app.add_option("--seed", a.seed, "of the sample")->capture_default_str();
  app.add_option("--explained", a.explained, "TOML file of explained survivors; a stale one is an error");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(a);
  } catch (const std::exception &e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 2;
  }
}
