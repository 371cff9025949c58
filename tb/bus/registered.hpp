// A primitive channel that behaves like a bank of flip-flops.
#pragma once

#include <array>
#include <systemc>
#include <utility>

namespace gradweave::tb {

/// What is written in a cycle is seen by readers in the next. The writer fills every field of next(), then commits;
/// the two slots swap in the update phase, so a wide bus is never copied. One writer, any number of readers. Apart from
/// the kernel (Board::set_apart()) there is no such phase: they swap in settle().
template <class T> class Registered : public sc_core::sc_prim_channel {
public:
  explicit Registered(const char *name) : sc_prim_channel(name) {}

  const T &read() const { return slots_[current_]; }
  /// The slot to fill; holds the values of two commits ago.
  T &next() { return slots_[current_ ^ 1U]; }
  void commit() {
    if (apart_)
      committed_ = true;
    else
      request_update();
  }

  void set_apart(bool apart) { apart_ = apart; }
  void settle() {
    if (std::exchange(committed_, false)) update();
  }

private:
  void update() override { current_ ^= 1U; }

  std::array<T, 2> slots_{};
  unsigned current_ = 0;
  bool apart_ = false, committed_ = false;
};

} // namespace gradweave::tb
