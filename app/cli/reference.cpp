#include "app/cli/reference.hpp"

#include "app/cli/common/arguments.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <vector>

namespace gradweave::cli {
namespace {

std::vector<const CLI::App *> shown_subcommands(const CLI::App &app) {
  return app.get_subcommands([](const CLI::App *command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option *> shown_options(const CLI::App &app) {
  std::vector<const CLI::Option *> shown;
  for (const CLI::Option *option : app.get_options())
    if (!option->get_group().empty()) shown.push_back(option);
  return shown;
}

/// Text that roff takes as it is.
std::string roff(const std::string &text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool begins = i == 0 || text[i - 1] == '\n';
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

/// "--model TEXT" in bold and italics.
std::string head_of(const CLI::Option &option) {
  std::string names = option.get_name(false, true); // "-V,--version", or the positional's name
  const std::string type = option.get_expected_max() == 0 ? std::string() : option.get_type_name();
  const bool positional = option.get_positional();
  return fmt::format("\\fB{}\\fR{}", roff(names),
                     positional || type.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(type)));
}

void add_options(std::string &page, const CLI::App &command) {
  for (const CLI::Option *option : shown_options(command)) {
    page += fmt::format(".TP\n{}\n{}", head_of(*option), roff(option->get_description()));
    if (!option->get_default_str().empty()) page += roff(fmt::format(" (default: {})", option->get_default_str()));
    page += '\n';
  }
}

void add_command(std::string &page, const CLI::App &command, const std::string &name) {
  page += fmt::format(".SS \"{}\"\n{}\n", roff(name), roff(command.get_description()));
  add_options(page, command);
  if (!command.get_footer().empty()) page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.get_footer()));
  for (const CLI::App *below : shown_subcommands(command))
    add_command(page, *below, name + " " + below->get_name());
}

/// The names of a command's options, and of its subcommands.
std::string words_of(const CLI::App &command) {
  std::vector<std::string> words;
  for (const CLI::App *below : shown_subcommands(command))
    words.push_back(below->get_name());
  for (const CLI::Option *option : shown_options(command))
    for (const std::string &name : option->get_lnames())
      words.push_back("--" + name);
  return fmt::format("{}", fmt::join(words, " "));
}

} // namespace

std::string man_page(const CLI::App &app) {
  std::string page =
      fmt::format(".TH GRADWEAVE 1 \"\" \"gradweave {0}\" \"User Commands\"\n.ad l\n.SH NAME\ngradweave \\- {1}\n"
                  ".SH SYNOPSIS\n\\fBgradweave\\fR \\fISUBCOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH OPTIONS\n",
                  GW_VERSION, roff(app.get_description()));
  add_options(page, app);
  page += ".SH SUBCOMMANDS\n";
  for (const CLI::App *command : shown_subcommands(app))
    add_command(page, *command, command->get_name());
  page += ".SH ENVIRONMENT\n.TP\n\\fBGRADWEAVE_HOME\\fR\nDirectory with models and configs, instead of that of the "
          "installation\n.TP\n\\fBGRADWEAVE_LIB_DIR\\fR\nDirectory with libraries of Verilated NPUs\n.TP\n"
          "\\fBGRADWEAVE_PLAN_CACHE\\fR\nDirectory of plans that earlier runs found, or off\n";
  return page;
}

std::string bash_completion(const CLI::App &app) {
  std::string script = "# Completion of gradweave for bash.\n_gradweave() {\n"
                       "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
                       "  case $before in\n"
                       "    --model) words=$(gradweave models 2>/dev/null | sed -n 's/^  \\([^ :]*\\)  .*/\\1/p') ;;\n"
                       "    --npu) words=$(gradweave models 2>/dev/null | sed -n 's/^  \\([^ :]*\\): .*/\\1/p') ;;\n"
                       "    *)\n      case ${COMP_WORDS[1]:-} in\n";
  for (const CLI::App *command : shown_subcommands(app))
    script += fmt::format("        {}) words='{}' ;;\n", command->get_name(), words_of(*command));
  script += fmt::format("      esac\n      [ \"$COMP_CWORD\" -gt 1 ] || words='{}' ;;\n  esac\n", words_of(app));
  script += "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
            "  [[ $word == -* ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$word\")\n"
            "}\ncomplete -o filenames -F _gradweave gradweave\n";
  return script;
}

void add_reference(CLI::App &app, std::string &what, Chosen &chosen) {
  CLI::App *command = app.add_subcommand("reference", "Print the manual page, or the completion for bash");
  command->group("");
  command->add_option("WHAT", what, "man or bash")->required()->check(CLI::IsMember({"man", "bash"}));
  command->callback([&] {
    chosen = [&](const SignalGuard &) {
      std::fputs((what == "man" ? man_page(app) : bash_completion(app)).c_str(), stdout);
      return static_cast<int>(kOk);
    };
  });
}

} // namespace gradweave::cli
