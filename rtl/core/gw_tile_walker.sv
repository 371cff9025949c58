// Steps through a tile in the skewed panel layout, chunk of COLS columns by chunk, each chunk row by row.
//
// Where a chunk begins inside a panel of LANES columns (jj) is common to all tiles of a command and the owner's to
// know; wrap_i says that the next chunk begins in the next panel.
module gw_tile_walker #(
  parameter int unsigned COLS  = 8,
  parameter int unsigned LANES = 8
) (
  input  logic              clk_i,
  input  logic              load_i,  // takes the tile's first row
  input  logic              fp32_i,
  input  gw_isa_pkg::tile_t tile_i,
  input  logic              step_i,  // to the next row
  input  logic              chunk_i, // with step_i: the first row of the next chunk
  input  logic              wrap_i,
  // The current row as a scratchpad access
  output gw_isa_pkg::row_t  addr0_o,
  output gw_isa_pkg::row_t  addr1_o,
  output gw_isa_pkg::lane_t rot_o
);

  localparam logic [8:0]        LANES9   = LANES[8:0];
  localparam gw_isa_pkg::lane_t ROT_STEP = 8'(COLS % LANES); // a chunk further to the right

  logic              fp32_q;
  gw_isa_pkg::row_t  top_q, addr_q, pstride_q, next_top; // top: first row of the chunk
  gw_isa_pkg::lane_t top_rot_q, rot_q, next_top_rot;

  assign next_top     = wrap_i ? (top_q + pstride_q) : top_q;
  assign next_top_rot = gw_lane_pkg::add_mod(top_rot_q, ROT_STEP, LANES9);

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      fp32_q    <= fp32_i;
      top_q     <= tile_i.row;
      addr_q    <= tile_i.row;
      pstride_q <= tile_i.pstride;
      top_rot_q <= tile_i.rot;
      rot_q     <= tile_i.rot;
    end else if (step_i && chunk_i) begin
      top_q     <= next_top;
      addr_q    <= next_top;
      top_rot_q <= next_top_rot;
      rot_q     <= next_top_rot;
    end else if (step_i) begin
      addr_q <= addr_q + (fp32_q ? 24'd2 : 24'd1);
      rot_q  <= gw_lane_pkg::add_mod(rot_q, 8'd1, LANES9);
    end
  end

  assign addr0_o = addr_q;
  assign addr1_o = addr_q + pstride_q;
  assign rot_o   = rot_q;

endmodule
