// Network descriptions in TOML; the format is explained in models/README.md.
#include "compiler/network_file.hpp"

#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

namespace gradweave::compiler {
namespace {

/// One table of the file, with errors that name the line of the entry at fault.
class TableReader {
public:
  TableReader(const std::filesystem::path &file, const toml::table &table, std::string_view what)
      : file_(file), table_(table), what_(what) {}

  void only(std::initializer_list<std::string_view> known) const {
    for (const auto &[key, node] : table_)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        fail(file_, key.source().begin.line,
             fmt::format("unknown key '{}' in {}; known keys: {}", key.str(), what_, fmt::join(known, ", ")));
  }

  template <typename T> std::optional<T> get(std::string_view key, std::string_view kind) const {
    const toml::node *node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    auto value = node->value_exact<T>();
    if (!value) fail(file_, node->source().begin.line, fmt::format("'{}' in {} must be {}", key, what_, kind));
    return value;
  }

  std::string text(std::string_view key, std::string fallback) const {
    return get<std::string>(key, "text in quotes").value_or(std::move(fallback));
  }

  std::optional<std::uint32_t> dimension(std::string_view key) const {
    const auto value = get<std::int64_t>(key, "a whole number");
    if (!value) return std::nullopt;
    return checked_dimension(file_, table_.get(key)->source().begin.line, key, *value);
  }

  std::uint32_t required_dimension(std::string_view key) const {
    const auto value = dimension(key);
    if (!value) fail(file_, line(), fmt::format("{} has no '{}'; add {} = <whole number>", what_, key, key));
    return *value;
  }

  std::size_t line() const { return table_.source().begin.line; }

private:
  const std::filesystem::path &file_;
  const toml::table &table_;
  std::string_view what_;
};

/// Rows of X of the layers: as given, or for each sample of the batch.
class Rows {
public:
  Rows(const std::filesystem::path &file, const TableReader &top, std::optional<std::uint32_t> batch)
      : file_(file), batch_(top.dimension("batch")), sequence_(top.dimension("sequence").value_or(1)) {
    if (!batch) return;
    if (!batch_)
      fail(file, 0,
           fmt::format("the network has no 'batch' that {} could replace; add batch = <whole number> and give the "
                       "layers m_per_sample instead of m",
                       *batch));
    batch_ = checked_dimension(file, 0, "batch", *batch);
  }

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

private:
  const std::filesystem::path &file_;
  std::optional<std::uint32_t> batch_;
  std::uint32_t sequence_;
};

} // namespace

Network load_network_toml(const std::filesystem::path &file, std::optional<std::uint32_t> batch) {
  const std::string text = read_text(file);
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error &error) {
    fail(file, error.source().begin.line, fmt::format("not valid TOML: {}", error.description()));
  }

  const TableReader top(file, root, "the network");
  top.only({"name", "description", "batch", "sequence", "layer"});
  Network network;
  network.name = top.text("name", file.stem().string());
  network.description = top.text("description", "");
  const Rows rows(file, top, batch);

  LayerList layers(file);
  if (const toml::node *node = root.get("layer")) {
    const toml::array *entries = node->as_array();
    if (entries == nullptr || !entries->is_homogeneous(toml::node_type::table))
      fail(file, node->source().begin.line, "'layer' must be a list of tables; start each layer with [[layer]]");
    bool first = true;
    for (const toml::node &entry : *entries) {
      const TableReader reader(file, *entry.as_table(), "a layer");
      reader.only({"name", "m", "m_per_sample", "k", "n", "dx"});
      Layer layer;
      layer.name = reader.text("name", "");
      layer.m = rows.of(reader);
      layer.k = reader.required_dimension("k");
      layer.n = reader.required_dimension("n");
      layer.dx = reader.get<bool>("dx", "true or false").value_or(!first);
      first = false;
      layers.add(std::move(layer), reader.line());
    }
  }
  network.layers = layers.take();
  return network;
}

} // namespace gradweave::compiler
