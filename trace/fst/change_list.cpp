#include "trace/fst/change_list.hpp"

#include <algorithm>

namespace gradweave::wave {

std::string_view ChangeList::value(std::size_t i) const {
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(bytes_).substr(begin, ends_[i] - begin);
}

void ChangeList::pop() {
  times_.pop_back();
  ends_.pop_back();
  bytes_.resize(ends_.empty() ? 0 : ends_.back());
}

void ChangeList::append(std::uint64_t time, std::string_view value_now) {
  if (!times_.empty() && times_.back() == time) pop();
  if (!times_.empty() && value(size() - 1) == value_now) return;
  times_.push_back(time);
  bytes_ += value_now;
  ends_.push_back(bytes_.size());
}

std::size_t ChangeList::upper_bound(std::uint64_t time) const {
  return static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), time) - times_.begin());
}

ChangeList sample(const ChangeList &signal, const std::vector<std::uint64_t> &edges) {
  ChangeList sampled;
  std::size_t next = 0;
  for (std::size_t edge = 0; edge < edges.size(); ++edge) {
    while (next < signal.size() && signal.time(next) < edges[edge])
      ++next;
    if (next > 0) sampled.append(edge, signal.value(next - 1));
  }
  return sampled;
}

std::vector<std::uint64_t> rising_edges(const ChangeList &clock) {
  std::vector<std::uint64_t> edges;
  for (std::size_t i = 1; i < clock.size(); ++i)
    if (clock.value(i) == "1") edges.push_back(clock.time(i));
  return edges;
}

} // namespace gradweave::wave
