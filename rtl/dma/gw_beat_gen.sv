// Walks a tile beat by beat, in the order in which burst_gen's bursts move it, and says for each beat which of its
// element slots belong to the tile and where in the scratchpad these elements lie (skewed panel layout,
// docs/microarchitecture.md).
//
// Where bursts begin does not matter: the first beat of a row starts at the row's address modulo the beat, every
// other beat is used from its first byte. A beat that holds more than LANES elements covers several panels, each of which
// it enters at the first column; no division: a beat leaves at most WRAPS panels behind. Outputs are functions of
// registers.
module gw_beat_gen #(
  parameter int unsigned LANES     = 8,
  parameter int unsigned BUS_BYTES = 16,
  localparam int unsigned OFFSET_W = $clog2(BUS_BYTES)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    clear_i,

  input  logic                    start_valid_i,
  output logic                    start_ready_o, // idle, or the last beat is leaving
  input  logic                    fp32_i,
  input  logic [OFFSET_W-1:0]     offset_i,      // byte address of the first row modulo BUS_BYTES
  input  logic [OFFSET_W-1:0]     pitch_i,       // bytes from row to row modulo BUS_BYTES
  input  gw_isa_pkg::dim_t        rows_i,
  input  gw_isa_pkg::row_bytes_t  row_bytes_i,
  input  gw_isa_pkg::tile_t       spm_i,

  output logic                    beat_valid_o,
  input  logic                    beat_ready_i,
  output logic                    beat_last_o,   // last beat of the tile
  output logic [OFFSET_W-1:0]     beat_offset_o, // first wanted byte
  output gw_bus_pkg::beat_bytes_t beat_bytes_o,  // wanted bytes
  output logic                    beat_fp32_o,
  output gw_bus_pkg::slot_t       beat_first_o,  // first wanted slot (2 or 4 bytes)
  output gw_bus_pkg::slots_t      beat_count_o,  // wanted slots; element e of them lies
  output gw_isa_pkg::lane_t       beat_lane_o,   //   in lane (lane + e) mod LANES
  output gw_isa_pkg::row_t        beat_addr_o,   //   in this row (fp32: of the pair, the even one) if e < split,
  //   so many rows further for each panel of LANES elements from there on
  output gw_isa_pkg::row_t        beat_pstride_o,
  output gw_isa_pkg::lanes_t      beat_split_o
);

  localparam int unsigned LANE_W = gw_isa_pkg::LANE_W;
  localparam int unsigned SLOTS  = BUS_BYTES / 2;
  localparam int unsigned WRAPS  = (SLOTS + LANES - 1) / LANES; // panel borders that a beat can reach

  // --- State ---------------------------------------------------------------------------------
  logic                active_q, active_d;
  // The tile.
  logic                   fp32_q, fp32_d;
  logic [OFFSET_W-1:0]    pitch_q, pitch_d;
  gw_isa_pkg::row_bytes_t row_bytes_q, row_bytes_d;
  gw_isa_pkg::row_t       pstride_q, pstride_d;
  // The row.
  gw_isa_pkg::dim_t    rows_q, rows_d;             // rows left, this one included
  logic [OFFSET_W-1:0] row_offset_q, row_offset_d; // of its first byte in a beat
  gw_isa_pkg::row_t    row_base_q, row_base_d;     // scratchpad row in the first panel
  gw_isa_pkg::lane_t   row_rot_q, row_rot_d;       // lane of its first element
  // The beat.
  logic [OFFSET_W-1:0]    offset_q, offset_d;
  gw_isa_pkg::row_bytes_t left_q, left_d;   // bytes of the row from this beat on
  gw_isa_pkg::row_t       panel_q, panel_d; // scratchpad row in the panel of the beat's first element
  gw_isa_pkg::lane_t      col_q, col_d;     // column of that element in its panel
  gw_isa_pkg::lane_t      lane_q, lane_d;

  // --- The beat --------------------------------------------------------------------------------
  logic [11:0]        room, bytes;
  gw_bus_pkg::slots_t count;
  logic               row_end;
  logic [11:0]        col_next, lane_next; // of the element behind the beat
  gw_isa_pkg::row_t   panel_next;

  assign room    = 12'(BUS_BYTES) - 12'(offset_q);
  assign row_end = left_q <= 18'(room);
  assign bytes   = row_end ? left_q[11:0] : room;
  assign count   = fp32_q ? 11'(bytes >> 2) : 11'(bytes >> 1);

  always_comb begin
    col_next   = 12'(col_q) + 12'(count);
    lane_next  = 12'(lane_q) + 12'(count);
    panel_next = panel_q;
    for (int unsigned w = 0; w < WRAPS; w++) begin
      if (col_next >= 12'(LANES)) begin
        col_next   = col_next - 12'(LANES);
        panel_next = panel_next + pstride_q;
      end
      if (lane_next >= 12'(LANES)) lane_next = lane_next - 12'(LANES);
    end
  end

  assign beat_valid_o   = active_q;
  assign beat_last_o    = row_end && (rows_q == 16'd1);
  assign beat_offset_o  = offset_q;
  assign beat_bytes_o   = bytes;
  assign beat_fp32_o    = fp32_q;
  assign beat_first_o   = fp32_q ? 10'(12'(offset_q) >> 2) : 10'(12'(offset_q) >> 1);
  assign beat_count_o   = count;
  assign beat_lane_o    = lane_q;
  assign beat_addr_o    = panel_q;
  assign beat_pstride_o = pstride_q;
  assign beat_split_o   = gw_isa_pkg::LANES_W'(LANES) - {1'b0, col_q};

  // --- Next beat, next row, next tile ---------------------------------------------------------------
  logic tile_end;

  assign tile_end      = beat_ready_i && beat_last_o;
  assign start_ready_o = !active_q || tile_end;

  always_comb begin
    active_d     = active_q;
    fp32_d       = fp32_q;
    pitch_d      = pitch_q;
    row_bytes_d  = row_bytes_q;
    pstride_d    = pstride_q;
    rows_d       = rows_q;
    row_offset_d = row_offset_q;
    row_base_d   = row_base_q;
    row_rot_d    = row_rot_q;
    offset_d     = offset_q;
    left_d       = left_q;
    panel_d      = panel_q;
    col_d        = col_q;
    lane_d       = lane_q;
    if (start_ready_o) begin
      active_d     = start_valid_i;
      fp32_d       = fp32_i;
      pitch_d      = pitch_i;
      row_bytes_d  = row_bytes_i;
      pstride_d    = spm_i.pstride;
      rows_d       = rows_i;
      row_offset_d = offset_i;
      row_base_d   = spm_i.row;
      row_rot_d    = spm_i.rot;
      offset_d     = offset_i;
      left_d       = row_bytes_i;
      panel_d      = spm_i.row;
      col_d        = '0;
      lane_d       = spm_i.rot;
    end else if (beat_ready_i && row_end) begin
      rows_d       = rows_q - 16'd1;
      row_offset_d = row_offset_q + pitch_q;
      row_base_d   = row_base_q + (fp32_q ? gw_isa_pkg::ROW_W'(2) : gw_isa_pkg::ROW_W'(1));
      row_rot_d    = (row_rot_q == LANE_W'(LANES - 1)) ? '0 : row_rot_q + LANE_W'(1);
      offset_d     = row_offset_d;
      left_d       = row_bytes_q;
      panel_d      = row_base_d;
      col_d        = '0;
      lane_d       = row_rot_d;
    end else if (beat_ready_i) begin
      offset_d = '0;
      left_d   = left_q - 18'(room);
      panel_d  = panel_next;
      col_d    = LANE_W'(col_next);
      lane_d   = LANE_W'(lane_next);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (clear_i) active_q <= 1'b0;
    else active_q <= active_d;
  end

  // Meaningless while idle, hence without reset.
  always_ff @(posedge clk_i) begin
    fp32_q       <= fp32_d;
    pitch_q      <= pitch_d;
    row_bytes_q  <= row_bytes_d;
    pstride_q    <= pstride_d;
    rows_q       <= rows_d;
    row_offset_q <= row_offset_d;
    row_base_q   <= row_base_d;
    row_rot_q    <= row_rot_d;
    offset_q     <= offset_d;
    left_q       <= left_d;
    panel_q      <= panel_d;
    col_q        <= col_d;
    lane_q       <= lane_d;
  end

  // --- Assertions ------------------------------------------------------------------------------
`ifndef SYNTHESIS
  initial begin
    a_rotation_names_every_lane: assert (LANES >= 2 && LANES <= 2**LANE_W);
    beat_is_at_most_half_a_page: assert (BUS_BYTES <= 2048);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      if (active_q) begin
        beat_has_an_element: assert (count != 11'd0);
        panel_borders_are_counted: assert (col_next < 12'(LANES) && lane_next < 12'(LANES));
        beat_stays_in_its_slots: assert (32'(offset_q) + 32'(bytes) <= BUS_BYTES);
        lane_and_column_are_below_lanes: assert (32'(lane_q) < LANES && 32'(col_q) < LANES);
        elements_are_aligned: assert (!offset_q[0] && (!fp32_q || !offset_q[1]));
      end
    end
  end
`endif

endmodule
