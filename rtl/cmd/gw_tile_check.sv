// Checks one scratchpad tile of a command: fields that no tile may have, and its extent. Combinational.
//
// The layout is that of docs/microarchitecture.md: panels of LANES columns, two scratchpad rows per fp32 tile row.
// Results are those of a tile of at least one row and one column; zero sizes are the caller's to refuse.
module gw_tile_check #(
  parameter int unsigned LANES    = 8,
  parameter int unsigned SPM_ROWS = 64
) (
  input  logic              en_i,        // 0: outputs are 0
  input  logic              fp32_i,
  input  gw_isa_pkg::dim_t  rows_i,
  input  gw_isa_pkg::dim_t  cols_i,
  input  gw_isa_pkg::tile_t tile_i,
  output logic              bad_field_o, // rotation, fp32 alignment or panel stride
  output logic              bad_range_o  // ends beyond the scratchpad
);

  logic [16:0]      panel_rows; // scratchpad rows of a panel
  gw_isa_pkg::dim_t last_panel;
  logic [40:0]      end_row;    // first row beyond the tile; cannot wrap

  always_comb begin
    panel_rows  = 17'd0;
    last_panel  = 16'd0;
    end_row     = 41'd0;
    bad_field_o = 1'b0;
    bad_range_o = 1'b0;
    if (en_i) begin
      panel_rows  = fp32_i ? {rows_i, 1'b0} : {1'b0, rows_i};
      last_panel  = (cols_i - 16'd1) / 16'(LANES);
      end_row     = 41'(tile_i.row) + (41'(last_panel) * 41'(tile_i.pstride)) + 41'(panel_rows);
      bad_field_o = (32'(tile_i.rot) >= LANES) |
                    (fp32_i & (tile_i.row[0] | tile_i.pstride[0])) |
                    (({16'd0, cols_i} > LANES) & (tile_i.pstride < gw_isa_pkg::ROW_W'(panel_rows)));
      bad_range_o = end_row > 41'(SPM_ROWS);
    end
  end

endmodule
