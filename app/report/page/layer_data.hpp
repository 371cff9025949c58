// What the pages of runs read of a record (docs/report.md): layers, and what they are on.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::report {

using Json = nlohmann::ordered_json;

/// So many layers at most have a row of their own in a drawing: those that take longest.
inline constexpr std::size_t kDrawnLayers = 80;
/// And so many have a dot.
inline constexpr std::size_t kDrawnDots = 300;

/// The machine of a record's `npu`.
struct NpuFacts {
  std::string name;
  double rows = 0, cols = 0, cores = 1, clock_ghz = 1, dram_gb_s = 0;

  explicit NpuFacts(const Json &npu);
  /// Multiply-adds in a cycle at most.
  double peak() const { return rows * cols * cores; }
  double bytes_a_cycle() const { return dram_gb_s / clock_ghz; }
};

/// The layers of one schedule, in network order; they are those of `report`, which must outlive them.
std::vector<const Json *> layers_of(const Json &report, const std::string &schedule);
/// The layers that take longest, `most` of them at most, in their order.
std::vector<const Json *> longest(const std::vector<const Json *> &layers, std::size_t most);
/// Sorts by this number, the highest first; of equal ones those that come first in the record.
void slowest_first(std::vector<const Json *> &layers, const char *cycles);
/// " Drawn are the 80 of 120 layers that take longest.", or nothing if all are drawn.
std::string which_are_drawn(std::size_t layers, std::size_t most);

/// In what unit to draw numbers up to `largest`: "kB" of bytes, so that none of them is 0.000 of something.
struct DrawnUnit {
  std::string name;
  double size; ///< of one, in bytes or cycles
};
DrawnUnit unit_of_bytes(double largest);
/// "cycles", "thousand cycles", "million cycles".
DrawnUnit unit_of_count(double largest, const std::string &what);

std::uint64_t counter(const Json &layer, const std::string &name);
/// Of all cores: the counters of a name with and without a core's number.
std::uint64_t core_counters(const Json &layer, const std::string &name, std::uint64_t cores);
/// Bytes of elements moved, of a tensor or of all of a layer.
double tensor_bytes(const Json &tensor);
double layer_bytes(const Json &layer);
/// Of a stream file: a layer without a plan.
inline bool is_planned(const Json &layer) { return layer.contains("dram"); }

} // namespace gradweave::report
