// Checks what a CONV or WGRAD says of its image: shapes that no image has, and taps that leave the scratchpad.
// Combinational. isa/check.cpp (image_legal, taps_inside_spm) is the same in C++, docs/convolution.md the geometry.
module gw_image_check #(
  parameter int unsigned LANES    = 8,
  parameter int unsigned SPM_ROWS = 64
) (
  input  logic              en_i,        // a CONV or WGRAD; 0: outputs are 0
  // Field places are those of the command.
  // verilator lint_off UNUSEDSIGNAL
  input  gw_isa_pkg::cmd_t  cmd_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic              wgrad_i,
  input  gw_isa_pkg::dim_t  rows_i,      // lines of A that a tap reads, and columns of A
  input  gw_isa_pkg::dim_t  cols_i,
  input  gw_isa_pkg::dim_t  b_rows_i,    // rows of B that a tap reads
  output logic              bad_field_o,
  output logic              bad_range_o,
  output gw_isa_pkg::dim_t  b_rows_o     // rows of B of all taps; bad_field_o if a tile has not so many
);

  logic [3:0]  taps_y, taps_x;
  logic [1:0]  stride;
  logic [7:0]  off_y, off_x, step_y, step_x, taps;
  logic [10:0] grid_w, img_w, out_w;
  logic [9:0]  grid_h, grid_y, img_h, out_h;
  logic [19:0] plane;
  logic [15:0] b_tap;

  assign taps_y = wgrad_i ? 4'd1 : cmd_i[gw_isa_pkg::TAPS_Y_LSB +: gw_isa_pkg::TAPS_Y_W];
  assign taps_x = wgrad_i ? 4'd1 : cmd_i[gw_isa_pkg::TAPS_X_LSB +: gw_isa_pkg::TAPS_X_W];
  assign stride = wgrad_i ? 2'd1 : cmd_i[gw_isa_pkg::STRIDE_LSB +: gw_isa_pkg::STRIDE_W];
  // Phases that are packed lie in the same rows.
  assign plane  = (wgrad_i || cmd_i[gw_isa_pkg::PACKED_LSB]) ? 20'd0 : cmd_i[gw_isa_pkg::PLANE_LSB +: gw_isa_pkg::PLANE_W];
  assign b_tap  = wgrad_i ? 16'd0 : cmd_i[gw_isa_pkg::B_TAP_LSB +: gw_isa_pkg::B_TAP_W];
  assign step_y = cmd_i[gw_isa_pkg::STEP_Y_LSB +: gw_isa_pkg::STEP_Y_W];
  assign step_x = cmd_i[gw_isa_pkg::STEP_X_LSB +: gw_isa_pkg::STEP_X_W];
  assign off_y  = cmd_i[gw_isa_pkg::OFF_Y_LSB +: gw_isa_pkg::OFF_Y_W];
  assign off_x  = cmd_i[gw_isa_pkg::OFF_X_LSB +: gw_isa_pkg::OFF_X_W];
  assign grid_w = cmd_i[gw_isa_pkg::GRID_W_LSB +: gw_isa_pkg::GRID_W_W];
  assign grid_h = cmd_i[gw_isa_pkg::GRID_H_LSB +: gw_isa_pkg::GRID_H_W];
  assign grid_y = cmd_i[gw_isa_pkg::GRID_Y_LSB +: gw_isa_pkg::GRID_Y_W];
  assign img_w  = cmd_i[gw_isa_pkg::IMG_W_LSB +: gw_isa_pkg::IMG_W_W];
  assign img_h  = cmd_i[gw_isa_pkg::IMG_H_LSB +: gw_isa_pkg::IMG_H_W];
  assign out_w  = cmd_i[gw_isa_pkg::OUT_W_LSB +: gw_isa_pkg::OUT_W_W];
  assign out_h  = cmd_i[gw_isa_pkg::OUT_H_LSB +: gw_isa_pkg::OUT_H_W];

  // --- Shape ---------------------------------------------------------------------------------------
  logic [12:0] most_w, most_h;
  logic [24:0] b_rows;

  always_comb begin
    taps        = 8'd0;
    most_w      = 13'd0;
    most_h      = 13'd0;
    b_rows      = {9'd0, b_rows_i};
    bad_field_o = 1'b0;
    if (en_i) begin
      taps        = {4'd0, taps_y} * {4'd0, taps_x};
      most_w      = {2'd0, grid_w} * {11'd0, stride};
      most_h      = {3'd0, grid_h} * {11'd0, stride};
      b_rows      = {9'd0, b_rows_i} + ((taps == 8'd0) ? 25'd0 : ({17'd0, taps - 8'd1} * {9'd0, b_tap}));
      bad_field_o = (taps == 8'd0) | (stride == 2'd0) | (grid_w == 11'd0) | (grid_h == 10'd0) | (grid_y >= grid_h) |
                    (img_w == 11'd0) | (img_h == 10'd0) | ({2'd0, img_w} > most_w) | ({3'd0, img_h} > most_h) |
                    (wgrad_i & ((out_w == 11'd0) | (out_w > grid_w) | (out_h == 10'd0) | (out_h > grid_h))) |
                    (b_rows > 25'd65535);
    end
  end

  assign b_rows_o = b_rows[15:0];

  // --- Extent ----------------------------------------------------------------------------------------
  // Numbers with sign, in two's complement. Along an axis the first or the last tap is the farthest.
  // 4608 is a multiple of every stride and makes all positive.
  function automatic logic [12:0] steps_of(input logic [12:0] x, input logic [1:0] s);
    case (s)
      2'd2:    steps_of = ((x + 13'd4608) >> 1) - 13'd2304;
      2'd3:    steps_of = ((x + 13'd4608) / 13'd3) - 13'd1536;
      default: steps_of = x;
    endcase
  endfunction

  function automatic logic [12:0] lower(input logic [12:0] x, input logic [12:0] y);
    lower = ((x ^ 13'h1000) < (y ^ 13'h1000)) ? x : y;
  endfunction

  logic [12:0]             y_first, y_last, x_first, x_last, y_lo, y_hi, x_lo, x_hi;
  logic [3:0]              planes;
  logic [47:0]             lo, hi; // of 2^40 + a row
  gw_isa_pkg::row_t        a_row, a_pstride;
  gw_isa_pkg::dim_t        last_panel;
  assign a_row     = cmd_i[gw_isa_pkg::A_ROW_LSB +: gw_isa_pkg::A_ROW_W];
  assign a_pstride = cmd_i[gw_isa_pkg::A_PSTRIDE_LSB +: gw_isa_pkg::A_PSTRIDE_W];

  always_comb begin
    y_first     = 13'd0;
    y_last      = 13'd0;
    x_first     = 13'd0;
    x_last      = 13'd0;
    y_lo        = 13'd0;
    y_hi        = 13'd0;
    x_lo        = 13'd0;
    x_hi        = 13'd0;
    planes      = 4'd0;
    last_panel  = 16'd0;
    lo          = 48'd0;
    hi          = 48'd0;
    bad_range_o = 1'b0;
    if (en_i) begin
      y_first     = {{5{off_y[7]}}, off_y};
      x_first     = {{5{off_x[7]}}, off_x};
      y_last      = steps_of(y_first + {{5{step_y[7]}}, step_y} * {9'd0, taps_y - 4'd1}, stride);
      x_last      = steps_of(x_first + {{5{step_x[7]}}, step_x} * {9'd0, taps_x - 4'd1}, stride);
      y_first     = steps_of(y_first, stride);
      x_first     = steps_of(x_first, stride);
      y_lo        = lower(y_first, y_last);
      y_hi        = (y_lo == y_first) ? y_last : y_first;
      x_lo        = lower(x_first, x_last);
      x_hi        = (x_lo == x_first) ? x_last : x_first;
      planes      = {2'd0, stride} * {2'd0, stride} - 4'd1;
      last_panel  = (cols_i - 16'd1) / 16'(LANES);
      lo          = 48'h100_0000_0000 + 48'(a_row) + {{35{y_lo[12]}}, y_lo} * {37'd0, grid_w} + {{35{x_lo[12]}}, x_lo};
      hi          = 48'h100_0000_0000 + 48'(a_row) + {{35{y_hi[12]}}, y_hi} * {37'd0, grid_w} + {{35{x_hi[12]}}, x_hi} +
                    {44'd0, planes} * {28'd0, plane} + {32'd0, last_panel} * 48'(a_pstride) + {32'd0, rows_i};
      bad_range_o = (lo < 48'h100_0000_0000) | (hi > 48'h100_0000_0000 + 48'(SPM_ROWS));
    end
  end

endmodule
