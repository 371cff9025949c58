// Steps through the lines of one operand of a block: the rows, or the columns, of a tile in the skewed panel layout.
module gw_line_walker #(
  parameter int unsigned LANES     = 8,
  parameter int unsigned BANK_ROWS = 64
) (
  input  logic               clk_i,
  input  logic               load_i,    // takes the block's first line
  input  logic               col_i,     // walk by columns
  input  gw_isa_pkg::place_t place_i,
  input  gw_isa_pkg::lanes_t count_i,   // elements of a line
  input  logic               step_i,    // to the next line
  // The current line as a scratchpad access
  output logic               col_o,
  output gw_isa_pkg::line_t  at_o,
  output gw_isa_pkg::lanes_t count_o,
  output gw_isa_pkg::row_t   bank_lo_o, // macro-banks of its first and last row
  output gw_isa_pkg::row_t   bank_hi_o
);

  localparam int unsigned       ROW_W       = gw_isa_pkg::ROW_W;
  localparam int unsigned       LANE_W      = gw_isa_pkg::LANE_W;
  localparam gw_isa_pkg::lane_t LAST_LANE   = LANE_W'(LANES - 1);
  localparam gw_isa_pkg::row_t  ROWS_A_BANK = ROW_W'(BANK_ROWS);

  logic               col_q;
  gw_isa_pkg::row_t   addr_q, pstride_q;
  gw_isa_pkg::lane_t  rot_q, jj_q;
  gw_isa_pkg::lanes_t count_q;
  logic               jj_wraps;
  assign jj_wraps = jj_q == LAST_LANE;

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      col_q     <= col_i;
      addr_q    <= place_i.row;
      pstride_q <= place_i.pstride;
      rot_q     <= place_i.rot;
      jj_q      <= place_i.jj;
      count_q   <= count_i;
    end else if (step_i) begin
      rot_q  <= (rot_q == LAST_LANE) ? '0 : (rot_q + LANE_W'(1));
      jj_q   <= col_q ? (jj_wraps ? '0 : (jj_q + LANE_W'(1))) : jj_q;
      addr_q <= addr_q + (col_q ? (jj_wraps ? pstride_q : '0) : ROW_W'(1));
    end
  end

  gw_isa_pkg::row_t addr1, last_row;
  logic             crosses; // into the next panel
  assign addr1     = addr_q + pstride_q;
  assign crosses   = 32'(jj_q) + 32'(count_q) > LANES;
  assign last_row  = col_q ? (addr_q + ROW_W'(count_q) - ROW_W'(1)) : (crosses ? addr1 : addr_q);

  assign col_o     = col_q;
  assign at_o      = {addr1, addr_q, rot_q, jj_q};
  assign count_o   = count_q;
  assign bank_lo_o = addr_q / ROWS_A_BANK;
  assign bank_hi_o = last_row / ROWS_A_BANK;

endmodule
