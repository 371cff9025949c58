// Flows of the largest profit along a line of places.
#pragma once

#include <cstdint>
#include <vector>

namespace gradweave::memory_model {

/// What may be held from one place of a line to a later one: up to so many units, each of so much profit.
struct Interval {
  std::uint32_t from = 0, to = 0;
  std::uint64_t units = 0;
  std::int64_t profit = 0; ///< of a unit, above 0
};

/// Which intervals to hold, and how much of each, when at most so many units can be held between one place and the
/// next: the most profit, exactly. It is a flow of as many units as there is room from the first place to the last,
/// along intervals or past them, and grows by shortest paths, so each larger room begins where the one before ended.
class IntervalFlow {
public:
  IntervalFlow(std::uint32_t places, std::vector<Interval> intervals);

  /// Lets the room grow to so many units; never less than before.
  void grow(std::uint64_t room);
  /// Units held of each interval.
  std::vector<std::uint64_t> held() const;

private:
  struct Arc {
    std::uint32_t to;
    std::uint32_t reverse; ///< index among arcs of `to`
    std::uint64_t left;
    std::int64_t cost;
  };
  void add_arc(std::uint32_t from, std::uint32_t to, std::uint64_t units, std::int64_t cost);
  void first_potentials();
  bool find_path();
  std::uint64_t push(std::uint64_t most);

  std::vector<Interval> intervals_;
  std::vector<std::vector<Arc>> arcs_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arc_of_; ///< of each interval
  std::vector<std::int64_t> potential_, distance_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> came_by_; ///< place and index of its arc
  std::uint64_t room_ = 0;
};

} // namespace gradweave::memory_model
