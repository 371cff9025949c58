#include "app/cli/program/program.hpp"

#include "app/cli/program/hand_on.hpp"
#include "app/cli/program/headings.hpp"
#include "app/cli/program/help_formatter.hpp"
#include "app/cli/program/usage.hpp"
#include "app/sweep/slurm.hpp"
#include "base/database/database.hpp"
#include "base/file/output_file.hpp"
#include "base/file/unfinished.hpp"
#include "base/process/signal_guard.hpp"
#include "base/text/input_file.hpp"
#include "compiler/compiler.hpp"
#include "graph/ir/error.hpp"
#include "isa/assembler.hpp"
#include "sw_models/config/npu_config.hpp"
#include "train/data/idx_file.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <malloc.h>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace gradweave::cli {
namespace {

/// Memory of up to a gigabyte that was freed stays with the process: tensors of a step come and go, and to give their
/// pages back and fault them in anew is a sixth of the time of a step of VGG-16.
void keep_freed_memory() {
  constexpr int kGigabyte = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kGigabyte);
  mallopt(M_TRIM_THRESHOLD, kGigabyte);
}

/// A message as a terminal may have it: files hold names, and names any byte.
std::string printable(std::string_view message) {
  std::string text;
  for (const char c : message) {
    const auto code = static_cast<unsigned char>(c);
    if ((code < 0x20 && c != '\n' && c != '\t') || code == 0x7f)
      text += fmt::format("\\x{:02x}", code);
    else
      text += c;
  }
  return text;
}

/// Runs a command and turns what it throws into a message and an exit code; a signal ends it.
int run(const Chosen &command) {
  SignalGuard signals(&Unfinished::remove_all);
  const auto report = [](const std::exception &error, int code) {
    std::fflush(stdout);
    std::fprintf(stderr, "gradweave: error: %s\n", printable(error.what()).c_str());
    return code;
  };
  try {
    return command(signals);
  } catch (const ConfigError &error) {
    return report(error, kBadInput);
  } catch (const compiler::CompilerDefect &error) {
    return report(error, kFailed);
  } catch (const compiler::CompileError &error) {
    return report(error, kBadInput);
  } catch (const graph::GraphDefect &error) {
    return report(error, kFailed);
  } catch (const graph::GraphError &error) {
    return report(error, kBadInput);
  } catch (const runtime::train::DataError &error) {
    return report(error, kBadInput);
  } catch (const InputError &error) {
    return report(error, kBadInput);
  } catch (const isa::AssemblyError &error) {
    return report(error, kBadInput);
  } catch (const DatabaseError &error) {
    return report(error, kBadInput);
  } catch (const sweep::SlurmError &error) {
    return report(error, kDevice);
  } catch (const OutputError &error) {
    return report(error, kOutput);
  } catch (const Interrupted &error) {
    return report(error, exit_code_of(error.signal()));
  } catch (const std::invalid_argument &error) {
    return report(error, kUsage);
  } catch (const std::bad_alloc &) {
    return report(std::runtime_error("there is not enough memory for this network; a smaller --batch takes less"),
                  kDevice);
  } catch (const std::exception &error) {
    return report(error, kDevice);
  }
}

/// What a command printed has to arrive as its files do: a full disk or a closed pipe is told, whatever the command
/// says.
int finish_output(int code) {
  std::cout.flush(); // CLI11 prints help there
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout;
  const int reason = errno;
  if (!failed || code >= exit_code_of(1)) return code; // interrupted
  std::fprintf(stderr, "gradweave: error: standard output cannot be written: %s; make room or redirect it elsewhere\n",
               std::strerror(reason));
  return kOutput;
}

/// All subcommands in the order of help: those of a larger program with their summary alone.
void add_subcommands(CLI::App &app, const ProgramParts &parts, const Invocation &invocation, Chosen &chosen) {
  for (const Subcommand &subcommand : subcommands()) {
    if (!app.get_subcommands([&](const CLI::App *one) { return one->get_name() == subcommand.name; }).empty()) continue;
    const auto adder = std::find_if(parts.adders.begin(), parts.adders.end(),
                                    [&](const Adder &a) { return a.name == subcommand.name; });
    if (adder != parts.adders.end())
      adder->add(app, invocation, chosen);
    else
      add_subcommand(app, subcommand.name);
  }
}

} // namespace

int run_program(const ProgramParts &parts, int argc, char **argv) {
  keep_freed_memory();
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an output error like a full disk
  Invocation invocation;
  invocation.command_line.assign(argv, argv + argc);
  invocation.larger = parts.larger;
  if (argc > 0) invocation.program = argv[0];
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (const Program program = program_for(words); program > parts.program) return hand_on(program, argv);
  Chosen chosen;
  CLI::App app("One backward pass of a network on a cosimulated NPU, every result bit checked", "gradweave");
  app.formatter(std::make_shared<HelpFormatter>()); // subcommands have it from here
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of all subcommands");
  add_subcommands(app, parts, invocation, chosen);
  std::string help_about, reference;
  add_help(app, help_about, chosen);
  if (parts.add_reference != nullptr) parts.add_reference(app, reference, chosen);
  add_headings(app);
  if (const std::optional<int> code = parse(app, argc, argv)) return *code == 0 ? finish_output(kOk) : *code;
  return finish_output(run(chosen));
}

} // namespace gradweave::cli
