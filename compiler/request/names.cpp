// Names of schedules, passes and tensors, as users and reports write them.
#include "compiler/request/names.hpp"

#include <fmt/format.h>

#include <array>
#include <ostream>
#include <utility>

namespace gradweave::compiler {
namespace {

constexpr std::array<std::pair<Pass, std::string_view>, 3> kPasses{
    {{Pass::kForward, "forward"}, {Pass::kBackward, "backward"}, {Pass::kBoth, "both"}}};

constexpr std::array<std::pair<Partition, std::string_view>, 4> kPartitions{
    {{Partition::kNone, "none"},
     {Partition::kWeightSharing, "weight_sharing"},
     {Partition::kDySharing, "dy_sharing"},
     {Partition::kIfmapSharing, "ifmap_sharing"}}};
constexpr std::array<std::pair<Reduction, std::string_view>, 2> kReductions{
    {{Reduction::kChain, "chain"}, {Reduction::kAdd, "add"}}};
constexpr std::array<std::pair<Sharing, std::string_view>, 2> kSharings{
    {{Sharing::kParts, "parts"}, {Sharing::kTurns, "turns"}}};
constexpr std::array<std::pair<Objective, std::string_view>, 3> kObjectives{
    {{Objective::kCycles, "cycles"}, {Objective::kEnergy, "energy"}, {Objective::kEdp, "edp"}}};

template <typename Table> std::string names_in(const Table &table) {
  std::string names;
  for (const auto &[value, text] : table)
    names += names.empty() ? std::string(text) : fmt::format(", {}", text);
  return names;
}

template <typename Table> auto parse(const Table &table, std::string_view name, std::string_view what) {
  for (const auto &[value, text] : table)
    if (text == name) return value;
  throw std::invalid_argument(fmt::format("unknown {} '{}'; use one of: {}", what, name, names_in(table)));
}

template <typename Table, typename Value> std::string_view name_of(const Table &table, Value wanted) {
  for (const auto &[value, text] : table)
    if (value == wanted) return text;
  return "?";
}

} // namespace

std::ostream &operator<<(std::ostream &out, Schedule s) { return out << s.name(); }

const std::vector<Schedule> &all_schedules() {
  static const std::vector<Schedule> all{Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor,
                                         Schedule::kDwMajor,    Schedule::kRearrange,  Schedule::kIdeal};
  return all;
}

Partition parse_partition(std::string_view name) { return parse(kPartitions, name, "partition"); }
std::string_view to_string(Partition p) { return name_of(kPartitions, p); }
std::string partition_names() { return names_in(kPartitions); }

Objective parse_objective(std::string_view name) { return parse(kObjectives, name, "objective"); }
std::string_view to_string(Objective o) { return name_of(kObjectives, o); }
std::string objective_names() { return names_in(kObjectives); }

const std::vector<Partition> &all_partitions() {
  static const std::vector<Partition> all{Partition::kNone, Partition::kWeightSharing, Partition::kDySharing,
                                          Partition::kIfmapSharing};
  return all;
}

Reduction parse_reduction(std::string_view name) { return parse(kReductions, name, "reduction"); }
std::string_view to_string(Reduction r) { return name_of(kReductions, r); }
std::string reduction_names() { return names_in(kReductions); }

Sharing parse_sharing(std::string_view name) { return parse(kSharings, name, "sharing"); }
std::string_view to_string(Sharing s) { return name_of(kSharings, s); }
std::string sharing_names() { return names_in(kSharings); }

Pass parse_pass(std::string_view name) { return parse(kPasses, name, "pass"); }
std::string_view to_string(Pass p) { return name_of(kPasses, p); }
std::string pass_names() { return names_in(kPasses); }

std::string_view to_string(Tensor t) {
  static constexpr std::array<std::string_view, kTensorCount> names{"X", "W", "dY", "Y", "dX", "dW"};
  return names.at(static_cast<std::size_t>(t));
}

} // namespace gradweave::compiler
