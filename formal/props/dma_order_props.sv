// dma_order: commands complete in the order in which they started, each once, with their own index and posts; a transfer after
// its end has been reported, under its own index, a SYNC after all before it; none waits when it could complete.
//
// A command is watched from its start, an arbitrary one.
//
// sources: common/gw_fifo.sv dma/gw_dma_order.sv
// memory: commands dut.u_commands.mem DEPTH
// memory: transfers dut.u_transfers.mem DEPTH
module dma_order_props #(
  parameter int unsigned DEPTH = 2
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic        start_valid_i,
  input  logic        start_sync_i,
  input  logic [31:0] start_index_i,
  input  logic [23:0] start_posts_i,
  input  logic        finish_i,
  input  logic        watch_i,
  output logic        covered_o
);

  logic        start_ready, busy, done_valid;
  logic [31:0] transfer_index, done_index;
  logic [23:0] done_posts;

  gw_dma_order #(.DEPTH(DEPTH)) dut (
    .clk_i, .rst_ni, .clear_i, .start_valid_i, .start_ready_o (start_ready), .start_sync_i, .start_index_i, .start_posts_i,
    .finish_i, .transfer_index_o (transfer_index), .busy_o (busy), .done_valid_o (done_valid), .done_index_o (done_index),
    .done_posts_o (done_posts)
  );

  // --- Environment: ends are reported of transfers that have started -------------------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);
  logic       start, watched_q, sync_q, over_q; // over: the end of the watched transfer has been reported
  logic [7:0] held_q, moving_q, ahead_q, ends_ahead_q; // commands; transfers not ended; the same ahead of the watched one
  logic [31:0] index_q;
  logic [23:0] posts_q;
  assign start = start_valid_i && start_ready;
  always @* assume (!finish_i || moving_q != 8'd0);

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      held_q    <= 8'd0;
      moving_q  <= 8'd0;
      watched_q <= 1'b0;
    end else begin
      held_q   <= held_q + 8'(start) - 8'(done_valid);
      moving_q <= moving_q + 8'(start && !start_sync_i) - 8'(finish_i);
      if (!watched_q && start && watch_i) begin
        watched_q    <= 1'b1;
        sync_q       <= start_sync_i;
        index_q      <= start_index_i;
        posts_q      <= start_posts_i;
        ahead_q      <= held_q - 8'(done_valid);
        ends_ahead_q <= moving_q - 8'(finish_i);
        over_q       <= 1'b0;
      end else if (watched_q) begin
        ahead_q   <= ahead_q - 8'(done_valid);
        watched_q <= !(done_valid && ahead_q == 8'd0);
        if (finish_i && ends_ahead_q != 8'd0) ends_ahead_q <= ends_ahead_q - 8'd1;
        if (finish_i && ends_ahead_q == 8'd0 && !sync_q) over_q <= 1'b1;
      end
    end
  end

  logic turn; // the watched command is the oldest
  assign turn = watched_q && ahead_q == 8'd0;
  always @* begin
    if (rst_ni) begin
      a_command_in_flight_is_busy: assert (busy == (held_q != 8'd0) && (!done_valid || busy));
      never_more_than_depth: assert (held_q <= DEPTH && start_ready == (held_q != DEPTH));
      it_completes_with_its_own_index_and_posts: assert (!turn || (done_index == index_q && done_posts == posts_q));
      it_completes_when_it_has_ended_and_not_before: assert (!turn || done_valid == (sync_q || over_q));
      its_end_is_reported_under_its_index:
        assert (!(watched_q && !sync_q && !over_q && ends_ahead_q == 8'd0) || transfer_index == index_q);
    end
  end

  // --- Invariants that make them inductive: what the two queues hold, and where the watched command lies in them ----------
  localparam int unsigned PTR_W   = (DEPTH > 1) ? $clog2(DEPTH) : 1;
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1);
  (* hierconn *) wire [PTR_W-1:0]   \dut.u_commands.read_q ;
  (* hierconn *) wire [PTR_W-1:0]   \dut.u_commands.write_q ;
  (* hierconn *) wire [COUNT_W-1:0] \dut.u_commands.count_q ;
  (* hierconn *) wire [PTR_W-1:0]   \dut.u_transfers.read_q ;
  (* hierconn *) wire [PTR_W-1:0]   \dut.u_transfers.write_q ;
  (* hierconn *) wire [COUNT_W-1:0] \dut.u_transfers.count_q ;
  (* hierconn *) wire [COUNT_W-1:0] \dut.ended_q ;
  wire [57*DEPTH-1:0] commands;  // {sync, index, posts}
  wire [32*DEPTH-1:0] transfers; // index

  // Where word i of a queue lies whose first lies at `first`.
  function automatic logic [7:0] place(input logic [PTR_W-1:0] first, input logic [7:0] i);
    place = (8'(first) + i >= 8'(DEPTH)) ? 8'(first) + i - 8'(DEPTH) : 8'(first) + i;
  endfunction

  logic [7:0]  transfers_held, transfers_ahead; // of all commands; of those ahead of the watched one
  logic [56:0] watched_command;
  logic [31:0] watched_transfer;
  always @* begin
    transfers_held  = 8'd0;
    transfers_ahead = 8'd0;
    for (int i = 0; i < DEPTH; i++) begin
      if (!commands[57*place(\dut.u_commands.read_q , 8'(i)) + 56]) begin
        if (8'(i) < held_q) transfers_held = transfers_held + 8'd1;
        if (8'(i) < ahead_q) transfers_ahead = transfers_ahead + 8'd1;
      end
    end
    watched_command  = commands[57*place(\dut.u_commands.read_q , ahead_q) +: 57];
    watched_transfer = transfers[32*place(\dut.u_transfers.read_q , ends_ahead_q) +: 32];
  end

  always @* begin
    if (rst_ni) begin
      the_queues_hold_what_has_started:
        assert (8'(\dut.u_commands.count_q ) == held_q && 8'(\dut.u_transfers.count_q ) == moving_q);
      pointers_stay_inside: assert (32'(\dut.u_commands.read_q ) < DEPTH && 32'(\dut.u_transfers.read_q ) < DEPTH);
      pointers_are_count_apart:
        assert (8'(\dut.u_commands.write_q ) == place(\dut.u_commands.read_q , held_q) &&
                8'(\dut.u_transfers.write_q ) == place(\dut.u_transfers.read_q , moving_q));
      a_transfer_has_ended_or_is_moving: assert (transfers_held == moving_q + 8'(\dut.ended_q ));
      if (watched_q) begin
        the_watched_command_lies_in_its_place:
          assert (ahead_q < held_q && watched_command == {sync_q, index_q, posts_q});
        transfers_end_in_order:
          assert (sync_q || (over_q ? transfers_ahead < 8'(\dut.ended_q )
                                    : transfers_ahead == 8'(\dut.ended_q ) + ends_ahead_q));
        the_watched_transfer_lies_in_its_place:
          assert (sync_q || over_q || (ends_ahead_q < moving_q && watched_transfer == index_q));
      end
    end
  end

  // --- Reachable: a watched transfer behind another ends before it completes ----------------------------------------------
  logic [1:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) seen_q <= '0;
    else seen_q <= seen_q | {watched_q && !sync_q && ahead_q != 8'd0, turn && done_valid && !sync_q};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
