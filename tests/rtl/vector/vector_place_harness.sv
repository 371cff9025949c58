// gw_vector_place with its tile and its line as fields.
module vector_place_harness #(
  parameter int unsigned LANES = 8
) (
  input  logic              clk_i,
  // verilator lint_off UNUSEDSIGNAL
  input  logic              rst_ni,
  // verilator lint_on UNUSEDSIGNAL
  input  logic              take_i,
  input  logic              fp32_i,
  input  logic              by_col_i,
  input  logic              same_element_i,
  input  logic              same_step_i,
  input  gw_isa_pkg::row_t  row_i,
  input  gw_isa_pkg::lane_t rot_i,
  input  gw_isa_pkg::row_t  pstride_i,
  input  gw_isa_pkg::lane_t col_i,
  input  gw_isa_pkg::dim_t  elements_i,
  input  gw_isa_pkg::dim_t  strip_i,
  input  gw_isa_pkg::dim_t  step_i,
  output logic              fp32_o,
  output logic              col_o,
  output logic              same_o,
  output gw_isa_pkg::row_t  addr0_o,
  output gw_isa_pkg::row_t  addr1_o,
  output gw_isa_pkg::lane_t rot_o,
  output gw_isa_pkg::lane_t jj_o,
  output gw_isa_pkg::lanes_t count_o
);

  gw_isa_pkg::line_t at;

  assign addr0_o = at.addr0;
  assign addr1_o = at.addr1;
  assign rot_o   = at.rot;
  assign jj_o    = at.jj;

  gw_vector_place #(.LANES(LANES)) u_place (
    .clk_i, .take_i,
    .tile_i ({same_step_i, same_element_i, by_col_i, fp32_i, 32'd0, col_i, pstride_i, rot_i, row_i}),
    .elements_i, .strip_i, .step_i, .fp32_o, .col_o, .same_o,
    .at_o   (at),
    .count_o
  );

endmodule
