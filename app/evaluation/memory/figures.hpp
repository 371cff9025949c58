// The figures, tables and numbers of C.-Y. Tsai, "A Performance Analytical Model for DNN Training with Focus on Memory
// Subsystem", 2021.
#pragma once

#include "app/evaluation/memory/settings.hpp"
#include "app/evaluation/memory/sweep.hpp"
#include "app/evaluation/study/paper.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::evaluation::memory {

inline constexpr double kMebi = 1048576; ///< bytes of what the thesis calls a MB

/// As of Paper.
const std::vector<std::string_view> &figures();
std::unique_ptr<Repetition> open(const Study &study, const Request &request);

/// What figures are made from.
struct Inputs {
  const MemoryStudy &study;
  Evaluations &evaluations;
  std::string command; ///< of this evaluation, without figure

  Subject subject(const MemoryNetwork &network) const { return {network.model, network.batch}; }
  /// All capacities of the study on its machine.
  SweepSpec spec(const MemoryNetwork &network, memory_model::Policy policy = memory_model::Policy::kThesis) const;
  /// The same with capacities of its own, in MiB.
  SweepSpec spec(const MemoryNetwork &network, memory_model::Policy policy,
                 const std::vector<std::uint32_t> &mebibytes) const;
  /// The network of that name, if it takes part.
  const MemoryNetwork *find(std::string_view name) const;
  /// A row of the published number beside ours.
  Row row(const std::string &figure, const std::string &key, std::optional<double> ours, std::string note = {}) const;
};

/// Of a sweep over the study's capacities that of so many MiB. Throws std::logic_error if it is not among them.
const SweepPoint &point_at(const Inputs &inputs, const SweepResult &result, std::uint32_t mebibytes);
/// Percent from one to another: -50 is half of it.
double change(double from, double to);

// table 5.1, table 5.2: figure_tables.cpp
Figure table51(const Inputs &inputs);
Figure table52(const Inputs &inputs);
// Reuse frequency: figure_reuse.cpp
Figure figure51(const Inputs &inputs);
// Traffic, time, bandwidth over capacity: figure_sweeps.cpp
Figure figure52(const Inputs &inputs);
Figure figure53(const Inputs &inputs);
Figure figure54(const Inputs &inputs);
// By kinds of layers, and by batch: figure_parts.cpp
Figure figure55(const Inputs &inputs);
Figure figure56(const Inputs &inputs);
// What follows, what it hangs on, what better placement gives: figure_observations.cpp, figure_readings.cpp,
// figure_placement.cpp
Figure observations(const Inputs &inputs);
Figure readings(const Inputs &inputs);
Figure placement(const Inputs &inputs);

} // namespace gradweave::evaluation::memory
