// Dispatch to the frontends, and layer selection.
#include "graph/frontend/load_network.hpp"
#include "base/text/split.hpp"
#include "graph/frontend/csv_rows.hpp"
#include "graph/frontend/network_file.hpp"
#include "graph/ir/error.hpp"
#include "graph/layers.hpp"
#include "graph/onnx/import.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/dead_code.hpp"
#include "graph/text/read.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

namespace gradweave::compiler {

namespace {

std::string ending_of(const std::filesystem::path &file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : static_cast<char>(c);
  });
  return extension;
}

/// The graph as far as the op or tensor of the name.
void end_graph(graph::Graph &graph, const std::string &name, const std::filesystem::path &file) {
  const auto op = std::find_if(graph.ops.begin(), graph.ops.end(), [&](const graph::Op &o) { return o.name == name; });
  graph::TensorId result = op != graph.ops.end() ? op->outputs.front() : graph.find(name);
  if (result == graph::kNone || !graph.tensors[result].computed())
    fail(file, 0,
         fmt::format("--until {}: there is no op of that name, and none computes a tensor of it; give the name of an op"
                     "{}",
                     name, graph.ops.empty() ? "" : ", as " + graph.ops.front().name));
  graph.results = {result};
  graph.loss = graph::kNone;
  graph.updates.clear();
  graph.published.reset(); // of the whole
  graph::drop_dead_code(graph, nullptr, graph::Unread::kGo);
}

void set_frozen(graph::Graph &graph, const std::vector<std::string> &names, const char *option, bool frozen,
                const std::filesystem::path &file) {
  for (const std::string &name : names) {
    const graph::TensorId id = graph.find(name);
    if (id == graph::kNone || graph.tensors[id].role != graph::Role::kParameter)
      fail(file, 0, fmt::format("{} {}: there is no parameter of that name", option, name));
    graph.tensors[id].frozen = frozen;
  }
}

std::int64_t whole_number(const std::filesystem::path &file, const std::string &field, const std::string &value) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value.empty() || error != std::errc{} || end != value.data() + value.size())
    fail(file, 0, fmt::format("{} = {} is not a whole number", field, value));
  return number;
}

graph::Graph read_onnx(const std::filesystem::path &file, graph::Variables variables, const NetworkSettings &settings,
                       bool values) {
  graph::onnx::ImportOptions options;
  options.until = settings.until;
  options.frozen = settings.frozen;
  options.learned = settings.learned;
  options.values = values;
  if (const auto batch = variables.find("batch"); batch != variables.end()) {
    options.batch = checked_dimension(file, 0, "batch", batch->second);
    variables.erase(batch);
  }
  for (const auto &[name, size] : variables)
    options.dims.emplace(name, checked_dimension(file, 0, name, size));
  return graph::onnx::read_onnx(file, graph::operators(), options);
}

graph::Graph read_any_graph(const std::filesystem::path &file, const NetworkSettings &settings, bool values) {
  constexpr InputLimit kLimit{"network (.graph)", std::uint64_t{16} << 20U};
  graph::Variables variables;
  for (const auto &[field, value] : settings.values)
    variables.emplace(field, whole_number(file, field, value));
  try {
    if (ending_of(file) == ".onnx") return read_onnx(file, std::move(variables), settings, values);
    graph::Graph graph = graph::read_graph(read_user_text(file, kLimit), file.string(), graph::operators(), variables);
    if (!settings.until.empty()) end_graph(graph, settings.until, file);
    set_frozen(graph, settings.frozen, "--frozen", true, file);
    set_frozen(graph, settings.learned, "--learned", false, file);
    return graph;
  } catch (const graph::GraphError &error) {
    throw ConfigError(error.what());
  }
}

graph::Graph load_any_graph(const std::filesystem::path &file, const NetworkSettings &settings, bool values) {
  if (const std::string extension = ending_of(file); extension == ".toml" || extension == ".csv")
    fail(file, 0, "a list of layers has no operators between them; name a whole network, a .graph or .onnx file");
  return read_any_graph(file, settings, values);
}

} // namespace

bool is_graph_file(const std::filesystem::path &file) {
  return ending_of(file) == ".graph" || ending_of(file) == ".onnx";
}

graph::Graph load_graph(const std::filesystem::path &file, const NetworkSettings &settings) {
  return load_any_graph(file, settings, false);
}

graph::Graph load_graph_and_weights(const std::filesystem::path &file, const NetworkSettings &settings) {
  return load_any_graph(file, settings, true);
}

Network load_network(const std::filesystem::path &file, const NetworkSettings &settings) {
  constexpr InputLimit kLimit{"network description (.graph, .onnx, .toml or .csv)", kMaxTextBytes};
  if (is_graph_file(file)) return graph::network_of(read_any_graph(file, settings, false), file);
  const std::string extension = ending_of(file);
  if (extension != ".toml" && extension != ".csv")
    fail(file, 0,
         "the name must end in .graph or .onnx (a whole network), .toml (a list of layers) or .csv (lines name,M,K,N)");
  if (!settings.until.empty())
    fail(file, 0, "--until is for whole networks, and this is a list of layers; choose some by --layers");
  const std::string text = read_user_text(file, kLimit);
  return extension == ".toml" ? parse_network_toml(text, file, settings) : parse_network_csv(text, file, settings);
}

namespace {

std::optional<std::size_t> parse_index(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// First and last number of "a-b", "a..b" or "a".
std::optional<std::pair<std::size_t, std::size_t>> parse_range(std::string_view item) {
  for (const std::string_view separator : {"..", "-"}) {
    const std::size_t at = item.find(separator);
    if (at == std::string_view::npos) continue;
    const auto first = parse_index(trim(item.substr(0, at)));
    const auto last = parse_index(trim(item.substr(at + separator.size())));
    if (first && last) return std::pair{*first, *last};
  }
  if (const auto single = parse_index(item)) return std::pair{*single, *single};
  return std::nullopt;
}

} // namespace

std::vector<Layer> select_layers(const Network &network, const std::string &selection) {
  const std::vector<Layer> &layers = network.layers;
  if (trim(selection).empty()) return layers;
  std::vector<bool> chosen(layers.size(), false);
  const std::string known = fmt::format("network '{}' has layers 0 to {}, '{}' to '{}'", network.name,
                                        layers.size() - 1, layers.front().name, layers.back().name);
  for (const std::string &part : split(selection, ',')) {
    const std::string_view item = trim(part);
    const auto named = std::find_if(layers.begin(), layers.end(), [&](const Layer &l) { return l.name == item; });
    if (named != layers.end()) {
      chosen[static_cast<std::size_t>(named - layers.begin())] = true;
      continue;
    }
    const auto range = parse_range(item);
    if (!range)
      throw std::invalid_argument(
          fmt::format("no layer '{}'; {}; select by name, number, or range a-b, separated by commas", item, known));
    if (range->first > range->second)
      throw std::invalid_argument(fmt::format("layer range '{}' runs backwards; write the smaller number first", item));
    if (range->second >= layers.size())
      throw std::invalid_argument(fmt::format("layer selection '{}' is beyond the last layer; {}", item, known));
    std::fill(chosen.begin() + static_cast<std::ptrdiff_t>(range->first),
              chosen.begin() + static_cast<std::ptrdiff_t>(range->second) + 1, true);
  }
  std::vector<Layer> result;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (chosen[i]) result.push_back(layers[i]);
  return result;
}

} // namespace gradweave::compiler
