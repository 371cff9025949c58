#include "trace/wave/compare.hpp"

#include <algorithm>

namespace gradweave::wave {
namespace {

bool known(char bit) { return bit == '0' || bit == '1'; }

bool same(std::string_view a, std::string_view b, const ValueRule &rule) {
  if (!rule.ignore_unknown || a.size() != b.size()) return a == b;
  return std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return x == y || !known(x) || !known(y); });
}

/// Walks the changes of one side. Times are those of a.
class Cursor {
public:
  Cursor(const ChangeList &list, std::uint64_t from, std::int64_t offset)
      : list_(list), offset_(static_cast<std::uint64_t>(offset)), next_(list.upper_bound(from + offset_)) {}

  std::string_view value() const { return next_ == 0 ? std::string_view() : list_.value(next_ - 1); }
  std::uint64_t next_time() const { return next_ < list_.size() ? list_.time(next_) - offset_ : ~std::uint64_t{0}; }
  void advance(std::uint64_t time) {
    if (next_time() != time) return;
    ++next_;
    ++changes_;
  }
  std::uint64_t changes() const { return changes_; }

private:
  const ChangeList &list_;
  std::uint64_t offset_; ///< modulo 2^64: subtracting it is right for negative offsets, too
  std::size_t next_;
  std::uint64_t changes_ = 0;
};

} // namespace

SignalDifference compare(const ChangeList &a, const ChangeList &b, const Window &window, const ValueRule &rule) {
  SignalDifference difference;
  Cursor in_a(a, window.from, 0), in_b(b, window.from, window.offset);
  bool differs = false;
  for (std::uint64_t time = window.from;;) {
    const bool differed = differs;
    differs = !same(in_a.value(), in_b.value(), rule);
    if (differs && !differed && difference.intervals++ == 0) {
      difference.first = time;
      difference.a = in_a.value();
      difference.b = in_b.value();
    }
    const std::uint64_t next = std::min(in_a.next_time(), in_b.next_time());
    const bool end = next > window.to || next == ~std::uint64_t{0};
    if (differs) difference.last = end ? window.to : next - 1;
    if (end) break;
    time = next;
    in_a.advance(time);
    in_b.advance(time);
  }
  difference.a_changes = in_a.changes();
  difference.b_changes = in_b.changes();
  return difference;
}

} // namespace gradweave::wave
