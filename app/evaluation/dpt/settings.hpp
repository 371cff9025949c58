// What the evaluation of deep partitioned training runs: networks, arrays, links, cycles of layers.
#pragma once

#include "app/evaluation/study/study.hpp"
#include "sw_models/partitioned/pipeline.hpp"
#include "sw_models/partitioned/recommendation.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gradweave::evaluation::dpt {

struct DptNetwork {
  std::string name;  ///< as in the paper's tables
  std::string model; ///< a name or a path
};

/// A test case of section 3.2.
struct Case {
  std::string name;
  partitioned::Array storage, host;
  std::string storage_npu, host_npu; ///< whose exact cycles stand for them
};

/// Exact cycles of an image, by NPU, images at a time, and layer; all of the way back is in dx.
using MeasuredCycles = std::map<std::string, std::map<std::uint32_t, std::map<std::string, partitioned::LayerCycles>>>;

struct DptStudy : Study {
  std::vector<std::uint32_t> batches, devices;
  double exchange_cycles = 0;           ///< partitioned::System
  std::string baseline;                 ///< the case whose NPU table 3 is of
  std::vector<std::uint32_t> breakdown; ///< mini-batches of figure 3
  std::string breakdown_case, breakdown_network;
  std::uint32_t breakdown_devices = 0;
  std::vector<Case> cases;
  std::vector<DptNetwork> networks;
  partitioned::Recommendation recommendation; ///< block_bytes apart
  double recommendation_block = 0;
  std::vector<std::uint32_t> dimensions;
  std::uint32_t breakdown_dimension = 0; ///< of figure 5b
  std::string recommendation_model;
  std::vector<std::uint32_t> pipeline_batches;
  partitioned::Search search;
  partitioned::Links links;
  std::string measured_network;
  std::vector<std::uint32_t> measured_micros; ///< images of a near-storage device at a time, ascending
  std::uint32_t measured_group = 0;           ///< of a group of the NPU's own
  std::uint32_t measured_whole = 0;           ///< of the NPU that takes whole images only
  MeasuredCycles measured;

  /// Throws std::logic_error if there is none.
  const Case &case_of(const std::string &wanted) const;
};

/// Reads what the study has besides (dpt.toml), networks only of those names (empty: all), and the cycles of layers
/// that it names. Throws ConfigError naming file, line, key and remedy; std::invalid_argument that lists the names if a
/// network is unknown.
DptStudy read_dpt_study(const Study &study, const std::vector<std::string> &networks);

/// Cycles of layers: lines npu,batch,layer,forward,backward, of so many images; '#' begins a comment. Throws
/// ConfigError naming file, line and remedy. `file` is for messages.
MeasuredCycles parse_cycles(std::string_view text, const std::string &file);

} // namespace gradweave::evaluation::dpt
