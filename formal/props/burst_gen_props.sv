// burst_gen: the bursts of a tile cover each of its bytes once, in order, and nothing else; none leaves a 4 KB page or has
// more than 256 beats; the bytes of all bursts are rows x row bytes.
//
// A ghost walks the tile byte by byte of its own accord: row, offset in the row, address of the row. Each burst must begin
// where the one before ended. A byte of the tile is watched, an arbitrary one (hit_row_i, hit_byte_i when the tile starts).
// All widths are the real ones.
//
// sources: dma/gw_burst_gen.sv
// sweep: yes
module burst_gen_props #(
  parameter int unsigned BUS_BYTES = 32
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic        start_valid_i,
  input  logic [63:0] addr_i,
  input  logic [31:0] pitch_i,
  input  logic [15:0] rows_i,
  input  logic [17:0] row_bytes_i,
  input  logic        burst_ready_i,
  input  logic [15:0] hit_row_i,
  input  logic [17:0] hit_byte_i,
  output logic        covered_o
);

  localparam int unsigned OFFSET_W = $clog2(BUS_BYTES);

  logic        start_ready, valid, last;
  logic [63:0] addr;
  logic [7:0]  len;
  logic [23:0] user;

  gw_burst_gen #(.BUS_BYTES(BUS_BYTES)) dut (
    .clk_i, .rst_ni, .clear_i, .start_valid_i, .start_ready_o (start_ready), .addr_i, .pitch_i, .rows_i, .row_bytes_i,
    .burst_valid_o (valid), .burst_ready_i, .burst_addr_o (addr), .burst_len_o (len), .burst_user_o (user),
    .burst_last_o (last)
  );

  (* hierconn *) wire [63:0] \dut.row_addr_q ;
  (* hierconn *) wire [63:0] \dut.addr_q ;
  (* hierconn *) wire [17:0] \dut.left_q ;
  (* hierconn *) wire [15:0] \dut.rows_q ;
  (* hierconn *) wire [31:0] \dut.pitch_q ;
  (* hierconn *) wire [17:0] \dut.row_bytes_q ;

  // --- Environment: a tile has rows and bytes (cmd_check) ------------------------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);
  always @* assume (!start_valid_i || (rows_i != 16'd0 && row_bytes_i != 18'd0));

  // --- The tile, and how far the bursts have come ---------------------------------------------------------------
  logic [31:0] pitch_q;
  logic [15:0] rows_q, row_q, hit_row_q;
  logic [17:0] row_bytes_q, offset_q, hit_byte_q;
  logic [63:0] row_addr_q;   // address of row row_q
  logic [33:0] total_q;      // bytes of the bursts
  logic [33:0] whole_q;      // bytes of row_q whole rows
  logic        open_q;       // the tile has bytes left
  logic [1:0]  hits_q;

  logic        start, go, row_done;
  logic [11:0] first_byte, last_byte;
  logic [17:0] bytes, end_offset;
  logic        hit;

  assign start      = start_valid_i && start_ready;
  assign go         = valid && burst_ready_i;
  assign first_byte = user[11:0];
  assign last_byte  = user[23:12];
  assign bytes      = 18'(last_byte) - 18'(first_byte) + 18'd1;
  assign end_offset = offset_q + bytes;
  assign row_done   = end_offset == row_bytes_q;
  assign hit        = row_q == hit_row_q && offset_q <= hit_byte_q && hit_byte_q < end_offset;

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      open_q <= 1'b0;
    end else if (start) begin
      open_q      <= 1'b1;
      pitch_q     <= pitch_i;
      rows_q      <= rows_i;
      row_bytes_q <= row_bytes_i;
      row_addr_q  <= addr_i;
      row_q       <= 16'd0;
      offset_q    <= 18'd0;
      total_q     <= 34'd0;
      whole_q     <= 34'd0;
      hit_row_q   <= hit_row_i;
      hit_byte_q  <= hit_byte_i;
      hits_q      <= 2'd0;
    end else if (go) begin
      total_q <= total_q + 34'(bytes);
      if (hit && hits_q != 2'd3) hits_q <= hits_q + 2'd1;
      if (row_done) begin
        open_q     <= row_q + 16'd1 != rows_q;
        row_q      <= row_q + 16'd1;
        offset_q   <= 18'd0;
        row_addr_q <= row_addr_q + 64'(pitch_q);
        whole_q    <= whole_q + 34'(row_bytes_q);
      end else begin
        offset_q <= end_offset;
      end
    end
  end

  logic [96:0] offer, offer_q;
  logic        stalled_q, ended_q, watched; // ended: the last burst has just left
  assign offer   = {addr, len, user, last};
  assign watched = hit_row_q < rows_q && hit_byte_q < row_bytes_q;
  always @(posedge clk_i) begin
    stalled_q <= rst_ni && !clear_i && valid && !burst_ready_i;
    offer_q   <= offer;
    ended_q   <= rst_ni && !clear_i && go && last;
  end

  // --- Properties ----------------------------------------------------------------------------------------------
  always @* begin
    if (rst_ni) begin
      bursts_as_long_as_bytes_are_left: assert (valid == open_q && start_ready == !open_q);
      an_offered_burst_stays: assert (!stalled_q || (valid && offer == offer_q));
      if (valid) begin
        it_begins_where_the_last_one_ended: assert (addr + 64'(first_byte) == row_addr_q + 64'(offset_q));
        it_is_not_empty_and_stays_in_its_row: assert (first_byte <= last_byte && end_offset <= row_bytes_q);
        its_address_is_a_beat_and_its_first_beat_is_wanted:
          assert (addr[OFFSET_W-1:0] == '0 && 32'(first_byte) < BUS_BYTES);
        its_beats_hold_its_bytes_and_no_beat_is_idle: assert (32'(len) == 32'(last_byte) / BUS_BYTES);
        it_stays_in_its_page: assert (32'(addr[11:0]) + (32'(len) + 32'd1) * BUS_BYTES <= 32'd4096);
        the_last_one_ends_the_tile: assert (last == (row_done && row_q + 16'd1 == rows_q));
      end
      the_sum_is_rows_times_bytes: assert (!ended_q || (total_q == whole_q && row_q == rows_q));
      each_byte_is_moved_once: assert (!ended_q || !watched || hits_q == 2'd1);
      // Invariants
      if (open_q) begin
        the_sum_so_far: assert (total_q == whole_q + 34'(offset_q));
        a_byte_behind_was_moved_once:
          assert (!watched ||
                  hits_q == ((row_q > hit_row_q || (row_q == hit_row_q && offset_q > hit_byte_q)) ? 2'd1 : 2'd0));
        the_walk_is_inside: assert (row_q < rows_q && offset_q < row_bytes_q);
        the_block_stands_where_the_ghost_stands:
          assert (\dut.row_addr_q == row_addr_q && \dut.addr_q == row_addr_q + 64'(offset_q) &&
                  \dut.left_q == row_bytes_q - offset_q && \dut.rows_q == rows_q - row_q &&
                  \dut.pitch_q == pitch_q && \dut.row_bytes_q == row_bytes_q);
      end
    end
  end

  // --- Reachable: a row of two bursts, a stall, a second row ------------------------------------------------------
  logic [2:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni || start) seen_q <= '0;
    else seen_q <= seen_q | {go && !row_done, stalled_q, go && row_q == 16'd1};
  end
  assign covered_o = rst_ni && (&seen_q) && ended_q && watched;

endmodule
