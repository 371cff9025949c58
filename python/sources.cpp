#include "python/sources.hpp"

#include "app/request/settings.hpp"
#include "compiler/request/options.hpp"
#include "device/device.hpp"
#include "graph/layers.hpp"
#include "python/graphs.hpp"
#include "runtime/run/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::python {
namespace {

/// What messages call an NPU of a dict, which has no lines.
constexpr const char *kDict = "NPU dict";

std::string toml_of(py::handle value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "true" : "false";
  if (PyIndex_Check(value.ptr()) != 0)
    return py::str(py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()))).cast<std::string>();
  if (PyFloat_Check(value.ptr()) != 0) return py::repr(value).cast<std::string>();
  if (py::isinstance<py::str>(value)) return py::module_::import("json").attr("dumps")(value).cast<std::string>();
  throw std::invalid_argument(
      fmt::format("{}: {} is no value of a field; use a number or a text", kDict, py::repr(value).cast<std::string>()));
}

std::string table_of(const py::dict &fields) {
  std::string text;
  for (const auto &[key, value] : fields)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", toml_of(py::str(key)), toml_of(value));
  return "{" + text + "}";
}

/// A file's text that says what the dict does, each table in a line.
std::string file_of(const py::dict &tables) {
  std::string text;
  for (const auto &[name, table] : tables)
    text += fmt::format("{} = {}\n", toml_of(py::str(name)),
                        py::isinstance<py::dict>(table) ? table_of(table.cast<py::dict>()) : toml_of(table));
  return text;
}

/// The message of an error about kDict, without the lines that only its text has.
std::string without_line(std::string message) {
  const std::string begin = std::string(kDict) + ":";
  if (message.compare(0, begin.size(), begin) != 0) return message;
  const std::size_t end = message.find(": ", begin.size());
  if (end != std::string::npos &&
      std::all_of(message.begin() + static_cast<std::ptrdiff_t>(begin.size()),
                  message.begin() + static_cast<std::ptrdiff_t>(end), [](char c) { return c >= '0' && c <= '9'; }))
    message.erase(begin.size() - 1, end - begin.size() + 1);
  return message;
}

} // namespace

ModelSource::ModelSource(py::handle model) {
  if (py::isinstance<Network>(model)) {
    const auto &network = model.cast<const Network &>();
    name_ = network.source;
    network_ = network.network;
  } else if (py::isinstance<GraphInPython>(model)) {
    graph_ = model.cast<const GraphInPython &>().copy();
    name_ = graph_->name;
  } else {
    name_ = text_of("model", model);
  }
}

compiler::Network ModelSource::read(const cli::WorkArguments &arguments) const {
  if (!is_object()) {
    cli::WorkArguments named = arguments;
    named.model = name_;
    return cli::resolve_network(named);
  }
  const cli::Settings settings = cli::parse_settings(arguments.set, arguments.batch, arguments.until);
  if (!settings.network.values.empty() || !settings.network.until.empty())
    throw std::invalid_argument(
        fmt::format("network '{}' has been read already; give batch, until and net.* to load_network()", name_));
  return network_ ? *network_ : graph::network_of(*graph_, "graph " + name_);
}

NpuSource::NpuSource(py::handle npu) {
  if (py::isinstance<Npu>(npu)) {
    *this = npu.cast<const Npu &>().source;
  } else if (py::isinstance<py::dict>(npu)) {
    text_ = file_of(npu.cast<py::dict>());
    name_ = kDict;
  } else {
    name_ = text_of("npu", npu);
  }
}

Machine NpuSource::read(const std::vector<std::string> &set) const {
  const Overrides overrides = cli::parse_settings(set).machine;
  if (!text_) return load_machine(runtime::find_npu(name_), overrides);
  try {
    return parse_machine(*text_, kDict, overrides);
  } catch (const ConfigError &error) {
    throw ConfigError(without_line(error.what()));
  }
}

void NpuSource::require_rtl(const Machine &npu) const {
  if (is_object())
    find_rtl_library(npu);
  else
    cli::require_rtl(npu, name_);
}

void take_files(Options &options, cli::WorkArguments &work) {
  options.take("batch", work.batch, 1, cli::kMostSamples);
  options.take("until", work.until);
  options.take_settings("set", work.set);
}

void take_convolution(Options &options, std::string &convolution) {
  options.take("convolution", convolution);
  if (convolution != "image" && convolution != "im2col")
    throw std::invalid_argument(fmt::format("convolution = '{}' is none of image, im2col", convolution));
}

void take_work(Options &options, cli::WorkArguments &work) {
  take_files(options, work);
  options.take("schedule", work.schedule);
  options.take("pass_", work.pass);
  options.take("layers", work.layers);
  take_convolution(options, work.convolution);
  options.take("plan_cache", work.plan_cache);
  for (const compiler::OptionForm &form : compiler::option_forms()) {
    std::string name(form.name), value;
    std::replace(name.begin(), name.end(), '-', '_');
    if (options.take_any(name.c_str(), value, form.least, form.most)) work.compile[form.name] = value;
  }
}

cli::Work resolve(const cli::WorkArguments &arguments, const ModelSource &model, const NpuSource &npu) {
  cli::WorkArguments named = arguments;
  named.model = model.name();
  named.npu = npu.name();
  return cli::resolve(named, model.read(arguments), npu.read(arguments.set));
}

} // namespace gradweave::python
