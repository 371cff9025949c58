// Turns a strided tile of memory into AXI4 INCR bursts of full-width beats, row by row.
//
// Row r covers the bytes [addr + r * pitch, + row_bytes). A burst never leaves its row, a 4 KB page or 256 beats; its
// address is aligned down to the beat, so its first and last beats may hold bytes beside the row. One burst a cycle.
// Outputs are functions of registers.
module gw_burst_gen #(
  parameter int unsigned BUS_BYTES = 32 // bytes of a beat, a power of two, 4 to 2048
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,

  input  logic                   start_valid_i,
  output logic                   start_ready_o,
  input  gw_isa_pkg::addr_t      addr_i,       // byte address of the first row
  input  gw_isa_pkg::pitch_t     pitch_i,      // bytes from row to row
  input  gw_isa_pkg::dim_t       rows_i,       // at least 1
  input  gw_isa_pkg::row_bytes_t row_bytes_i,  // at least 1

  output logic                   burst_valid_o,
  input  logic                   burst_ready_i,
  output gw_isa_pkg::addr_t      burst_addr_o, // a multiple of BUS_BYTES
  output gw_bus_pkg::len_t       burst_len_o,  // beats less one
  output gw_bus_pkg::user_t      burst_user_o, // wanted bytes, counted from the address: the last above the first
  output logic                   burst_last_o  // last burst of the tile
);

  localparam int unsigned OFFSET_W   = $clog2(BUS_BYTES);
  localparam int unsigned PAGE_BYTES = 4096;
  // Wide buses reach the page border before the 256th beat.
  localparam int unsigned MAX_BYTES  = (256 * BUS_BYTES < PAGE_BYTES) ? 256 * BUS_BYTES : PAGE_BYTES;

  // --- State ---------------------------------------------------------------------------------
  logic                   active_q, active_d;
  gw_isa_pkg::addr_t      row_addr_q, row_addr_d; // first byte of the row
  gw_isa_pkg::addr_t      addr_q, addr_d;         // first byte of the row that no burst covers yet
  gw_isa_pkg::row_bytes_t left_q, left_d;         // bytes of the row from there on
  gw_isa_pkg::dim_t       rows_q, rows_d;         // rows left, this one included
  gw_isa_pkg::pitch_t     pitch_q, pitch_d;
  gw_isa_pkg::row_bytes_t row_bytes_q, row_bytes_d;

  // --- The burst at addr_q ---------------------------------------------------------------------
  logic [OFFSET_W-1:0]     offset;
  logic [12:0]             page_room, beat_room, room; // bytes up to the page border, in 256 beats, and the smaller
  logic                    row_end;
  logic [12:0]             bytes;
  gw_bus_pkg::beat_bytes_t last_byte;                  // of the burst, counted from its aligned address

  assign offset    = addr_q[OFFSET_W-1:0];
  assign page_room = 13'(PAGE_BYTES) - {1'b0, addr_q[11:0]};
  assign beat_room = 13'(MAX_BYTES) - 13'(offset);
  assign room      = (page_room < beat_room) ? page_room : beat_room;
  assign row_end   = left_q <= 18'(room);
  assign bytes     = row_end ? left_q[12:0] : room;
  assign last_byte = 12'(13'(offset) + bytes - 13'd1);

  assign start_ready_o = !active_q;
  assign burst_valid_o = active_q;
  assign burst_addr_o  = {addr_q[63:OFFSET_W], {OFFSET_W{1'b0}}};
  assign burst_len_o   = 8'(last_byte >> OFFSET_W);
  assign burst_user_o  = {last_byte, 12'(offset)};
  assign burst_last_o  = row_end && (rows_q == 16'd1);

  // --- Next burst ------------------------------------------------------------------------------
  always_comb begin
    active_d    = active_q;
    row_addr_d  = row_addr_q;
    addr_d      = addr_q;
    left_d      = left_q;
    rows_d      = rows_q;
    pitch_d     = pitch_q;
    row_bytes_d = row_bytes_q;
    if (!active_q) begin
      active_d    = start_valid_i;
      row_addr_d  = addr_i;
      addr_d      = addr_i;
      left_d      = row_bytes_i;
      rows_d      = rows_i;
      pitch_d     = pitch_i;
      row_bytes_d = row_bytes_i;
    end else if (burst_ready_i) begin
      if (row_end) begin
        active_d   = !burst_last_o;
        row_addr_d = row_addr_q + 64'(pitch_q);
        addr_d     = row_addr_d;
        left_d     = row_bytes_q;
        rows_d     = rows_q - 16'd1;
      end else begin
        addr_d = addr_q + 64'(room);
        left_d = left_q - 18'(room);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q    <= 1'b0;
      row_addr_q  <= '0;
      addr_q      <= '0;
      left_q      <= '0;
      rows_q      <= '0;
      pitch_q     <= '0;
      row_bytes_q <= '0;
    end else if (clear_i) begin
      active_q    <= 1'b0;
      row_addr_q  <= '0;
      addr_q      <= '0;
      left_q      <= '0;
      rows_q      <= '0;
      pitch_q     <= '0;
      row_bytes_q <= '0;
    end else begin
      active_q    <= active_d;
      row_addr_q  <= row_addr_d;
      addr_q      <= addr_d;
      left_q      <= left_d;
      rows_q      <= rows_d;
      pitch_q     <= pitch_d;
      row_bytes_q <= row_bytes_d;
    end
  end

  // --- Assertions ------------------------------------------------------------------------------
`ifndef SYNTHESIS
  initial bus_width_is_a_power_of_two_from_4_to_2048:
    assert (BUS_BYTES == 2 ** OFFSET_W && BUS_BYTES >= 4 && BUS_BYTES <= 2048);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      if (active_q) begin
        tile_has_rows_and_bytes_left: assert (rows_q != 16'd0 && left_q != 18'd0);
        burst_has_at_most_256_beats: assert ((last_byte >> OFFSET_W) < 12'd256);
        burst_stays_in_its_page: assert (32'(burst_addr_o[11:0]) + 32'(last_byte) < PAGE_BYTES);
      end
    end
  end
`endif

endmodule
