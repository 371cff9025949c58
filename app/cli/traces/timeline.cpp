// gradweave timeline
#include "trace/timeline/timeline.hpp"

#include "app/cli/common/options.hpp"
#include "app/cli/common/settings.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/traces/commands.hpp"
#include "base/file/output_file.hpp"
#include "isa/assembler.hpp"
#include "runtime/run/lookup.hpp"
#include "trace/command_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace gradweave::cli {
namespace {

struct TimelineArguments {
  std::vector<std::string> streams; ///< files, one behind another on the time axis
  std::string rtl, model;           ///< timing traces of these streams; empty: none
  std::string npu = "small", out;
  std::vector<std::string> set;
};

using runtime::CommandLabel;
using runtime::TracedCommand;
using runtime::timeline::Source;

/// One stream of a timing trace.
struct TracedStream {
  std::vector<timing::CommandTimes> times;
  std::vector<CommandLabel> labels;
};

/// A timing trace cut into its streams, each of which counts its commands from 0.
struct TraceOfStreams {
  Source source = Source::kRtl;
  std::string file;
  std::vector<TracedStream> streams;

  TraceOfStreams(Source from, std::string name) : source(from), file(std::move(name)) {
    for (TracedCommand &command : runtime::read_command_trace(file)) {
      if (command.index == 0) streams.emplace_back();
      streams.back().times.push_back(command.times);
      streams.back().labels.push_back(std::move(command.label));
    }
  }
};

[[noreturn]] void reject(const std::string &trace, const std::string &problem) {
  throw ConfigError(
      fmt::format("{}: {}; give the streams of this trace, in its order, and the NPU it is from", trace, problem));
}

/// What would otherwise show only by luck: a trace of other commands.
void check_labels(const TraceOfStreams &trace, const TracedStream &traced, const std::string &file,
                  const std::vector<isa::Command> &stream) {
  if (traced.labels.size() != stream.size())
    reject(trace.file, fmt::format("has {} commands where {} has {}", traced.labels.size(), file, stream.size()));
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const CommandLabel label = runtime::label_command({}, stream[i]);
    if (label.opcode != traced.labels[i].opcode || label.engine != traced.labels[i].engine)
      reject(trace.file, fmt::format("command {} is a {} of {}, but in {} a {} of {}", i, traced.labels[i].opcode,
                                     traced.labels[i].engine, file, label.opcode, label.engine));
  }
}

std::vector<TraceOfStreams> read_traces(const TimelineArguments &a) {
  std::vector<TraceOfStreams> traces;
  if (!a.rtl.empty()) traces.emplace_back(Source::kRtl, a.rtl);
  if (!a.model.empty()) traces.emplace_back(Source::kModel, a.model);
  if (traces.empty()) throw std::invalid_argument("a timeline needs times: give --rtl, --model or both");
  for (const TraceOfStreams &trace : traces)
    if (trace.streams.size() != a.streams.size())
      reject(trace.file, fmt::format("has {} streams, but {} are given", trace.streams.size(), a.streams.size()));
  return traces;
}

int timeline(const TimelineArguments &a) {
  const Machine npu = load_machine(runtime::find_npu(a.npu), parse_settings(a.set).machine);
  const std::vector<TraceOfStreams> traces = read_traces(a);
  OutputFile output(a.out);
  runtime::timeline::Timeline drawing(output, runtime::timeline::compression_of(a.out), npu,
                                      fmt::format("NPU {}", npu.name));
  std::uint64_t offset = 0;
  for (std::size_t s = 0; s < a.streams.size(); ++s) {
    const std::vector<isa::Command> stream = isa::read_stream_file(a.streams[s]);
    std::uint64_t longest = 0;
    for (const TraceOfStreams &trace : traces) {
      const TracedStream &traced = trace.streams[s];
      check_labels(trace, traced, a.streams[s], stream);
      const std::string &layer = traced.labels.front().layer;
      const std::uint64_t cycles = runtime::timeline::cycles_of(traced.times);
      try {
        drawing.add(trace.source,
                    {layer.empty() ? a.streams[s] : layer, npu, stream, traced.times, cycles,
                     [&](std::size_t i) { return traced.labels[i]; }},
                    offset);
      } catch (const runtime::timeline::TimelineError &error) {
        throw ConfigError(fmt::format("{}: {}", trace.file, error.what()));
      }
      longest = std::max(longest, cycles);
    }
    offset += longest;
  }
  drawing.commit();
  return kOk;
}

} // namespace

void add_timeline(CLI::App &app, const Invocation & /*invocation*/, Chosen &chosen) {
  const auto arguments = std::make_shared<TimelineArguments>(); // as long as the parser
  TimelineArguments &a = *arguments;
  CLI::App *command = add_subcommand(app, "timeline");
  command->add_option("STREAM", a.streams, "Streams (.gws) of the traces, in their order")->required();
  command->add_option("--rtl", a.rtl, "Timing trace of the RTL");
  command->add_option("--model", a.model, "Timing trace of the timing model");
  command->add_option("--npu", a.npu, "NPU of the traces: a name or the path of a .toml file")->capture_default_str();
  add_set_option(*command, a.set, Settable::kMachine);
  command->add_option("--out,-o", a.out, "Timeline (.json, or .json.gz to compress it)")->required();
  command->footer("Example: one layer, RTL and model side by side\n"
                  "  gradweave compile --layers 0 --out streams\n"
                  "  gradweave cosim --layers 0 --times rtl.csv\n"
                  "  gradweave cosim --layers 0 --backend timing --times model.csv\n"
                  "  gradweave timeline streams/0-*.gws --rtl rtl.csv --model model.csv -o both.json");
  command->callback(
      [arguments, &chosen] { chosen = [arguments](const SignalGuard &) { return timeline(*arguments); }; });
}

} // namespace gradweave::cli
