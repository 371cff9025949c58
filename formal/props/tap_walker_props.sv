// tap_walker: a CONV's block has each tap of the kernel once, row by row and column by column; the next rows of B go with it. What the
// mask is told of a tap is the row and the column of the image that it reads, as docs/convolution.md says, and where its phase plane
// ends. A GEMM and a WGRAD have one tap. Rows of A, which are sums of products of these with the grid, are tap_places_props'.
//
// A place of the image is followed as a number of its pixels; the block has it in steps of the stride and a phase. Fields are small:
// grids and planes below 8, images below 16, a first tap within 8 pixels and taps at most 4 apart.
//
// sources: core/gw_tap_walker.sv
// helpers: tap_walk_pkg tap_commands
module tap_walker_props #(
  parameter int unsigned LANES = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             load_i,
  input  gw_isa_pkg::cmd_t cmd_i,
  input  logic             start_i,
  input  logic             last_i,
  input  logic             tap_i,
  input  gw_isa_pkg::row_t a_row_i,
  input  gw_isa_pkg::lane_t a_rot_i,
  input  gw_isa_pkg::row_t b_row_i,
  output logic             covered_o
);

  logic               load, start, tap, more, conv, wgrad;
  gw_isa_pkg::tile_t  a_tile;
  gw_isa_pkg::place_t a_place, b_place;
  logic [11:0]        x, y, x_end, y_end;

  gw_tap_walker #(.LANES(LANES)) dut (
    .clk_i,
    .load_i    (load),
    .cmd_i,
    .a_tile_o  (a_tile),
    .start_i   (start),
    .a_place_i ({gw_isa_pkg::LANE_W'(0), gw_isa_pkg::ROW_W'(0), a_rot_i, a_row_i}),
    .b_place_i (gw_isa_pkg::PLACE_W'(b_row_i)),
    .tap_i     (tap),
    .more_o    (more),
    .a_place_o (a_place),
    .b_place_o (b_place),
    .conv_o    (conv),
    .wgrad_o   (wgrad),
    .x_o       (x),
    .y_o       (y),
    .x_end_o   (x_end),
    .y_end_o   (y_end)
  );

  (* hierconn *) wire [3:0]  \dut.y_q ;
  (* hierconn *) wire [3:0]  \dut.x_q ;
  (* hierconn *) wire        \dut.first_q ;
  (* hierconn *) wire [1:0]  \dut.y_phase ;
  (* hierconn *) wire [1:0]  \dut.x_phase ;
  (* hierconn *) wire [gw_isa_pkg::PLACE_W-1:0] \dut.b_q ;
  (* hierconn *) wire [112:0] \dut.next_q ;
  (* hierconn *) wire [112:0] \dut.plan_q ;

  // --- Commands, and what asks for taps ---------------------------------------------------------------------------------------------
  logic                here, any;  // a block of the command is still to begin; one has begun
  tap_walk_pkg::walk_t f, next, q;
  reset_first u_reset (.clk_i, .rst_ni);
  tap_commands u_commands (.clk_i, .rst_ni, .load_i, .cmd_i, .start_i, .last_i, .tap_i, .more_i (more), .load_o (load), .start_o (start),
    .tap_o (tap), .here_o (here), .any_o (any), .f_o (f), .next_o (next), .current_o (q));

  function automatic logic [15:0] pixel_at(input logic [11:0] steps, input logic [1:0] phase, input logic [1:0] stride);
    pixel_at = {{4{steps[11]}}, steps} * {14'd0, stride} + {14'd0, phase};
  endfunction
  function automatic logic [15:0] wide(input logic [7:0] x8); // signed
    wide = {{8{x8[7]}}, x8};
  endfunction

  always @* begin
    if (load && (f.conv || f.wgrad)) begin
      assume (f.grid_w != '0 && f.img_w != '0 && f.img_h != '0);
      assume (f.grid_w < 11'd8 && f.plane < 20'd8 && f.img_w < 11'd16 && f.img_h < 10'd16);
      assume (wide(f.off_y) + 16'd8 < 16'd16 && wide(f.off_x) + 16'd8 < 16'd16);
      assume (wide(f.step_y) + 16'd4 < 16'd8 && wide(f.step_x) + 16'd4 < 16'd8);
    end
  end

  // --- The tap at hand ---------------------------------------------------------------------------------------------------------
  logic [3:0]  row_q, col_q;     // of the kernel
  logic [15:0] py_q, px_q;       // what it reads for pixel (0, 0), as a pixel of the image
  gw_isa_pkg::row_t b_row_q;
  logic        ends;
  assign ends = col_q + 4'd1 == q.taps_x;

  always @(posedge clk_i) begin
    if (start) begin
      row_q   <= 4'd0;
      col_q   <= 4'd0;
      py_q    <= wide(next.off_y);
      px_q    <= wide(next.off_x);
      b_row_q <= b_row_i;
    end else if (tap) begin
      row_q   <= ends ? (row_q + 4'd1) : row_q;
      col_q   <= ends ? 4'd0 : (col_q + 4'd1);
      py_q    <= ends ? (py_q + wide(q.step_y)) : py_q;
      px_q    <= ends ? wide(q.off_x) : (px_q + wide(q.step_x));
      b_row_q <= b_row_q + gw_isa_pkg::ROW_W'(q.b_tap);
    end
  end

  // Pixels of a row, or a column, of the image that a phase plane has.
  function automatic logic has_size(input logic [11:0] size, input logic [1:0] phase, input logic [1:0] stride, input logic [10:0] all);
    logic [15:0] from;           // the pixel that would be one more
    from = pixel_at(size, phase, stride);
    has_size = !size[11] && from >= {5'd0, all} && (size == 12'd0 || from < {5'd0, all} + {14'd0, stride});
  endfunction

  // --- Properties ----------------------------------------------------------------------------------------------------------------
  logic walks;
  assign walks = any && (q.conv || q.wgrad);
  always @* begin
    if (rst_ni) begin
      the_commands_are_kept: assert ((!any || \dut.plan_q == q) && (!here || \dut.next_q == next));
      another_tap_follows_until_the_last: assert (!any || more == (q.conv && !(ends && row_q + 4'd1 == q.taps_y)));
      taps_are_counted: assert (!any || !q.conv || (\dut.y_q == row_q && \dut.x_q == col_q && row_q < q.taps_y && col_q < q.taps_x));
      the_mask_is_told_the_row_of_the_tap:
        assert (!walks || (pixel_at(y, \dut.y_phase , q.stride) == py_q && \dut.y_phase < q.stride));
      the_mask_is_told_the_column_of_the_tap:
        assert (!walks || (pixel_at(x, \dut.x_phase , q.stride) == px_q && \dut.x_phase < q.stride));
      the_image_ends_where_its_plane_does:
        assert (!walks || (has_size(y_end, \dut.y_phase , q.stride, {1'b0, q.img_h}) && has_size(x_end, \dut.x_phase , q.stride, q.img_w)));
      sizes_are_no_more_than_those_of_images: assert (!walks || (x_end < 12'd2048 && y_end < 12'd1024));
      rows_of_b_follow_one_another:
        assert (!any || (\dut.b_q [gw_isa_pkg::ROW_W-1:0] == b_row_q && b_place.row == b_row_q + gw_isa_pkg::ROW_W'(q.b_tap)));
      // What makes these inductive.
      a_block_begins_at_the_first_tap: assert (!walks || !\dut.first_q || (row_q == 4'd0 && col_q == 4'd0));
      a_row_of_the_kernel_begins_at_its_first_column: assert (!walks || col_q != 4'd0 || px_q == wide(q.off_x));
      rows_are_within_so_many_steps: assert (!walks || py_q + 16'd8 + {10'd0, row_q, 2'd0} < 16'd16 + {9'd0, row_q, 3'd0});
      columns_are_within_so_many_steps: assert (!walks || px_q + 16'd8 + {10'd0, col_q, 2'd0} < 16'd16 + {9'd0, col_q, 3'd0});
      a_walk_has_lines_and_taps: assert (!walks || (q.stride != 2'd0 && q.grid_w != '0 && q.img_w != '0 && q.img_h != '0));
      fields_are_small: assert (!walks || (q.grid_w < 11'd8 && q.plane < 20'd8 && q.img_w < 11'd16 && q.img_h < 10'd16 &&
        wide(q.off_y) + 16'd8 < 16'd16 && wide(q.off_x) + 16'd8 < 16'd16 && wide(q.step_y) + 16'd4 < 16'd8 && wide(q.step_x) + 16'd4 < 16'd8));
      nor_are_those_of_the_next_large: assert (!here || !(next.conv || next.wgrad) || (next.grid_w < 11'd8 && next.plane < 20'd8 &&
        next.img_w < 11'd16 && next.img_h < 10'd16 && wide(next.off_y) + 16'd8 < 16'd16 && wide(next.off_x) + 16'd8 < 16'd16 &&
        wide(next.step_y) + 16'd4 < 16'd8 && wide(next.step_x) + 16'd4 < 16'd8));
      so_has_the_next: assert (!here || !(next.conv || next.wgrad) || (next.stride != 2'd0 && next.grid_w != '0 && next.img_w != '0 && next.img_h != '0 &&
        (!next.conv || (next.taps_y != '0 && next.taps_x != '0))));
    end
  end

  // --- Reachable: the last tap of a kernel with rows and columns, whose stride has phases ---------------------------------------------
  assign covered_o = rst_ni && any && q.conv && q.stride == 2'd3 && row_q == 4'd1 && col_q == 4'd1 && !more && \dut.y_phase == 2'd2;

endmodule
