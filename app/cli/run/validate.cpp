// gradweave validate
#include "app/cli/common/options.hpp"
#include "app/cli/common/settings.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/common/work.hpp"
#include "app/cli/run/commands.hpp"
#include "app/cli/run/validate_graphs.hpp"
#include "app/request/repeat_command.hpp"
#include "app/validate/compare_traces.hpp"
#include "app/validate/corpus/parts/standing.hpp"
#include "app/validate/corpus/profile.hpp"
#include "app/validate/report.hpp"
#include "base/file/output_file.hpp"
#include "runtime/run/lookup.hpp"
#include "runtime/run/simulation.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace gradweave::cli {
namespace {

/// Exactly one of streams, work.model, random, graphs, corpus and compare is given.
struct ValidateArguments {
  std::string program = "gradweave";                          ///< how the command was called
  std::vector<std::string> command_line;                      ///< all of it
  WorkArguments work{"", "", "rearrange", "backward", "", 0}; ///< NPU empty: small, or all of a corpus
  std::vector<std::string> streams, compare;
  std::string corpus, profile = "both", json;
  std::uint64_t random = 0, seed = 1;
  std::uint32_t commands = 40, watchdog = 0; ///< watchdog 0: as the mode chooses
  std::int64_t stream_offset = -1;           ///< likewise if negative
  unsigned jobs = 0;                         ///< 0: one a core
  ValidateGraphsArguments graphs;
  bool quiet = false;
};

using compiler::Compiled;
using runtime::ValidationBatch;
using runtime::ValidationStream;

constexpr std::uint64_t kStreamsPerDevice = 50;

/// What a mode makes of the arguments.
struct Plan {
  std::vector<ValidationBatch> batches;
  std::string noun = "streams";
  bool each = false; ///< a line for every stream
};

/// Throws std::invalid_argument if it is too short for the timing model.
void check_watchdog(const Machine &npu, std::uint32_t watchdog) {
  timing::RunOptions options;
  options.watchdog = watchdog;
  timing::run(npu, {}, options);
}

std::string npu_name(const ValidateArguments &a) { return a.work.npu.empty() ? "small" : a.work.npu; }

// --- a network -------------------------------------------------------------------------------------

ValidationStream compiled_stream(const compiler::Layer &layer, const Machine &npu,
                                 const compiler::CompileOptions &options, const std::string &repeat,
                                 compiler::CompileCache &cache) {
  Compiled compiled = compiler::compile({layer}, npu, options, cache);
  ValidationStream stream;
  stream.name = fmt::format("{} ({})", layer.name, compiler::to_string(options.schedule));
  stream.layer = layer.name;
  stream.commands = std::move(compiled.stream);
  stream.info = std::move(compiled.info);
  stream.reproduce = repeat;
  return stream;
}

void add_network(const WorkArguments &arguments, Plan &plan, const std::string &program) {
  const Work work = layer_by_layer(resolve(arguments));
  const auto cache = std::make_shared<compiler::CompileCache>();
  for (const compiler::Layer &layer : work.layers)
    for (const compiler::Schedule schedule : parse_schedules(arguments.schedule)) {
      const compiler::CompileOptions options = work.compile_as(schedule);
      WorkArguments of_layer = arguments;
      of_layer.layers = fmt::format("{}", layer.index);
      of_layer.schedule = std::string(compiler::to_string(schedule));
      Reproduction command(program, "validate", false);
      add_work(command, of_layer);
      const std::string repeat = command.text();
      ValidationBatch batch;
      batch.name = fmt::format("{} ({})", layer.name, compiler::to_string(schedule));
      batch.npu = work.npu;
      batch.weight = static_cast<double>(layer.m) * layer.k * layer.n;
      // The cache holds streams by shape: filling it before the fork, layers of a shape share one compilation. What
      // cannot be compiled is reported again in the process.
      batch.prepare = [layer, npu = work.npu, options, cache] {
        try {
          compiler::compile({layer}, npu, options, *cache);
        } catch (const compiler::CompileError &) {
          return;
        }
      };
      batch.streams = [layer, npu = work.npu, options, repeat, cache] {
        return std::vector<ValidationStream>{compiled_stream(layer, npu, options, repeat, *cache)};
      };
      plan.batches.push_back(std::move(batch));
    }
}

Plan plan_network(const ValidateArguments &a) {
  Plan plan;
  WorkArguments work = a.work;
  work.npu = npu_name(a);
  add_network(work, plan, a.program);
  plan.noun = a.work.schedule == "all" ? "layers under a schedule" : "layers";
  plan.each = true;
  return plan;
}

// --- random streams --------------------------------------------------------------------------------

struct RandomStreams {
  std::string npu; ///< as the user gave it
  std::uint64_t seed = 1, count = 0;
  std::uint32_t commands = 40;
  corpus::Profile profile = corpus::Profile::kBoth;
  std::optional<std::uint32_t> watchdog, stream_offset;
};

std::vector<ValidationStream> make_streams(const RandomStreams &random, const Machine &npu, std::uint64_t first,
                                           std::uint64_t count, const ValidationBatch &batch, bool watchdog_may_trip,
                                           const std::string &program) {
  std::vector<ValidationStream> streams;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    ValidationStream stream;
    stream.name = fmt::format("seed {}", seed);
    stream.layer = stream.name;
    corpus::DrawnStream drawn = corpus::make_stream(npu, random.profile, seed, random.commands);
    stream.commands = std::move(drawn.commands);
    stream.kind = corpus::to_string(drawn.kind);
    // The timing model follows a host only where no legal work trips the watchdog.
    if (corpus::draw_ring(seed) && *batch.watchdog > timing::longest_silence(npu)) stream.host = seed;
    stream.error_drawn = drawn.broken || watchdog_may_trip;
    stream.reproduce = fmt::format("{} validate --random 1 --seed {} --npu {} --commands {} --profile {} --watchdog {} "
                                   "--stream-offset {}",
                                   shell_word(program), seed, shell_word(random.npu), random.commands,
                                   corpus::to_string(random.profile), *batch.watchdog, batch.stream_offset);
    if (seed != first)
      stream.reproduce += fmt::format(" (if that is equal: --random {} --seed {})", seed - first + 1, first);
    streams.push_back(std::move(stream));
  }
  return streams;
}

