// Where a line of a tile lies, a cycle after it was asked for: strip and step as an access to the scratchpad.
//
// Steps come as a walk of lines has them (gw_vector_line_walk): the one before, the next one, or 0. So a step's column
// within a panel, and the panel, are counted and not divided.
module gw_vector_place #(
  parameter int unsigned LANES = 8
) (
  input  logic               clk_i,
  input  logic               take_i,
  // verilator lint_off UNUSEDSIGNAL
  input  logic [99:0]        tile_i,     // gw_vector_tiles; its shape is checked there
  // verilator lint_on UNUSEDSIGNAL
  input  gw_isa_pkg::dim_t   elements_i, // of the command
  input  gw_isa_pkg::dim_t   strip_i,
  input  gw_isa_pkg::dim_t   step_i,
  // The line taken last
  output logic               fp32_o,
  output logic               col_o,
  output logic               same_o,     // all its elements are the first
  output gw_isa_pkg::line_t  at_o,
  output gw_isa_pkg::lanes_t count_o     // elements of it that the command has
);

  localparam int unsigned        ROW_W   = gw_isa_pkg::ROW_W;
  localparam int unsigned        LANE_W  = gw_isa_pkg::LANE_W;
  localparam gw_isa_pkg::lanes_t N_LANES = gw_isa_pkg::LANES_W'(LANES);

  // --- Fields --------------------------------------------------------------------------------------
  gw_isa_pkg::row_t  row, pstride;
  gw_isa_pkg::lane_t rot, col;
  logic              fp32, by_col, same_element, same_step;

  assign {col, pstride, rot, row}                = tile_i[gw_isa_pkg::PLACE_W-1:0];
  assign {same_step, same_element, by_col, fp32} = tile_i[99:96];

  // --- The step, as panels and columns -------------------------------------------------------------
  gw_isa_pkg::dim_t  step_q, panel_q, panel;
  gw_isa_pkg::lane_t column_q, column;
  logic              again, wraps;

  assign again  = step_i == step_q;
  assign wraps  = column_q == LANE_W'(LANES - 1);
  assign panel  = (step_i == 16'd0) ? 16'd0 : again ? panel_q : (panel_q + {15'd0, wraps});
  assign column = (step_i == 16'd0 || (!again && wraps)) ? '0 : again ? column_q : (column_q + LANE_W'(1));

  always_ff @(posedge clk_i) begin
    if (take_i) begin
      step_q   <= step_i;
      panel_q  <= panel;
      column_q <= column;
    end
  end

  // --- The line ------------------------------------------------------------------------------------
  // A task, so that a unit at rest costs a simulator nothing.
  // verilator lint_off BLKSEQ
  task automatic place;
    gw_isa_pkg::dim_t   strip, step, panels, left;
    gw_isa_pkg::row_t   across, along, addr;
    gw_isa_pkg::lanes_t sum;
    logic               crosses;
    gw_isa_pkg::lane_t  jj;
    strip   = same_element ? 16'd0 : strip_i;
    step    = same_step ? 16'd0 : step_i;
    sum     = {1'b0, col} + {1'b0, same_step ? LANE_W'(0) : column};
    crosses = sum >= N_LANES;
    jj      = LANE_W'(crosses ? (sum - N_LANES) : sum); // column of step and first column, within a panel
    panels  = by_col ? ((same_step ? 16'd0 : panel) + {15'd0, crosses}) : strip;
    across  = ROW_W'(panels) * pstride;
    along   = by_col ? (ROW_W'(strip) * ROW_W'(LANES)) : ROW_W'(step);
    addr    = row + across + (fp32 ? {along[ROW_W-2:0], 1'b0} : along);
    left    = elements_i - 16'(strip_i * 16'(LANES));
    fp32_o  <= fp32;
    col_o   <= by_col;
    same_o  <= same_element;
    at_o    <= {addr + pstride, addr, gw_lane_pkg::add_mod(rot, {1'b0, jj}, N_LANES), col};
    count_o <= (left > 16'(LANES)) ? N_LANES : left[gw_isa_pkg::LANES_W-1:0];
  endtask
  // verilator lint_on BLKSEQ

  always_ff @(posedge clk_i) if (take_i) place;

  // --- Checks --------------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (take_i) begin
      StepsFollowOneAnother : assert (step_i == 16'd0 || again || step_i == step_q + 16'd1);
    end
  end
`endif

endmodule
