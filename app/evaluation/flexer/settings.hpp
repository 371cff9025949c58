// What the evaluation of Flexer runs: networks, machines, effort.
#pragma once

#include "app/evaluation/study/study.hpp"
#include "graph/network.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::evaluation::flexer {

/// A network's convolutions, of batch 1, as the machine reads them.
struct FlexerNetwork {
  std::string name; ///< as in the paper's figures
  std::vector<compiler::Layer> layers;
};

struct FlexerMachine {
  std::string name; ///< as in table 1
  Machine npu;
};

struct FlexerStudy : Study {
  std::uint32_t plans = 1, cloud = 1; ///< CompileOptions::plans, of schedules, and of the cloud of tilings
  std::vector<FlexerNetwork> networks;
  std::vector<FlexerMachine> machines;

  /// Null if there is none.
  const FlexerNetwork *network(const std::string &wanted) const;
  const FlexerMachine *machine(const std::string &wanted) const;
};

/// Reads what the study has besides (flexer.toml), with only those networks and machines (empty: all). Throws
/// ConfigError naming file, line, key and remedy; std::invalid_argument that lists the names if one is unknown.
FlexerStudy read_flexer_study(const Study &study, const std::vector<std::string> &networks,
                              const std::vector<std::string> &machines);

} // namespace gradweave::evaluation::flexer
