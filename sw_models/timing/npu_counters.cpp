// The counters of a run (rtl/cmd/gw_perf_counters.sv), from what the blocks counted.
#include "sw_models/timing/npu_timing.hpp"

namespace gradweave::timing {

void NpuTiming::fill_counters(std::uint64_t end) {
  using isa::Counter;
  result_.counters.resize(isa::counter_count(npu_.cores, npu_.vectors()));
  const std::uint64_t cycles = end + 1;
  for (Engine &engine : engines_) {
    if (!engine.in_flight.empty()) {
      const std::uint64_t start = result_.commands[engine.in_flight.front().index].start;
      engine.busy += end - (engine.any_done ? std::max(engine.last_done, start) : start);
    } else if (!engine.queue.empty()) {
      const std::uint64_t issue = result_.commands[engine.queue.front().index].issue;
      engine.waiting += end - (engine.any_done ? std::max(engine.last_done, issue) : issue);
    }
  }
  const MemorySystem::Totals &m = memory_.totals();
  const Engine &load = engines_[kLoad], &store = engines_[kStore];
  set_counter(Counter::CYCLES, cycles);
  set_counter(Counter::LOAD_ACTIVE, m.read_beats);
  set_counter(Counter::LOAD_DRAM, load.busy - m.read_beats);
  set_counter(Counter::LOAD_SEM, load.waiting);
  set_counter(Counter::LOAD_EMPTY, cycles - load.busy - load.waiting);
  set_counter(Counter::STORE_ACTIVE, m.write_beats);
  set_counter(Counter::STORE_DRAM, store.busy - m.write_beats);
  set_counter(Counter::STORE_SEM, store.waiting);
  set_counter(Counter::STORE_EMPTY, cycles - store.busy - store.waiting);
  const std::uint64_t blocked = fetch_.blocked_cycles(end), done = fetch_.done_cycles(end);
  set_counter(Counter::FETCH_ACTIVE, m.fetch_beats);
  set_counter(Counter::FETCH_DRAM, cycles - m.fetch_beats - blocked - done);
  set_counter(Counter::FETCH_BLOCKED, blocked);
  set_counter(Counter::FETCH_DONE, done);
  for (std::uint32_t core = 0; core < npu_.cores; ++core) {
    const GemmEngine::Totals c = cores_[core].finish();
    const Engine &compute = engines_[kCore + core];
    set_counter(Counter::COMPUTE_ACTIVE, c.active, core);
    set_counter(Counter::COMPUTE_BANK, c.bank, core);
    set_counter(Counter::COMPUTE_SHADOW, c.shadow, core);
    set_counter(Counter::COMPUTE_DRAIN, compute.busy - c.active - c.bank - c.shadow - c.add, core);
    set_counter(Counter::COMPUTE_SEM, compute.waiting, core);
    set_counter(Counter::COMPUTE_EMPTY, cycles - compute.busy - compute.waiting, core);
    set_counter(Counter::COMPUTE_ADD, c.add, core);
    set_counter(Counter::BLOCKS, c.blocks, core);
    if (result_.ok()) result_.accesses += c.accesses;
  }
  fill_vector_counters(cycles);
  set_counter(Counter::READ_BEATS, m.read_beats);
  set_counter(Counter::WRITE_BEATS, m.write_beats);
  set_counter(Counter::FETCH_BEATS, m.fetch_beats);
  set_counter(Counter::READ_BYTES, m.read_bytes);
  set_counter(Counter::WRITE_BYTES, m.write_bytes);
  if (result_.ok()) count_memory_accesses();
}

void NpuTiming::fill_vector_counters(std::uint64_t cycles) {
  using isa::Counter;
  for (std::uint32_t core = 0; core < npu_.vectors(); ++core) {
    const VectorEngine::Totals &v = units_[core].totals();
    const Engine &engine = engines_[kCore + npu_.cores + core];
    set_counter(Counter::VECTOR_ACTIVE, v.active, core);
    set_counter(Counter::VECTOR_PORT, v.port, core);
    set_counter(Counter::VECTOR_DRAIN, engine.busy - v.active - v.port, core);
    set_counter(Counter::VECTOR_SEM, engine.waiting, core);
    set_counter(Counter::VECTOR_EMPTY, cycles - engine.busy - engine.waiting, core);
    set_counter(Counter::VECTOR_READS, v.reads, core);
    set_counter(Counter::VECTOR_WRITES, v.writes, core);
    if (result_.ok()) result_.accesses += v.accesses;
  }
}

void NpuTiming::count_memory_accesses() {
  const MemorySystem::Totals &m = memory_.totals();
  AccessCounts &a = result_.accesses;
  a.load_write_bytes = m.read_bytes;
  a.store_read_bytes = m.write_bytes;
  a.bus_bytes = (m.read_beats + m.write_beats + m.fetch_beats) * npu_.bus_bytes;
  a.dram_read_bytes = m.read_accesses * memory_.access_bytes();
  a.dram_write_bytes = m.write_accesses * memory_.access_bytes();
}

} // namespace gradweave::timing
