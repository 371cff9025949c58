// dma_store, its bus side: AW and W keep what they offer until it is taken; each burst that is offered gets as many data beats
// as it has, the last and only the last marked; no data without a burst, no more bursts unanswered than OUTSTANDING.
//
// The tile's bursts and beats are arbitrary here (cut): dma_front offers what burst_gen and beat_gen are proven to offer, and
// nothing of the bus side rests on it. A burst is watched, an arbitrary one: `ahead` counts those whose data leaves before.
//
// sources: common/gw_fifo.sv dma/gw_dma_order.sv dma/gw_burst_gen.sv dma/gw_beat_gen.sv dma/gw_dma_front.sv dma/gw_dma_store.sv
// trust: yes
// memory: lengths dut.u_unread.mem OUTSTANDING
// memory: beats dut.u_data.mem 4
// cut: dut.burst_valid dut.burst_len dut.burst_addr dut.burst_user dut.burst_last dut.beat_valid dut.beat_last
module dma_store_props #(
  parameter int unsigned LANES       = 4,
  parameter int unsigned BUS_BYTES   = 4,
  parameter int unsigned OUTSTANDING = 2
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,
  input  logic                   run_i,
  input  logic                   aw_ready_i,
  input  logic                   w_ready_i,
  input  logic                   b_valid_i,
  input  logic [8*BUS_BYTES-1:0] st_data_i,
  input  logic                   watch_i,
  output logic                   covered_o
);

  logic                   aw_valid, w_valid, w_last, quiet;
  logic [63:0]            aw_addr;
  logic [7:0]             aw_len;
  logic [23:0]            aw_user;
  logic [8*BUS_BYTES-1:0] w_data;
  logic [BUS_BYTES-1:0]   w_strb;

  gw_dma_store #(.LANES(LANES), .BUS_BYTES(BUS_BYTES), .OUTSTANDING(OUTSTANDING)) dut (
    .clk_i, .rst_ni, .clear_i, .run_i,
    .start_valid_i (1'b0), .cmd_i (512'd0), .index_i (32'd0), .head_valid_i (1'b0),
    .aw_valid_o (aw_valid), .aw_ready_i, .aw_addr_o (aw_addr), .aw_len_o (aw_len), .aw_user_o (aw_user),
    .w_valid_o (w_valid), .w_ready_i, .w_data_o (w_data), .w_strb_o (w_strb), .w_last_o (w_last),
    .b_valid_i, .b_resp_i (2'b00), .st_data_i, .quiet_o (quiet)
  );

  (* hierconn *) wire       \dut.issue ;
  (* hierconn *) wire [7:0] \dut.burst_len ;
  (* hierconn *) wire       \dut.burst_valid ;
  (* hierconn *) wire       \dut.read_q ;
  (* hierconn *) wire       \dut.data_ready ;

  // --- Environment: responses to bursts whose address and data have been taken ----------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);

  logic       aw_taken, w_taken;
  logic [7:0] issued_q, addressed_q, written_q, answered_q; // bursts: offered, address taken, data taken, answered
  assign aw_taken = aw_valid && aw_ready_i;
  assign w_taken  = w_valid && w_ready_i;
  always @* assume (!b_valid_i || (answered_q != addressed_q && answered_q != written_q));

  // --- The watched burst ---------------------------------------------------------------------------------------
  logic       watched_q;
  logic [7:0] len_q, ahead_q, beats_q; // beats of it that have left
  logic [7:0] waiting;                 // bursts offered whose data has not all left
  assign waiting = issued_q - written_q;

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      issued_q    <= 8'd0;
      addressed_q <= 8'd0;
      written_q   <= 8'd0;
      answered_q  <= 8'd0;
      watched_q   <= 1'b0;
    end else begin
      issued_q    <= issued_q + 8'(\dut.issue );
      addressed_q <= addressed_q + 8'(aw_taken);
      written_q   <= written_q + 8'(w_taken && w_last);
      answered_q  <= answered_q + 8'(b_valid_i);
      if (!watched_q && \dut.issue && watch_i) begin
        watched_q <= 1'b1;
        len_q     <= \dut.burst_len ;
        ahead_q   <= waiting - 8'(w_taken && w_last);
        beats_q   <= 8'd0;
      end else if (watched_q && w_taken) begin
        if (ahead_q == 8'd0) beats_q <= beats_q + 8'd1;
        if (w_last) ahead_q <= ahead_q - 8'd1;
        if (w_last && ahead_q == 8'd0) watched_q <= 1'b0;
      end
    end
  end

  logic [95:0]              aw, aw_q;
  logic [9*BUS_BYTES:0]     w, w_q;
  logic                     aw_stalled_q, w_stalled_q, issued_before_q;
  logic [7:0]               issued_len_q;
  assign aw = {aw_addr, aw_len, aw_user};
  assign w  = {w_data, w_strb, w_last};
  always @(posedge clk_i) begin
    aw_stalled_q    <= rst_ni && !clear_i && aw_valid && !aw_ready_i;
    w_stalled_q     <= rst_ni && !clear_i && w_valid && !w_ready_i;
    aw_q            <= aw;
    w_q             <= w;
    issued_before_q <= rst_ni && !clear_i && \dut.issue ;
    issued_len_q    <= \dut.burst_len ;
  end

  always @* begin
    if (rst_ni) begin
      an_address_stays_until_taken: assert (!aw_stalled_q || (aw_valid && aw == aw_q));
      data_stays_until_taken: assert (!w_stalled_q || (w_valid && w == w_q));
      a_burst_is_offered_as_it_is: assert (!issued_before_q || (aw_valid && aw_len == issued_len_q));
      an_address_is_of_a_burst: assert (aw_valid == (issued_q != addressed_q));
      no_data_without_a_burst: assert (!w_valid || waiting != 8'd0);
      the_last_beat_and_only_it_is_marked:
        assert (!(watched_q && ahead_q == 8'd0 && w_valid) || w_last == (beats_q == len_q));
      outstanding_bursts_stay_in_bound: assert (32'(8'(issued_q - answered_q)) <= OUTSTANDING);
      quiet_means_all_answered: assert (quiet == (issued_q == answered_q));
      what_the_scratchpad_delivers_has_room: assert (!\dut.read_q || \dut.data_ready );
      nothing_is_offered_after_a_stop: assert (run_i || !\dut.issue );
    end
  end

  // --- Invariants that make them inductive: which beats and bursts the block holds --------------------------------------
  // Beats that have been read and not left: in the data queue and, behind them, in what the scratchpad delivers. Behind these
  // come the bursts that are not read to the end; of the first of them `beat_q` beats have been read.
  localparam int unsigned DATA_DEPTH = 4;
  localparam int unsigned BEAT_W     = 9 * BUS_BYTES + 13; // the mark of the last beat is bit 0
  localparam int unsigned PTR_W      = (OUTSTANDING > 1) ? $clog2(OUTSTANDING) : 1;
  localparam int unsigned COUNT_W    = $clog2(OUTSTANDING + 1);
  (* hierconn *) wire [PTR_W-1:0]   \dut.u_unread.read_q ;
  (* hierconn *) wire [PTR_W-1:0]   \dut.u_unread.write_q ;
  (* hierconn *) wire [COUNT_W-1:0] \dut.u_unread.count_q ;
  (* hierconn *) wire [COUNT_W-1:0] \dut.u_unanswered.count_q ;
  (* hierconn *) wire [1:0]         \dut.u_data.read_q ;
  (* hierconn *) wire [1:0]         \dut.u_data.write_q ;
  (* hierconn *) wire [2:0]         \dut.u_data.count_q ;
  (* hierconn *) wire [7:0]         \dut.beat_q ;
  (* hierconn *) wire               \dut.read_last_q ;
  wire [8*OUTSTANDING-1:0]     lengths;
  wire [BEAT_W*DATA_DEPTH-1:0] beats;

  function automatic logic [7:0] length_of(input logic [7:0] burst);
    logic [7:0] place;
    place     = 8'(\dut.u_unread.read_q ) + burst;
    length_of = lengths[8*((place >= 8'(OUTSTANDING)) ? place - 8'(OUTSTANDING) : place) +: 8];
  endfunction

  logic [7:0] held, lasts; // beats that the block holds; those of them that end a burst
  logic [8:0] mine;        // those of the watched burst
  logic       is_last;     // in the end: of the newest beat
  always @* begin
    held    = 8'(\dut.u_data.count_q ) + 8'(\dut.read_q );
    lasts   = 8'd0;
    mine    = 9'd0;
    is_last = 1'b0;
    for (int i = 0; i <= DATA_DEPTH; i++) begin
      if (8'(i) < held) begin
        is_last = (8'(i) < 8'(\dut.u_data.count_q )) ? beats[BEAT_W*2'(\dut.u_data.read_q + 2'(i))] : \dut.read_last_q ;
        if (lasts == ahead_q) mine = mine + 9'd1;
        if (is_last) lasts = lasts + 8'd1;
      end
    end
  end

  always @* begin
    if (rst_ni) begin
      pointers_stay_inside: assert (32'(\dut.u_unread.read_q ) < OUTSTANDING);
      pointers_are_count_apart:
        assert (2'(\dut.u_data.write_q - \dut.u_data.read_q ) == 2'(\dut.u_data.count_q ) &&
                32'(\dut.u_unread.write_q ) == (32'(\dut.u_unread.read_q ) + 32'(\dut.u_unread.count_q )) % OUTSTANDING);
      the_block_has_room_for_what_it_holds: assert (held <= DATA_DEPTH);
      an_address_waits_alone: assert (8'(issued_q - addressed_q) == 8'(aw_valid));
      bursts_are_answered_after_address_and_data:
        assert (32'(8'(addressed_q - answered_q)) <= OUTSTANDING && 32'(8'(written_q - answered_q)) <= OUTSTANDING);
      unanswered_bursts_are_counted: assert (8'(issued_q - answered_q) == 8'(\dut.u_unanswered.count_q ));
      a_burst_waits_to_be_read_or_to_leave: assert (waiting == 8'(\dut.u_unread.count_q ) + lasts);
      a_burst_begun_is_not_read_to_the_end:
        assert (\dut.beat_q == 8'd0 || (\dut.u_unread.count_q != '0 && \dut.beat_q <= length_of(8'd0)));
      its_newest_beat_is_not_the_last: assert (held == 8'd0 || is_last == (\dut.beat_q == 8'd0));
      if (watched_q) begin
        the_watched_burst_is_held: assert (ahead_q < waiting);
        it_leaves_in_its_turn: assert (ahead_q == 8'd0 || beats_q == 8'd0);
        its_beats_have_left_or_are_held_or_unread:
          assert ((ahead_q < lasts) ? 9'(beats_q) + mine == 9'(len_q) + 9'd1
                                    : length_of(ahead_q - lasts) == len_q &&
                                      9'(beats_q) + mine == ((ahead_q == lasts) ? 9'(\dut.beat_q ) : 9'd0));
      end
    end
  end

  // --- Reachable: the second burst of those unanswered leaves, of two beats, after a stall --------------------------------
  logic [2:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) seen_q <= '0;
    else seen_q <= seen_q | {aw_stalled_q, w_stalled_q, watched_q && ahead_q == 8'd0 && w_taken && w_last && len_q == 8'd1};
  end
  assign covered_o = rst_ni && (&seen_q) && answered_q == 8'd2;

endmodule
