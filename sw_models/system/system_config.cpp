#include "sw_models/system/system_config.hpp"

#include "sw_models/config/toml_section.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gradweave {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxFileBytes = 1U << 20U;
constexpr std::uint64_t kPsPerNs = 1000;
constexpr std::uint32_t kMaxNs = 1'000'000'000;
constexpr std::uint32_t kMostLayers = 1'000'000;
constexpr std::array<std::string_view, 10> kKeys{"name",  "host",      "device", "link",      "port",
                                                 "flash", "processor", "tables", "partition", "route"};

/// Names of what there is, for messages.
template <class T> std::string names_of(const std::vector<T> &all) {
  std::vector<std::string_view> names;
  for (const T &one : all)
    names.push_back(one.name);
  return all.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

class SystemFile {
public:
  SystemFile(std::string_view text, std::string file) : file_(std::move(file)) {
    try {
      root_ = toml::parse(text, file_);
    } catch (const toml::parse_error &e) {
      refuse_config(file_, e.source().begin.line, fmt::format("not TOML: {}", e.description()));
    }
    for (const auto &[key, node] : root_)
      if (std::find(kKeys.begin(), kKeys.end(), key.str()) == kKeys.end())
        refuse_config(file_, node.source().begin.line,
                      fmt::format("unknown table or key '{}'; known: {}", key.str(), fmt::join(kKeys, ", ")));
  }

  SystemConfig read() {
    system_.file = file_;
    const toml::node *name = root_.get("name");
    if (name == nullptr || !name->is_string())
      refuse_config(file_, 0, "missing name; add, for example, name = \"near2\"");
    system_.name = name->as_string()->get();
    read_host();
    each("port", false, [this](TomlSection &s) { read_port(s); });
    each("link", true, [this](TomlSection &s) { read_link(s); });
    each("flash", false, [this](TomlSection &s) { read_flash(s); });
    each("processor", false, [this](TomlSection &s) { read_processor(s); });
    each("device", true, [this](TomlSection &s) { read_device(s); });
    if (root_.contains("tables")) read_tables();
    read_partition();
    return std::move(system_);
  }

private:
  /// Calls `read` for all tables of an array of tables.
  template <class Read> void each(const std::string &name, bool required, const Read &read) {
    const toml::node *node = root_.get(name);
    if (node == nullptr && !required) return;
    if (node == nullptr) refuse_config(file_, 0, fmt::format("there is no {0}; add a table [[{0}]]", name));
    if (!node->is_array_of_tables())
      refuse_config(file_, node->source().begin.line, fmt::format("'{0}' is no array of tables; write [[{0}]]", name));
    for (const toml::node &table : *node->as_array()) {
      TomlSection section(file_, *table.as_table(), name);
      read(section);
      section.reject_unknown_keys();
    }
  }

  const toml::table &table(const std::string &name) {
    const toml::node *node = root_.get(name);
    if (node == nullptr || !node->is_table())
      refuse_config(file_, node == nullptr ? 0 : node->source().begin.line,
                    fmt::format("missing table [{0}]; add [{0}] and its keys", name));
    return *node->as_table();
  }

  template <class T> std::string new_name(TomlSection &s, const std::vector<T> &all, std::string_view what) {
    std::string name = s.text("name", fmt::format("\"{}0\"", what));
    for (const T &other : all)
      if (other.name == name) s.refuse("name", fmt::format("there are two of [[{}]] with the name '{}'", what, name));
    return name;
  }

  template <class T>
  std::uint32_t find(TomlSection &s, std::string_view key, const std::string &name, const std::vector<T> &all,
                     std::string_view what) {
    for (std::uint32_t i = 0; i < all.size(); ++i)
      if (all[i].name == name) return i;
    s.refuse(key, fmt::format("unknown {} '{}'; there are: {}", what, name, names_of(all)));
  }

  static std::uint64_t ps(TomlSection &s, std::string_view key, std::uint64_t least, std::string_view example) {
    return kPsPerNs * s.integer(key, least, kMaxNs, example);
  }
  static double gb_s(TomlSection &s, std::string_view key, std::string_view example) {
    return s.number(key, 0.001, 100'000, example);
  }

  void read_host() {
    TomlSection s(file_, table("host"), "host");
    system_.notify_ps = ps(s, "notify_ns", 1, "200");
    s.reject_unknown_keys();
  }

  void read_port(TomlSection &s) {
    PortConfig port;
    port.name = new_name(s, system_.ports, "port");
    port.bandwidth_gb_s = gb_s(s, "bandwidth_gb_s", "16");
    system_.ports.push_back(std::move(port));
  }

  void read_link(TomlSection &s) {
    LinkConfig link;
    link.name = new_name(s, system_.links, "link");
    link.bandwidth_gb_s = gb_s(s, "bandwidth_gb_s", "4");
    link.latency_ps = ps(s, "latency_ns", 0, "300");
    link.packet_bytes = s.integer32("packet_bytes", 64, 4096, "256");
    if ((link.packet_bytes & (link.packet_bytes - 1)) != 0)
      s.refuse("packet_bytes", fmt::format("packet_bytes = {} is not a power of two", link.packet_bytes));
    link.overhead_bytes = s.integer32("overhead_bytes", 0, 4096, "24");
    if (const auto port = s.text_if_any("port", "\"root\"")) link.port = find(s, "port", *port, system_.ports, "port");
    system_.links.push_back(std::move(link));
  }

  void read_flash(TomlSection &s) {
    FlashConfig flash;
    flash.name = new_name(s, system_.flashes, "flash");
    flash.size_bytes = s.integer("size_bytes", kFlashBlock, std::uint64_t{1} << 44U, "1073741824");
    if (flash.size_bytes % kFlashBlock != 0)
      s.refuse("size_bytes",
               fmt::format("size_bytes = {} is not a multiple of {}, a block", flash.size_bytes, kFlashBlock));
    flash.channels = s.integer32("channels", 1, 1024, "8");
    flash.read_ps = ps(s, "read_ns", 0, "60000");
    flash.channel_gb_s = gb_s(s, "channel_gb_s", "1.2");
    flash.program_ps = kPsPerNs * s.integer32_or("program_ns", 0, kMaxNs, 0);
    system_.flashes.push_back(std::move(flash));
  }

  void read_processor(TomlSection &s) {
    ProcessorConfig processor;
    processor.name = new_name(s, system_.processors, "processor");
    processor.start_ps = ps(s, "start_ns", 0, "1000");
    processor.gb_s = gb_s(s, "gb_s", "2");
    system_.processors.push_back(std::move(processor));
  }

  void read_device(TomlSection &s) {
    DeviceConfig device;
    device.name = new_name(s, system_.devices, "device");
    const std::string role = s.text("role", "\"storage\"");
    if (role != "storage" && role != "npu")
      s.refuse("role", fmt::format("role = \"{}\" is none; use storage or npu", role));
    device.role = role == "storage" ? DeviceRole::kStorage : DeviceRole::kNpu;
    const std::string npu = s.text("npu", "\"../near32x16.toml\"");
    device.npu_file = (fs::path(file_).parent_path() / npu).lexically_normal().string();
    device.machine = machine_of(s, npu, device.npu_file);
    device.link = find(s, "link", s.text("link", "\"pcie\""), system_.links, "link");
    if (const auto flash = s.text_if_any("flash", "\"nand\"")) {
      if (device.role != DeviceRole::kStorage)
        s.refuse("flash",
                 fmt::format("device '{}' has role npu; flash lies behind devices with role storage", device.name));
      device.flash = find(s, "flash", *flash, system_.flashes, "flash");
    }
    if (const auto processor = s.text_if_any("processor", "\"arm\""))
      device.processor = find(s, "processor", *processor, system_.processors, "processor");
    system_.devices.push_back(std::move(device));
  }

  /// The file that a device names, its memory's bandwidth changed if the device says so.
  Machine machine_of(TomlSection &s, const std::string &npu, const std::string &npu_file) {
    Overrides overrides;
    if (const auto bandwidth = s.number_if_any("dram_gb_s", 0.001, 100'000, "19.25"))
      overrides.push_back({"memory", "bandwidth_gb_s", fmt::format("{}", *bandwidth), file_ + ": dram_gb_s"});
    try {
      return load_machine(npu_file, overrides);
    } catch (const ConfigError &e) {
      s.refuse("npu", fmt::format("npu = \"{}\": {}", npu, e.what()));
    }
  }

  void read_tables() {
    TomlSection s(file_, table("tables"), "tables");
    TablesConfig &tables = system_.tables;
    for (const std::string &name : s.texts("devices", "[\"ssd0\"]")) {
      add_device(s, "devices", name, tables.devices);
      const DeviceConfig &device = system_.devices[tables.devices.back()];
      if (!device.flash || system_.flashes[*device.flash].program_ps == 0)
        s.refuse("devices", fmt::format("device '{}' has no flash that can be written; give it a key flash, and that "
                                        "[[flash]] a program_ns above 0",
                                        name));
      if (!device.processor)
        s.refuse("devices", fmt::format("device '{}' has no processor for rows of tables; give it a key processor, the "
                                        "name of a [[processor]]",
                                        name));
    }
    if (tables.devices.empty()) s.refuse("devices", "tables lie on one device at least; or leave out [tables]");
    tables.reduced = choice(s, "sends", "sums", "rows");
    s.reject_unknown_keys();
  }

  /// [partition] has a cut, or routes have, and it only says how they are trained.
  void read_partition() {
    const bool routes = root_.contains("route");
    if (routes) each("route", true, [this](TomlSection &s) { read_route(s); });
    if (routes && !root_.contains("partition")) return;
    const toml::table &own = table("partition");
    TomlSection s(file_, own, "partition");
    if (!routes) read_cut(s, own);
    PartitionConfig &p = system_.partition;
    p.micro_batches = s.integer32_or("micro_batches", 1, 1024, 1);
    read_order(s);
    s.reject_unknown_keys();
  }

  void read_cut(TomlSection &s, const toml::table &own) {
    const std::uint32_t cut = s.integer32("cut", 0, kMostLayers, "2");
    const std::uint32_t upper = find(s, "upper", s.text("upper", "\"npu\""), system_.devices, "device");
    std::vector<std::uint32_t> lower;
    for (const std::string &name : s.texts("lower", "[\"ssd0\", \"ssd1\"]"))
      add_device(s, "lower", name, lower);
    if (std::find(lower.begin(), lower.end(), upper) != lower.end())
      s.refuse("lower",
               fmt::format("device '{}' is the upper one, too; it can be one of both", system_.devices[upper].name));
    if (cut > 0 && lower.empty())
      s.refuse("lower", fmt::format("cut = {}: layers below the cut need a device; name one or several", cut));
    system_.partition = PartitionConfig::of_cut(cut, lower, upper);
    for (RouteConfig &route : system_.partition.routes)
      route.line = own.get("cut")->source().begin.line;
  }

  void read_route(TomlSection &s) {
    RouteConfig route;
    route.share = s.integer32_or("share", 1, kMostLayers, 1);
    for (const std::string &name : s.texts("devices", "[\"ssd0\", \"npu\"]"))
      add_device(s, "devices", name, route.devices);
    if (route.devices.empty()) s.refuse("devices", "a route goes through one device at least");
    route.cuts = s.integers32("cuts", 0, kMostLayers, "[2]");
    route.line = s.line("devices");
    if (route.cuts.size() + 1 != route.devices.size())
      s.refuse("cuts", fmt::format("{} cuts for {} devices; give the first layer of each device but the first",
                                   route.cuts.size(), route.devices.size()));
    if (!std::is_sorted(route.cuts.begin(), route.cuts.end()))
      s.refuse("cuts", fmt::format("cuts = [{}] must ascend", fmt::join(route.cuts, ", ")));
    system_.partition.routes.push_back(std::move(route));
  }

  void read_order(TomlSection &s) {
    PipelineOrder &order = system_.partition.order;
    order.backward_first = choice(s, "first", "backward", "forward");
    order.eager_moves = choice(s, "moves", "eager", "lazy");
  }

  /// Whether a key has the first of two values, which it has if it is left out.
  static bool choice(TomlSection &s, std::string_view key, std::string_view yes, std::string_view no) {
    const auto text = s.text_if_any(key, fmt::format("\"{}\"", yes));
    if (text && *text != yes && *text != no)
      s.refuse(key, fmt::format("{} = \"{}\" is none; use {} or {}", key, *text, yes, no));
    return !text || *text == yes;
  }

  void add_device(TomlSection &s, std::string_view key, const std::string &name, std::vector<std::uint32_t> &all) {
    const std::uint32_t device = find(s, key, name, system_.devices, "device");
    if (std::find(all.begin(), all.end(), device) != all.end())
      s.refuse(key, fmt::format("device '{}' is there twice", name));
    all.push_back(device);
  }

  std::string file_;
  toml::table root_;
  SystemConfig system_;
};

} // namespace

PartitionConfig PartitionConfig::of_cut(std::uint32_t cut, const std::vector<std::uint32_t> &lower,
                                        std::uint32_t upper) {
  PartitionConfig partition;
  if (cut == 0) partition.routes.push_back({1, {upper}, {}});
  for (std::size_t part = 0; cut > 0 && part < lower.size(); ++part)
    partition.routes.push_back({1, {lower[part], upper}, {cut}});
  return partition;
}

std::string to_string(const PipelineOrder &order) {
  return fmt::format("{}_first, {}_moves", order.backward_first ? "backward" : "forward",
                     order.eager_moves ? "eager" : "lazy");
}

std::uint64_t LinkConfig::packet_ps(std::uint64_t bytes, double bandwidth_gb_s) {
  // The bandwidth in bytes a second is a whole number for all that a file can say to the 9th decimal.
  const auto bytes_per_s = static_cast<std::uint64_t>(std::llround(bandwidth_gb_s * 1e9));
  return (bytes * 1'000'000'000'000U + bytes_per_s - 1) / bytes_per_s;
}

std::uint64_t ProcessorConfig::command_ps(std::uint64_t bytes) const {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20U;
  return start_ps + bytes / kPiece * LinkConfig::packet_ps(kPiece, gb_s) + LinkConfig::packet_ps(bytes % kPiece, gb_s);
}

SystemConfig load_system(const fs::path &file) {
  return parse_system(read_user_text(file, {"system file", kMaxFileBytes}), file.string());
}

SystemConfig parse_system(std::string_view text, const std::string &file) { return SystemFile(text, file).read(); }

} // namespace gradweave
