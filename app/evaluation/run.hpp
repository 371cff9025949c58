// Runs an evaluation: which units it needs, those that have no result yet, and the figures.
#pragma once

#include "app/evaluation/page/evaluation.hpp"
#include "app/evaluation/study/paper.hpp"
#include "base/process/process_pool.hpp"

namespace gradweave::evaluation {

struct RunSettings {
  std::vector<std::string_view> figures;
  unsigned jobs = 1; ///< processes
  bool quiet = false;
  bool rtl = false;                ///< every unit that is run on the RTL, too
  std::uint32_t sample = 0;        ///< else so many units of each network
  std::uint64_t sample_cycles = 0; ///< drawn among those that take at most so many
  std::uint64_t seed = 1;          ///< of the sample
};

/// Evaluates what the file does not have, then computes the figures. What runs on an NPU, and only that, has a
/// sample on the RTL. Figures that have nothing of the chosen networks and machines say so. Throws Interrupted, after
/// every finished unit is in the file; OutputError, DatabaseError; std::invalid_argument if no figure has anything.
Evaluation run(const Study &study, const Repetition &repetition, const RunSettings &settings, ResultsFile &kept,
               const SignalGuard &signals);

} // namespace gradweave::evaluation
