// Rows for slices that overlap in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::runtime::timeline {

/// The trace-event format wants the slices of a row to nest. Commands of an engine overlap without nesting, so each
/// takes the first row that is free.
class Lanes {
public:
  /// Row for a slice of [begin, end); slices come in order of their begin.
  std::size_t take(std::uint64_t begin, std::uint64_t end) {
    std::size_t lane = 0;
    while (lane < ends_.size() && ends_[lane] > begin)
      ++lane;
    if (lane == ends_.size()) ends_.push_back(0);
    ends_[lane] = end;
    return lane;
  }

private:
  std::vector<std::uint64_t> ends_;
};

} // namespace gradweave::runtime::timeline
