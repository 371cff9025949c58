// Records a stream of the catalog, compares with its golden, reports.
#pragma once

#include "tests/trace/wave/recording.hpp"
#include "tests/trace/wave/scenario.hpp"
#include "trace/wave/diff.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace gradweave::wave {

struct Places {
  std::filesystem::path streams, goldens, configs; ///< directories of the sources
  std::filesystem::path signals;                   ///< rules of what goldens hold
  std::filesystem::path bundles;                   ///< and parts of bundled ports that they hold
  std::filesystem::path recorders;                 ///< directory of gw_wave_record_NPU
  std::filesystem::path out;                       ///< recordings; those of equal streams are removed
};

/// The outcome for one stream.
struct Outcome {
  std::string name;
  Recording recording;
  std::filesystem::path waveform;   ///< all signals of the run
  std::filesystem::path held;       ///< what a golden of it holds
  std::optional<DiffReport> report; ///< golden against run; none if there is no golden or no waveform
  std::string problem;              ///< the run is not what the stream says, or there is none; or empty
  bool equal() const { return report && report->equal() && problem.empty(); }
};

/// Records `scenario` and compares. A recorder that does not run is a problem, like a run that ends otherwise than it
/// should. Throws ConfigError if a golden or the rules cannot be read.
Outcome run_scenario(const Scenario &scenario, const Places &places);

/// Text for people if the stream is not equal: first the first difference (stream, cycle, signal, values), then the
/// commands in flight, the signals that differ, and the paths of waveform and save file, which it writes.
std::string explain(const Outcome &outcome, const Scenario &scenario, const Places &places);

/// Makes the run the golden; returns what changed, a line. Throws ConfigError if the run is not what the stream says.
std::string accept(const Outcome &outcome, const Places &places);

std::filesystem::path golden_of(const std::string &name, const Places &places);

} // namespace gradweave::wave
