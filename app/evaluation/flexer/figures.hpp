// The figures and numbers of H. Min, J. Kwon and B. Egger, "Flexer: Out-of-Order Scheduling for Multi-NPUs", CGO 2023,
// on streams that the RTL runs, beside a stronger baseline and this project's own list scheduler.
#pragma once

#include "app/evaluation/flexer/runs.hpp"
#include "app/evaluation/flexer/settings.hpp"
#include "app/evaluation/study/paper.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::evaluation::flexer {

/// As of Paper.
const std::vector<std::string_view> &figures();
std::unique_ptr<Repetition> open(const Study &study, const Request &request);

/// What figures are made from.
struct Inputs {
  const FlexerStudy &study;
  Runs runs;
  std::string command; ///< of this evaluation, without figure
};

/// Times as fast, and times fewer bytes.
struct Gain {
  double speed = 1, data = 1;
};
Gain gain(const Taken &baseline, const Taken &other);
/// Of a published number, or one of ours beside: Flexer and ours, over (a) and over (b), and the bound over (a).
using Gains = std::array<Gain, 5>;
Gains gains_of(const LayerRuns &runs);
/// A row of the speeds, or of the data, for the published number, if the study has one.
Row row_of(const Inputs &inputs, const std::string &figure, const std::string &key, const Gains &gains, bool data,
           std::string note = {});

/// The layers as the machine reads them.
std::vector<compiler::Layer> layers_on(const FlexerNetwork &network, const Machine &npu);
/// All layers, one after the other.
LayerRuns network_on(const Inputs &inputs, const FlexerNetwork &network, const Machine &npu);
/// "VGG-16 conv4_2 on arch6": its layer and machine; nothing if the study leaves one of them out.
struct Case {
  const FlexerMachine *machine = nullptr;
  compiler::Layer layer;
};
std::optional<Case> find_case(const FlexerStudy &study, const std::string &network, const std::string &layer,
                              const std::string &machine);

// Whole networks and their layers: figure_gains.cpp
Figure figure8(const Inputs &inputs);
Figure figure9a(const Inputs &inputs);
Figure figure9b(const Inputs &inputs);
Figure figure9c(const Inputs &inputs);
// What a layer moves and shares: figure_layers.cpp
Figure figure1(const Inputs &inputs);
Figure figure10(const Inputs &inputs);
Figure figure11(const Inputs &inputs);
// Policies and machines: figure_policies.cpp
Figure figure12(const Inputs &inputs);
Figure tables(const Inputs &inputs);

} // namespace gradweave::evaluation::flexer
