// First-in first-out queue in one block of memory that grows as needed.
#pragma once

#include <cstddef>
#include <vector>

namespace gradweave {

/// Like std::queue, without its cost of an allocation every few hundred bytes. T is copyable and default-constructible.
template <class T> class Ring {
public:
  bool empty() const { return first_ == last_; }
  std::size_t size() const { return last_ - first_; }
  const T &front() const { return slots_[first_ & mask_]; }
  T &front() { return slots_[first_ & mask_]; }
  void push(const T &value) {
    if (size() > mask_) grow();
    slots_[last_++ & mask_] = value;
  }
  void pop() { ++first_; }

private:
  void grow() {
    std::vector<T> larger(2 * slots_.size());
    const std::size_t held = size();
    for (std::size_t i = 0; i < held; ++i)
      larger[i] = slots_[(first_ + i) & mask_];
    slots_ = std::move(larger);
    mask_ = slots_.size() - 1;
    first_ = 0;
    last_ = held;
  }

  std::vector<T> slots_ = std::vector<T>(16); ///< a power of two of them
  std::size_t mask_ = 15, first_ = 0, last_ = 0;
};

} // namespace gradweave
