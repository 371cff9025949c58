// The state of a schedule, and what one more layer does to it (section III-C of Layerweaver).
#pragma once

#include "weave_model/layer.hpp"

#include <vector>

namespace gradweave::weave_model {

/// What a layer does if it is the next one.
struct Effect {
  double fetch_begin = 0, fetched = 0;    ///< when its weights begin to arrive, and are there
  double compute_begin = 0, computed = 0; ///< when it begins, and ends
  double compute_idle = 0;                ///< seconds that the PEs wait for its weights
  double memory_idle = 0;                 ///< seconds that the memory waits for room in the buffer

  double idle() const { return compute_idle + memory_idle; }
};

/// When the last fetch ends (tm), when the last computation does (tc), and layers whose weights are in the buffer at
/// tm (l). A layer takes constant time but for those whose weights it has to wait for.
class ScheduleState {
public:
  explicit ScheduleState(const Npu &npu) : npu_(npu) {}

  double fetched() const { return fetched_; }
  double computed() const { return computed_; }
  /// A layer that is in the buffer: its weights, and when it has been computed.
  struct Resident {
    std::uint64_t bytes = 0;
    double completion = 0;
  };
  /// In the order in which they were scheduled.
  std::vector<Resident> resident() const {
    return {resident_.begin() + static_cast<std::ptrdiff_t>(first_), resident_.end()};
  }
  std::uint64_t occupied() const { return occupied_; }

  /// What the layer would do; `bytes` fit the buffer. Its weights are fetched into what room there is, then into that
  /// of each resident layer as it completes (figure 9). It computes when they are there and the layer before it is
  /// done.
  Effect effect_of(const Layer &layer) const;
  /// Makes it the next one. `effect`: of this layer on this state.
  void append(const Layer &layer, const Effect &effect);
  /// Nothing more is fetched before that time.
  void wait_until(double seconds);

private:
  void release();

  Npu npu_;
  double fetched_ = 0, computed_ = 0;
  std::vector<Resident> resident_; ///< from first_ on
  std::size_t first_ = 0;
  std::uint64_t occupied_ = 0; ///< bytes of them
};

} // namespace gradweave::weave_model
