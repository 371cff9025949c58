#include "app/request/work.hpp"

#include "app/request/settings.hpp"
#include "compiler/back/vector_layer.hpp"
#include "compiler/cost/image_choice.hpp"
#include "compiler/schedule/registry.hpp"
#include "graph/frontend/load_network.hpp"

#include "device/device.hpp"
#include "device/rtl_build.hpp"
#include "runtime/run/lookup.hpp"
#include "runtime/run/plan_cache.hpp"

#include "compiler_version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace gradweave::cli {
namespace {

/// What is no scheduler's name is `all`, which compares those that read whatever a layer reads, or is told of later.
bool takes_images(std::string_view schedule) {
  const auto &all = compiler::schedulers();
  const auto named = [&](const compiler::Scheduler *s) { return s->name().name() == schedule; };
  const auto at = std::find_if(all.begin(), all.end(), named);
  return at == all.end() || (*at)->reads_images();
}

} // namespace

compiler::Network resolve_network(const WorkArguments &arguments) {
  const Settings settings = parse_settings(arguments.set, arguments.batch, arguments.until);
  return compiler::load_network(runtime::find_model(arguments.model), settings.network);
}

Work resolve(const WorkArguments &arguments) { return resolve(arguments, resolve_network(arguments)); }

Work resolve(const WorkArguments &arguments, compiler::Network network) {
  const Settings settings = parse_settings(arguments.set);
  return resolve(arguments, std::move(network), load_machine(runtime::find_npu(arguments.npu), settings.machine));
}

Work resolve(const WorkArguments &arguments, compiler::Network network, Machine npu) {
  Work work;
  work.compile.pass = compiler::parse_pass(arguments.pass);
  for (const compiler::OptionForm &form : compiler::option_forms())
    if (const auto given = arguments.compile.find(form.name); given != arguments.compile.end())
      form.set(work.compile, given->second);
  work.network = std::move(network);
  work.npu = std::move(npu);
  work.images = arguments.convolution == "image" && takes_images(arguments.schedule);
  if (work.images) compiler::read_images(work.network.layers, work.compile.pass, work.npu);
  work.layers = compiler::select_layers(work.network, arguments.layers);
  return work;
}

Work layer_by_layer(Work work) {
  if (work.images) compiler::choose_vector_layers(work.layers, work.compile.pass, work.npu);
  return work;
}

Work in_one_stream(Work work) {
  if (work.images) compiler::choose_vector_layers_of_step(work.layers, work.compile.pass, work.npu);
  return work;
}

std::unique_ptr<compiler::PlanStore> plan_store(const WorkArguments &arguments) {
  const std::string directory = runtime::plan_cache_directory(arguments.plan_cache);
  if (directory.empty()) return nullptr;
  return std::make_unique<runtime::PlanCache>(directory, std::string(evaluation::kCompilerVersion));
}

void require_rtl(const Machine &npu, const std::string &argument) {
  const std::filesystem::path file = runtime::find_npu(argument);
  const bool named = file.string() != argument, set = npu.name.find('+') != std::string::npos;
  const std::string source = named ? argument : std::filesystem::absolute(file).lexically_normal().string();
  try {
    build_missing_rtl_library(npu, set ? std::string() : source);
    find_rtl_library(npu, set ? "FILE, a file with these values," : shell_word(source));
  } catch (const std::runtime_error &error) {
    throw std::runtime_error(fmt::format("NOT RUN, nothing was simulated or checked: {}", error.what()));
  }
}

std::vector<compiler::Schedule> parse_schedules(const std::string &text) {
  if (text == "all") return compiler::all_schedules();
  try {
    return {compiler::parse_schedule(text)};
  } catch (const std::invalid_argument &error) {
    throw std::invalid_argument(fmt::format("{}, or all", error.what()));
  }
}

std::string shell_word(const std::string &text) {
  const std::string safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=+:@%";
  if (!text.empty() && text.find_first_not_of(safe) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

} // namespace gradweave::cli
