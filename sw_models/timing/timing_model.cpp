#include "sw_models/timing/timing_model.hpp"

#include <stdexcept>

namespace gradweave::timing {

RunResult run(const NpuConfig &, const isa::Command *, std::size_t, const RunOptions &) {
  throw std::logic_error("the timing model is not linked");
}

} // namespace gradweave::timing
