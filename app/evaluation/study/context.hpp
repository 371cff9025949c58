// What figures of layers on NPUs are made from.
#pragma once

#include "app/evaluation/page/report.hpp"
#include "app/evaluation/study/workload.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::evaluation {

struct Context {
  const LayerStudy &study;
  const Workloads &workloads;
  Evaluations &evaluations;
  bool planning = false;             ///< only which units are asked for matters: long work on their results can be left
  std::string policy;                ///< of the baseline as the paper describes it
  std::vector<std::string> policies; ///< that differ from it in what the paper leaves open
  std::string command;               ///< of this evaluation, without figure
  std::uint64_t seed = 1;            ///< of random choices
  bool some_networks = false;        ///< not all of the paper's: means of it are no measure for ours
};

} // namespace gradweave::evaluation
