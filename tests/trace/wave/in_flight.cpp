#include "tests/trace/wave/in_flight.hpp"

#include "isa/assembler.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::wave {
namespace {

/// Engine of a hierarchical name: the ENGINE field's value; none: shared by all.
std::optional<std::uint8_t> engine_of_signal(const std::string &signal) {
  if (signal.find(".u_load.") != std::string::npos) return static_cast<std::uint8_t>(isa::Engine::LOAD);
  if (signal.find(".u_store.") != std::string::npos) return static_cast<std::uint8_t>(isa::Engine::STORE);
  const std::string core = "npu.gen_core[";
  const std::size_t at = signal.find(core);
  if (at == std::string::npos) return std::nullopt;
  return static_cast<std::uint8_t>(static_cast<unsigned>(isa::Engine::COMPUTE0) +
                                   std::stoul(signal.substr(at + core.size())));
}

std::string describe(const Scenario &scenario, std::size_t index) {
  std::string text = fmt::format("command {}: {}", index, isa::disassemble(scenario.commands[index]));
  if (!scenario.layer.empty()) text += fmt::format(", layer {}", scenario.layer);
  if (!scenario.tiles[index].empty()) text += fmt::format(", tile {}", scenario.tiles[index]);
  return text;
}

} // namespace

std::vector<std::string> commands_in_flight(const Scenario &scenario, const Recording &recording, std::uint64_t cycle,
                                            const std::string &signal) {
  const RecordedRun *run = nullptr;
  for (const RecordedRun &r : recording.runs)
    if (r.first_cycle <= cycle) run = &r;
  if (run == nullptr) return {"before the first start"};

  const std::uint64_t now = cycle - run->first_cycle;
  const std::optional<std::uint8_t> wanted = engine_of_signal(signal);
  std::vector<std::string> lines;
  std::optional<std::size_t> issued, done;
  for (std::size_t i = 0; i < run->times.size(); ++i) {
    const timing::CommandTimes &t = run->times[i];
    if (t.issue != timing::kNever && t.issue <= now) issued = i;
    if (t.done != timing::kNever && t.done < now && (!done || run->times[*done].done < t.done)) done = i;
    if (t.start == timing::kNever || t.start > now || t.done < now) continue;
    const auto decoded = isa::decode(scenario.commands[i]);
    const bool own = wanted && decoded && decoded->engine() == *wanted;
    lines.insert(own ? lines.begin() : lines.end(), "in flight: " + describe(scenario, i));
  }
  if (lines.empty() && done) lines.push_back("nothing in flight; completed last: " + describe(scenario, *done));
  if (issued) lines.push_back("issued last: " + describe(scenario, *issued));
  if (lines.empty()) lines.emplace_back("before the first command is issued");
  if (recording.runs.size() > 1)
    lines.insert(lines.begin(), fmt::format("run {} of {}, its cycle {}", run - recording.runs.data() + 1,
                                            recording.runs.size(), now));
  return lines;
}

} // namespace gradweave::wave
