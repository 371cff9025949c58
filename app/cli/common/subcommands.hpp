// The subcommands of gradweave, and the programs that they are built into.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace gradweave::cli {

/// Each program has the subcommands of those before it, so that what few need is built when it is first asked for.
enum class Program { kLayers, kTraining, kAll };
/// The name of its file: gradweave, gradweave-training, gradweave-all.
std::string_view file_name(Program program);

struct Subcommand {
  std::string_view name, summary;
  Program program; ///< the smallest that has it
};

/// In the order in which help lists them; all but help and version, which every program has.
const std::vector<Subcommand> &subcommands();

/// Adds the one of that name, with its summary, to the parser.
CLI::App *add_subcommand(CLI::App &app, std::string_view name);

/// The smallest program that does what a command line, from the subcommand on, asks for: layers of cosim and simulate
/// are the smallest one's, but not --step and --html of these.
Program program_for(const std::vector<std::string> &words);

} // namespace gradweave::cli
