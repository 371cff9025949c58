// What an evaluation consists of: networks, NPUs, what is varied, and the numbers that a paper published about it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::evaluation {

struct StudyNetwork {
  std::string name;         ///< as in the paper's figures
  std::string small, large; ///< models of the small and of the large NPU: names or paths
};

/// A number that the paper states.
struct Published {
  std::string figure, key; ///< unique together
  std::string text, unit;
  double value = 0;
};

/// The search for the fastest training step of each network, and what it is to reach: percent of time saved.
struct StepSearch {
  std::uint32_t plans = 0, step_plans = 0;               ///< SearchEffort
  double small_paper = 0, large_paper = 0;               ///< whole step, against the paper's scheme on its own tiling
  double small_conventional = 0, large_conventional = 0; ///< against the strongest searched conventional schedule
  double above_bound = 0;                                ///< searched layers, percent above their lower bounds at most
};

struct Study {
  std::string name, title;
  std::string paper; ///< whose figures it has: the name of a folder of app/evaluation; empty: the first one's
  std::string small_npu;
  std::vector<std::string> large_npus; ///< with a rising number of cores; the first has one
  std::uint32_t small_batch = 1, large_batch = 1;
  std::vector<std::uint32_t> batches; ///< of figure 16
  std::vector<double> bandwidths;     ///< of figure 15, as factors
  std::vector<std::uint32_t> parts;   ///< that partitioning over time tries
  std::uint32_t plans = 0;            ///< effort of a search: compiler::CompileOptions::plans
  StepSearch search;
  std::vector<StudyNetwork> networks;
  std::vector<Published> published;
};

/// Reads a study (.toml, see app/evaluation/igo/igo.toml). Relative paths in it are relative to its directory. Throws
/// ConfigError naming file, line, key and remedy.
Study load_study(const std::filesystem::path &file);
/// The same of `text`, the contents of `file`.
Study parse_study(std::string_view text, const std::filesystem::path &file);

/// A path (it contains '/' or ends in .toml) as it is, else app/evaluation/NAME/NAME.toml of the home directory. Throws
/// ConfigError listing what exists.
std::filesystem::path find_study(const std::string &name_or_path);

} // namespace gradweave::evaluation
