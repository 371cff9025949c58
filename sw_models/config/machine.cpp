#include "sw_models/config/machine.hpp"

#include "sw_models/config/toml_section.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

namespace gradweave {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxFileBytes = 1U << 20U;
constexpr std::array<std::string_view, 3> kTables{"npu", "memory", "energy"};

std::string text_of(const fs::path &file) { return read_user_text(file, {"NPU configuration", kMaxFileBytes}); }

/// A file of tables, any of which may be that of another file.
class TableFile {
public:
  TableFile(std::string_view text, std::string file, const Overrides &overrides)
      : file_(std::move(file)), overrides_(overrides) {
    try {
      root_ = toml::parse(text, file_);
    } catch (const toml::parse_error &e) {
      refuse_config(file_, e.source().begin.line, fmt::format("not TOML: {}", e.description()));
    }
    for (const auto &[key, node] : root_)
      if (std::find(kTables.begin(), kTables.end(), key.str()) == kTables.end())
        refuse_config(file_, node.source().begin.line,
                      fmt::format("unknown table or key '{}'; known tables: {}", key.str(), fmt::join(kTables, ", ")));
    for (const Override &o : overrides_) {
      if (o.table == "energy") root_.insert(o.table, toml::table{}); // if there is none
      if (toml::table *table = root_[o.table].as_table(); table && !set_value(*table, o.key, o.value, o.source))
        refuse_config(o.source, 0, fmt::format("'{}' is no value; write a number, or text in \"quotes\"", o.value));
    }
  }

  bool has(const std::string &name) const { return root_.contains(name); }

  /// What `read` makes of the table `name`, here or in the file that is named instead.
  template <typename Read> auto read(const std::string &name, const Read &read) const {
    const toml::node &node = node_of(name);
    if (!node.is_string()) return read(section(name));
    const std::string &path = node.as_string()->get();
    try {
      const fs::path file = fs::path(file_).parent_path() / path;
      const TableFile there(text_of(file), file.string(), overrides_);
      return read(there.section(name));
    } catch (const ConfigError &error) {
      refuse_config(file_, node.source().begin.line, fmt::format("{} = \"{}\": {}", name, path, error.what()));
    }
  }

private:
  const toml::node &node_of(const std::string &name) const {
    const toml::node *node = root_.get(name);
    if (node == nullptr) refuse_config(file_, 0, fmt::format("missing table [{0}]; add [{0}] and its keys", name));
    return *node;
  }

  TomlSection section(const std::string &name) const {
    const toml::node &node = node_of(name);
    if (!node.is_table())
      refuse_config(file_, node.source().begin.line, fmt::format("'{0}' is not a table; write [{0}]", name));
    return {file_, *node.as_table(), name};
  }

  std::string file_;
  const Overrides &overrides_;
  toml::table root_;
};

/// Whether T can be made of four values. What has a base cannot be decomposed, by which other structs are seen to have
/// no field that nobody decided about.
struct Anything {
  template <typename T> operator T() const; // NOLINT(google-explicit-constructor)
};
template <typename T, typename = void> struct HasFourth : std::false_type {};
template <typename T>
struct HasFourth<T, std::void_t<decltype(T{Anything{}, Anything{}, Anything{}, Anything{}})>> : std::true_type {};

NpuConfig npu_of(const TableFile &file) {
  return file.read("npu", [](TomlSection section) { return read_npu_config(section); });
}

} // namespace

Machine load_machine(const fs::path &file, const Overrides &overrides) {
  return parse_machine(text_of(file), file.string(), overrides);
}

Machine parse_machine(std::string_view text, const std::string &file, const Overrides &overrides) {
  const TableFile tables(text, file, overrides);
  Machine machine{npu_of(tables), {}, {}};
  for (const Override &o : overrides)
    if (o.table == "npu" && o.key != "name") machine.name += fmt::format("+{}={}", o.key, o.value);
  machine.memory = tables.read("memory", [&](TomlSection section) { return read_memory_config(section, machine); });
  if (tables.has("energy"))
    machine.energy = tables.read("energy", [](TomlSection section) { return read_energy_config(section); });
  return machine;
}

NpuConfig load_npu_config(const fs::path &file) { return npu_of(TableFile(text_of(file), file.string(), {})); }

Fingerprint fingerprint(const Machine &machine) {
  static_assert(!HasFourth<Machine>::value, "a field that is not decomposed here");
  const NpuConfig &npu = machine;
  return Fingerprint().add(fingerprint(npu), fingerprint(machine.memory));
}

} // namespace gradweave
