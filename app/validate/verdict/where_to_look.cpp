#include "app/validate/verdict/where_to_look.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradweave::runtime {
namespace {

/// The first row that fits counts; an empty opcode or engine fits all. An engine is the beginning of a name: "compute"
/// is that of any core.
struct EventRow {
  Event event;
  std::string_view opcode, engine;
  Places places;
};

const std::vector<EventRow> &event_rows() { // NOLINT(readability-function-size): a table
  static const std::vector<EventRow> rows{
      {Event::kIssue,
       "",
       "",
       {{"rtl/cmd/gw_cmd_fetch.sv", "rtl/cmd/gw_cmd_dispatch.sv", "rtl/bus/gw_axi_read_mux.sv",
         "rtl/common/gw_fifo.sv"},
        {"sw_models/timing/engines/command_fetch.cpp", "sw_models/timing/npu_timing.cpp"},
        {"kRunToFetch", "kTailToFetch", "kFetchToMux", "kFetchToBus", "kFetchToFetch", "kWordToCheck", "kCheckToMove",
         "kMoveToCheck", "kMoveToFetchRoom", "kStartToQueueRoom"},
        "Fetch and dispatch"}},
      {Event::kStart,
       "GEMM",
       "",
       {{"rtl/cmd/gw_semaphores.sv", "rtl/cmd/gw_command_processor.sv", "rtl/core/gw_gemm_core.sv",
         "rtl/core/gw_block_walker.sv"},
        {"sw_models/timing/npu_timing.cpp", "sw_models/timing/engines/gemm_engine.cpp"},
        {"kMoveToHead", "kStartToHead", "kPostToTake", "kGrantToGrant", "kBlocksToStart", "kAddDoneToStart"},
        "Semaphores and start"}},
      {Event::kStart,
       "",
       "compute",
       {{"rtl/cmd/gw_semaphores.sv", "rtl/cmd/gw_command_processor.sv", "rtl/core/gw_gemm_core.sv"},
        {"sw_models/timing/npu_timing.cpp", "sw_models/timing/engines/gemm_engine.cpp"},
        {"kMoveToHead", "kStartToHead", "kPostToTake", "kGrantToGrant", "kDoneToEmpty"},
        "Semaphores and start"}},
      {Event::kStart,
       "",
       "vector",
       {{"rtl/cmd/gw_semaphores.sv", "rtl/cmd/gw_command_processor.sv", "rtl/vector/gw_vector_engine.sv"},
        {"sw_models/timing/npu_timing.cpp", "sw_models/timing/engines/vector_engine.cpp"},
        {"kMoveToHead", "kStartToHead", "kPostToTake", "kGrantToGrant", "kVectorDoneToStart"},
        "Semaphores and start"}},
      {Event::kStart,
       "",
       "",
       {{"rtl/cmd/gw_semaphores.sv", "rtl/cmd/gw_command_processor.sv", "rtl/cmd/gw_mark_log.sv",
         "rtl/dma/gw_dma_front.sv", "rtl/dma/gw_dma_order.sv", "rtl/dma/gw_burst_gen.sv"},
        {"sw_models/timing/npu_timing.cpp", "sw_models/timing/engines/dma_engine.hpp"},
        {"kMoveToHead", "kStartToHead", "kPostToTake", "kGrantToGrant", "kBurstToStart", "kDoneToOrderRoom",
         "kInFlight", "kMarks", "kTakeToMark"},
        "Semaphores and start"}},
      {Event::kDone,
       "LOAD",
       "",
       {{"rtl/dma/gw_dma_load.sv", "rtl/dma/gw_burst_gen.sv", "rtl/dma/gw_dma_front.sv", "rtl/bus/gw_axi_read_mux.sv",
         "rtl/dma/gw_dma_order.sv"},
        {"sw_models/timing/engines/memory_system.cpp", "sw_models/timing/engines/burst_walker.hpp",
         "sw_models/memory/dram_channel.hpp"},
        {"kStartToBurst", "kLoadBurstToMux", "kMuxToBus", "kAnswerToCredit", "kFinishToDone", "kDoneToDone"},
        "Loads and stores"}},
      {Event::kDone,
       "STORE",
       "",
       {{"rtl/dma/gw_dma_store.sv", "rtl/dma/gw_burst_gen.sv", "rtl/dma/gw_beat_gen.sv", "rtl/dma/gw_dma_front.sv",
         "rtl/dma/gw_dma_order.sv"},
        {"sw_models/timing/engines/memory_system.cpp", "sw_models/timing/engines/burst_walker.hpp",
         "sw_models/memory/dram_channel.hpp"},
        {"kStartToBurst", "kStoreBurstToBurst", "kStoreBurstToBus", "kStoreBurstToRead", "kReadToBus",
         "kAnswerToCredit", "kFinishToDone", "kDoneToDone"},
        "Loads and stores"}},
      {Event::kDone,
       "GEMM",
       "",
       {{"rtl/core/gw_shadow_ctrl.sv", "rtl/core/gw_operand_feed.sv", "rtl/core/gw_block_walker.sv",
         "rtl/core/gw_line_walker.sv", "rtl/core/gw_gemm_core.sv"},
        {"sw_models/timing/engines/gemm_engine.cpp", "sw_models/timing/engines/operand_banks.cpp"},
        {"kAcceptToBlock", "kBlockToRead", "kReadToStep", "kWaveToZero", "kPassToShift", "kWrittenToDone",
         "swap_to_swapped", "pass_to_written"},
        "Array"}},
      {Event::kDone,
       "CONV",
       "",
       {{"rtl/core/gw_pixel_mask.sv", "rtl/core/gw_tap_walker.sv", "rtl/core/gw_operand_feed.sv",
         "rtl/core/gw_shadow_ctrl.sv", "rtl/core/gw_gemm_core.sv"},
        {"sw_models/timing/engines/gemm_engine.cpp", "sw_models/timing/engines/operand_banks.cpp"},
        {"lanes_counted", "kAcceptToBlock", "kBlockToRead", "kReadToStep", "kPassToShift", "kWrittenToDone"},
        "Array"}},
      {Event::kDone,
       "WGRAD",
       "",
       {{"rtl/core/gw_tap_walker.sv", "rtl/core/gw_operand_feed.sv", "rtl/core/gw_shadow_ctrl.sv",
         "rtl/core/gw_gemm_core.sv"},
        {"sw_models/timing/engines/gemm_engine.cpp", "sw_models/timing/engines/operand_banks.cpp"},
        {"kAcceptToBlock", "kBlockToRead", "kReadToStep", "kPassToShift", "kWrittenToDone"},
        "Array"}},
      {Event::kDone,
       "ADD",
       "",
       {{"rtl/core/gw_tile_adder.sv", "rtl/core/gw_gemm_core.sv"},
        {"sw_models/timing/engines/gemm_engine.cpp"},
        {"kAddRow", "kAddReadToDone"},
        "Array"}},
      {Event::kDone,
       "SYNC",
       "compute",
       {{"rtl/core/gw_gemm_core.sv"}, {"sw_models/timing/engines/gemm_engine.cpp"}, {"kSyncToDone"}, "Array"}},
      {Event::kDone,
       "VECTOR",
       "",
       {{"rtl/vector/gw_vector_unit.sv", "rtl/vector/gw_vector_sequencer.sv", "rtl/vector/gw_vector_line_walk.sv",
         "rtl/vector/gw_vector_engine.sv"},
        {"sw_models/timing/engines/vector_program.cpp", "sw_models/timing/engines/vector_engine.cpp"},
        {"kVectorTurns", "kVectorStartToRun", "kVectorAskToLine", "kVectorRunToDrain", "kVectorIssueToIdle",
         "kVectorWriteToDone", "kVectorEndToDone"},
        "Vector units"}},
      {Event::kDone,
       "",
       "vector",
       {{"rtl/vector/gw_vector_engine.sv"},
        {"sw_models/timing/engines/vector_engine.cpp"},
        {"kTileToDone", "kSyncToDone"},
        "Vector units"}},
      {Event::kDone,
       "",
       "",
       {{"rtl/dma/gw_dma_order.sv", "rtl/dma/gw_dma_front.sv"},
        {"sw_models/timing/engines/dma_engine.hpp"},
        {"kSyncToDone", "kDoneToDone"},
        "Loads and stores"}}};
  return rows;
}

struct CounterRow {
  std::string_view prefix; ///< of the counter's name
  Places places;
};

const std::vector<CounterRow> &counter_rows() {
  const auto counters = [](std::string_view rtl, std::string_view model) {
    return Places{{rtl, "rtl/cmd/gw_perf_counters.sv"}, {model, "sw_models/timing/npu_counters.cpp"}, {}, "Counters"};
  };
  static const std::vector<CounterRow> rows{
      {"FETCH_", counters("rtl/cmd/gw_cmd_fetch.sv", "sw_models/timing/engines/command_fetch.cpp")},
      {"COMPUTE_ADD", counters("rtl/core/gw_tile_adder.sv", "sw_models/timing/engines/gemm_engine.cpp")},
      {"COMPUTE_", counters("rtl/core/gw_gemm_core.sv", "sw_models/timing/engines/gemm_engine.cpp")},
      {"VECTOR_", counters("rtl/vector/gw_vector_engine.sv", "sw_models/timing/engines/vector_engine.cpp")},
      {"BLOCKS", counters("rtl/core/gw_shadow_ctrl.sv", "sw_models/timing/engines/gemm_engine.cpp")},
      {"LOAD_", counters("rtl/dma/gw_dma_load.sv", "sw_models/timing/engines/memory_system.cpp")},
      {"READ_", counters("rtl/dma/gw_dma_load.sv", "sw_models/timing/engines/memory_system.cpp")},
      {"STORE_", counters("rtl/dma/gw_dma_store.sv", "sw_models/timing/engines/memory_system.cpp")},
      {"WRITE_", counters("rtl/dma/gw_dma_store.sv", "sw_models/timing/engines/memory_system.cpp")},
      {"",
       {{"rtl/cmd/gw_run_ctrl.sv", "rtl/cmd/gw_perf_counters.sv"},
        {"sw_models/timing/npu_timing.cpp", "sw_models/timing/timing_model.cpp"},
        {"kCloseToEnd", "kHandshakeToQuiet"},
        "End of a run"}}};
  return rows;
}

bool begins(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

} // namespace

std::string Places::text(std::string_view indent) const {
  std::string text = fmt::format("RTL    {}\n{}model  {}", fmt::join(rtl, ", "), indent, fmt::join(model, ", "));
  if (!latencies.empty())
    text += fmt::format("\n{}       sw_models/timing/engines/latencies.hpp: {}", indent, fmt::join(latencies, ", "));
  return text + fmt::format("\n{}page   docs/timing-model.md, \"{}\"", indent, section);
}

Places where_to_look(Event event, std::string_view opcode, std::string_view engine) {
  for (const EventRow &row : event_rows())
    if (row.event == event && (row.opcode.empty() || row.opcode == opcode) && begins(engine, row.engine))
      return row.places;
  return where_to_look_for_end();
}

Places where_to_look_for_counter(std::string_view counter) {
  for (const CounterRow &row : counter_rows())
    if (begins(counter, row.prefix)) return row.places;
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
