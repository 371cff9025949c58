// Tells the host which MARKs completed, and when: a log of their tags and cycles, oldest first.
//
// A MARK may start while the log has room for all that were started and not yet taken by the host; so none is lost. Those
// started wait here for their completion, which comes in order with that of all else in the store engine.
module gw_mark_log #(
  parameter int unsigned DEPTH     = 16, // marks that were started and not taken
  parameter int unsigned IN_FLIGHT = 4   // commands in flight in the store engine
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  input  logic                 run_i,
  // Store engine
  output logic                 ready_o,       // a MARK may start
  input  logic                 start_i,       // a MARK does
  input  gw_isa_pkg::index_t   start_index_i,
  input  gw_isa_pkg::tag_t     start_tag_i,
  input  logic                 done_i,        // a command completes
  input  gw_isa_pkg::index_t   done_index_i,
  // The oldest mark
  output logic                 valid_o,
  output gw_isa_pkg::tag_t     tag_o,
  output gw_isa_pkg::counter_t cycle_o,       // of the run, in which it completed; the first is 0
  input  logic                 take_i
);

  localparam int unsigned COUNT_W = $clog2(DEPTH + 1);

  // --- Room and time -------------------------------------------------------------------------------
  logic [COUNT_W-1:0]   held_q, held_d; // started and not taken
  gw_isa_pkg::counter_t now_q, now_d;
  logic                 take;

  assign ready_o = held_q != COUNT_W'(DEPTH);
  assign take    = take_i & valid_o;

  always_comb begin
    held_d = held_q + {{(COUNT_W-1){1'b0}}, start_i} - {{(COUNT_W-1){1'b0}}, take};
    now_d  = run_i ? (now_q + 64'd1) : now_q;
    if (clear_i) begin
      held_d = '0;
      now_d  = 64'd0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q <= '0;
      now_q  <= 64'd0;
    end else begin
      held_q <= held_d;
      now_q  <= now_d;
    end
  end

  // --- Started, then completed ---------------------------------------------------------------------
  logic               pending_ready, pending_valid, completed, log_ready;
  gw_isa_pkg::index_t pending_index;
  gw_isa_pkg::tag_t   pending_tag;

  gw_fifo #(.WIDTH(gw_isa_pkg::INDEX_W + gw_isa_pkg::TAG_W), .DEPTH(IN_FLIGHT)) u_pending (
    .clk_i, .rst_ni, .clear_i,
    .in_valid_i  (start_i),
    .in_ready_o  (pending_ready),
    .in_data_i   ({start_index_i, start_tag_i}),
    .out_valid_o (pending_valid),
    .out_ready_i (completed),
    .out_data_o  ({pending_index, pending_tag}),
    // verilator lint_off PINCONNECTEMPTY
    .count_o     ()
    // verilator lint_on PINCONNECTEMPTY
  );

  assign completed = run_i & done_i & pending_valid & (pending_index == done_index_i);

  gw_fifo #(.WIDTH(64 + gw_isa_pkg::TAG_W), .DEPTH(DEPTH)) u_log (
    .clk_i, .rst_ni, .clear_i,
    .in_valid_i  (completed),
    .in_ready_o  (log_ready),
    .in_data_i   ({now_q, pending_tag}),
    .out_valid_o (valid_o),
    .out_ready_i (take_i),
    .out_data_o  ({cycle_o, tag_o}),
    // verilator lint_off PINCONNECTEMPTY
    .count_o     ()
    // verilator lint_on PINCONNECTEMPTY
  );

  // --- Assertions ----------------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      a_mark_starts_when_there_is_room:
        assert (~start_i | (ready_o & pending_ready));
      every_mark_finds_its_place:
        assert (~completed | log_ready);
    end
  end

endmodule
