#include "app/cli/common/options.hpp"

#include "app/cli/common/settings.hpp"

#include "compiler/compiler.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

namespace gradweave::cli {

std::string check_whole_number(const std::string &text) {
  std::uint64_t value = 0;
  const char *end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && at == end) return {};
  return "'" + text + "' is not a whole number from 0 to 18446744073709551615";
}

std::string check_finite(const std::string &text) {
  double value = 0;
  return CLI::detail::lexical_cast(text, value) && std::isfinite(value) ? std::string()
                                                                        : "'" + text + "' is not a number";
}

std::string help_of_pass() { return "One of " + compiler::pass_names() + ": Y, dX and dW, or all three"; }

namespace {

/// "sequential (what it does), ..."
std::string schedules_with_summaries() {
  std::string text;
  for (const compiler::Scheduler *scheduler : compiler::schedulers())
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", compiler::to_string(scheduler->name()),
                        scheduler->summary());
  return text;
}

} // namespace

void add_work_options(CLI::App &command, WorkArguments &work, Schedules schedules) {
  std::string schedule = "Schedule, one of " + schedules_with_summaries();
  if (schedules == Schedules::kSeveral) schedule += "; or all, which compares those of the paper";
  command
      .add_option("--model", work.model,
                  "Network: a name (gradweave models) or the path of a .graph, .onnx, .toml or .csv file")
      ->capture_default_str();
  add_until_option(command, work.until);
  command.add_option("--batch", work.batch, "Samples in a batch; default: as the network says")
      ->check(check_whole_number)
      ->check(CLI::Range(1U, 1U << 24U));
  command.add_option("--npu", work.npu, "NPU: a name or the path of a .toml file")->capture_default_str();
  add_set_option(command, work.set, Settable::kMachineAndNetwork);
  command.add_option("--schedule", work.schedule, schedule)->capture_default_str();
  command
      .add_option_function<std::uint64_t>(
          "--tune", [&work](const std::uint64_t &plans) { work.tune = plans; },
          "Longer search for each layer's plan, as in --tune=5000: plans to try, 1000 if left out. Schedules that "
          "search nothing take no notice of it (in_order, igo_paper), nor does search of several layers")
      ->expected(0, 1)
      ->default_str("1000")
      ->check(check_whole_number);
  command.add_option("--pass", work.pass, help_of_pass())->capture_default_str();
  command
      .add_option("--partition", work.partition,
                  "Cut the backward pass, one of " + compiler::partition_names() +
                      ": not at all (one core computes all), along M, N or K")
      ->capture_default_str();
  command.add_option("--parts", work.parts, "Parts of the partition; default: one for each core, two on one core")
      ->check(check_whole_number)
      ->check(CLI::Range(1U, 1U << 16U));
  command
      .add_option("--reduction", work.reduction,
                  "Partial sums of several parts, one of " + compiler::reduction_names() +
                      ": each continues the one before (the bits of one core), or each from zero and then added under "
                      "a reduction plan")
      ->capture_default_str();
  add_convolution_option(command, work);
  command.add_option("--layers", work.layers, "Names, numbers from 0 and ranges, as in 0,3-5,ffn1; default: all");
}

void add_work(Reproduction &command, const WorkArguments &work) {
  command.add("MODEL", "--model", work.model);
  if (!work.until.empty()) command.add("", "--until", work.until);
  if (work.batch != 0) command.add("BATCH", "--batch", std::to_string(work.batch));
  command.add("NPU", "--npu", work.npu);
  command.add_each("SET", "--set", work.set);
  command.add("SCHEDULE", "--schedule", work.schedule);
  command.add("PASS", "--pass", work.pass);
  if (work.tune != 0) command.add("TUNE", "--tune", std::to_string(work.tune));
  if (work.partition != "none") command.add("PARTITION", "--partition", work.partition);
  if (work.parts != 0) command.add("PARTS", "--parts", std::to_string(work.parts));
  if (work.reduction != "chain") command.add("REDUCTION", "--reduction", work.reduction);
  if (work.convolution != "image") command.add("CONVOLUTION", "--convolution", work.convolution);
  if (!work.layers.empty()) command.add("LAYERS", "--layers", work.layers);
}

void add_convolution_option(CLI::App &command, WorkArguments &work) {
  command
      .add_option(
          "--convolution", work.convolution,
          "What convolutions read: images as they lie, where the stride is 1, the result as large as the image "
          "and im2col has no smaller bound (their dX is then the image's gradient); or all of them matrices that "
          "im2col made of images before the run, as the others do, and igo_paper does always")
      ->check(CLI::IsMember({"image", "im2col"}))
      ->capture_default_str();
}

void add_plan_cache_option(CLI::App &command, WorkArguments &work) {
  command.add_option("--plan-cache", work.plan_cache,
                     "Directory of plans that earlier runs found, or off; default: $GRADWEAVE_PLAN_CACHE, else "
                     "gradweave in $XDG_CACHE_HOME or ~/.cache");
}

void add_times_options(CLI::App &command, std::string &times, std::string &timeline) {
  command.add_option("--times", times,
                     "Write when each command was issued, started and done (docs/cli.md) to this file; to one for each "
                     "layer and schedule if it is a directory or ends in /");
  command.add_option("--timeline", timeline,
                     "Draw the same for ui.perfetto.dev (docs/timeline.md), likewise; .json.gz to compress it");
}

} // namespace gradweave::cli
