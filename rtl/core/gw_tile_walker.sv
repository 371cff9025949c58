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

  localparam int unsigned        ROW_W    = gw_isa_pkg::ROW_W;
  localparam gw_isa_pkg::lanes_t N_LANES  = gw_isa_pkg::LANES_W'(LANES);
  localparam gw_isa_pkg::lanes_t ROT_STEP = gw_isa_pkg::LANES_W'(COLS % LANES); // a chunk further to the right
  localparam gw_isa_pkg::lanes_t ONE      = gw_isa_pkg::LANES_W'(1);

  logic              fp32_q;
  gw_isa_pkg::row_t  top_q, addr_q, pstride_q, next_top; // top: first row of the chunk
  gw_isa_pkg::lane_t top_rot_q, rot_q, next_top_rot;

  assign next_top     = wrap_i ? (top_q + pstride_q) : top_q;
  assign next_top_rot = gw_lane_pkg::add_mod(top_rot_q, ROT_STEP, N_LANES);

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
      addr_q <= addr_q + (fp32_q ? ROW_W'(2) : ROW_W'(1));
      rot_q  <= gw_lane_pkg::add_mod(rot_q, ONE, N_LANES);
    end
  end

  assign addr0_o = addr_q;
  assign addr1_o = addr_q + pstride_q;
  assign rot_o   = rot_q;

endmodule
