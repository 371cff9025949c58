// Which elements of a value areas have to do with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>

namespace gradweave::compiler {

/// Elements, in ranges that do not touch.
class Ranges {
public:
  void add(std::size_t first, std::size_t end) {
    auto next = ends_.upper_bound(first);
    if (next != ends_.begin() && std::prev(next)->second >= first) {
      --next;
      first = next->first;
    }
    for (; next != ends_.end() && next->first <= end; next = ends_.erase(next))
      end = std::max(end, next->second);
    ends_[first] = end;
  }
  bool overlap(std::size_t first, std::size_t end) const {
    const auto next = ends_.lower_bound(end);
    return next != ends_.begin() && std::prev(next)->second > first;
  }

private:
  std::map<std::size_t, std::size_t> ends_; ///< by the first element
};

} // namespace gradweave::compiler
