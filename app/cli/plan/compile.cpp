// gradweave compile
#include "app/cli/common/options.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/common/work.hpp"
#include "app/cli/plan/commands.hpp"
#include "app/report/text_format.hpp"
#include "app/session/compile_summary.hpp"
#include "app/session/stream_directory.hpp"
#include "base/file/output_file.hpp"
#include "base/process/heartbeat.hpp"
#include "base/process/parallel.hpp"
#include "base/process/progress.hpp"
#include "compiler/ahead/plans_ahead.hpp"
#include "compiler/schedule/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace gradweave::cli {
namespace {

struct CompileArguments {
  WorkArguments work;
  std::string out; ///< directory; empty: only the summary
  bool listing = false;
  std::string json;
  std::string explain;
};

using compiler::Compiled;
using Json = nlohmann::ordered_json;

void print_summary(std::FILE *out, const Compiled &compiled) {
  std::uint64_t bytes = 0;
  for (const compiler::LayerTraffic &layer : compiled.traffic)
    for (const compiler::Traffic &traffic : layer)
      bytes += traffic.read_bytes + traffic.write_bytes;
  fmt::print(out, "{} {}: {}, {}, {} commands, {} cycles = {} x bound, {}B of DRAM traffic; {}\n",
             compiled.layer().index, compiled.layer().name, runtime::shape(compiled.layer()),
             compiler::to_string(compiled.chosen), compiled.stream.size(), runtime::grouped(compiled.predicted_cycles),
             runtime::ratio(compiled.predicted_cycles, compiled.bounds.run_cycles),
             runtime::human(static_cast<double>(bytes)), fmt::join(compiled.tilings, "; "));
  const compiler::Tuning &t = compiled.tuning;
  if (t.candidates != 0)
    fmt::print(out, "  tuning: {} plans tried, {} of them simulated, {} improvements, {:.1f} s; {} cycles before\n",
               t.candidates, t.simulated, t.improvements, t.seconds, runtime::grouped(t.cycles_before));
}

/// Nothing that is known from before: of equal layers each is explained.
Compiled compile_explained(const compiler::PlansAhead::Compilation &compilation, OutputFile &explanation) {
  compiler::CompileOptions options = compilation.options;
  std::string text;
  options.explain = [&](const std::string &step) { text += step; };
  compiler::CompileCache cache;
  Compiled compiled = compiler::compile(compilation.layers, compilation.npu, options, cache);
  explanation.append(fmt::format("# {} {}: {}, {}; {}\n", compiled.layer().index, compiled.layer().name,
                                 runtime::shape(compiled.layer()), compiler::to_string(compiled.chosen),
                                 compiled.tilings.front()) +
                     text);
  return compiled;
}

int compile(const CompileArguments &a, const SignalGuard &signals) {
  if (a.listing && a.out.empty()) throw std::invalid_argument("--listing needs --out, the directory to write to");
  const compiler::Schedule schedule = compiler::parse_schedule(a.work.schedule);
  const Work work = layer_by_layer(resolve(a.work));
  if (!a.explain.empty()) compiler::require_explains(schedule);
  const bool to_stdout = uses_standard_output({{"--json", a.json}, {"--explain", a.explain}});
  std::optional<OutputFile> json, explanation;
  if (!a.json.empty()) json.emplace(a.json);
  if (!a.explain.empty()) explanation.emplace(a.explain);
  std::optional<StreamDirectory> streams;
  if (!a.out.empty()) streams.emplace(a.out);
  Json summary = {{"network", work.network.name}, {"npu", work.npu.name}, {"layers", Json::array()}};
  ProgressDisplay display(std::vector<double>(work.layers.size(), 1), false);
  Heartbeat heartbeat(display);
  const std::unique_ptr<compiler::PlanStore> plans = plan_store(a.work);
  compiler::CompileCache cache;
  cache.plans.store = plans.get();
  std::vector<compiler::PlansAhead::Compilation> compilations;
  for (std::size_t i = 0; i < work.layers.size(); ++i) {
    compilations.push_back(
        {compiler::compiled_as(work.layers[i], schedule, work.npu), work.npu, work.compile_as(schedule)});
    compilations.back().options.progress = [&, i](std::uint64_t tried, std::uint64_t all) {
      const auto lock = heartbeat.lock();
      display.update(i, static_cast<double>(tried) / static_cast<double>(all));
    };
  }
  std::optional<compiler::PlansAhead> ahead;
  if (!explanation) ahead.emplace(compilations, cache, usable_cores());
  for (std::size_t i = 0; i < work.layers.size(); ++i) {
    const Compiled compiled = explanation
                                  ? compile_explained(compilations[i], *explanation)
                                  : compiler::compile(compilations[i].layers, work.npu, compilations[i].options, cache);
    const auto lock = heartbeat.lock();
    display.update(i, 1);
    display.clear();
    print_summary(to_stdout ? stderr : stdout, compiled);
    summary["layers"].push_back(compiled_json(compiled));
    if (streams) streams->add(compiled, a.listing);
  }
  const auto lock = heartbeat.lock();
  signals.check();
  if (streams) streams->commit();
  if (explanation) explanation->commit("");
  if (json) json->commit(summary.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return kOk;
}

} // namespace

void add_compile(CLI::App &app, const Invocation & /*invocation*/, Chosen &chosen) {
  const auto arguments = std::make_shared<CompileArguments>(); // as long as the parser
  CompileArguments &a = *arguments;
  CLI::App *command = add_subcommand(app, "compile");
  add_work_options(*command, a.work, Schedules::kOne);
  add_plan_cache_option(*command, a.work);
  command->add_option("--out", a.out, "Directory for the streams (INDEX-LAYER.gws); default: print the summary only");
  command->add_flag("--listing", a.listing, "Also write INDEX-LAYER.lst: every command as text, with its tile");
  command->add_option("--json", a.json, "Write the summary as JSON to this file; - is standard output");
  command->add_option("--explain", a.explain,
                      "Write why the schedule is as it is to this file, step by step: the sets of operations that were "
                      "weighed, what gave way, what was loaded; - is standard output. Of --schedule flexer");
  command->footer("Examples:\n"
                  "  gradweave compile --model bert_tiny --npu small --schedule interleave\n"
                  "  gradweave compile --model bert_tiny --layers 0 --out streams --listing\n"
                  "  gradweave compile --model vgg16 --npu flexer5 --pass forward --layers conv5_1 --schedule flexer "
                  "--explain -");
  command->callback([arguments, &chosen] {
    chosen = [arguments](const SignalGuard &signals) { return compile(*arguments, signals); };
  });
}

} // namespace gradweave::cli
