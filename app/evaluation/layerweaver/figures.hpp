// The figures and numbers of Y. H. Oh et al., "Layerweaver: Maximizing Resource Utilization of Neural Processing Units
// via Layer-Wise Scheduling", HPCA 2021, as far as the text that is stored goes, and what other policies make of them.
#pragma once

#include "app/evaluation/layerweaver/pairs.hpp"
#include "app/evaluation/layerweaver/settings.hpp"
#include "app/evaluation/study/paper.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::evaluation::layerweaver {

/// As of Paper.
const std::vector<std::string_view> &figures();
std::unique_ptr<Repetition> open(const Study &study, const Request &request);

/// What figures are made from.
struct Inputs {
  const WeaveStudy &study;
  Weavings weavings;
  std::string command; ///< of this evaluation, without figure

  /// A row of the published number beside ours.
  Row row(const std::string &figure, const std::string &key, std::optional<double> ours, std::string note = {}) const;
};

/// Means over pairs.
struct Means {
  double round_robin = 0, ai_mt = 0, greedy = 0, bounded = 0, tiles = 0, bound = 0; ///< throughput
  double compute = 0, fetch = 0; ///< points that greedy adds to the shares of the time of PEs and memory
};
/// Of all pairs; of those that have a network of that name, or have not.
struct Which {
  std::string network;
  bool with = true;
};
Means means(const Inputs &inputs, const Scenario &scenario, Mix mix, bool beyond, const Which &which = {});

/// All that a scenario assumes, in words.
std::string assumptions(const Scenario &scenario);

// Timelines, intensities, utilisations: figure_networks.cpp
Figure figure2(const Inputs &inputs);
Figure figure3(const Inputs &inputs);
Figure figure4(const Inputs &inputs);
// How a schedule comes about, on examples: figure_states.cpp
Figure figure7(const Inputs &inputs);
Figure figure8(const Inputs &inputs);
Figure figure9(const Inputs &inputs);
Figure figure10(const Inputs &inputs);
Figure figure11(const Inputs &inputs);
// What weaving gains: figure_gains.cpp
Figure abstract(const Inputs &inputs);
Figure gains(const Inputs &inputs);
Figure buffers(const Inputs &inputs);
// What it hangs on: figure_sensitivity.cpp
Figure sensitivity(const Inputs &inputs);

} // namespace gradweave::evaluation::layerweaver
