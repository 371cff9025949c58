#include "app/cli/program/headings.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::cli {
namespace {

struct Heading {
  const char *text;
  std::vector<std::string_view> options;
};

/// An option means the same in every command that has it, and stands under the same heading.
const std::vector<Heading> &headings() {
  static const std::vector<Heading> all{
      {"Network and NPU",
       {"model", "until", "loss", "batch", "npu", "machine", "system", "set", "layers", "pass", "job", "step",
        "capacity", "bandwidth", "throughput", "element", "forward", "project", "validate"}},
      {"Schedule",
       {"schedule",    "tune",       "partition",   "parts",       "reduction", "sharing",          "plans",
        "step-plans",  "changes",    "weave-again", "search-seed", "search",    "search-partition", "flexer-policy",
        "convolution", "plan-cache", "policy",      "start",       "objective", "threads"}},
      {"Simulation",
       {"backend", "data",          "seed",    "stall-probability", "stress-seed", "check",    "jobs",
        "random",  "commands",      "profile", "watchdog",          "graphs",      "ops",      "shrink",
        "keep",    "stream-offset", "corpus",  "compare",           "operators",   "keep-all", "dry-run"}},
      {"Requests", {"arrivals", "requests", "load", "gap", "arrival-seed", "priority", "deadline", "patience"}},
      {"Training",
       {"accumulate", "steps", "epochs", "extent", "optimizer", "lr", "schedule-lr", "warmup", "weight-decay",
        "momentum", "clip", "sparse-embeddings", "frozen", "learned", "eval"}},
      {"Tensors", {"weights", "input", "target", "dump", "dump-to"}},
      {"Points", {"list", "shard"}},
      {"Reports",
       {"json", "csv", "by", "explain", "accelergy", "html", "title", "out", "listing", "times", "timeline",
        "loss-plot", "quiet"}},
      {"Waveforms", {"trace", "trace-file", "trace-dir", "trace-from", "trace-to"}},
      {"Long runs", {"checkpoint", "checkpoint-every", "resume", "fresh", "background", "status", "stop"}}};
  return all;
}

const char *heading_of(const CLI::Option &option) {
  for (const Heading &heading : headings())
    for (const std::string &name : option.get_lnames())
      if (std::find(heading.options.begin(), heading.options.end(), name) != heading.options.end()) return heading.text;
  return nullptr;
}

} // namespace

void add_headings(CLI::App &app) {
  const std::string none = app.option_defaults()->get_group();
  for (CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; })) {
    const std::vector<CLI::Option *> options =
        command->get_options([&](const CLI::Option *option) { return option->get_group() == none; });
    if (options.size() <= kShortList) continue;
    for (CLI::Option *option : options)
      if (const char *heading = heading_of(*option); heading != nullptr) option->group(heading);
  }
}

} // namespace gradweave::cli
