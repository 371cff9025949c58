// A study of layers on NPUs: networks, NPUs, and what is varied.
#pragma once

#include "app/evaluation/plans/plans_file.hpp"
#include "app/evaluation/study/study.hpp"
#include "app/evaluation/unit/network_search.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::evaluation {

struct StudyNetwork {
  std::string name;         ///< as in the paper's figures
  std::string small, large; ///< models of the small and of the large NPU: names or paths
};

/// The search for the fastest training step of each network, and what it is to reach: percent of time saved.
struct StepSearch {
  SearchEffort effort;                                   ///< where nothing is known
  KnownSteps known;                                      ///< what was found already
  std::string known_file;                                ///< the name of their file; empty: there is none
  bool anew = false;                                     ///< steps that are not known are searched
  double small_paper = 0, large_paper = 0;               ///< whole step, against the paper's scheme on its own tiling
  double small_conventional = 0, large_conventional = 0; ///< against the strongest searched conventional schedule
  double above_bound = 0;                                ///< searched layers, percent above their lower bounds at most
};

struct LayerStudy : Study {
  std::string small_npu;
  std::vector<std::string> large_npus; ///< with a rising number of cores; the first has one
  std::uint32_t small_batch = 1, large_batch = 1;
  std::vector<std::uint32_t> batches; ///< of figure 16
  std::vector<double> bandwidths;     ///< of figure 15, as factors
  std::vector<std::uint32_t> parts;   ///< that partitioning over time tries
  std::uint32_t plans = 0;            ///< effort of a search: compiler::CompileOptions::plans
  StepSearch search;
  std::vector<StudyNetwork> networks;
};

/// Reads what a study of layers has besides (app/evaluation/igo/igo.toml). Relative paths in it are relative to its
/// directory. Throws ConfigError naming file, line, key and remedy.
LayerStudy read_layer_study(const Study &study);

} // namespace gradweave::evaluation
