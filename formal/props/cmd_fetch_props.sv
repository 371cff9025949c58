// cmd_fetch: AR keeps what it offers until it is taken; no burst leaves its 4 KB page; each begins where the one before ended and
// holds commands of the stream, none lost or fetched twice, while their count rises; in a ring a burst ends at its end at the
// latest, and the next begins at its begin: what is asked for is always of the ring. On a bus of 64 bytes and less, where a
// word is a command, those that came and those that were taken are counted, too. After a stop no burst is offered. Every word that comes has room in the
// buffer, so RREADY need not exist, and until an error no room is lost.
//
// sources: common/gw_fifo.sv cmd/gw_cmd_fetch.sv
// trust: yes
module cmd_fetch_props #(
  parameter int unsigned BUS_BYTES = 64
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,
  input  logic                   run_i,
  input  logic [63:0]            cmd_addr_i,
  input  logic [31:0]            cmd_count_i,
  input  logic [31:0]            ring_size_i,
  input  logic [63:0]            dram_base_i,
  input  logic [63:0]            dram_size_i,
  input  logic                   ar_ready_i,
  input  logic                   r_valid_i,
  input  logic [1:0]             r_resp_i,
  input  logic                   cmd_ready_i,
  output logic                   covered_o
);

  logic        ar_valid, cmd_valid, quiet;
  logic [63:0] ar_addr;
  logic [7:0]  ar_len;
  logic [23:0] ar_user;
  logic [31:0] received;

  gw_cmd_fetch #(.BUS_BYTES(BUS_BYTES)) dut (
    .clk_i, .rst_ni, .clear_i, .run_i, .cmd_addr_i, .cmd_count_i, .ring_size_i, .dram_base_i, .dram_size_i,
    .ar_valid_o (ar_valid), .ar_ready_i, .ar_addr_o (ar_addr), .ar_len_o (ar_len), .ar_user_o (ar_user),
    .r_valid_i, .r_data_i ({8*BUS_BYTES{1'b0}}), .r_resp_i, .r_last_i (1'b0), .cmd_valid_o (cmd_valid), .cmd_ready_i,
    .received_o (received), .quiet_o (quiet)
  );

  (* hierconn *) wire        \dut.issue ;
  (* hierconn *) wire [63:0] \dut.req_addr_q ;
  (* hierconn *) wire [31:0] \dut.req_left ;
  (* hierconn *) wire [31:0] \dut.req_count_q ;

  // --- Environment: a stream of whole commands; beats of bursts whose address has been taken --------------------------------
  reset_first u_reset (.clk_i, .rst_ni);
  logic [9:0] owed_q, offered_beats; // beats to come; those of the burst on offer
  assign offered_beats = ar_valid ? 10'(ar_len) + 10'd1 : 10'd0;
  always @* assume (cmd_addr_i[5:0] == 6'd0);

  // A run is not cleared; between two clears its place does not change and its count does not fall.
  logic        before_q, changed_q;
  logic [63:0] cmd_addr_q;
  logic [31:0] count_q, size_q;
  always @* assume (!run_i || (!changed && !clear_i));
  logic        changed;
  assign changed = changed_q || (before_q && (cmd_addr_i != cmd_addr_q || ring_size_i != size_q || cmd_count_i < count_q));
  always @(posedge clk_i) begin
    before_q   <= rst_ni && !clear_i;
    changed_q  <= rst_ni && !clear_i && changed;
    cmd_addr_q <= cmd_addr_i;
    size_q     <= ring_size_i;
    count_q    <= cmd_count_i;
  end
  always @* assume (!r_valid_i || owed_q != 10'd0);
  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) owed_q <= 10'd0;
    else owed_q <= owed_q + (ar_ready_i ? offered_beats : 10'd0) - 10'(r_valid_i);
  end

  // --- Each burst begins where the one before ended --------------------------------------------------------------------
  logic        issued_q, stalled_q;
  logic [63:0] asked_q;      // first byte not asked for when the burst on offer was issued
  logic [31:0] asked_left_q, asked_count_q; // commands from there on, before it
  logic [95:0] offer, offer_q;
  logic [31:0] bytes;
  assign offer = {ar_addr, ar_len, ar_user};
  assign bytes = 32'(ar_user[23:12]) + 32'd1 - 32'(ar_user[11:0]);

  always @(posedge clk_i) begin
    stalled_q <= rst_ni && !clear_i && ar_valid && !ar_ready_i;
    offer_q   <= offer;
    issued_q  <= rst_ni && !clear_i && \dut.issue ;
    if (\dut.issue ) begin
      asked_q      <= \dut.req_addr_q ;
      asked_left_q <= \dut.req_left ;
      asked_count_q <= \dut.req_count_q ;
    end
  end

  // --- The ring: where it begins and how long it is, as of the check; the place in it of the next command to ask for ---------
  logic        ring_q;
  logic [63:0] begin_q;
  logic [31:0] places_q, place_q, next_place;
  logic [1:0]  state;
  assign state      = \dut.state_q ;
  assign next_place = place_q + 32'(\dut.burst_commands );
  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      place_q <= 32'd0;
    end else if (\dut.issue ) begin
      place_q <= (next_place == places_q) ? 32'd0 : next_place;
    end
    if (run_i && state == 2'd0) begin
      ring_q   <= ring_size_i != 32'd0;
      begin_q  <= cmd_addr_i;
      places_q <= ring_size_i;
    end
  end
  (* hierconn *) wire [5:0] \dut.burst_commands ;

  always @* begin
    if (rst_ni && ring_q && state == 2'd1) begin
      the_next_command_is_in_the_ring: assert (place_q < places_q && \dut.req_addr_q == begin_q + {26'd0, place_q, 6'd0});
      no_burst_leaves_the_ring: assert (!\dut.issue || next_place <= places_q);
      // Invariant
      it_begins_and_ends_where_bursts_do: assert (places_q[4:0] == 5'd0 && begin_q[10:0] == 11'd0);
    end
    if (rst_ni && state == 2'd1) begin
      // Invariant
      the_ring_is_the_one_that_was_checked:
        assert (changed || (cmd_addr_i == begin_q && ring_size_i == places_q && ring_q == (ring_size_i != 32'd0)));
    end
  end

  always @* begin
    if (rst_ni) begin
      an_address_stays_until_taken: assert (!stalled_q || (ar_valid && offer == offer_q));
      a_burst_stays_in_its_page: assert (!ar_valid || 32'(ar_addr[11:0]) + (32'(ar_len) + 32'd1) * BUS_BYTES <= 32'd4096);
      its_address_is_a_beat: assert (!ar_valid || (ar_addr & 64'(BUS_BYTES - 1)) == 64'd0);
      it_begins_where_the_one_before_ended: assert (!issued_q || ar_addr + 64'(ar_user[11:0]) == asked_q);
      the_next_begins_where_it_ends:
        assert (!issued_q || \dut.req_addr_q == asked_q + 64'(bytes) || (ring_q && \dut.req_addr_q == begin_q));
      it_holds_commands_of_the_stream: assert (!issued_q || (bytes != 32'd0 && bytes[5:0] == 6'd0 && bytes / 64 <= asked_left_q));
      what_is_asked_for_is_counted: assert (!issued_q || \dut.req_count_q == asked_count_q + bytes / 64);
      its_beats_hold_its_bytes: assert (!issued_q || 32'(ar_len) == 32'(ar_user[23:12]) / BUS_BYTES ||
                                        (BUS_BYTES < 64 && (32'(ar_len) + 32'd1) * BUS_BYTES == 32'(ar_user[11:0]) + bytes));
      // Invariant
      commands_are_whole: assert (\dut.req_addr_q [5:0] == 6'd0);
      nothing_is_offered_after_a_stop: assert (run_i || !\dut.issue );
    end
  end

  // --- Room in the buffer: words that are free, held, and asked for are all there are ----------------------------------------
  localparam int unsigned WORD_BYTES = (BUS_BYTES > 64) ? BUS_BYTES : 64;
  localparam int unsigned WORD_BEATS = WORD_BYTES / BUS_BYTES;
  localparam int unsigned BUF_WORDS  = (WORD_BYTES > 512) ? 2 : 1024 / WORD_BYTES;
  localparam logic [1:0]  CHECK      = 2'd0;
  localparam logic [1:0]  FAILED     = 2'd2;
  (* hierconn *) wire                             \dut.word_push ;
  (* hierconn *) wire [1:0]                       \dut.state_q ;
  (* hierconn *) wire [4:0]                       \dut.free_words_q ;
  (* hierconn *) wire [8:0]                       \dut.open_beats_q ;
  (* hierconn *) wire [$clog2(BUF_WORDS+1)-1:0]   \dut.u_buffer.count_q ;
  (* hierconn *) wire [3:0]                       \dut.gen_beats_make_word.beat_q ; // of the next word
  logic [15:0] part, used;
  if (WORD_BEATS == 1) begin : gen_beat_is_word
    assign part = 16'd0;
  end else begin : gen_part
    assign part = 16'(\dut.gen_beats_make_word.beat_q );
  end
  assign used = (16'(\dut.free_words_q ) + 16'(\dut.u_buffer.count_q )) * WORD_BEATS + 16'(\dut.open_beats_q ) + part;

  always @* begin
    if (rst_ni) begin
      every_word_has_room: assert (!\dut.word_push || 32'(\dut.u_buffer.count_q ) != BUF_WORDS);
      no_room_is_lost: assert (used == BUF_WORDS * WORD_BEATS || (\dut.state_q == FAILED && used < BUF_WORDS * WORD_BEATS));
      quiet_means_all_answered: assert (quiet == (owed_q == 10'd0 && !ar_valid));
      // Invariants
      beats_to_come_are_counted: assert (16'(\dut.open_beats_q ) == 16'(owed_q) + 16'(offered_beats));
      a_part_is_less_than_a_word: assert (32'(part) < WORD_BEATS);
      a_run_begins_with_nothing:
        assert (\dut.state_q <= FAILED &&
                (\dut.state_q != CHECK || (quiet && 32'(\dut.free_words_q ) == BUF_WORDS)));
    end
  end

  // --- Commands that came and that were taken, where a word is a command ----------------------------------------------------
  logic [31:0] taken_q;
  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) taken_q <= 32'd0;
    else taken_q <= taken_q + 32'(cmd_valid && cmd_ready_i);
  end
  if (BUS_BYTES <= 64) begin : gen_counts
    always @* begin
      if (rst_ni) begin
        what_is_asked_for_comes_once: assert (\dut.state_q == FAILED || 32'(\dut.req_count_q ) * WORD_BEATS ==
                                              32'(received) * WORD_BEATS + 32'(\dut.open_beats_q ) + 32'(part));
        what_came_is_offered_once: assert (received == taken_q + 32'(\dut.u_buffer.count_q ));
      end
    end
  end
  always @* begin
    if (rst_ni) begin
      no_more_is_asked_for_than_there_is: assert (changed || \dut.req_count_q <= cmd_count_i || \dut.state_q == CHECK);
      // Invariant
      nothing_was_asked_for_before_the_check:
        assert (\dut.state_q != CHECK || (\dut.req_count_q == 32'd0 && place_q == 32'd0));
    end
  end

  // --- Reachable: a beat has come, a burst that begins inside 512 bytes is held back ---------------------------------------
  logic beat_seen_q;
  always @(posedge clk_i) beat_seen_q <= rst_ni && (beat_seen_q || r_valid_i);
  assign covered_o = rst_ni && beat_seen_q && stalled_q && asked_left_q == 32'd9 && asked_q[8:6] == 3'd5;

endmodule
