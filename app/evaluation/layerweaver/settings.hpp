// What the evaluation of Layerweaver runs: networks, NPUs, scenarios, each assumption a parameter.
#pragma once

#include "app/evaluation/study/study.hpp"
#include "weave_model/policy.hpp"
#include "weave_model/profile.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gradweave::evaluation::layerweaver {

struct WeaveNetwork {
  std::string name;      ///< as in the paper's figures: RX
  std::string model;     ///< a name or a path
  bool computes = false; ///< compute-intensive; else memory-intensive
  bool tokens = false;   ///< has a sequence
};

struct WeaveMachine {
  std::string name;
  weave_model::Arrays arrays;
  double bandwidth = 0; ///< GB/s
};

/// One reading of one of the paper's two experiments.
struct Scenario {
  std::string name;
  std::string of; ///< the experiment: "single" or "multi"
  WeaveMachine machine;
  std::uint32_t batch = 1;  ///< of all networks
  std::uint32_t tokens = 1; ///< of a sequence
  double buffer = 0;        ///< MiB of weights
  weave_model::Rule rule;   ///< of the greedy policy

  weave_model::Npu npu() const;
};

struct WeaveStudy : Study {
  std::uint32_t repeats = 1; ///< times that the longer model of a pair is served
  std::vector<double> leads; ///< that the bounded policy tries, of the time that the longer model takes
  double tile_kib = 1, tile_microseconds = 1;
  std::vector<double> buffers; ///< MiB, of what small buffers do
  std::vector<WeaveNetwork> networks;
  std::vector<WeaveMachine> machines;
  std::vector<Scenario> scenarios;

  const WeaveMachine &machine(const std::string &wanted) const;
  const Scenario &scenario(const std::string &wanted) const;
  const WeaveNetwork &network(const std::string &wanted) const;
};

/// Reads what the study has besides (layerweaver.toml), pairs only of those networks (empty: all). Throws ConfigError
/// naming file, line, key and remedy; std::invalid_argument that lists the names if one is unknown.
WeaveStudy read_weave_study(const Study &study, const std::vector<std::string> &networks);

} // namespace gradweave::evaluation::layerweaver
