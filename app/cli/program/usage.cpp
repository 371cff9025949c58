#include "app/cli/program/usage.hpp"

#include "app/cli/common/arguments.hpp"
#include "base/text/nearest.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace gradweave::cli {
namespace {

std::vector<const CLI::App *> all_subcommands(const CLI::App &app) {
  return app.get_subcommands([](const CLI::App *) { return true; });
}

const CLI::App *find_subcommand(const CLI::App &app, const std::string &name) {
  for (const CLI::App *command : all_subcommands(app))
    if (command->get_name() == name) return command;
  return nullptr;
}

std::vector<std::string> subcommands(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : all_subcommands(app))
    if (!command->get_group().empty()) names.push_back(command->get_name());
  return names;
}

std::string unknown_subcommand(const CLI::App &app, const std::string &word) {
  const std::vector<std::string> names = subcommands(app);
  return fmt::format("unknown subcommand '{}'{}{} there are: {}", word, did_you_mean(word, names),
                     nearest(word, names).empty() ? ";" : "", fmt::join(names, ", "));
}

/// "--model" of "--model=mlp".
std::string option_name(const std::string &word) { return word.substr(0, word.find('=')); }

bool is_option(const std::string &word) { return word.size() > 1 && word[0] == '-'; }

/// What is wrong with the first word; empty: nothing.
std::string problem_of_first(const CLI::App &app, const std::string &word) {
  if (!is_option(word)) return find_subcommand(app, word) == nullptr ? unknown_subcommand(app, word) : "";
  if (app.get_option_no_throw(option_name(word)) != nullptr) return {};
  for (const CLI::App *command : all_subcommands(app))
    if (command->get_option_no_throw(option_name(word)) != nullptr)
      return fmt::format("option '{0}' stands before the subcommand; write it after one, as in gradweave {1} {0}",
                         option_name(word), command->get_name());
  return fmt::format("unknown option '{}'; a subcommand comes first: {}", option_name(word),
                     fmt::join(subcommands(app), ", "));
}

/// Of a subcommand's command line, what nobody takes. Values of unknown options are among them, so the option is named.
std::string unexpected(const CLI::App &app, const CLI::App &command) {
  std::vector<std::string> left = command.remaining();
  for (const std::string &word : app.remaining())
    left.push_back(word);
  const auto option = std::find_if(left.begin(), left.end(), is_option);
  if (option == left.end())
    return fmt::format("{} takes no further argument '{}'; options begin with --{}", command.get_name(),
                       left.empty() ? "" : left.front(),
                       command.get_option_no_throw("--model") != nullptr ? ", as in --model NETWORK" : "");
  std::vector<std::string> names;
  for (const CLI::Option *known : command.get_options())
    for (const std::string &name : known->get_lnames())
      if (!known->get_group().empty()) names.push_back("--" + name);
  return fmt::format("{} has no option '{}'{}", command.get_name(), option_name(*option),
                     did_you_mean(option_name(*option), names));
}

int refuse(const std::string &problem, const std::string &command) {
  std::fprintf(stderr, "gradweave: error: %s\nFor more, type: gradweave help%s%s\n", problem.c_str(),
               command.empty() ? "" : " ", command.c_str());
  return kUsage;
}

} // namespace

void add_help(CLI::App &app, std::string &about, Chosen &chosen) {
  app.set_version_flag("--version,-V", "gradweave " GW_VERSION, "Print the version");
  CLI::App *help = app.add_subcommand("help", "Show this help, or that of a subcommand");
  help->add_option("SUBCOMMAND", about, "What to tell about");
  help->footer("Examples:\n  gradweave help\n  gradweave help cosim");
  help->callback([&] {
    chosen = [&](const SignalGuard &) {
      const CLI::App *command = about.empty() ? &app : find_subcommand(app, about);
      if (command == nullptr) return refuse(unknown_subcommand(app, about), "");
      // Not help(), which tells about the subcommand that was parsed: this one.
      const std::string name = app.get_name() + (about.empty() ? "" : " " + about);
      std::fputs(app.get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal).c_str(), stdout);
      return static_cast<int>(kOk);
    };
  });
  app.add_subcommand("version", "Print the version")->callback([&chosen] {
    chosen = [](const SignalGuard &) {
      std::puts("gradweave " GW_VERSION);
      return static_cast<int>(kOk);
    };
  });
}

std::optional<int> parse(CLI::App &app, int argc, char **argv) {
  if (argc < 2) return refuse("a subcommand is required\n\n" + app.help(), "SUBCOMMAND");
  if (const std::string problem = problem_of_first(app, argv[1]); !problem.empty()) return refuse(problem, "");
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      app.exit(error); // prints the help or the version
      return kOk;
    }
    const std::vector<CLI::App *> parsed = app.get_subcommands();
    if (parsed.empty()) return refuse(error.what(), "");
    const CLI::App &command = *parsed.front();
    const bool extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    return refuse(extra ? unexpected(app, command) : error.what(), command.get_name());
  }
}

} // namespace gradweave::cli
