// The gradweave command: its subcommands, and what comes of what they throw.
#include "app/cli/headings.hpp"
#include "app/cli/help_formatter.hpp"
#include "app/cli/memory/commands.hpp"
#include "app/cli/plan/commands.hpp"
#include "app/cli/reference.hpp"
#include "app/cli/run/commands.hpp"
#include "app/cli/sweep/commands.hpp"
#include "app/cli/traces/commands.hpp"
#include "app/cli/usage.hpp"

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
#include <string>
#include <string_view>
#include <system_error>

namespace {

using namespace gradweave;

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
int run(const cli::Chosen &command) {
  SignalGuard signals(&Unfinished::remove_all);
  const auto report = [](const std::exception &error, int code) {
    std::fflush(stdout);
    std::fprintf(stderr, "gradweave: error: %s\n", printable(error.what()).c_str());
    return code;
  };
  try {
    return command(signals);
  } catch (const ConfigError &error) {
    return report(error, cli::kBadInput);
  } catch (const compiler::CompilerDefect &error) {
    return report(error, cli::kFailed);
  } catch (const compiler::CompileError &error) {
    return report(error, cli::kBadInput);
  } catch (const graph::GraphDefect &error) {
    return report(error, cli::kFailed);
  } catch (const graph::GraphError &error) {
    return report(error, cli::kBadInput);
  } catch (const runtime::train::DataError &error) {
    return report(error, cli::kBadInput);
  } catch (const InputError &error) {
    return report(error, cli::kBadInput);
  } catch (const isa::AssemblyError &error) {
    return report(error, cli::kBadInput);
  } catch (const DatabaseError &error) {
    return report(error, cli::kBadInput);
  } catch (const sweep::SlurmError &error) {
    return report(error, cli::kDevice);
  } catch (const OutputError &error) {
    return report(error, cli::kOutput);
  } catch (const Interrupted &error) {
    return report(error, exit_code_of(error.signal()));
  } catch (const std::invalid_argument &error) {
    return report(error, cli::kUsage);
  } catch (const std::bad_alloc &) {
    return report(std::runtime_error("there is not enough memory for this network; a smaller --batch takes less"),
                  cli::kDevice);
  } catch (const std::exception &error) {
    return report(error, cli::kDevice);
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
  return cli::kOutput;
}

} // namespace

int main(int argc, char **argv) {
  keep_freed_memory();
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an output error like a full disk
  cli::Invocation invocation;
  invocation.command_line.assign(argv, argv + argc);
  if (argc > 0) invocation.program = argv[0];
  cli::Chosen chosen;
  CLI::App app("One backward pass of a network on a cosimulated NPU, every result bit checked", "gradweave");
  app.formatter(std::make_shared<cli::HelpFormatter>()); // subcommands have it from here
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of all subcommands");
  for (const auto add :
       {cli::add_cosim, cli::add_simulate, cli::add_compile, cli::add_validate, cli::add_streams, cli::add_timeline,
        cli::add_wavediff, cli::add_models, cli::add_tasks, cli::add_search, cli::add_memory, cli::add_train,
        cli::add_weave, cli::add_serve, cli::add_sweep, cli::add_reproduce})
    add(app, invocation, chosen);
  std::string help_about, reference;
  cli::add_help(app, help_about, chosen);
  cli::add_reference(app, reference, chosen);
  cli::add_headings(app);
  if (const std::optional<int> code = cli::parse(app, argc, argv)) return *code == 0 ? finish_output(cli::kOk) : *code;
  return finish_output(run(chosen));
}
