// The command line of gradweave: options and their help, and exit codes.
#include "isa/command.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/options.hpp"
#include "app/cli/usage.hpp"

#include "compiler/compiler.hpp"
#include "compiler/paper/policy.hpp"
#include "isa/assembler.hpp"
#include "app/validate/corpus/profile.hpp"
#include "app/validate/corpus/standing.hpp"
#include "runtime/data.hpp"
#include "runtime/job.hpp"
#include "base/output_file.hpp"
#include "base/process_pool.hpp"
#include "app/evaluation/run.hpp"
#include "sw_models/npu_config.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

namespace {

using namespace gradweave;

/// Runs a command and turns what it throws into a message and an exit code.
int run(const std::function<int()> &command) {
  const auto report = [](const std::exception &error, int code) {
    std::fflush(stdout);
    std::fprintf(stderr, "gradweave: error: %s\n", error.what());
    return code;
  };
  try {
    return command();
  } catch (const ConfigError &error) {
    return report(error, cli::kBadInput);
  } catch (const compiler::CompilerDefect &error) {
    return report(error, cli::kFailed);
  } catch (const compiler::CompileError &error) {
    return report(error, cli::kBadInput);
  } catch (const isa::AssemblyError &error) {
    return report(error, cli::kBadInput);
  } catch (const runtime::OutputError &error) {
    return report(error, cli::kOutput);
  } catch (const runtime::Interrupted &error) {
    return report(error, cli::kInterrupted);
  } catch (const std::invalid_argument &error) {
    return report(error, cli::kUsage);
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
  if (!failed || code == cli::kInterrupted) return code;
  std::fprintf(stderr, "gradweave: error: standard output cannot be written: %s; make room or redirect it elsewhere\n",
               std::strerror(reason));
  return cli::kOutput;
}

using cli::add_times_options;
using cli::add_work_options;
using cli::check_finite;
using cli::check_whole_number;

void add_cosim(CLI::App &app, cli::CosimArguments &a, std::function<int()> &chosen) {
  CLI::App *command = app.add_subcommand("cosim", "Run a network's layers on an NPU and check every result bit");
  add_work_options(*command, a.work, cli::Schedules::kSeveral);
  command
      ->add_option("--backend", a.backend,
                   "One of " + runtime::backend_names() +
                       ": the Verilated NPU, its cycles without data, or its results without time")
      ->capture_default_str();
  command
      ->add_option("--data", a.data,
                   "One of " + runtime::data_kind_names() +
                       "; special has zeros, subnormals, cancellation, overflow, infinities, NaN")
      ->capture_default_str();
  command->add_option("--seed", a.seed, "Seed of the data")->check(check_whole_number)->capture_default_str();
  command->add_option("--jobs", a.jobs, "Simulations at a time; default: one a core")
      ->check(check_whole_number)
      ->check(CLI::Range(1U, 4096U));
  command->add_option("--json", a.json, "Write the report (docs/report.md) to this file; - is standard output");
  command
      ->add_option_function<std::string>(
          "--trace", [&a](const std::string &) { a.trace = true; },
          "Write a waveform for every layer; the format is fst")
      ->check(CLI::IsMember({"fst"}));
  command->add_option("--trace-file", a.trace_file, "Waveform file; only for one layer and schedule");
  command->add_option("--trace-dir", a.trace_dir, "Directory of the waveforms otherwise")->capture_default_str();
  add_times_options(*command, a.times, a.timeline);
  command->add_option("--trace-from", a.trace_from, "First cycle in the waveform")
      ->check(check_whole_number)
      ->capture_default_str();
  command->add_option("--trace-to", a.trace_to, "Last cycle in the waveform; default: the end")
      ->check(check_whole_number);
  command
      ->add_option("--stall-probability", a.stall_probability,
                   "Chance per bus channel and cycle of a held-back handshake")
      ->check(check_finite)
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  command->add_option("--stress-seed", a.stress_seed, "Seed of those stalls")
      ->check(check_whole_number)
      ->capture_default_str();
  command->add_flag("--quiet", a.quiet, "No progress on standard error");
  command->add_flag("--dry-run", a.dry_run, "Check arguments, files and outputs, run nothing");
  command
      ->add_option("--resume", a.resume,
                   "Record finished jobs and go on from those of an interrupted run: auto (runs of over a minute), "
                   "always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  command->add_flag("--fresh", a.fresh, "Run what an interrupted run has finished again");
  command
      ->add_option_function<std::string>(
          "--background", [&a](const std::string &when) { a.background = when; },
          "Return at once and run in the background: yes, no, or auto (runs of over 10 minutes); yes if left out")
      ->expected(0, 1)
      ->default_str("yes")
      ->check(CLI::IsMember({"yes", "no", "auto"}));
  command
      ->add_option_function<std::string>(
          "--status", [&a](const std::string &id) { a.status = id; }, "Tell how far recorded runs are: one, or all")
      ->expected(0, 1)
      ->default_str("");
  command->add_option("--stop", a.stop, "End a run in the background; the same command goes on later");
  command->add_flag("--from-make", a.from_make)
      ->group(""); // `make cosim` asks for its own form of the command to repeat
  command->footer("Examples:\n"
                  "  gradweave cosim --model bert_tiny --npu small\n"
                  "  gradweave cosim --model bert_tiny --schedule all --json report.json\n"
                  "  gradweave cosim --model my_layers.csv --layers 0-2 --data special --seed 7\n"
                  "  gradweave cosim --model bert_tiny --layers 0 --trace fst --trace-file l0.fst --trace-to 20000\n"
                  "  gradweave cosim --model resnet50 --batch 4 --background\n"
                  "Exit codes: 0 all bits equal (or started in the background), 1 a bit or counter is wrong, 2 usage,\n"
                  "3 bad input file, 4 NPU error or no simulation, 5 output cannot be written, 6 --status: a run has\n"
                  "not ended, 130 interrupted");
  command->callback([&a, &chosen] { chosen = [&a] { return cli::cosim(a); }; });
}

void add_simulate(CLI::App &app, cli::SimulateArguments &a, std::function<int()> &chosen) {
  CLI::App *command = app.add_subcommand("simulate", "Count the cycles of a network or a stream on the timing model");
  add_work_options(*command, a.work, cli::Schedules::kSeveral);
  command->add_option("STREAM", a.stream, "Command stream to simulate instead: .gws, or text as disasm writes it");
  command->add_option("--json", a.json, "Write the report (docs/report.md) to this file; - is standard output");
  add_times_options(*command, a.times, a.timeline);
  command->add_flag("--quiet", a.quiet, "No progress on standard error");
  command->add_flag("--from-make", a.from_make)->group("");
  command->footer("Examples:\n"
                  "  gradweave simulate --model bert_tiny --npu small\n"
                  "  gradweave simulate --model resnet50 --npu large --pass forward --batch 1 --json report.json\n"
                  "  gradweave simulate streams/0-embed.gws --npu small --times -");
  command->callback([&a, &chosen, command] {
    // Not excludes(): that would come before the complaint about an unknown option, whose value looks like a STREAM.
    for (const char *option : {"--model", "--batch", "--schedule", "--pass", "--layers"})
      if (!a.stream.empty() && command->count(option) != 0) throw CLI::ExcludesError(option, "STREAM");
    chosen = [&a] { return cli::simulate(a); };
  });
}

void add_compile(CLI::App &app, cli::CompileArguments &a, std::function<int()> &chosen) {
  CLI::App *command = app.add_subcommand("compile", "Compile layers to binary command streams");
  add_work_options(*command, a.work, cli::Schedules::kOne);
  command->add_option("--out", a.out, "Directory for the streams (INDEX-LAYER.gws); default: print the summary only");
  command->add_flag("--listing", a.listing, "Also write INDEX-LAYER.lst: every command as text, with its tile");
  command->add_option("--json", a.json, "Write the summary as JSON to this file; - is standard output");
  command->footer("Examples:\n"
                  "  gradweave compile --model bert_tiny --npu small --schedule interleave\n"
                  "  gradweave compile --model bert_tiny --layers 0 --out streams --listing");
  command->callback([&a, &chosen] { chosen = [&a] { return cli::compile(a); }; });
}

void add_validate(CLI::App &app, cli::ValidateArguments &a, std::function<int()> &chosen) {
  CLI::App *command = app.add_subcommand("validate", "Compare the timing model with the RTL, to the cycle");
  command->add_option("STREAM", a.streams, "Command streams: .gws, or text as of asm");
  add_work_options(*command, a.work, cli::Schedules::kSeveral);
  command->add_option("--random", a.random, "So many random streams")
      ->check(check_whole_number)
      ->check(CLI::Range(1U, ~0U));
  command->add_option("--seed", a.seed, "Seed of the first random stream; the next has the next")
      ->check(check_whole_number)
      ->capture_default_str();
  command->add_option("--commands", a.commands, "LOADs, STOREs and GEMMs of a random stream, about")
      ->check(check_whole_number)
      ->check(CLI::Range(1U, 100000U))
      ->capture_default_str();
  command->add_option("--profile", a.profile, "Random streams, one of " + corpus::profile_names() + " (docs/cli.md)")
      ->capture_default_str();
  command
      ->add_option("--watchdog", a.watchdog,
                   "Cycles without progress that end a run; default: 65536, more where the memory needs it, or drawn")
      ->check(check_whole_number)
      ->check(CLI::Range(1U, 0xffffffffU));
  command
      ->add_option("--stream-offset", a.stream_offset,
                   "Where in a 4 KB page streams begin, a multiple of 64; default: 0, or drawn")
      ->check(check_whole_number)
      ->check(CLI::Range(0, 4032))
      ->check([](const std::string &text) {
        return std::stoul(text) % isa::kCommandBytes == 0 ? std::string() : text + " is not a multiple of 64";
      });
  command->add_option("--corpus", a.corpus,
                      "The standing corpus, one of " + corpus::corpus_names() +
                          "; with --npu only what runs on that NPU");
  command->add_option("--compare", a.compare, "Compare two timing traces (CSV): the RTL's and the model's")
      ->type_name("RTL MODEL")
      ->expected(2);
  command->add_option("--jobs", a.jobs, "Simulations at a time; default: one a core")
      ->check(check_whole_number)
      ->check(CLI::Range(1U, 4096U));
  command->add_option("--json", a.json, "Write the report (docs/cli.md) to this file; - is standard output");
  command->add_flag("--quiet", a.quiet, "No progress on standard error");
  command->footer("Examples:\n"
                  "  gradweave validate --model bert_tiny --npu small --schedule all\n"
                  "  gradweave validate --random 1000 --seed 7 --npu test8\n"
                  "  gradweave validate streams/0-embed.gws --npu small\n"
                  "  gradweave validate --compare rtl.csv model.csv\n"
                  "Exit codes: 0 all times and counters equal, 1 one differs, others as of cosim");
  command->callback([&a, &chosen] { chosen = [&a] { return cli::validate(a); }; });
}

void add_wavediff(CLI::App &app, cli::WavediffArguments &a, std::function<int()> &chosen) {
  CLI::App *command = app.add_subcommand("wavediff", "Compare two FST waveform files");
  command->add_option("A", a.a, "FST file: what is expected")->required();
  command->add_option("B", a.b, "FST file to compare with it")->required();
  command->add_option("--signals", a.signals,
                      "Only these: a glob of the hierarchical name (*, ?), or a regular expression between slashes");
  command->add_option("--exclude", a.exclude, "Not these, likewise; stronger than --signals");
  command->add_option("--scope-a", a.scope_a, "Scope of A that names count from, as in TOP.npu; the rest is left out");
  command->add_option("--scope-b", a.scope_b, "The same of B");
  command->add_option("--offset", a.offset, "B happens so much later than A, in the finer unit of time of the two");
  command->add_option("--from", a.from, "First time of A to compare, in that unit")->check(check_whole_number);
  command->add_option("--to", a.to, "Last one; default: the end")->check(check_whole_number);
  command->add_option("--clock", a.clock,
                      "Compare what registers of this clock see before its rising edges; times are numbers of edges");
  command->add_option("--period", a.period, "Tell times as cycles of so many units")->check(check_whole_number);
  command->add_flag("--common", a.common, "Signals in one file only, and a file that ends first, are no differences");
  command->add_flag("--ignore-unknown", a.ignore_unknown, "Bits that are x, z, ... on one side match any");
  command->add_option("--limit", a.limit, "Signals to list")->check(check_whole_number)->capture_default_str();
  command->add_option("--save", a.save, "Write a GTKWave save file of A at the first difference");
  command->add_option("--json", a.json, "Write the comparison (docs/waves.md) to this file; - is standard output");
  command->footer(
      "Examples:\n"
      "  gradweave wavediff before.fst after.fst --signals '*_q' --exclude '*.u_spm.*' --period 1000\n"
      "  gradweave wavediff rtl.fst gates.fst --scope-a TOP.npu --scope-b bench.dut --clock clk_i --common\n"
      "Exit codes: 0 equal, 1 different, 2 usage, 3 a file is missing, cut or damaged, 5 output cannot be\n"
      "written");
  command->callback([&a, &chosen] { chosen = [&a] { return cli::wavediff(a); }; });
}

struct StreamArguments {
  std::string file, out;
};

void add_streams(CLI::App &app, StreamArguments &a, std::function<int()> &chosen) {
  CLI::App *disasm = app.add_subcommand("disasm", "Show a binary command stream as text");
  disasm->add_option("FILE", a.file, "Stream (.gws)")->required();
  disasm->add_option("--out,-o", a.out, "Text file; default: standard output");
  disasm->footer("Example:\n  gradweave disasm streams/0-embed.gws | head");
  disasm->callback([&a, &chosen] { chosen = [&a] { return cli::disassemble(a.file, a.out); }; });

  CLI::App *assembler = app.add_subcommand("asm", "Make a binary command stream from text");
  assembler->add_option("FILE", a.file, "Text, as disasm writes it (docs/cli.md)")->required();
  assembler->add_option("--out,-o", a.out, "Stream (.gws)")->required();
  assembler->footer("Example:\n  gradweave asm program.txt -o program.gws");
  assembler->callback([&a, &chosen] { chosen = [&a] { return cli::assemble(a.file, a.out); }; });
}

void add_timeline(CLI::App &app, cli::TimelineArguments &a, std::function<int()> &chosen) {
  CLI::App *command =
      app.add_subcommand("timeline", "Draw timing traces (--times of cosim and simulate) for ui.perfetto.dev");
  command->add_option("STREAM", a.streams, "Streams (.gws) of the traces, in their order")->required();
  command->add_option("--rtl", a.rtl, "Timing trace of the RTL");
  command->add_option("--model", a.model, "Timing trace of the timing model");
  command->add_option("--npu", a.npu, "NPU of the traces: a name or the path of a .toml file")->capture_default_str();
  command->add_option("--out,-o", a.out, "Timeline (.json, or .json.gz to compress it)")->required();
  command->footer("Example: one layer, RTL and model side by side\n"
                  "  gradweave compile --layers 0 --out streams\n"
                  "  gradweave cosim --layers 0 --times rtl.csv\n"
                  "  gradweave cosim --layers 0 --backend timing --times model.csv\n"
                  "  gradweave timeline streams/0-*.gws --rtl rtl.csv --model model.csv -o both.json");
  command->callback([&a, &chosen] { chosen = [&a] { return cli::timeline(a); }; });
}

void add_models(CLI::App &app, std::string &name, std::function<int()> &chosen) {
  CLI::App *command = app.add_subcommand("models", "List the networks and NPUs that have names, or show one");
  command->add_option("NAME", name, "Network or NPU: a name or the path of a file");
  command->footer("Examples:\n  gradweave models\n  gradweave models bert_tiny\n  gradweave models small");
  command->callback([&name, &chosen] { chosen = [&name] { return cli::models(name); }; });
}

void add_reproduce(CLI::App &app, cli::ReproduceArguments &a, std::function<int()> &chosen) {
  CLI::App *command = app.add_subcommand("reproduce", "Repeat a published evaluation, number by number");
  command->add_option("STUDY", a.study, "Evaluation: igo, or the path of a .toml file")->required();
  command->add_option("--figure", a.figures,
                      "Figures, separated by commas, of " + reproduce::figure_names() + "; default: all");
  command->add_option("--network", a.networks, "Networks, as in res,bert; default: all");
  command->add_option("--out,-o", a.out, "Directory of page, drawings, tables and journal")->capture_default_str();
  command->add_option("--policy", a.policy,
                      "Baseline as the paper describes it (docs/paper-baseline.md): words joined by /, of " +
                          compiler::paper::policy_words());
  command->add_option("--jobs", a.jobs, "Processes at a time; default: one a core")
      ->check(check_whole_number)
      ->check(CLI::Range(1U, 4096U));
  command->add_flag("--rtl", a.rtl, "Run every evaluation on the RTL, too; pick few with --figure and --network");
  command
      ->add_option("--sample", a.sample,
                   "Evaluations of each network to run on the RTL, too; default: 1 if it is built")
      ->check(check_whole_number)
      ->check(CLI::Range(0U, 1000000U));
  command->add_option("--sample-cycles", a.sample_cycles, "Cycles that one of these takes at most")
      ->check(check_whole_number)
      ->capture_default_str();
  command->add_option("--seed", a.seed, "Seed of the sample and of training sets")
      ->check(check_whole_number)
      ->capture_default_str();
  command->add_flag("--quiet", a.quiet, "No progress on standard error");
  command->footer(
      "Finished evaluations are kept in journal.jsonl of the directory: an interrupted run goes on from there.\n"
      "Examples:\n"
      "  gradweave reproduce igo\n"
      "  gradweave reproduce igo --figure 12 --network res,bert --out figure12\n"
      "Exit codes: 0 done, 1 the RTL differs, 2 usage, 3 bad input file or a layer that cannot be compiled,\n"
      "4 no RTL although asked for, 5 output cannot be written, 130 interrupted");
  command->callback([&a, &chosen] { chosen = [&a] { return cli::reproduce(a); }; });
}

void add_search(CLI::App &app, cli::SearchArguments &a, std::function<int()> &chosen) {
  CLI::App *command =
      app.add_subcommand("search", "Search the fastest schedule of each layer and of the whole training step");
  a.work.pass = "both";
  command->add_option("--model", a.work.model, "Network: a name (gradweave models) or the path of a .toml or .csv file")
      ->capture_default_str();
  command->add_option("--batch", a.work.batch, "Samples in a batch; default: as the network says")
      ->check(check_whole_number)
      ->check(CLI::Range(1U, 1U << 24U));
  command->add_option("--npu", a.work.npu, "NPU: a name or the path of a .toml file")->capture_default_str();
  command->add_option("--pass", a.work.pass, cli::help_of_pass() + "; both is a training step")->capture_default_str();
  command->add_option("--layers", a.work.layers, "Names, numbers from 0 and ranges, as in 0,3-5,ffn1; default: all");
  command->add_option("--plans", a.plans, "Plans to simulate for each layer, pass and order")
      ->check(check_whole_number)
      ->check(CLI::Range(1U, 1U << 30U))
      ->capture_default_str();
  command->add_option("--step-plans", a.step_plans, "Changes of the whole step to simulate")
      ->check(check_whole_number)
      ->capture_default_str();
  command->add_option("--check", a.backend,
                      "Run the step on one of " + runtime::backend_names() +
                          ", with data and every bit checked; timing: cycles only");
  command->add_option("--data", a.data, "Data of the check, one of " + runtime::data_kind_names())
      ->capture_default_str();
  command->add_option("--seed", a.seed, "Seed of the data")->check(check_whole_number)->capture_default_str();
  command->add_option("--json", a.json, "Write all figures to this file; - is standard output");
  command->add_flag("--quiet", a.quiet, "No progress on standard error");
  command->footer("Examples:\n"
                  "  gradweave search --model bert_tiny --npu small\n"
                  "  gradweave search --model mlp --npu small --step-plans 5000 --check rtl");
  command->callback([&a, &chosen] { chosen = [&a] { return cli::search(a); }; });
}

} // namespace

int main(int argc, char **argv) {
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an output error like a full disk
  CLI::App app("One backward pass of a network on a cosimulated NPU, every result bit checked", "gradweave");
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of all subcommands");
  std::function<int()> chosen;
  cli::CosimArguments cosim_arguments;
  if (argc > 0) cosim_arguments.program = argv[0];
  cli::SimulateArguments simulate_arguments;
  if (argc > 0) simulate_arguments.program = argv[0];
  cli::CompileArguments compile_arguments;
  cli::ValidateArguments validate_arguments;
  if (argc > 0) validate_arguments.program = argv[0];
  validate_arguments.command_line.assign(argv, argv + argc);
  StreamArguments stream_arguments;
  cli::TimelineArguments timeline_arguments;
  cli::WavediffArguments wavediff_arguments;
  std::string model_name;
  add_cosim(app, cosim_arguments, chosen);
  add_simulate(app, simulate_arguments, chosen);
  add_compile(app, compile_arguments, chosen);
  add_validate(app, validate_arguments, chosen);
  add_streams(app, stream_arguments, chosen);
  add_timeline(app, timeline_arguments, chosen);
  add_wavediff(app, wavediff_arguments, chosen);
  add_models(app, model_name, chosen);
  cli::SearchArguments search_arguments;
  add_search(app, search_arguments, chosen);
  cli::ReproduceArguments reproduce_arguments;
  add_reproduce(app, reproduce_arguments, chosen);
  std::string help_about;
  cli::add_help(app, help_about, chosen);
  if (const std::optional<int> code = cli::parse(app, argc, argv)) return *code == 0 ? finish_output(cli::kOk) : *code;
  return finish_output(run(chosen));
}
