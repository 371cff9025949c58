#include "runtime/validate/where_to_look.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradweave::runtime {
namespace {

/// The first row that fits counts; an empty opcode or engine fits all.
struct EventRow {
  Event event;
  std::string_view opcode, engine;
  Places places;
};

const std::vector<EventRow> &event_rows() {
  static const std::vector<EventRow> rows{
      {Event::kIssue,
       "",
       "",
       {{"rtl/cmd_fetch.sv", "rtl/cmd_dispatch.sv", "rtl/axi_read_mux.sv", "rtl/fifo.sv"},
        {"sw_models/timing/timing_model.cpp"},
        "Fetch and dispatch"}},
      {Event::kStart,
       "GEMM",
       "",
       {{"rtl/semaphores.sv", "rtl/command_processor.sv", "rtl/gemm_core.sv", "rtl/block_walker.sv"},
        {"sw_models/timing/timing_model.cpp"},
        "Semaphores and start"}},
      {Event::kStart,
       "",
       "",
       {{"rtl/semaphores.sv", "rtl/command_processor.sv", "rtl/dma_front.sv", "rtl/dma_order.sv"},
        {"sw_models/timing/timing_model.cpp"},
        "Semaphores and start"}},
      {Event::kDone,
       "LOAD",
       "",
       {{"rtl/dma_load.sv", "rtl/burst_gen.sv", "rtl/dma_front.sv", "rtl/axi_read_mux.sv", "rtl/dma_order.sv"},
        {"sw_models/timing/timing_model.cpp", "sw_models/dram_timing.cpp"},
        "Loads and stores"}},
      {Event::kDone,
       "STORE",
       "",
       {{"rtl/dma_store.sv", "rtl/burst_gen.sv", "rtl/beat_gen.sv", "rtl/dma_front.sv", "rtl/dma_order.sv"},
        {"sw_models/timing/timing_model.cpp", "sw_models/dram_timing.cpp"},
        "Loads and stores"}},
      {Event::kDone,
       "GEMM",
       "",
       {{"rtl/operand_feed.sv", "rtl/shadow_ctrl.sv", "rtl/block_walker.sv", "rtl/line_walker.sv", "rtl/gemm_core.sv"},
        {"sw_models/timing/timing_model.cpp"},
        "Array"}},
      {Event::kDone,
       "SYNC",
       "compute0",
       {{"rtl/gemm_core.sv", "rtl/shadow_ctrl.sv"}, {"sw_models/timing/timing_model.cpp"}, "Array"}},
      {Event::kDone,
       "",
       "",
       {{"rtl/dma_order.sv", "rtl/dma_front.sv"}, {"sw_models/timing/timing_model.cpp"}, "Loads and stores"}}};
  return rows;
}

struct CounterRow {
  std::string_view prefix; ///< of the counter's name
  Places places;
};

const std::vector<CounterRow> &counter_rows() {
  static const std::vector<CounterRow> rows{
      {"FETCH_", {{"rtl/perf_counters.sv", "rtl/cmd_fetch.sv"}, {"sw_models/timing/timing_model.cpp"}, "Counters"}},
      {"COMPUTE_", {{"rtl/perf_counters.sv", "rtl/gemm_core.sv"}, {"sw_models/timing/timing_model.cpp"}, "Counters"}},
      {"BLOCKS", {{"rtl/perf_counters.sv", "rtl/gemm_core.sv"}, {"sw_models/timing/timing_model.cpp"}, "Counters"}},
      {"LOAD_", {{"rtl/perf_counters.sv", "rtl/dma_load.sv"}, {"sw_models/timing/timing_model.cpp"}, "Counters"}},
      {"READ_", {{"rtl/perf_counters.sv", "rtl/dma_load.sv"}, {"sw_models/timing/timing_model.cpp"}, "Counters"}},
      {"STORE_", {{"rtl/perf_counters.sv", "rtl/dma_store.sv"}, {"sw_models/timing/timing_model.cpp"}, "Counters"}},
      {"WRITE_", {{"rtl/perf_counters.sv", "rtl/dma_store.sv"}, {"sw_models/timing/timing_model.cpp"}, "Counters"}},
      {"", {{"rtl/run_ctrl.sv", "rtl/perf_counters.sv"}, {"sw_models/timing/timing_model.cpp"}, "End of a run"}}};
  return rows;
}

bool fits(std::string_view pattern, std::string_view text) { return pattern.empty() || pattern == text; }

} // namespace

std::string Places::text() const {
  return fmt::format("RTL {}; model {}; docs/timing-model.md, section \"{}\"", fmt::join(rtl, ", "),
                     fmt::join(model, ", "), section);
}

Places where_to_look(Event event, std::string_view opcode, std::string_view engine) {
  for (const EventRow &row : event_rows())
    if (row.event == event && fits(row.opcode, opcode) && fits(row.engine, engine)) return row.places;
  return where_to_look_for_end();
}

Places where_to_look_for_counter(std::string_view counter) {
  for (const CounterRow &row : counter_rows())
    if (counter.substr(0, row.prefix.size()) == row.prefix) return row.places;
  return where_to_look_for_end();
}

Places where_to_look_for_end() { return counter_rows().back().places; }

std::vector<Places> all_places() {
  std::vector<Places> all;
  for (const EventRow &row : event_rows())
    all.push_back(row.places);
  for (const CounterRow &row : counter_rows())
    all.push_back(row.places);
  return all;
}

} // namespace gradweave::runtime
