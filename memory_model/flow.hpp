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
    std::uint64_t left = 0;
    std::int64_t cost = 0;
    std::uint32_t to = 0;
  };
  /// Of a walk: an arc, and how many places had been seen before.
  struct Stage {
    std::uint32_t arc, entered;
  };
  /// Places from one to another, both of them.
  struct Stretch {
    std::uint32_t from, to;
  };
  void relax(std::uint32_t place, Stretch &before, Stretch &behind);
  bool find_distances();
  void begin_walks();
  void enter(std::uint32_t place);
  bool walk(std::size_t most);
  std::uint64_t push(std::uint64_t most);

  std::vector<Interval> intervals_;
  std::vector<std::uint32_t> first_; ///< arc of each place, of those one after the other; one more at the end
  std::vector<Arc> arcs_;
  std::vector<std::uint32_t> reverse_;         ///< of each arc
  std::vector<std::uint32_t> arc_of_;          ///< of each interval
  std::vector<std::int64_t> distance_;         ///< from the first place
  std::vector<std::uint8_t> nearer_;           ///< places whose arcs have to be looked at
  std::vector<std::uint32_t> seen_, next_arc_; ///< in which search a place was seen; the arc to try
  std::vector<std::uint32_t> entered_;         ///< places in the order in which they were seen
  std::vector<Stage> way_;                     ///< of the walk, from the first place
  std::uint32_t search_ = 0;                   ///< for walks of a length
  std::uint64_t room_ = 0;
};

} // namespace gradweave::memory_model
