#include "tests/trace/wave/recording.hpp"

#include "sw_models/config/npu_config.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>

namespace gradweave::wave {

void write_recording(const Recording &recording, const std::filesystem::path &file) {
  nlohmann::json json = {{"period", recording.period},
                         {"end", recording.end},
                         {"failed", recording.failed},
                         {"runs", nlohmann::json::array()}};
  for (const RecordedRun &run : recording.runs) {
    nlohmann::json times = nlohmann::json::array();
    for (const timing::CommandTimes &t : run.times)
      times.push_back({t.issue, t.start, t.done});
    json["runs"].push_back({{"first_cycle", run.first_cycle}, {"times", times}});
  }
  std::ofstream out(file);
  out << json.dump() << "\n";
  if (!out.flush()) throw std::runtime_error(fmt::format("{}: cannot be written", file.string()));
}

Recording read_recording(const std::filesystem::path &file) {
  std::ifstream in(file);
  try {
    const nlohmann::json json = nlohmann::json::parse(in);
    Recording recording{json.at("period"), {}, json.at("end"), json.at("failed")};
    for (const nlohmann::json &run : json.at("runs")) {
      RecordedRun read{run.at("first_cycle"), {}};
      for (const nlohmann::json &t : run.at("times"))
        read.times.push_back({t.at(0), t.at(1), t.at(2)});
      recording.runs.push_back(std::move(read));
    }
    return recording;
  } catch (const nlohmann::json::exception &error) {
    throw ConfigError(fmt::format("{}: is no recording of a stream: {}", file.string(), error.what()));
  }
}

} // namespace gradweave::wave
