// The part that load and store engine have in common: takes commands, turns each into a stream of bursts and a stream
// of beats, and reports completion in order.
//
// The two streams are independent, so bursts of later commands are offered while beats of earlier ones still move.
// A command's first beat is there no later than the cycle after its first burst is offered. SYNC and MARK have neither
// bursts nor beats.
module gw_dma_front #(
  parameter int unsigned LANES     = 8,
  parameter int unsigned BUS_BYTES = 16,
  parameter int unsigned DEPTH     = 4, // commands in flight
  localparam int unsigned OFFSET_W = $clog2(BUS_BYTES)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    clear_i,

  // Commands, LOAD or STORE or SYNC or MARK, already checked; waits already taken
  input  logic                    start_valid_i,
  output logic                    start_ready_o,
  // Tag, waits and what only other opcodes have are not for the engine.
  // verilator lint_off UNUSEDSIGNAL
  input  gw_isa_pkg::cmd_t        cmd_i,
  // verilator lint_on UNUSEDSIGNAL
  input  gw_isa_pkg::index_t      index_i,

  // Bursts (burst_gen)
  output logic                    burst_valid_o,
  input  logic                    burst_ready_i,
  output gw_isa_pkg::addr_t       burst_addr_o,
  output gw_bus_pkg::len_t        burst_len_o,
  output gw_bus_pkg::user_t       burst_user_o,
  output logic                    burst_last_o,

  // Beats (beat_gen)
  output logic                    beat_valid_o,
  input  logic                    beat_ready_i,
  output logic                    beat_last_o,
  output logic [OFFSET_W-1:0]     beat_offset_o,
  output gw_bus_pkg::beat_bytes_t beat_bytes_o,
  output logic                    beat_fp32_o,
  output gw_bus_pkg::slot_t       beat_first_o,
  output gw_bus_pkg::slots_t      beat_count_o,
  output gw_isa_pkg::lane_t       beat_lane_o,
  output gw_isa_pkg::row_t        beat_addr_o,
  output gw_isa_pkg::row_t        beat_pstride_o,
  output gw_isa_pkg::lanes_t      beat_split_o,

  // Completion (dma_order)
  input  logic                    finish_i,
  output gw_isa_pkg::index_t      transfer_index_o,
  output logic                    busy_o,
  output logic                    done_valid_o,
  output gw_isa_pkg::index_t      done_index_o,
  output gw_isa_pkg::posts_t      done_posts_o
);

  // --- Fields of the command -------------------------------------------------------------------------
  gw_isa_pkg::opcode_t    opcode;
  logic                   sync, fp32;
  gw_isa_pkg::addr_t      addr;
  gw_isa_pkg::pitch_t     pitch;
  gw_isa_pkg::dim_t       rows, cols;
  gw_isa_pkg::row_bytes_t row_bytes;
  gw_isa_pkg::tile_t      spm;

  assign opcode      = cmd_i[gw_isa_pkg::OPCODE_LSB+:gw_isa_pkg::OPCODE_W];
  assign sync        = (opcode == gw_isa_pkg::OP_SYNC) | (opcode == gw_isa_pkg::OP_MARK);
  assign fp32        = cmd_i[gw_isa_pkg::FP32_LSB];
  assign addr        = {cmd_i[gw_isa_pkg::DRAM_ADDR_HI_LSB+:gw_isa_pkg::DRAM_ADDR_HI_W],
                        cmd_i[gw_isa_pkg::DRAM_ADDR_LO_LSB+:gw_isa_pkg::DRAM_ADDR_LO_W]};
  assign pitch       = cmd_i[gw_isa_pkg::PITCH_LSB+:gw_isa_pkg::PITCH_W];
  assign rows        = cmd_i[gw_isa_pkg::ROWS_LSB+:gw_isa_pkg::ROWS_W];
  assign cols        = cmd_i[gw_isa_pkg::COLS_LSB+:gw_isa_pkg::COLS_W];
  assign row_bytes   = fp32 ? {cols, 2'b00} : {1'b0, cols, 1'b0};
  assign spm         = cmd_i[gw_isa_pkg::SPM_ROW_LSB+:gw_isa_pkg::TILE_W];

  // --- Start: order and bursts at once ------------------------------------------------------------------
  logic order_ready, bursts_ready, start, start_transfer;

  assign start_ready_o  = order_ready && bursts_ready;
  assign start          = start_valid_i && start_ready_o;
  assign start_transfer = start && !sync;

  gw_dma_order #(.DEPTH(DEPTH)) u_order (
    .clk_i,
    .rst_ni,
    .clear_i,
    .start_valid_i (start),
    .start_ready_o (order_ready),
    .start_sync_i  (sync),
    .start_index_i (index_i),
    .start_posts_i ({cmd_i[gw_isa_pkg::POST2_LSB+:gw_isa_pkg::POST2_W], cmd_i[gw_isa_pkg::POST1_LSB+:gw_isa_pkg::POST1_W],
                     cmd_i[gw_isa_pkg::POST0_LSB+:gw_isa_pkg::POST0_W]}),
    .finish_i,
    .transfer_index_o,
    .busy_o,
    .done_valid_o,
    .done_index_o,
    .done_posts_o
  );

  gw_burst_gen #(.BUS_BYTES(BUS_BYTES)) u_bursts (
    .clk_i,
    .rst_ni,
    .clear_i,
    .start_valid_i (start_transfer),
    .start_ready_o (bursts_ready),
    .addr_i        (addr),
    .pitch_i       (pitch),
    .rows_i        (rows),
    .row_bytes_i   (row_bytes),
    .burst_valid_o,
    .burst_ready_i,
    .burst_addr_o,
    .burst_len_o,
    .burst_user_o,
    .burst_last_o
  );

  // --- Beats follow later: the tiles whose bursts are on their way -------------------------------------------
  localparam int unsigned TILE_W = 2 * OFFSET_W + 16 + 18 + gw_isa_pkg::TILE_W + 1;

  logic                   tile_in_ready, tile_valid, tile_ready, tile_fp32;
  logic [OFFSET_W-1:0]    tile_offset, tile_pitch;
  gw_isa_pkg::dim_t       tile_rows;
  gw_isa_pkg::row_bytes_t tile_row_bytes;
  gw_isa_pkg::tile_t      tile_spm;

  gw_fifo #(.WIDTH(TILE_W), .DEPTH(DEPTH)) u_tiles (
    .clk_i,
    .rst_ni,
    .clear_i,
    .in_valid_i  (start_transfer),
    .in_ready_o  (tile_in_ready),
    .in_data_i   ({addr[OFFSET_W-1:0], pitch[OFFSET_W-1:0], rows, row_bytes, spm, fp32}),
    .out_valid_o (tile_valid),
    .out_ready_i (tile_ready),
    .out_data_o  ({tile_offset, tile_pitch, tile_rows, tile_row_bytes, tile_spm, tile_fp32}),
    // verilator lint_off PINCONNECTEMPTY
    .count_o     ()
    // verilator lint_on PINCONNECTEMPTY
  );

  gw_beat_gen #(.LANES(LANES), .BUS_BYTES(BUS_BYTES)) u_beats (
    .clk_i,
    .rst_ni,
    .clear_i,
    .start_valid_i (tile_valid),
    .start_ready_o (tile_ready),
    .fp32_i        (tile_fp32),
    .offset_i      (tile_offset),
    .pitch_i       (tile_pitch),
    .rows_i        (tile_rows),
    .row_bytes_i   (tile_row_bytes),
    .spm_i         (tile_spm),
    .beat_valid_o,
    .beat_ready_i,
    .beat_last_o,
    .beat_offset_o,
    .beat_bytes_o,
    .beat_fp32_o,
    .beat_first_o,
    .beat_count_o,
    .beat_lane_o,
    .beat_addr_o,
    .beat_pstride_o,
    .beat_split_o
  );

  // --- Assertions ------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      every_tile_in_flight_has_room: assert (tile_in_ready || !start_transfer);
    end
  end
`endif

endmodule
