// Every fixed latency of the NPU that the timing model knows, with the place in the RTL that causes it. A register on
// the way from one event to the next is one cycle. docs/timing-model.md derives them.
#pragma once

#include <cstdint>

namespace gradweave::timing::latency {

using Cycles = std::uint64_t;

// --- Fetch and dispatch (rtl/cmd/gw_cmd_fetch.sv, rtl/cmd/gw_cmd_dispatch.sv) --------------------------------------
inline constexpr Cycles kRunToFetch = 1;       ///< first cycle of a run -> first burst: the stream's place is checked
inline constexpr Cycles kFetchToMux = 1;       ///< burst issued -> its address is offered to axi_read_mux
inline constexpr Cycles kFetchToBus = 2;       ///< burst issued -> its address is taken by the memory
inline constexpr Cycles kFetchToFetch = 1;     ///< burst issued -> next burst
inline constexpr Cycles kTailToFetch = 1;      ///< tail written -> burst for the commands that it adds
inline constexpr Cycles kCloseToEnd = 1;       ///< ring closed, all commands retired -> last cycle of the run
inline constexpr Cycles kWordToCheck = 1;      ///< last beat of a word -> dispatch checks its first command
inline constexpr Cycles kCheckToMove = 1;      ///< check -> the command moves to its queue, or its error stops the run
inline constexpr Cycles kMoveToCheck = 1;      ///< move -> check of the next command
inline constexpr Cycles kMoveToFetchRoom = 1;  ///< last command of a word moved -> the word is free
inline constexpr Cycles kMoveToHead = 1;       ///< move into an empty queue -> head of the queue
inline constexpr Cycles kStartToHead = 1;      ///< head starts -> next command is head
inline constexpr Cycles kStartToQueueRoom = 1; ///< head of a full queue starts -> dispatch can move into it

// --- An error (rtl/cmd/gw_run_ctrl.sv) -----------------------------------------------------------------------------
inline constexpr Cycles kHandshakeToQuiet = 1; ///< last handshake on the bus, or the error -> the bus is seen quiet

// --- Semaphores (rtl/cmd/gw_semaphores.sv) -------------------------------------------------------------------------
inline constexpr Cycles kPostToTake = 1;   ///< completion -> its posts can be taken
inline constexpr Cycles kGrantToGrant = 1; ///< a command starts -> another engine's command can start

// --- Mark log (rtl/cmd/gw_mark_log.sv) -----------------------------------------------------------------------------
inline constexpr std::uint32_t kMarks = 16; ///< that were started and not taken by the host (DEPTH)
inline constexpr Cycles kTakeToMark = 1;    ///< mark taken out of a full log -> a MARK can start

// --- Load and store engine (rtl/dma/gw_dma_front.sv, gw_dma_order.sv, gw_burst_gen.sv) -----------------------------
inline constexpr Cycles kStartToBurst = 1;    ///< start -> first burst
inline constexpr Cycles kBurstToStart = 1;    ///< last burst issued -> next command can start
inline constexpr Cycles kFinishToDone = 1;    ///< last beat or response -> done
inline constexpr Cycles kDoneToDone = 1;      ///< completions of an engine, in order
inline constexpr Cycles kSyncToDone = 1;      ///< start of a SYNC with nothing before it -> done
inline constexpr Cycles kDoneToOrderRoom = 1; ///< done -> a further command may be in flight
inline constexpr std::uint32_t kInFlight = 4; ///< commands (dma_front DEPTH)
inline constexpr Cycles kAnswerToCredit = 1;  ///< burst answered -> a further one may be issued (OUTSTANDING)

// --- Load engine (rtl/dma/gw_dma_load.sv, gw_axi_read_mux.sv) ------------------------------------------------------
inline constexpr Cycles kLoadBurstToMux = 1; ///< burst issued -> offered to axi_read_mux, which prefers fetch
inline constexpr Cycles kMuxToBus = 1;       ///< taken by axi_read_mux -> taken by the memory

// --- Store engine (rtl/dma/gw_dma_store.sv) ------------------------------------------------------------------------
inline constexpr Cycles kStoreBurstToBurst = 1; ///< burst issued -> next burst
inline constexpr Cycles kStoreBurstToBus = 1;   ///< burst issued -> its address is taken by the memory
inline constexpr Cycles kStoreBurstToRead = 1;  ///< burst issued -> first beat is read from the scratchpad
inline constexpr Cycles kReadToBus = 2;         ///< beat read -> taken by the memory

// --- Compute engine (rtl/core/gw_gemm_core.sv, gw_operand_feed.sv, gw_shadow_ctrl.sv, gw_systolic_array.sv) --------
inline constexpr Cycles kAcceptToBlock = 1; ///< GEMM starts -> its first block can start
inline constexpr Cycles kBlockToRead = 1;   ///< block starts -> its first line pair is read
inline constexpr Cycles kReadToStep = 3;    ///< line pair read -> it enters the array: lane memories, rotators, decoder
inline constexpr Cycles kBlocksToStart = 1; ///< last block of a GEMM starts -> the next GEMM can
inline constexpr Cycles kWaveToZero = 1;    ///< swap passed, nothing to shift -> shadow known to be zero
inline constexpr Cycles kPassToShift = 1;   ///< pass decided -> first of its ROWS cycles
inline constexpr Cycles kWrittenToDone = 1; ///< last row of results written -> block done
inline constexpr Cycles kDoneToEmpty = 1;   ///< last command done -> the engine is empty: a SYNC can start

// --- ADD (rtl/core/gw_tile_adder.sv) -------------------------------------------------------------------------------
inline constexpr Cycles kAddRow = 2;         ///< a row of a chunk of COLS columns: A's, then CIN's
inline constexpr Cycles kAddReadToDone = 4;  ///< last row read -> ADD done: lane memories, rotators, adders, write
inline constexpr Cycles kAddDoneToStart = 1; ///< ADD done -> the next GEMM can start

// --- Vector unit (rtl/vector/gw_vector_engine.sv, gw_vector_unit.sv, gw_vector_sequencer.sv) ------------------------
inline constexpr Cycles kTileToDone = 1;         ///< TILE starts -> done
inline constexpr Cycles kVectorDoneToStart = 1;  ///< done -> the unit's next command can start
inline constexpr std::uint32_t kVectorTurns = 4; ///< cycles of an instruction, each for G strips
inline constexpr Cycles kVectorStartToRun = 3;   ///< start -> first run and first question: header, masks
inline constexpr Cycles kVectorAskToLine = 3;    ///< cycle behind the last question of a run -> its lines are there
inline constexpr Cycles kVectorRunToDrain = 4;   ///< last turn of a run -> its first line of results leaves: lanes
inline constexpr Cycles kVectorIssueToIdle = 4;  ///< last turn -> nothing is in the lanes
inline constexpr Cycles kVectorWriteToDone = 1;  ///< cycle behind the last line of results -> done
inline constexpr Cycles kVectorEndToDone = 1;    ///< last cycle of the last run, or a fault -> done, if nothing is left

/// Swap mark enters the array -> it has passed the bottom of the first column, which can shift. The wave counter is
/// loaded a cycle after the step (gemm_core wave_q).
constexpr Cycles swap_to_swapped(std::uint32_t rows) { return rows - 1; }
/// CONV starts -> the place of each lane's pixel is counted, and its first block can start kAcceptToBlock later
/// (pixel_mask busy_q).
constexpr Cycles lanes_counted(std::uint32_t rows) { return rows; }
/// Pass decided -> the last row of results is written; a next pass may be decided in that cycle (shadow_ctrl
/// DRAIN_CYCLES).
constexpr Cycles pass_to_written(std::uint32_t rows, std::uint32_t cols) { return Cycles{rows} + cols + 2; }

} // namespace gradweave::timing::latency