void add_random(const RandomStreams &random, Plan &plan, const std::string &program) {
  const Machine npu = load_machine(runtime::find_npu(random.npu));
  if (random.watchdog) check_watchdog(npu, *random.watchdog);
  for (std::uint64_t done = 0; done < random.count; done += kStreamsPerDevice) {
    const std::uint64_t first = random.seed + done;
    const std::uint64_t count = std::min(kStreamsPerDevice, random.count - done);
    ValidationBatch batch;
    batch.name = fmt::format("{} seeds {} to {}", npu.name, first, first + count - 1);
    batch.npu = npu;
    const corpus::DrawnWatchdog drawn = corpus::draw_watchdog(npu, first);
    batch.watchdog = random.watchdog.value_or(drawn.cycles);
    const bool may_trip = random.watchdog ? *random.watchdog <= timing::longest_silence(npu) : drawn.may_trip;
    batch.stream_offset = random.stream_offset.value_or(corpus::draw_stream_offset(first));
    batch.weight = static_cast<double>(count) * npu.rows * npu.cols;
    batch.streams = [random, npu, first, count, program, batch, may_trip] {
      return make_streams(random, npu, first, count, batch, may_trip, program);
    };
    plan.batches.push_back(std::move(batch));
  }
}

Plan plan_random(const ValidateArguments &a) {
  Plan plan;
  RandomStreams random{npu_name(a), a.seed, a.random, a.commands, corpus::parse_profile(a.profile), {}, {}};
  if (a.watchdog != 0) random.watchdog = a.watchdog;
  if (a.stream_offset >= 0) random.stream_offset = static_cast<std::uint32_t>(a.stream_offset);
  add_random(random, plan, a.program);
  plan.noun = "random streams";
  return plan;
}

