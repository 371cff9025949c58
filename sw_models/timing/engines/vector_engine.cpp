#include "sw_models/timing/engines/vector_engine.hpp"

#include "sw_models/timing/engines/vector_program.hpp"

namespace gradweave::timing {

void VectorEngine::start_program(std::uint64_t cycle, const isa::ProgramCommand &program) {
  state_.take(program);
  work_until(cycle + program.count);
}

void VectorEngine::start_tile(std::uint64_t cycle, const isa::TileCommand &tiles) {
  state_.take(tiles);
  work_until(cycle + latency::kTileToDone);
}

void VectorEngine::start_vector(std::uint64_t cycle, const isa::VectorCommand &run) {
  const auto fault = state_.fault(run);
  const std::uint32_t strips = (run.elements + lanes_ - 1) / lanes_;
  const std::uint64_t limit = limit_ == kNever ? kNever : limit_ - cycle; // it starts within the limit
  const VectorTimes times =
      time_program({state_.words(run.first), fault, state_.same_elements()}, groups_, strips, run.steps, limit);
  totals_.active += times.active;
  totals_.port += times.stalled;
  totals_.reads += times.lines_read;
  totals_.writes += times.lines_written;
  work_until(cycle + times.done);
  progress_.add(cycle + 1, done_);
  fault_word_ = fault ? static_cast<std::uint32_t>(fault->code) << 16U | (run.first + fault->index) : 0;
  if (fault) return;
  for (const vector::TileUse &use : state_.uses(run)) {
    const std::uint64_t bytes = use.lines * (use.tile.fp32 ? 4 : 2); // of an element of each
    if (use.is_result())
      totals_.accesses.vector_write_bytes += bytes * run.elements;
    else
      totals_.accesses.vector_read_bytes += bytes * use.lines_for(strips, groups_) * lanes_;
  }
}

void VectorEngine::complete() {
  ready_ = done_ + latency::kVectorDoneToStart;
  done_ = kNever;
}

} // namespace gradweave::timing
