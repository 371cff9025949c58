#include "app/report/energy/accelergy.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace gradweave::report {
namespace {

constexpr std::uint32_t kWordBytes = 8;
constexpr std::string_view kVersion = "0.3", kDesign = "npu";

struct Action {
  std::string_view name;
  std::string count;
  double picojoules = 0;
};

/// What Accelergy calls a component. A list of instances has all counts at its first one.
struct Component {
  std::string name;
  std::uint64_t instances = 1; ///< 1: no list
  std::string_view type;       ///< class
  std::vector<std::string> attributes;
  std::vector<Action> actions;

  std::string all() const { return instances == 1 ? name : fmt::format("{}[0..{}]", name, instances - 1); }
  std::string first() const { return instances == 1 ? name : name + "[0]"; }
};

/// Bytes as words: a decimal fraction, exactly.
std::string words(std::uint64_t bytes) {
  constexpr std::uint64_t kThousandths = 1000 / kWordBytes;
  const std::uint64_t rest = bytes % kWordBytes;
  return rest == 0 ? fmt::format("{}", bytes / kWordBytes)
                   : fmt::format("{}.{:03}", bytes / kWordBytes, rest * kThousandths);
}

std::vector<Component> components_of(const AccessCounts &c, std::uint64_t cycles, const Machine &npu) {
  const EnergyConfig &price = npu.energy;
  const std::string word = fmt::format("width: {}", 8 * kWordBytes);
  std::vector<Component> all{
      {"pe",
       std::uint64_t{npu.rows} * npu.cols * npu.cores,
       "fpmac",
       {"datawidth: 16"},
       {{"mac_random", fmt::format("{}", c.macs), price.mac_pj},
        {"mac_gated", fmt::format("{}", c.idle_macs), price.idle_mac_pj}}},
      {"adder",
       std::uint64_t{npu.cols} * npu.cores,
       "fpadder",
       {"datawidth: 32"},
       {{"add", fmt::format("{}", c.adds), price.add_pj}}},
      {"scratchpad",
       1,
       "SRAM",
       {word, fmt::format("depth: {}", npu.spm_bytes / kWordBytes), fmt::format("n_banks: {}", npu.spm_banks)},
       {{"read", words(c.spm_read_bytes()), kWordBytes * npu.spm_read_pj_per_byte()},
        {"write", words(c.spm_write_bytes()), kWordBytes * npu.spm_write_pj_per_byte()}}},
      {"bus",
       1,
       "wire",
       {fmt::format("datawidth: {}", 8 * kWordBytes), "length: \"5mm\""},
       {{"transfer", words(c.bus_bytes), kWordBytes * price.bus_pj_per_byte}}},
      {"dram",
       1,
       "DRAM",
       {word},
       {{"read", words(c.dram_read_bytes), kWordBytes * price.dram_pj_per_byte},
        {"write", words(c.dram_write_bytes), kWordBytes * price.dram_pj_per_byte}}}};
  if (price.static_mw > 0)
    all.push_back(
        {"static", 1, "static_power", {}, {{"cycle", fmt::format("{}", cycles), price.static_mw / npu.clock_ghz}}});
  return all;
}

/// Of an export to that file: the file itself, or the one beside it.
std::filesystem::path checked(const std::filesystem::path &file, std::size_t schedules, std::string_view extension) {
  if (file.extension() != ".yaml")
    throw std::invalid_argument(fmt::format(
        "--accelergy {}: Accelergy reads files whose names end in .yaml; give it such a name", file.string()));
  if (schedules != 1)
    throw std::invalid_argument(fmt::format("--accelergy {}: a file holds one schedule, but {} are asked for; pick one "
                                            "with --schedule",
                                            file.string(), schedules));
  return std::filesystem::path(file).replace_extension(extension);
}

} // namespace

AccelergyFiles::AccelergyFiles(const std::string &file, std::size_t schedules)
    : counts_(checked(file, schedules, ".yaml")), prices_(checked(file, schedules, ".ert.yaml")) {}

void AccelergyFiles::commit(const AccessCounts &counts, std::uint64_t cycles, const Machine &machine) {
  counts_.commit(accelergy_counts(counts, cycles, machine));
  prices_.commit(accelergy_prices(machine));
}

std::string accelergy_counts(const AccessCounts &counts, std::uint64_t cycles, const Machine &machine) {
  const std::vector<Component> components = components_of(counts, cycles, machine);
  std::string text = fmt::format("architecture:\n  version: {}\n  subtree:\n    - name: {}\n      attributes:\n"
                                 "        technology: \"45nm\"\n      local:\n",
                                 kVersion, kDesign);
  for (const Component &component : components) {
    text += fmt::format("        - name: {}\n          class: {}\n", component.all(), component.type);
    if (!component.attributes.empty()) text += "          attributes:\n";
    for (const std::string &attribute : component.attributes)
      text += fmt::format("            {}\n", attribute);
  }
  text += fmt::format("action_counts:\n  version: {}\n  subtree:\n    - name: {}\n      local:\n", kVersion, kDesign);
  for (const Component &component : components) {
    text += fmt::format("        - name: {}\n          action_counts:\n", component.first());
    for (const Action &action : component.actions)
      text += fmt::format("            - name: {}\n              counts: {}\n", action.name, action.count);
  }
  return text;
}

std::string accelergy_prices(const Machine &machine) {
  std::string text = fmt::format("ERT:\n  version: {}\n  tables:\n", kVersion);
  for (const Component &component : components_of({}, 0, machine)) {
    text += fmt::format("    - name: {}.{}\n      actions:\n", kDesign, component.all());
    for (const Action &action : component.actions)
      text += fmt::format("        - name: {}\n          arguments: {{}}\n          energy: {}\n", action.name,
                          action.picojoules);
  }
  return text;
}

} // namespace gradweave::report
