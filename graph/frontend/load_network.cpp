// Dispatch to the frontends, and layer selection.
#include "graph/frontend/load_network.hpp"
#include "graph/frontend/csv_rows.hpp"
#include "graph/frontend/network_file.hpp"
#include "graph/ir/error.hpp"
#include "graph/layers.hpp"
#include "graph/operators/table.hpp"
#include "graph/text/read.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

namespace gradweave::compiler {

Network load_network(const std::filesystem::path &file, const NetworkSettings &settings) {
  constexpr InputLimit kLimit{"network description (.graph, .toml or .csv)", kMaxTextBytes};
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : static_cast<char>(c);
  });
  if (extension == ".graph") return graph::network_of(load_graph(file, settings), file);
  if (extension == ".toml") return parse_network_toml(read_user_text(file, kLimit), file, settings);
  if (extension == ".csv") return parse_network_csv(read_user_text(file, kLimit), file, settings);
  fail(file, 0, "the name must end in .graph (a whole network), .toml (a list of layers) or .csv (lines name,M,K,N)");
}

namespace {

std::int64_t whole_number(const std::filesystem::path &file, const std::string &field, const std::string &value) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value.empty() || error != std::errc{} || end != value.data() + value.size())
    fail(file, 0, fmt::format("{} = {} is not a whole number", field, value));
  return number;
}

} // namespace

graph::Graph load_graph(const std::filesystem::path &file, const NetworkSettings &settings) {
  constexpr InputLimit kLimit{"network (.graph)", std::uint64_t{16} << 20U};
  graph::Variables variables;
  for (const auto &[field, value] : settings.values)
    variables.emplace(field, whole_number(file, field, value));
  try {
    return graph::read_graph(read_user_text(file, kLimit), file.string(), graph::operators(), variables);
  } catch (const graph::GraphError &error) {
    throw ConfigError(error.what());
  }
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
  std::string_view rest = selection;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = trim(rest.substr(0, comma));
    more = comma != std::string_view::npos;
    rest.remove_prefix(more ? comma + 1 : rest.size());

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
