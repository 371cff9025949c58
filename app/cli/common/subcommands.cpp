#include "app/cli/common/subcommands.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <stdexcept>

namespace gradweave::cli {
namespace {

const Subcommand *find(std::string_view name) {
  const std::vector<Subcommand> &all = subcommands();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Subcommand &s) { return s.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool is_option(const std::string &word, std::string_view option) {
  return word == option || word.rfind(std::string(option) + "=", 0) == 0;
}

} // namespace

std::string_view file_name(Program program) {
  switch (program) {
  case Program::kLayers:
    return "gradweave";
  case Program::kTraining:
    return "gradweave-training";
  case Program::kAll:
    break;
  }
  return "gradweave-all";
}

const std::vector<Subcommand> &subcommands() {
  constexpr Program kLayers = Program::kLayers, kTraining = Program::kTraining, kAll = Program::kAll;
  static const std::vector<Subcommand> all{
      {"cosim", "Run a network's layers on an NPU and check every result bit", kLayers},
      {"simulate", "Count the cycles of a network or a stream on the timing model", kLayers},
      {"compile", "Compile layers to binary command streams", kTraining},
      {"validate", "Compare the timing model with the RTL, to the cycle", kAll},
      {"disasm", "Show a binary command stream as text", kTraining},
      {"asm", "Make a binary command stream from text", kTraining},
      {"timeline", "Draw timing traces (--times of cosim and simulate) for ui.perfetto.dev", kTraining},
      {"wavediff", "Compare two FST waveform files", kAll},
      {"models", "List the networks and NPUs that have names, or show one", kTraining},
      {"tasks", "Cut a network's step into tile tasks: work, dependences, critical path", kTraining},
      {"search", "Search the fastest schedule of each layer and of the whole training step", kTraining},
      {"memory", "Estimate a training iteration from cache, bandwidth and arithmetic, tensor by tensor", kAll},
      {"train", "Train a network, its products on the host or on a cosimulated NPU", kTraining},
      {"weave", "Run several networks on one NPU, woven into one command stream, every bit checked", kAll},
      {"serve", "Serve requests for networks that arrive while the NPU runs: latencies, every bit checked", kAll},
      {"sweep", "Simulate many points of networks, NPUs and options on all cores", kAll},
      {"reproduce", "Repeat a published evaluation, number by number", kAll},
  };
  return all;
}

CLI::App *add_subcommand(CLI::App &app, std::string_view name) {
  const Subcommand *known = find(name);
  if (known == nullptr) throw std::logic_error("no subcommand " + std::string(name));
  return app.add_subcommand(std::string(name), std::string(known->summary));
}

Program program_for(const std::vector<std::string> &words) {
  if (words.empty()) return Program::kLayers;
  if (words[0] == "help") return program_for({words.begin() + 1, words.end()});
  if (words[0] == "reference" || words[0] == "--help-all") return Program::kAll;
  const Subcommand *known = find(words[0]);
  if (known == nullptr) return Program::kLayers; // which says what is wrong with it
  const bool larger = std::any_of(words.begin() + 1, words.end(), [](const std::string &word) {
    return is_option(word, "--step") || is_option(word, "--html");
  });
  return larger ? std::max(known->program, Program::kTraining) : known->program;
}

} // namespace gradweave::cli
