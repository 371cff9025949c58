// mark_log: every MARK that starts and completes is in the log once, with its tag and the cycle, in order, until it is taken; a MARK
// may start as long as there is room for it, whatever the host does.
//
// A MARK is watched from its start, an arbitrary one (watch_i is free): `ahead` counts the marks that must leave before it.
//
// sources: common/gw_fifo.sv cmd/gw_mark_log.sv
// memory: pending dut.u_pending.mem IN_FLIGHT
// memory: entries dut.u_log.mem DEPTH
module mark_log_props #(
  parameter int unsigned DEPTH     = 4,
  parameter int unsigned IN_FLIGHT = 2
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic        run_i,
  input  logic        start_i,
  input  logic [31:0] start_index_i,
  input  logic [15:0] start_tag_i,
  input  logic        done_i,
  input  logic [31:0] done_index_i,
  input  logic        take_i,
  input  logic        watch_i,
  output logic        covered_o
);

  logic        ready, valid;
  logic [15:0] tag;
  logic [63:0] cycle;

  gw_mark_log #(.DEPTH(DEPTH), .IN_FLIGHT(IN_FLIGHT)) dut (
    .clk_i, .rst_ni, .clear_i, .run_i, .ready_o (ready), .start_i, .start_index_i, .start_tag_i, .done_i, .done_index_i,
    .valid_o (valid), .tag_o (tag), .cycle_o (cycle), .take_i
  );

  localparam int unsigned PEND_W = $clog2(IN_FLIGHT + 1);
  localparam int unsigned LOG_W  = $clog2(DEPTH + 1);
  localparam int unsigned PENDP_W = (IN_FLIGHT > 1) ? $clog2(IN_FLIGHT) : 1;
  localparam int unsigned LOGP_W  = (DEPTH > 1) ? $clog2(DEPTH) : 1;
  (* hierconn *) wire [PEND_W-1:0]  \dut.u_pending.count_q ;
  (* hierconn *) wire [PENDP_W-1:0] \dut.u_pending.read_q ;
  (* hierconn *) wire [PENDP_W-1:0] \dut.u_pending.write_q ;
  (* hierconn *) wire [LOG_W-1:0]   \dut.u_log.count_q ;
  (* hierconn *) wire [LOGP_W-1:0]  \dut.u_log.read_q ;
  (* hierconn *) wire [LOGP_W-1:0]  \dut.u_log.write_q ;
  (* hierconn *) wire [63:0]        \dut.now_q ;
  (* hierconn *) wire [LOG_W-1:0]   \dut.held_q ;
  (* hierconn *) wire               \dut.completed ;
  wire [48*IN_FLIGHT-1:0] pending; // connected by the script
  wire [80*DEPTH-1:0]     entries;

  // --- Environment: a MARK starts when it may, and the store engine has no more commands in flight than it can ------------------
  reset_first u_reset (.clk_i, .rst_ni);
  always @* assume (!start_i || (ready && 32'(\dut.u_pending.count_q ) < IN_FLIGHT));

  // --- The watched mark --------------------------------------------------------------------------------------------------
  logic        watched_q, done_q;      // it started, it completed
  logic [31:0] index_q;
  logic [15:0] tag_q;
  logic [63:0] now_q, cycle_q;
  logic        take, completes, all_done;
  int unsigned flying_q, logged_q;     // marks that started and did not complete; that completed and were not taken
  int unsigned ahead_q;                // of those that started, before the watched one
  assign take      = take_i && valid;
  assign all_done  = watched_q && !done_q && ahead_q == logged_q;     // the next to complete is the watched one
  assign completes = flying_q != 0 && run_i && done_i && done_index_i == oldest;
  logic [31:0] oldest;
  assign oldest    = pending[48*32'(\dut.u_pending.read_q ) + 16 +: 32];

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      watched_q <= 1'b0;
      done_q    <= 1'b0;
      flying_q  <= 0;
      logged_q  <= 0;
      ahead_q   <= 0;
      now_q     <= 64'd0;
    end else begin
      now_q    <= now_q + 64'(run_i);
      flying_q <= flying_q + 32'(start_i) - 32'(completes);
      logged_q <= logged_q + 32'(completes) - 32'(take);
      if (!watched_q) begin
        if (start_i && watch_i) begin
          watched_q <= 1'b1;
          done_q    <= 1'b0;
          index_q   <= start_index_i;
          tag_q     <= start_tag_i;
          ahead_q   <= flying_q + logged_q - 32'(take);
        end
      end else begin
        if (take) begin
          watched_q <= ahead_q != 0;
          ahead_q   <= ahead_q - 1;
        end
        if (completes && all_done) begin
          done_q  <= 1'b1;
          cycle_q <= now_q;
        end
      end
    end
  end

  int unsigned pend_at, pend_place, log_sum, log_place;
  assign pend_at    = 32'(\dut.u_pending.read_q ) + ahead_q - logged_q;
  assign pend_place = (pend_at >= IN_FLIGHT) ? pend_at - IN_FLIGHT : pend_at;
  assign log_sum    = 32'(\dut.u_log.read_q ) + ahead_q;
  assign log_place  = (log_sum >= DEPTH) ? log_sum - DEPTH : log_sum;

  always @* begin
    if (rst_ni) begin
      a_mark_is_there_when_one_completed: assert (valid == (logged_q != 0));
      it_is_the_watched_ones_tag_and_cycle:
        assert (!(watched_q && ahead_q == 0 && valid) || (done_q && tag == tag_q && cycle == cycle_q));
      a_mark_may_start_while_there_is_room: assert (ready == (flying_q + logged_q < DEPTH));
      only_a_completed_one_is_logged: assert (\dut.completed == completes);
      // Invariants
      marks_are_counted: assert (32'(\dut.u_pending.count_q ) == flying_q && 32'(\dut.u_log.count_q ) == logged_q &&
                                 32'(\dut.held_q ) == flying_q + logged_q && flying_q <= IN_FLIGHT &&
                                 flying_q + logged_q <= DEPTH);
      time_is_counted: assert (\dut.now_q == now_q);
      places_follow_each_other:
        assert (32'(\dut.u_pending.read_q ) < IN_FLIGHT && 32'(\dut.u_log.read_q ) < DEPTH &&
                32'(\dut.u_pending.write_q ) ==
                  ((32'(\dut.u_pending.read_q ) + flying_q >= IN_FLIGHT) ? 32'(\dut.u_pending.read_q ) + flying_q - IN_FLIGHT
                                                                         : 32'(\dut.u_pending.read_q ) + flying_q) &&
                32'(\dut.u_log.write_q ) ==
                  ((32'(\dut.u_log.read_q ) + logged_q >= DEPTH) ? 32'(\dut.u_log.read_q ) + logged_q - DEPTH
                                                                 : 32'(\dut.u_log.read_q ) + logged_q));
      the_watched_one_is_where_it_should_be:
        assert (!watched_q || (done_q ? ahead_q < logged_q : (ahead_q >= logged_q && ahead_q < logged_q + flying_q)));
      it_waits_in_its_place:
        assert (!(watched_q && !done_q) || pending[48*pend_place +: 48] == {index_q, tag_q});
      or_lies_in_its_place:
        assert (!(watched_q && done_q) || entries[80*log_place +: 80] == {cycle_q, tag_q});
    end
  end

  // --- Reachable: a full log, of which the watched mark leaves last ------------------------------------------------------------
  logic full_q;
  always @(posedge clk_i) full_q <= rst_ni && !clear_i && (full_q || !ready);
  assign covered_o = rst_ni && full_q && watched_q && done_q && ahead_q == 0 && take && cycle_q == 64'd5;

endmodule
