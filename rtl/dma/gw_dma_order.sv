// Keeps the commands of one DMA engine in order from start to completion.
//
// A transfer (LOAD or STORE) completes once its end is reported by finish_i, a SYNC as soon as all commands before it
// have completed; one command completes a cycle. Outputs are functions of registers.
module gw_dma_order #(
  parameter int unsigned DEPTH = 4 // commands in flight
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,

  input  logic               start_valid_i,
  output logic               start_ready_o,
  input  logic               start_sync_i,
  input  gw_isa_pkg::index_t start_index_i,
  input  gw_isa_pkg::posts_t start_posts_i,

  input  logic               finish_i,         // the oldest unfinished transfer has ended
  output gw_isa_pkg::index_t transfer_index_o, // index of that transfer

  output logic               busy_o,
  output logic               done_valid_o,     // the oldest command completes in this cycle
  output gw_isa_pkg::index_t done_index_o,     // index of the oldest command, also while it does not complete
  output gw_isa_pkg::posts_t done_posts_o
);

  localparam int unsigned COUNT_W = $clog2(DEPTH + 1);

  // --- All commands in flight -----------------------------------------------------------------------
  logic done_sync;

  gw_fifo #(.WIDTH(57), .DEPTH(DEPTH)) u_commands (
    .clk_i,
    .rst_ni,
    .clear_i,
    .in_valid_i  (start_valid_i),
    .in_ready_o  (start_ready_o),
    .in_data_i   ({start_sync_i, start_index_i, start_posts_i}),
    .out_valid_o (busy_o),
    .out_ready_i (done_valid_o),
    .out_data_o  ({done_sync, done_index_o, done_posts_o}),
    // verilator lint_off PINCONNECTEMPTY
    .count_o     ()
    // verilator lint_on PINCONNECTEMPTY
  );

  // --- Transfers that have not ended; never more than commands in flight, so there is always room ------------------
  logic transfer_ready, transfer_valid;

  gw_fifo #(.WIDTH(32), .DEPTH(DEPTH)) u_transfers (
    .clk_i,
    .rst_ni,
    .clear_i,
    .in_valid_i  (start_valid_i && start_ready_o && !start_sync_i),
    .in_ready_o  (transfer_ready),
    .in_data_i   (start_index_i),
    .out_valid_o (transfer_valid),
    .out_ready_i (finish_i),
    .out_data_o  (transfer_index_o),
    // verilator lint_off PINCONNECTEMPTY
    .count_o     ()
    // verilator lint_on PINCONNECTEMPTY
  );

  // --- Transfers that have ended but wait for their turn to complete -------------------------------------
  logic [COUNT_W-1:0] ended_q, ended_d;
  logic               done_transfer;

  assign done_transfer = busy_o && !done_sync && (ended_q != '0);
  assign done_valid_o  = done_transfer || (busy_o && done_sync);

  always_comb begin
    ended_d = ended_q;
    if (finish_i && !done_transfer) ended_d = ended_q + 1'b1;
    if (done_transfer && !finish_i) ended_d = ended_q - 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ended_q <= '0;
    else if (clear_i) ended_q <= '0;
    else ended_q <= ended_d;
  end

  // --- Assertions ------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      only_a_started_transfer_ends: assert (!finish_i || transfer_valid);
      every_transfer_in_flight_has_room: assert (transfer_ready || !start_ready_o);
    end
  end
`endif

endmodule
