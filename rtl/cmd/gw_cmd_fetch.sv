// Reads the command stream from memory and offers the commands one at a time.
//
// Bursts end at multiples of 512 bytes, or of a wider beat, so they hold up to 8 commands or a beat's, never cross 4 KB,
// and, all but the first, begin at a beat whatever the bus width. A burst is issued when the fetch buffer has room for all of it: RREADY
// need not exist. The buffer holds words of a command or of a beat, whichever is larger. Of a word larger than a
// command, those are offered that its burst asked for; the others were not there yet, or are not of the stream.
//
// The count of commands may rise during a run: what is added is asked for from the next cycle on. In a ring the command
// behind the last place is in the first one; a ring begins and ends at a multiple of 2048 bytes, so bursts end there.
module gw_cmd_fetch #(
  parameter int unsigned BUS_BYTES = 16
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,
  input  logic                   run_i,
  // Stream and the memory it must lie in
  input  gw_isa_pkg::addr_t      cmd_addr_i,
  input  gw_isa_pkg::index_t     cmd_count_i,
  input  gw_isa_pkg::index_t     ring_size_i, // commands; 0: no ring
  input  gw_isa_pkg::addr_t      dram_base_i,
  input  gw_isa_pkg::addr_t      dram_size_i,
  // Read channels
  output logic                   ar_valid_o,
  input  logic                   ar_ready_i,
  output gw_isa_pkg::addr_t      ar_addr_o,
  output gw_bus_pkg::len_t       ar_len_o,
  output gw_bus_pkg::user_t      ar_user_o, // last and first wanted byte, counted from the address
  input  logic                   r_valid_i,
  input  logic [8*BUS_BYTES-1:0] r_data_i,
  input  gw_bus_pkg::resp_t      r_resp_i,
  input  logic                   r_last_i,
  // Commands
  output logic                   cmd_valid_o,
  input  logic                   cmd_ready_i,
  output gw_isa_pkg::cmd_t       cmd_o,
  output gw_isa_pkg::index_t     received_o, // commands, since the start
  // Error, in the cycle it is found
  output logic                   err_valid_o,
  output gw_isa_pkg::err_t       err_code_o,
  output gw_isa_pkg::index_t     err_index_o,
  output logic                   quiet_o,   // no burst offered or under way
  // Counters; exactly one while running
  output logic                   cnt_active_o,
  output logic                   cnt_dram_o,
  output logic                   cnt_blocked_o,
  output logic                   cnt_done_o
);

  localparam int unsigned BEAT_W         = $clog2(BUS_BYTES);
  localparam int unsigned WORD_COMMANDS  = (BUS_BYTES > gw_isa_pkg::CMD_BYTES) ? (BUS_BYTES / gw_isa_pkg::CMD_BYTES) : 1;
  localparam int unsigned BURST_COMMANDS = (WORD_COMMANDS > 8) ? WORD_COMMANDS : 8;
  localparam int unsigned BUF_COMMANDS   = 2 * BURST_COMMANDS;
  localparam int unsigned WORD_BYTES     = WORD_COMMANDS * gw_isa_pkg::CMD_BYTES;
  localparam int unsigned WORD_BEATS     = WORD_BYTES / BUS_BYTES;
  localparam int unsigned BUF_WORDS      = BUF_COMMANDS / WORD_COMMANDS;

  typedef enum logic [1:0] {
    CHECK,  // the stream's place, in the first cycle of a run
    FETCH,
    FAILED
  } state_e;

  state_e state_q, state_d;

  // --- Check of the stream's place -------------------------------------------------------------------
  logic [64:0]       stream_bytes, stream_end, stream_offset_end;
  gw_isa_pkg::addr_t stream_offset;
  gw_isa_pkg::index_t places;
  logic              checking, is_ring, bad_ring, bad_start;

  assign checking          = run_i & (state_q == CHECK);
  assign is_ring           = ring_size_i != 32'd0;
  assign places            = is_ring ? ring_size_i : cmd_count_i;
  assign stream_bytes      = {27'd0, places, 6'd0};
  assign stream_offset     = cmd_addr_i - dram_base_i;
  assign stream_end        = {1'b0, cmd_addr_i} + stream_bytes;
  assign stream_offset_end = {1'b0, stream_offset} + stream_bytes;
  assign bad_ring          = is_ring & ((cmd_addr_i[10:0] != 11'd0) | (ring_size_i[4:0] != 5'd0) |
                                        (cmd_count_i > ring_size_i));
  assign bad_start         = (cmd_addr_i[5:0] != 6'd0) | (places == 32'd0) | bad_ring | (cmd_addr_i < dram_base_i) |
                             (stream_offset_end > {1'b0, dram_size_i}) | (stream_end > {1'b1, 64'd0});

  // A command's place in its word
  function automatic logic [5:0] slot_of(input logic [10:6] addr);
    slot_of = {1'b0, addr} & 6'(WORD_COMMANDS - 1);
  endfunction

  // --- Bursts --------------------------------------------------------------------------------------
  logic               ar_valid_q, ar_valid_d;
  gw_isa_pkg::addr_t  ar_addr_q, ar_addr_d;
  gw_bus_pkg::len_t   ar_len_q, ar_len_d;
  gw_bus_pkg::user_t  ar_user_q, ar_user_d;
  gw_isa_pkg::addr_t  req_addr_q, req_addr_d;     // of the first command not yet asked for
  gw_isa_pkg::addr_t  req_next, ring_end;         // behind the next burst, behind the ring
  gw_isa_pkg::index_t req_count_q, req_count_d;   // commands asked for
  gw_isa_pkg::index_t req_left;                   // commands not yet asked for
  logic [4:0]         free_words_q, free_words_d; // neither filled nor asked for
  logic [8:0]         open_beats_q, open_beats_d; // asked for, not yet here

  logic [5:0]              burst_commands, burst_words;
  logic [8:0]              burst_beats;
  gw_bus_pkg::beat_bytes_t first_byte, last_byte;
  logic                    room, issue, word_pop;

  assign req_left = cmd_count_i - req_count_q;
  assign req_next = req_addr_q + {52'd0, burst_commands, 6'd0};
  assign ring_end = cmd_addr_i + {26'd0, ring_size_i, 6'd0};

  always_comb begin
    burst_commands = 6'(BURST_COMMANDS) - ({1'b0, req_addr_q[10:6]} & 6'(BURST_COMMANDS - 1));
    if (req_left < {26'd0, burst_commands}) burst_commands = req_left[5:0];
    burst_words = 6'((32'(slot_of(req_addr_q[10:6])) + 32'(burst_commands) + WORD_COMMANDS - 1) / WORD_COMMANDS);
    burst_beats = 9'(32'(burst_words) * WORD_BEATS);
    first_byte  = {slot_of(req_addr_q[10:6]), 6'd0};
    last_byte   = first_byte + {burst_commands, 6'd0} - 12'd1;
    room        = {1'b0, free_words_q} >= burst_words;
    issue       = run_i & (state_q == FETCH) & (req_left != 32'd0) & room & (~ar_valid_q | ar_ready_i);
  end

  always_comb begin
    ar_valid_d   = ar_valid_q & ~ar_ready_i;
    ar_addr_d    = ar_addr_q;
    ar_len_d     = ar_len_q;
    ar_user_d    = ar_user_q;
    req_addr_d   = req_addr_q;
    req_count_d  = req_count_q;
    free_words_d = free_words_q + {4'd0, word_pop};
    open_beats_d = open_beats_q - {8'd0, r_valid_i};
    if (checking) req_addr_d = cmd_addr_i;
    if (issue) begin
      ar_valid_d   = 1'b1;
      ar_addr_d    = {req_addr_q[63:BEAT_W], {BEAT_W{1'b0}}};
      ar_len_d     = 8'(burst_beats - 9'd1);
      ar_user_d    = {last_byte, first_byte};
      req_addr_d   = (is_ring && (req_next == ring_end)) ? cmd_addr_i : req_next;
      req_count_d  = req_count_q + {26'd0, burst_commands};
      free_words_d = free_words_d - burst_words[4:0];
      open_beats_d = open_beats_d + burst_beats;
    end
    if (clear_i) begin
      ar_valid_d   = 1'b0;
      req_count_d  = 32'd0;
      free_words_d = 5'(BUF_WORDS);
      open_beats_d = 9'd0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_valid_q   <= 1'b0;
      ar_addr_q    <= 64'd0;
      ar_len_q     <= 8'd0;
      ar_user_q    <= 24'd0;
      req_addr_q   <= 64'd0;
      req_count_q  <= 32'd0;
      free_words_q <= 5'(BUF_WORDS);
      open_beats_q <= 9'd0;
    end else begin
      ar_valid_q   <= ar_valid_d;
      ar_addr_q    <= ar_addr_d;
      ar_len_q     <= ar_len_d;
      ar_user_q    <= ar_user_d;
      req_addr_q   <= req_addr_d;
      req_count_q  <= req_count_d;
      free_words_q <= free_words_d;
      open_beats_q <= open_beats_d;
    end
  end

  assign ar_valid_o = ar_valid_q;
  assign ar_addr_o  = ar_addr_q;
  assign ar_len_o   = ar_len_q;
  assign ar_user_o  = ar_user_q;
  assign quiet_o    = open_beats_q == 9'd0;

  // --- Words from beats ----------------------------------------------------------------------------
  logic [8*WORD_BYTES-1:0] word;
  logic                   word_complete, word_push;

  if (WORD_BEATS == 1) begin : gen_beat_is_word
    assign word          = r_data_i;
    assign word_complete = r_valid_i;
  end else begin : gen_beats_make_word
    localparam int unsigned PART_BITS = 8 * (WORD_BYTES - BUS_BYTES);
    logic [PART_BITS-1:0] part_q;
    logic [3:0]          beat_q;

    assign word          = {r_data_i, part_q};
    assign word_complete = r_valid_i & (beat_q == 4'(WORD_BEATS - 1));

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        part_q <= '0;
        beat_q <= 4'd0;
      end else if (clear_i) begin
        beat_q <= 4'd0;
      end else if (r_valid_i) begin
        part_q <= word[8*WORD_BYTES-1 -: PART_BITS]; // beats move down, the first ends at the bottom
        beat_q <= word_complete ? 4'd0 : (beat_q + 4'd1);
      end
    end
  end

  // --- Commands received ---------------------------------------------------------------------------
  gw_isa_pkg::index_t rx_count_q, rx_count_d; // commands that are here
  logic [5:0]         rx_commands;            // in the word
  logic               rx_err;

  assign rx_err     = r_valid_i & r_resp_i[1] & (state_q == FETCH);
  assign word_push  = word_complete & ~r_resp_i[1] & (state_q == FETCH);
  assign received_o = rx_count_q;

  always_comb begin
    rx_count_d = rx_count_q;
    if (word_push) rx_count_d = rx_count_q + {26'd0, rx_commands};
    if (clear_i) rx_count_d = 32'd0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rx_count_q <= 32'd0;
    else rx_count_q <= rx_count_d;
  end

  // --- Commands offered ----------------------------------------------------------------------------
  logic [8*WORD_BYTES-1:0] head;
  logic                    head_valid, buf_ready;
  logic                    tx;

  gw_fifo #(.WIDTH(8 * WORD_BYTES), .DEPTH(BUF_WORDS)) u_buffer (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .clear_i     (clear_i),
    .in_valid_i  (word_push),
    .in_ready_o  (buf_ready),
    .in_data_i   (word),
    .out_valid_o (head_valid),
    .out_ready_i (word_pop),
    .out_data_o  (head),
    // Room is counted from the request on.
    // verilator lint_off PINCONNECTEMPTY
    .count_o     ()
    // verilator lint_on PINCONNECTEMPTY
  );

  assign cmd_valid_o = head_valid;
  assign tx          = cmd_valid_o & cmd_ready_i;

  if (WORD_COMMANDS == 1) begin : gen_word_is_command
    assign cmd_o       = head;
    assign rx_commands = 6'd1;
    assign word_pop    = tx;
  end else begin : gen_word_holds_commands
    localparam int unsigned SLOT_W = $clog2(WORD_COMMANDS);
    logic [SLOT_W-1:0] burst_end, word_end, head_end;       // slot of the last command of a burst or word
    logic [SLOT_W-1:0] rx_slot_q, rx_slot_d;                // of the first command in the next word
    logic [SLOT_W-1:0] tx_slot_q, tx_slot_d;                // of the command on offer

    // A word is a beat, and only a burst's last one may end early.
    gw_fifo #(.WIDTH(SLOT_W), .DEPTH(BUF_WORDS)) u_burst_ends (
      .clk_i, .rst_ni, .clear_i,
      .in_valid_i  (issue),
      .in_data_i   (SLOT_W'(slot_of(req_addr_q[10:6]) + burst_commands - 6'd1)),
      .out_ready_i (word_complete & r_last_i),
      .out_data_o  (burst_end),
      // Each burst has words, for which there is room.
      // verilator lint_off PINCONNECTEMPTY
      .in_ready_o  (),
      .out_valid_o (),
      .count_o     ()
      // verilator lint_on PINCONNECTEMPTY
    );

    gw_fifo #(.WIDTH(SLOT_W), .DEPTH(BUF_WORDS)) u_word_ends (
      .clk_i, .rst_ni, .clear_i,
      .in_valid_i  (word_push),
      .in_data_i   (word_end),
      .out_ready_i (word_pop),
      .out_data_o  (head_end),
      // It goes with the buffer.
      // verilator lint_off PINCONNECTEMPTY
      .in_ready_o  (),
      .out_valid_o (),
      .count_o     ()
      // verilator lint_on PINCONNECTEMPTY
    );

    assign cmd_o       = head[512*tx_slot_q +: 512];
    assign word_end    = r_last_i ? burst_end : '1;
    assign rx_commands = 6'(word_end) - 6'(rx_slot_q) + 6'd1;
    assign word_pop    = tx & (tx_slot_q == head_end);

    always_comb begin
      rx_slot_d = rx_slot_q;
      tx_slot_d = tx_slot_q;
      if (checking) begin
        rx_slot_d = SLOT_W'(slot_of(cmd_addr_i[10:6]));
        tx_slot_d = SLOT_W'(slot_of(cmd_addr_i[10:6]));
      end else begin
        if (word_push) rx_slot_d = word_end + 1'b1;
        if (tx) tx_slot_d = tx_slot_q + 1'b1;
      end
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        rx_slot_q <= '0;
        tx_slot_q <= '0;
      end else begin
        rx_slot_q <= rx_slot_d;
        tx_slot_q <= tx_slot_d;
      end
    end
  end

  // --- State and errors ----------------------------------------------------------------------------
  always_comb begin
    state_d     = state_q;
    err_valid_o = 1'b0;
    err_code_o  = gw_isa_pkg::ERR_NONE;
    err_index_o = 32'd0;
    if (checking) begin
      state_d = FETCH;
      if (bad_start) begin
        state_d     = FAILED;
        err_valid_o = 1'b1;
        err_code_o  = gw_isa_pkg::ERR_BAD_START;
      end
    end else if (rx_err) begin
      state_d     = FAILED;
      err_valid_o = 1'b1;
      err_code_o  = r_resp_i[0] ? gw_isa_pkg::ERR_FETCH_DECERR : gw_isa_pkg::ERR_FETCH_SLVERR;
      err_index_o = rx_count_q;
    end
    if (clear_i) state_d = CHECK;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= CHECK;
    end else begin
      state_q <= state_d;
    end
  end

  // --- Counters ------------------------------------------------------------------------------------
  logic waiting_for_room;

  assign waiting_for_room = (state_q == FETCH) & quiet_o & ~room;
  assign cnt_active_o     = r_valid_i;
  assign cnt_done_o       = ~r_valid_i & (state_q == FETCH) & (rx_count_q == cmd_count_i);
  assign cnt_blocked_o    = ~r_valid_i & ~cnt_done_o & waiting_for_room;
  assign cnt_dram_o       = ~r_valid_i & ~cnt_done_o & ~waiting_for_room;

  // --- Assertions ----------------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      the_buffer_has_room_for_every_word:
        assert (~word_push | buf_ready);
      no_beat_comes_unasked:
        assert (~r_valid_i | (open_beats_q != 9'd0));
      a_burst_stays_inside_a_page:
        assert (~ar_valid_q | ({1'b0, ar_addr_q[11:0]} + 13'(BUS_BYTES) * ({5'd0, ar_len_q} + 13'd1) <= 13'd4096));
      the_last_open_beat_ends_a_burst:
        assert (~r_valid_i | (open_beats_q != 9'd1) | r_last_i);
    end
  end

endmodule
