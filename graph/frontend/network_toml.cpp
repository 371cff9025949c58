// Network descriptions in TOML; the format is explained in models/README.md.
#include "graph/frontend/toml_convolution.hpp"
#include "graph/frontend/toml_reader.hpp"
#include "sw_models/config/toml_section.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace gradweave::compiler {
namespace {

/// Rows of X of the layers: as given, or for each sample of the batch.
class Rows {
public:
  Rows(const std::filesystem::path &file, const TableReader &top)
      : file_(file), batch_(top.dimension("batch")), sequence_(top.dimension("sequence").value_or(1)) {}

  std::uint32_t of(const TableReader &layer) const {
    const auto m = layer.dimension("m");
    const auto per_sample = layer.dimension("m_per_sample");
    if (m && per_sample) fail(file_, layer.line(), "the layer has both 'm' and 'm_per_sample'; remove one of them");
    if (m) return *m;
    if (!batch_) fail(file_, layer.line(), "the layer has no 'm' and the network no 'batch'; add m = <whole number>");
    const std::int64_t rows = static_cast<std::int64_t>(*batch_) * per_sample.value_or(sequence_);
    if (rows > kMaxDimension)
      fail(file_, layer.line(),
           fmt::format("batch x {} = {} is more than {}; reduce one of them", per_sample ? "m_per_sample" : "sequence",
                       rows, kMaxDimension));
    return static_cast<std::uint32_t>(rows);
  }

  /// Images of a convolution.
  std::uint32_t images(const TableReader &layer) const {
    if (!batch_) fail(file_, layer.line(), "the layer has a 'conv' but the network no 'batch'; add batch = <images>");
    return *batch_;
  }

private:
  const std::filesystem::path &file_;
  std::optional<std::uint32_t> batch_;
  std::uint32_t sequence_;
};

/// The layer's dimensions, as given or by its convolution.
void read_shape(const TableReader &reader, const Rows &rows, Layer &layer) {
  if (const toml::node *conv = reader.node("conv")) {
    for (const std::string_view key : {"m", "m_per_sample", "k", "n", "groups"})
      if (reader.node(key) != nullptr)
        fail(reader.file(), reader.line(key),
             fmt::format("the layer has both 'conv' and '{}', which follows from it; remove '{}'{}", key, key,
                         key == "groups" ? " or move it into conv" : ""));
    const toml::table *table = conv->as_table();
    if (table == nullptr)
      fail(reader.file(), reader.line("conv"),
           "'conv' in a layer must be a table; write conv = { height = .., width = .., channels = .., .. }");
    set_convolution(layer, read_convolution(TableReader(reader.file(), *table, "conv"), rows.images(reader)),
                    reader.file(), reader.line("conv"));
    return;
  }
  layer.m = rows.of(reader);
  layer.k = reader.required_dimension("k");
  layer.n = reader.required_dimension("n");
  layer.groups = reader.dimension("groups").value_or(1);
  check_grouped_size(layer, reader.file(), reader.line());
}

void set(toml::table &table, const std::filesystem::path &file, const std::string &key, const std::string &value) {
  if (!set_value(table, key, value, "setting"))
    fail(file, 0, fmt::format("{} = {} is no value; give a number, true, false, or text in \"quotes\"", key, value));
}

/// The layer of a name, null if there is none.
toml::table *layer_called(toml::table &root, const std::string &name) {
  if (toml::array *layers = root["layer"].as_array())
    for (toml::node &node : *layers)
      if (toml::table *table = node.as_table(); table != nullptr && (*table)["name"].value_or(std::string()) == name)
        return table;
  return nullptr;
}

void apply(const NetworkSettings &settings, toml::table &root, const std::filesystem::path &file) {
  for (const auto &[field, value] : settings.values) {
    const std::size_t dot = field.rfind('.');
    if (toml::table *layer = dot == std::string::npos ? nullptr : layer_called(root, field.substr(0, dot))) {
      set(*layer, file, field.substr(dot + 1), value);
      continue;
    }
    if (dot != std::string::npos)
      fail(file, 0,
           fmt::format("there is no layer '{}', of which {} could be {}", field.substr(0, dot), field.substr(dot + 1),
                       value));
    if (field == "batch" && root.get("batch") == nullptr)
      fail(file, 0,
           fmt::format("the network has no 'batch' that {} could replace; add batch = <whole number> and give the "
                       "layers m_per_sample instead of m",
                       value));
    set(root, file, field, value);
  }
}

} // namespace

Network parse_network_toml(std::string_view text, const std::filesystem::path &file, const NetworkSettings &settings) {
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error &error) {
    fail(file, error.source().begin.line, fmt::format("not valid TOML: {}", error.description()));
  }
  apply(settings, root, file);

  const TableReader top(file, root, "the network");
  top.only({"name", "description", "source", "parameters", "other_parameters", "batch", "sequence", "layer"});
  Network network;
  network.name = top.text("name", file.stem().string());
  network.description = top.text("description", "");
  network.source = top.text("source", "");
  network.parameters = top.count("parameters");
  for (const toml::table *entry :
       top.tables("other_parameters", "write other_parameters = [ { what = \"..\", count = .. } ]")) {
    const TableReader reader(file, *entry, "an entry of other_parameters");
    reader.only({"what", "count"});
    const auto count = reader.count("count");
    if (!count) fail(file, reader.line(), "an entry of other_parameters has no 'count'; add count = <whole number>");
    network.other_parameters.push_back({reader.text("what", ""), *count});
  }
  const Rows rows(file, top);

  LayerList layers(file);
  bool first = true;
  for (const toml::table *entry : top.tables("layer", "start each layer with [[layer]]")) {
    const TableReader reader(file, *entry, "a layer");
    reader.only({"name", "m", "m_per_sample", "k", "n", "groups", "conv", "dx", "input", "x_of", "weights"});
    Layer layer;
    layer.name = reader.text("name", "");
    read_shape(reader, rows, layer);
    layer.dx = reader.get<bool>("dx", "true or false").value_or(!first);
    layer.input = reader.text("input", "");
    layer.x_of = reader.text("x_of", "");
    layer.weights = reader.text("weights", "");
    first = false;
    layers.add(std::move(layer), reader.line());
  }
  network.layers = layers.take();
  return network;
}

} // namespace gradweave::compiler
