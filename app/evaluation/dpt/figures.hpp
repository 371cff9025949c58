// The tables, figures and numbers of Y. Jang et al., "Deep Partitioned Training From Near-Storage Computing to DNN
// Accelerators", IEEE CAL 2021, each in the paper's accounting and with the true gradient.
#pragma once

#include "app/evaluation/dpt/settings.hpp"
#include "app/evaluation/dpt/subject.hpp"
#include "app/evaluation/study/paper.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::evaluation::dpt {

/// As of Paper.
const std::vector<std::string_view> &figures();
std::unique_ptr<Repetition> open(const Study &study, const Request &request);

/// Ours in the paper's accounting, and with the true gradient.
struct Both {
  std::optional<double> reduced, per_image;
};
/// What does not depend on it.
inline Both in_both(double value) { return {value, value}; }

/// What figures are made from.
struct Inputs {
  const DptStudy &study;
  Evaluations &evaluations;
  std::string command;   ///< of this evaluation, without figure
  bool planning = false; ///< only which networks are asked for matters

  /// A row of the published number beside ours. `note`: what it hangs on.
  Row row(const std::string &figure, const std::string &key, Both ours, std::string note = {}) const;
  Subject subject_of(const DptNetwork &network) const { return subject(evaluations, network.model); }
  /// The network of that name, if it takes part.
  const DptNetwork *find(std::string_view name) const;
  /// The study's constants with the default of all else.
  partitioned::System system(std::uint32_t devices) const;
};

/// Key of an entry of table 4: "ResNet-50.1.2.32".
std::string entry_key(const DptNetwork &network, const Case &one, std::uint32_t devices, std::uint32_t batch);

/// How near a reading comes to the published entries of table 4.
struct Nearness {
  double squares = 0, worst = 0;
  unsigned entries = 0, within_one = 0, exact = 0; ///< by partition index

  void add(double saving_error, double index_error);
  double rms() const;
};

/// A way to read the paper.
struct PaperReading {
  std::string name;
  partitioned::Reading reading = {};
  partitioned::System system = {};
  bool late_strides = false;
};
/// The network's entries under a reading against the published ones, added to `nearness`.
void add_entries(const Inputs &inputs, const DptNetwork &network, const Subject &subject, const PaperReading &reading,
                 Nearness &nearness);

// Tables 3 and 4: figure_tables.cpp
Figure table3(const Inputs &inputs);
Figure table4(const Inputs &inputs);
// Parts of a mini-batch: figure_breakdown.cpp
Figure figure3(const Inputs &inputs);
// DLRM: figure_recommendation.cpp
Figure figure5(const Inputs &inputs);
// Numbers of the text: figure_text.cpp
Figure text(const Inputs &inputs);
// What they hang on: figure_readings.cpp
Figure readings(const Inputs &inputs);
// Pipelined both ways: figure_beyond.cpp
Figure beyond(const Inputs &inputs);

} // namespace gradweave::evaluation::dpt
