// run_ctrl: a run ends when its commands have retired or after its first error, and in no other way; a stop after an error
// takes no longer than the bus needs to become quiet, or WATCHDOG cycles; standstill is an error after WATCHDOG cycles; the
// interrupt stands from the end of a run until it is taken back; clear_o separates runs. A run with a ring is open until it is
// closed, and does not end before; while it is open and nothing is left to do, or a MARK waits for the host, nothing is a
// standstill.
//
// sources: cmd/gw_run_ctrl.sv
module run_ctrl_props #(
  parameter int unsigned ENGINES = 3
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  start_i,
  input  logic                  soft_reset_i,
  input  logic                  irq_clear_i,
  input  logic [31:0]           cmd_count_i,
  input  logic [31:0]           watchdog_i,
  input  logic                  ring_i,
  input  logic                  close_i,
  input  logic                  blocked_i,
  input  logic [ENGINES-1:0]    done_i,
  input  logic                  progress_i,
  input  logic                  quiet_i,
  input  logic [5:0]            err_i,   // fetch, dispatch, load, store, semaphore, vector
  input  logic [7:0]            code_i,
  input  logic [31:0]           index_i,
  output logic                  covered_o
);

  logic        busy, finished, failed, irq, run, clear, open;
  logic [7:0]  err_code;
  logic [31:0] err_index, retired;

  gw_run_ctrl #(.ENGINES(ENGINES)) dut (
    .clk_i, .rst_ni, .start_i, .soft_reset_i, .irq_clear_i, .cmd_count_i, .ring_i, .close_i, .watchdog_i,
    .busy_o (busy), .done_o (finished), .error_o (failed), .irq_o (irq), .open_o (open),
    .mark_blocked_i (blocked_i), .err_code_o (err_code), .err_index_o (err_index),
    .retired_o (retired), .run_o (run), .clear_o (clear), .done_i, .progress_i, .quiet_i,
    .fetch_err_valid_i (err_i[0]), .fetch_err_code_i (code_i), .fetch_err_index_i (index_i),
    .dispatch_err_valid_i (err_i[1]), .dispatch_err_code_i (code_i),
    .load_err_valid_i (err_i[2]), .load_err_code_i (code_i), .load_err_index_i (index_i),
    .store_err_valid_i (err_i[3]), .store_err_code_i (code_i), .store_err_index_i (index_i),
    .vector_err_valid_i (err_i[5]), .vector_err_index_i (index_i),
    .sem_err_valid_i (err_i[4]), .sem_err_index_i (index_i), .dispatch_index_i (index_i),
    .head_valid_i ({ENGINES{1'b0}}), .head_index_i ({32*ENGINES{1'b0}}),
    .oldest_valid_i ({ENGINES{1'b0}}), .oldest_index_i ({32*ENGINES{1'b0}})
  );

  (* hierconn *) wire [31:0] \dut.still_q ;
  (* hierconn *) wire [2:0]  \dut.state_q ;

  // --- Environment: registers pass pulses only when they are allowed and hold their values; errors have codes; a run has
  // commands, and no more retire than there are (queues and engines) -----------------------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);
  logic        before_q, run_q, failed_q, finished_q, busy_q, stopping_q, irq_q, quiet_q, any_error_q, progress_q, taken_back_q,
               open_q, host_q;
  logic [31:0] count_q, watchdog_q, retired_q, stopped_q, standing_q, retiring;
  logic        stopping, any_progress;
  logic [7:0]  code_q;
  logic        opened_then_q;
  logic        host, ring_q, opened_q; // the host is next; the run's ring is still to be closed
  logic [31:0] index_q;

  assign stopping     = busy && !run && !clear;
  assign any_progress = progress_i || done_i != '0;
  assign host         = (opened_q && retired == cmd_count_i) || blocked_i;

  always @* begin
    retiring = 32'd0;
    for (int e = 0; e < ENGINES; e++) retiring = retiring + 32'(done_i[e]);
  end

  always @* begin
    assume (!((start_i || soft_reset_i) && (busy || clear)));
    assume (!(start_i && soft_reset_i));
    assume (code_i != gw_isa_pkg::ERR_NONE);
    assume (!before_q || !busy || watchdog_i == watchdog_q);
    assume (!before_q || !busy || cmd_count_i == count_q || (open_q && cmd_count_i >= count_q));
    assume (!close_i || open);
    assume (!run || retiring <= cmd_count_i - retired);
    assume (!(start_i && !ring_i) || cmd_count_i != 32'd0);
    assume (!before_q || !busy || ring_i == ring_q);
  end

  always @(posedge clk_i) begin
    before_q     <= rst_ni;
    count_q      <= cmd_count_i;
    watchdog_q   <= watchdog_i;
    run_q        <= rst_ni && run;
    failed_q     <= rst_ni && failed;
    finished_q   <= rst_ni && finished;
    busy_q       <= rst_ni && busy;
    stopping_q   <= rst_ni && stopping;
    irq_q        <= rst_ni && irq;
    quiet_q      <= quiet_i;
    any_error_q  <= err_i != '0;
    progress_q   <= any_progress;
    retired_q    <= retired + retiring;
    open_q       <= rst_ni && open;
    host_q       <= host;
    ring_q       <= ring_i;
    opened_q     <= rst_ni && (clear ? (busy && ring_i) : (opened_q && !close_i));
    code_q       <= err_code;
    index_q      <= err_index;
    taken_back_q <= irq_clear_i || start_i || soft_reset_i;
    // Cycles of the stop, and of standstill, up to and with the one before.
    opened_then_q <= opened_q;
    stopped_q    <= (rst_ni && stopping) ? stopped_q + 32'd1 : 32'd0;
    standing_q   <= (rst_ni && run && !any_progress && !host) ? standing_q + 32'd1 : 32'd0;
  end

  always @* begin
    if (rst_ni) begin
      one_state_at_a_time: assert (32'(busy) + 32'(finished) + 32'(failed) <= 32'd1);
      nothing_runs_while_it_is_cleared: assert (!(run && clear) && (!run || busy));
      a_run_ends_when_all_commands_have_retired:
        assert (!(run_q && finished) || (retired == count_q && !any_error_q && retired == retired_q && !opened_then_q));
      all_retired_without_error_is_the_end:
        assert (!(run_q && retired_q == count_q && !opened_then_q && !any_error_q && progress_q) || finished);
      an_error_stops_the_run: assert (!(run_q && any_error_q) || stopping);
      only_errors_and_standstill_stop_it:
        assert (!(run_q && stopping) || any_error_q || (watchdog_q != 32'd0 && standing_q >= watchdog_q));
      standstill_is_an_error: assert (!(run && watchdog_i != 32'd0) || standing_q < watchdog_i);
      a_ring_is_open_until_it_is_closed: assert (open == (run && opened_q));
      who_waits_for_the_host_does_not_stand_still: assert (!(run_q && stopping && !any_error_q) || !host_q);
      the_first_error_is_kept: assert (!(stopping_q || failed_q) || clear || (err_code == code_q && err_index == index_q));
      a_stop_ends_when_the_bus_is_quiet: assert (!(stopping_q && quiet_q) || failed);
      a_stop_ends_after_watchdog_cycles: assert (!(stopping && watchdog_i != 32'd0) || stopped_q < watchdog_i);
      a_stop_ends_in_error: assert (!stopping_q || stopping || failed);
      a_failed_run_has_a_code: assert (!(failed || stopping) || err_code != gw_isa_pkg::ERR_NONE);
      the_end_raises_the_interrupt: assert (!(busy_q && (finished || failed)) || irq);
      it_stands_until_taken_back: assert (!(irq_q && !irq) || taken_back_q);
      // Invariants
      the_state_is_one_of_seven: assert (\dut.state_q <= 3'd6);
      the_block_counts_as_the_ghost: assert (stopping ? \dut.still_q == stopped_q : (!run || \dut.still_q == standing_q));
      no_more_retire_than_there_are: assert (!run || retired <= cmd_count_i);
      what_ran_was_busy: assert (!(run_q || stopping_q) || busy_q);
    end
  end

  // --- Reachable: a run that finishes, then one that fails by the watchdog, stops, and ends by the watchdog ----------------
  logic finished_seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni) finished_seen_q <= 1'b0;
    else finished_seen_q <= finished_seen_q || (finished && retired == 32'd3);
  end
  assign covered_o = rst_ni && finished_seen_q && failed && stopping_q && !quiet_q && err_code == gw_isa_pkg::ERR_WATCHDOG;

endmodule
