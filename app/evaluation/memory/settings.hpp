// What the evaluation of the memory model runs: networks, machines, ranges.
#pragma once

#include "app/evaluation/study/study.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::evaluation::memory {

struct MemoryNetwork {
  std::string name;  ///< as in the thesis's figures
  std::string model; ///< a name or a path
  std::uint32_t batch = 1;
};

/// A line of table 5.2.
struct MemoryMachine {
  std::string name;
  double throughput = 0; ///< T operations/s
  double capacity = 0;   ///< MiB
  double bandwidth = 0;  ///< GB/s
};

/// What placement is to reach: percent less time than the thesis's policy takes on the same capacity.
struct PlacementTarget {
  std::string network, policy;
  std::uint32_t capacity = 0; ///< MiB
  double at_least = 0, aim = 0;
};

struct MemoryStudy : Study {
  double bandwidth = 0, throughput = 0;                 ///< of all figures that say nothing else; GB/s, T operations/s
  double quick_throughput = 0, fast_bandwidth = 0;      ///< of the second lines of figures 5.3 and 5.4
  std::uint32_t from = 0, to = 0, step = 0;             ///< capacities, MiB
  std::vector<std::uint32_t> breakdown, placement;      ///< capacities of figure 5.5 and of placement, MiB
  std::vector<std::uint32_t> batches;                   ///< of figure 5.6
  std::uint32_t small_capacity = 0, large_capacity = 0; ///< of figure 5.6, MiB
  std::vector<MemoryNetwork> networks;
  std::vector<MemoryMachine> machines;
  std::vector<PlacementTarget> targets;

  /// from, from + step, ... to, in bytes.
  std::vector<std::uint64_t> capacities() const;
};

/// Reads what the study has besides (memory.toml), networks only of those names (empty: all). Throws ConfigError naming
/// file, line, key and remedy; std::invalid_argument that lists the names if one is unknown.
MemoryStudy read_memory_study(const Study &study, const std::vector<std::string> &networks);

} // namespace gradweave::evaluation::memory
