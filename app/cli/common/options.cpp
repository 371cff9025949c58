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
#include <limits>
#include <system_error>

namespace gradweave::cli {

namespace {

std::string check_within(const std::string &text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const char *end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && at == end && value >= least && value <= most) return {};
  return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
}

} // namespace

std::string check_whole_number(const std::string &text) {
  return check_within(text, 0, std::numeric_limits<std::uint64_t>::max());
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const bool any = least == 0 && most == std::numeric_limits<std::uint64_t>::max();
  return {[least, most](std::string &text) { return check_within(text, least, most); },
          any ? std::string() : fmt::format("{} to {}", least, most)};
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

void add_compile_option(CLI::App &command, const compiler::OptionForm &form, WorkArguments &work) {
  CLI::Option *option = command.add_option_function<std::string>(
      fmt::format("--{}", form.name), [&work, &form](const std::string &text) { work.compile[form.name] = text; },
      form.help);
  if (!form.is_number()) {
    option->default_str(form.text({}));
    return;
  }
  option->type_name("UINT")->check(whole_number(form.least, form.most));
  if (form.usual != 0) option->expected(0, 1)->default_str(std::to_string(form.usual));
}

} // namespace

void add_batch_option(CLI::App &command, std::uint32_t &batch) {
  command.add_option("--batch", batch, "Samples in a batch; default: as the network says")
      ->check(whole_number(1U, kMostSamples));
}

void add_work_options(CLI::App &command, WorkArguments &work, Schedules schedules) {
  std::string schedule = "Schedule, one of " + schedules_with_summaries();
  if (schedules == Schedules::kSeveral) schedule += "; or all, which compares those of the paper";
  command
      .add_option("--model", work.model,
                  "Network: a name (gradweave models) or the path of a .graph, .onnx, .toml or .csv file")
      ->capture_default_str();
  add_until_option(command, work.until);
  add_batch_option(command, work.batch);
  command.add_option("--npu", work.npu, "NPU: a name or the path of a .toml file")->capture_default_str();
  add_set_option(command, work.set, Settable::kMachineAndNetwork);
  command.add_option("--schedule", work.schedule, schedule)->capture_default_str();
  command.add_option("--pass", work.pass, help_of_pass())->capture_default_str();
  for (const compiler::OptionForm &form : compiler::option_forms())
    add_compile_option(command, form, work);
  add_convolution_option(command, work.convolution);
  command.add_option("--layers", work.layers, "Names, numbers from 0 and ranges, as in 0,3-5,ffn1; default: all");
}

void add_convolution_option(CLI::App &command, std::string &convolution) {
  command
      .add_option(
          "--convolution", convolution,
          "What convolutions read: images as they lie, where the commands can walk them (a stride of 1 to 3 both "
          "ways, taps that read every pixel) and im2col has no smaller bound (their dX is then the image's gradient); "
          "or all of them matrices that "
          "im2col made of images before the run, as the others do, and igo_paper does always")
      ->check(CLI::IsMember({"image", "im2col"}))
      ->capture_default_str();
}

void add_plan_cache_option(CLI::App &command, WorkArguments &work) {
  command.add_option("--plan-cache", work.plan_cache,
                     "Directory of plans that earlier runs found, or off; default: $GRADWEAVE_PLAN_CACHE, else "
                     "gradweave in $XDG_CACHE_HOME or ~/.cache");
}

void add_accelergy_option(CLI::App &command, std::string &file) {
  command.add_option(
      "--accelergy", file,
      "Write the counts of all accesses as Accelergy's action_counts (docs/energy.md) to this .yaml file, "
      "and beside it, as .ert.yaml, the prices of the NPU's table [energy]");
}

void add_times_options(CLI::App &command, std::string &times, std::string &timeline) {
  command.add_option("--times", times,
                     "Write when each command was issued, started and done (docs/cli.md) to this file; to one for each "
                     "layer and schedule if it is a directory or ends in /");
  command.add_option("--timeline", timeline,
                     "Draw the same for ui.perfetto.dev (docs/timeline.md), likewise; .json.gz to compress it");
}

} // namespace gradweave::cli
