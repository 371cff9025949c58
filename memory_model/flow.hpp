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
/// Paths of equal length are taken together: one search for distances, then as many walks as they allow.
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
  /// Places from one to another, both of them.
  struct Stretch {
    std::uint32_t from, to;
  };
  void relax(std::uint32_t place, Stretch &before, Stretch &behind);
  bool find_distances();
  bool walk();
  std::uint64_t push(std::uint64_t most);

  std::vector<Interval> intervals_;
  std::vector<std::vector<Arc>> arcs_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arc_of_;  ///< of each interval
  std::vector<std::int64_t> distance_;                           ///< from the first place
  std::vector<std::uint8_t> nearer_;                             ///< places whose arcs have to be looked at
  std::vector<std::pair<std::uint32_t, std::uint32_t>> came_by_; ///< of a walk: place and index of its arc
  std::vector<std::uint32_t> seen_, next_arc_;                   ///< by which walk a place was seen; the arc to try
  std::uint32_t walks_ = 0;
  std::uint64_t room_ = 0;
};

} // namespace gradweave::memory_model