// --- stream files ----------------------------------------------------------------------------------

Plan plan_files(const ValidateArguments &a) {
  Plan plan;
  plan.each = true;
  const Machine npu = load_machine(runtime::find_npu(npu_name(a)), parse_settings(a.work.set).machine);
  if (a.watchdog != 0) check_watchdog(npu, a.watchdog);
  for (const std::string &file : a.streams) {
    check_stream_name(file);
    ValidationStream stream;
    stream.name = file;
    stream.commands = runtime::load_stream(file);
    stream.reproduce =
        fmt::format("{} validate {} --npu {}", shell_word(a.program), shell_word(file), shell_word(npu_name(a)));
    for (const std::string &set : a.work.set)
      stream.reproduce += " --set " + shell_word(set);
    ValidationBatch batch;
    batch.name = file;
    batch.npu = npu;
    if (a.watchdog != 0) {
      batch.watchdog = a.watchdog;
      stream.reproduce += fmt::format(" --watchdog {}", a.watchdog);
    }
    if (a.stream_offset >= 0) {
      batch.stream_offset = static_cast<std::uint32_t>(a.stream_offset);
      stream.reproduce += fmt::format(" --stream-offset {}", a.stream_offset);
    }
    batch.weight = static_cast<double>(stream.commands.size());
    batch.streams = [stream] { return std::vector<ValidationStream>{stream}; };
    plan.batches.push_back(std::move(batch));
  }
  return plan;
}

// --- the standing corpus ---------------------------------------------------------------------------

/// Only what runs on the NPU that is asked for, if one is.
Plan plan_corpus(const ValidateArguments &a) {
  Plan plan;
  const corpus::StandingCorpus standing = corpus::standing_corpus(a.corpus);
  const auto wanted = [&](const std::string &npu) { return a.work.npu.empty() || a.work.npu == npu; };
  for (const corpus::StandingLayers &layers : standing.layers) {
    if (!wanted(layers.npu)) continue;
    WorkArguments work;
    work.model = layers.model;
    work.npu = layers.npu;
    work.schedule = layers.schedule;
    work.pass = layers.pass;
    work.layers = layers.layers;
    add_network(work, plan, a.program);
  }
  for (const corpus::StandingStreams &streams : standing.streams) {
    if (!wanted(streams.npu)) continue;
    add_random({streams.npu, streams.seed, streams.count, 40, corpus::Profile::kBoth, {}, {}}, plan, a.program);
  }
  if (plan.batches.empty())
    throw std::invalid_argument(fmt::format("the {} corpus has nothing for NPU {}; leave --npu out, or name one of "
                                            "the NPUs in app/validate/corpus/parts/standing.cpp",
                                            a.corpus, a.work.npu));
  return plan;
}

// ---------------------------------------------------------------------------------------------------

Plan make_plan(const ValidateArguments &a) {
  const int modes = (a.streams.empty() ? 0 : 1) + (a.work.model.empty() ? 0 : 1) + (a.random == 0 ? 0 : 1) +
                    (a.corpus.empty() ? 0 : 1) + (a.compare.empty() ? 0 : 1) + (a.graphs.count == 0 ? 0 : 1);
  if (modes != 1)
    throw std::invalid_argument(fmt::format("{} of stream files, --model, --random, --graphs, --corpus and --compare "
                                            "are given; give exactly one of them",
                                            modes));
  if (!a.streams.empty()) return plan_files(a);
  if (!a.work.model.empty()) return plan_network(a);
  if (a.random != 0) return plan_random(a);
  if (!a.corpus.empty()) return plan_corpus(a);
  return {};
}

std::string repeat_all(const ValidateArguments &a) {
  std::string command;
  for (const std::string &word : a.command_line)
    command += (command.empty() ? "" : " ") + shell_word(word);
  return command;
}

