// beat_gen: the beats of a tile cover each of its bytes once, in order, and nothing else; every element goes to the lane and
// the row that the skewed panel layout gives it (docs/microarchitecture.md).
//
// A ghost walks the tile of its own accord: tile row i begins in row ROW + i (2i if fp32) and lane (ROT + i) mod LANES, its
// next column is a lane further, that of the next panel PSTRIDE rows further. Each beat must begin where the one before ended,
// in memory as in the scratchpad. Widths are the real ones.
//
// sources: dma/gw_beat_gen.sv
// sweep: yes
module beat_gen_props #(
  parameter int unsigned LANES     = 8,
  parameter int unsigned BUS_BYTES = 16,
  localparam int unsigned OFFSET_W = $clog2(BUS_BYTES)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  input  logic                start_valid_i,
  input  logic                fp32_i,
  input  logic [OFFSET_W-1:0] offset_i,
  input  logic [OFFSET_W-1:0] pitch_i,
  input  logic [15:0]         rows_i,
  input  logic [17:0]         row_bytes_i,
  input  gw_isa_pkg::row_t    spm_row_i,
  input  gw_isa_pkg::lane_t   spm_rot_i,
  input  gw_isa_pkg::row_t    spm_pstride_i,
  input  logic                beat_ready_i,
  output logic                covered_o
);

  logic                start_ready, valid, last, fp32;
  logic [OFFSET_W-1:0] offset;
  logic [11:0]         bytes;
  logic [9:0]          first;
  logic [10:0]         count;
  gw_isa_pkg::lane_t   lane;
  gw_isa_pkg::lanes_t  split;
  gw_isa_pkg::row_t    addr, pstride;

  gw_beat_gen #(.LANES(LANES), .BUS_BYTES(BUS_BYTES)) dut (
    .clk_i, .rst_ni, .clear_i, .start_valid_i, .start_ready_o (start_ready), .fp32_i, .offset_i, .pitch_i, .rows_i,
    .row_bytes_i, .spm_i ({spm_pstride_i, spm_rot_i, spm_row_i}), .beat_valid_o (valid), .beat_ready_i, .beat_last_o (last),
    .beat_offset_o (offset), .beat_bytes_o (bytes), .beat_fp32_o (fp32), .beat_first_o (first), .beat_count_o (count),
    .beat_lane_o (lane), .beat_addr_o (addr), .beat_pstride_o (pstride), .beat_split_o (split)
  );

  (* hierconn *) wire [15:0]         \dut.rows_q ;
  (* hierconn *) wire [17:0]         \dut.left_q ;
  (* hierconn *) wire [17:0]         \dut.row_bytes_q ;
  (* hierconn *) wire [OFFSET_W-1:0] \dut.pitch_q ;
  (* hierconn *) wire [OFFSET_W-1:0] \dut.row_offset_q ;
  (* hierconn *) wire [gw_isa_pkg::ROW_W-1:0]  \dut.row_base_q ;
  (* hierconn *) wire [gw_isa_pkg::LANE_W-1:0] \dut.row_rot_q ;
  (* hierconn *) wire [gw_isa_pkg::LANE_W-1:0] \dut.col_q ;

  // --- Environment: what cmd_check lets through ----------------------------------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);
  logic [1:0] align;
  assign align = fp32_i ? 2'b11 : 2'b01;
  always @* begin
    assume (!start_valid_i || (rows_i != 16'd0 && row_bytes_i != 18'd0 && 32'(spm_rot_i) < LANES));
    assume (!start_valid_i || ((offset_i[1:0] | row_bytes_i[1:0]) & align) == 2'b00);
    assume (!start_valid_i || rows_i == 16'd1 || (pitch_i[1:0] & align) == 2'b00);
  end

  // --- The tile, and how far the beats have come -----------------------------------------------------------------
  logic                open_q, fp32_q;
  logic [15:0]         rows_q, row_q;
  logic [17:0]         row_bytes_q, done_q;      // bytes of the row in earlier beats
  logic [OFFSET_W-1:0] pitch_q, row_offset_q;
  gw_isa_pkg::row_t    base_q, pstride_q;        // scratchpad row of the tile row's first panel
  gw_isa_pkg::lane_t   rot_q;                    // lane of the tile row's first element
  gw_isa_pkg::row_t    panel_addr_q;             // scratchpad row of the panel in which the next element lies
  gw_isa_pkg::lane_t   col_q;                    // its column there

  logic                start, go, row_done;
  logic [17:0]         end_done;
  assign start    = start_valid_i && start_ready;
  assign go       = valid && beat_ready_i;
  assign end_done = done_q + 18'(bytes);
  assign row_done = end_done == row_bytes_q;

  // Where the layout puts the beat's first element; the port goes on from there as the layout does: a lane further with each
  // element, PSTRIDE rows further where a panel ends. And where the element behind the beat lies.
  localparam int unsigned BORDERS = (BUS_BYTES / 2 + LANES - 1) / LANES; // panels that can end in a beat
  logic [31:0] lane_now, col_end, col_next;
  gw_isa_pkg::row_t panel_next;
  assign lane_now = (32'(rot_q) + 32'(col_q) >= LANES) ? 32'(rot_q) + 32'(col_q) - LANES : 32'(rot_q) + 32'(col_q);
  assign col_end  = 32'(col_q) + 32'(count);
  always @* begin
    col_next   = col_end;
    panel_next = panel_addr_q;
    for (int b = 1; b <= BORDERS; b++) begin
      if (col_end >= b * LANES) begin
        col_next   = col_end - b * LANES;
        panel_next = panel_next + pstride_q;
      end
    end
  end

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      open_q <= 1'b0;
    end else if (start) begin
      open_q       <= 1'b1;
      fp32_q       <= fp32_i;
      rows_q       <= rows_i;
      row_bytes_q  <= row_bytes_i;
      pitch_q      <= pitch_i;
      pstride_q    <= spm_pstride_i;
      row_q        <= 16'd0;
      done_q       <= 18'd0;
      row_offset_q <= offset_i;
      base_q       <= spm_row_i;
      rot_q        <= spm_rot_i;
      panel_addr_q <= spm_row_i;
      col_q        <= '0;
    end else if (go && row_done) begin
      open_q       <= row_q + 16'd1 != rows_q;
      row_q        <= row_q + 16'd1;
      done_q       <= 18'd0;
      row_offset_q <= row_offset_q + pitch_q;
      base_q       <= base_q + (fp32_q ? gw_isa_pkg::ROW_W'(2) : gw_isa_pkg::ROW_W'(1));
      rot_q        <= (32'(rot_q) + 32'd1 == LANES) ? '0 : rot_q + gw_isa_pkg::LANE_W'(1);
      panel_addr_q <= base_q + (fp32_q ? gw_isa_pkg::ROW_W'(2) : gw_isa_pkg::ROW_W'(1));
      col_q        <= '0;
    end else if (go) begin
      done_q       <= end_done;
      panel_addr_q <= panel_next;
      col_q        <= gw_isa_pkg::LANE_W'(col_next);
    end
  end

  logic [OFFSET_W+96:0] offer, offer_q;
  logic                 stalled_q;
  assign offer = {last, offset, bytes, fp32, first, count, lane, addr, pstride, split};
  always @(posedge clk_i) begin
    stalled_q <= rst_ni && !clear_i && valid && !beat_ready_i;
    offer_q   <= offer;
  end

  // --- Properties ------------------------------------------------------------------------------------------------
  logic [OFFSET_W-1:0] place; // of the next byte in a beat
  assign place = row_offset_q + done_q[OFFSET_W-1:0];

  always @* begin
    if (rst_ni) begin
      beats_as_long_as_bytes_are_left: assert (valid == open_q);
      an_offered_beat_stays: assert (!stalled_q || (valid && offer == offer_q));
      if (valid) begin
        it_begins_where_the_last_one_ended: assert (offset == place && fp32 == fp32_q && pstride == pstride_q);
        it_is_not_empty_and_stays_in_its_row: assert (bytes != 12'd0 && end_done <= row_bytes_q);
        it_fills_the_beat_or_ends_the_row: assert (row_done || 32'(offset) + 32'(bytes) == BUS_BYTES);
        it_stays_in_its_beat: assert (32'(offset) + 32'(bytes) <= BUS_BYTES);
        its_slots_are_its_bytes:
          assert (fp32 ? (32'(first) * 4 == 32'(offset) && 32'(count) * 4 == 32'(bytes))
                       : (32'(first) * 2 == 32'(offset) && 32'(count) * 2 == 32'(bytes)));
        its_first_element_goes_to_its_place: assert (addr == panel_addr_q && 32'(lane) == lane_now);
        the_panel_ends_where_the_port_says: assert (32'(split) == LANES - 32'(col_q) && pstride == pstride_q);
        the_last_one_ends_the_tile: assert (last == (row_done && row_q + 16'd1 == rows_q));
      end
      the_next_tile_follows_without_a_gap: assert (start_ready == (!open_q || (beat_ready_i && last)));
      // Invariants
      if (open_q) begin
        the_walk_is_inside: assert (row_q < rows_q && done_q < row_bytes_q && 32'(rot_q) < LANES && 32'(col_q) < LANES);
        elements_are_aligned:
          assert (((row_offset_q[1:0] | done_q[1:0] | row_bytes_q[1:0]) & (fp32_q ? 2'b11 : 2'b01)) == 2'b00 &&
                  (row_q + 16'd1 == rows_q || (pitch_q[1:0] & (fp32_q ? 2'b11 : 2'b01)) == 2'b00));
        the_block_stands_where_the_ghost_stands:
          assert (\dut.rows_q == rows_q - row_q && \dut.left_q == row_bytes_q - done_q &&
                  \dut.row_bytes_q == row_bytes_q && \dut.pitch_q == pitch_q && \dut.row_offset_q == row_offset_q &&
                  \dut.row_base_q == base_q && \dut.row_rot_q == rot_q && \dut.col_q == col_q && addr == panel_addr_q);
      end
    end
  end

  // --- Reachable: a beat that reaches into a second panel, a row of two beats, a stall, a second row -------------------
  logic [3:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni || start) seen_q <= '0;
    else seen_q <= seen_q | {go && 32'(count) > 32'(split), go && !row_done, stalled_q, go && row_q == 16'd1};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