int validate(const ValidateArguments &a, const SignalGuard &signals) {
  const unsigned jobs = a.jobs != 0 ? a.jobs : std::max(1U, std::thread::hardware_concurrency());
  const Plan plan = make_plan(a);
  if (a.graphs.count != 0)
    return validate_graphs(a.graphs, {a.program, a.work.npu, a.json, a.seed, jobs, a.quiet}, signals);
  std::optional<OutputFile> json;
  if (!a.json.empty()) json.emplace(a.json);
  for (const ValidationBatch &batch : plan.batches)
    require_rtl(batch.npu, a.corpus.empty() ? npu_name(a) : batch.npu.name);
  runtime::ValidationReport report(a.json == "-" ? stderr : stdout, plan.noun, plan.each);
  if (a.compare.empty()) {
    run_validation(plan.batches, jobs, a.quiet, signals, [&](const auto &verdicts) { report.add(verdicts); });
  } else {
    report.add(runtime::compare_traces(a.compare.at(0), a.compare.at(1)));
  }
  if (json) json->commit(report.json(repeat_all(a)));
  report.end();
  return exit_code(report.outcome());
}

} // namespace

void add_validate(CLI::App &app, const Invocation &invocation, Chosen &chosen) {
  const auto arguments = std::make_shared<ValidateArguments>(); // as long as the parser
  ValidateArguments &a = *arguments;
  a.program = invocation.program;
  a.command_line = invocation.command_line;
  CLI::App *command = add_subcommand(app, "validate");
  command->add_option("STREAM", a.streams, "Command streams: .gws, or text as of asm");
  add_work_options(*command, a.work, Schedules::kSeveral);
  command->add_option("--random", a.random, "So many random streams")->check(whole_number(1U, ~0U));
  add_graph_options(*command, a.graphs);
  command->add_option("--seed", a.seed, "Seed of the first random stream or graph; the next has the next")
      ->check(check_whole_number)
      ->capture_default_str();
  command->add_option("--commands", a.commands, "LOADs, STOREs and GEMMs of a random stream, about")
      ->check(whole_number(1U, 100000U))
      ->capture_default_str();
  command->add_option("--profile", a.profile, "Random streams, one of " + corpus::profile_names() + " (docs/cli.md)")
      ->capture_default_str();
  command
      ->add_option("--watchdog", a.watchdog,
                   "Cycles without progress that end a run; default: 65536, more where the memory needs it, or drawn")
      ->check(whole_number(1U, 0xffffffffU));
  command
      ->add_option("--stream-offset", a.stream_offset,
                   "Where in a 4 KB page streams begin, a multiple of 64; default: 0, or drawn")
      ->check(whole_number(0, 4032))
      ->check([](const std::string &text) {
        return std::stoul(text) % isa::kCommandBytes == 0 ? std::string() : text + " is not a multiple of 64";
      });
  command->add_option("--corpus", a.corpus,
                      "The standing corpus, one of " + corpus::corpus_names() +
                          "; with --npu only what runs on that NPU");
  command->add_option("--compare", a.compare, "Compare two timing traces (CSV): the RTL's and the model's")
      ->type_name("RTL MODEL")
      ->expected(2);
  command->add_option("--jobs", a.jobs, "Simulations at a time; default: one a core")->check(whole_number(1U, 4096U));
  command->add_option("--json", a.json, "Write the report (docs/cli.md) to this file; - is standard output");
  command->add_flag("--quiet", a.quiet, "No progress on standard error");
  command->footer("Examples:\n"
                  "  gradweave validate --model bert_tiny --npu small --schedule all\n"
                  "  gradweave validate --random 1000 --seed 7 --npu test8\n"
                  "  gradweave validate --graphs 500 --keep failing\n"
                  "  gradweave validate streams/0-embed.gws --npu small\n"
                  "  gradweave validate --compare rtl.csv model.csv\n"
                  "Exit codes: 0 all times, counters and tensors equal, 1 one differs, others as of cosim");
  command->callback([arguments, &chosen] {
    chosen = [arguments](const SignalGuard &signals) { return validate(*arguments, signals); };
  });
}

} // namespace gradweave::cli
