// tap_walker: a CONV's block has each tap of the kernel once, row by row and column by column; the next rows of B go with it. What the
// mask is told of a tap is the row and the column of the image that it reads, as docs/convolution.md says, and where its phase plane
// ends. A GEMM and a WGRAD have one tap. Rows of A, which are sums of products of these with the grid, are tap_places_props'.
//
// A place of the image is followed as a number of its pixels; the block has it in steps of the stride and a phase. Fields are small:
// grids and planes below 8, images below 16, a first tap within 8 pixels and taps at most 4 apart.
//
// sources: core/gw_tap_walker.sv
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
  input  logic [23:0]      a_row_i,
  input  logic [7:0]       a_rot_i,
  input  logic [23:0]      b_row_i,
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
    .a_place_i ({8'd0, 24'd0, a_rot_i, a_row_i}),
    .b_place_i ({8'd0, 24'd0, 8'd0, b_row_i}),
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
  (* hierconn *) wire [63:0] \dut.b_q ;
  (* hierconn *) wire [112:0] \dut.next_q ;
  (* hierconn *) wire [112:0] \dut.plan_q ;

  // --- A command's fields, for A and for its walk; of the next block's, and of the current one's -------------------------------
  typedef struct packed {
    logic        conv, wgrad;
    logic [10:0] grid_w;
    logic [19:0] plane;
    logic        in_line;        // PACKED
    logic [1:0]  stride;
    logic [3:0]  taps_y, taps_x;
    logic [15:0] b_tap;
    logic [7:0]  off_y, off_x, step_y, step_x;
    logic [9:0]  img_h;
    logic [10:0] img_w;
  } walk_t;
  walk_t       f, next_q, q;
  logic [7:0]  opcode;
  assign opcode = cmd_i[gw_isa_pkg::OPCODE_LSB+:gw_isa_pkg::OPCODE_W];

  function automatic logic [15:0] pixel_at(input logic [11:0] steps, input logic [1:0] phase, input logic [1:0] stride);
    pixel_at = {{4{steps[11]}}, steps} * {14'd0, stride} + {14'd0, phase};
  endfunction
  function automatic logic [15:0] wide(input logic [7:0] x8); // signed
    wide = {{8{x8[7]}}, x8};
  endfunction

  always @* begin
    f.conv   = opcode == gw_isa_pkg::OP_CONV;
    f.wgrad  = opcode == gw_isa_pkg::OP_WGRAD;
    f.grid_w = cmd_i[gw_isa_pkg::GRID_W_LSB+:gw_isa_pkg::GRID_W_W];
    f.plane  = cmd_i[gw_isa_pkg::PLANE_LSB+:gw_isa_pkg::PLANE_W];
    f.in_line = cmd_i[gw_isa_pkg::PACKED_LSB];
    f.stride = f.conv ? cmd_i[gw_isa_pkg::STRIDE_LSB+:gw_isa_pkg::STRIDE_W] : 2'd1;
    f.taps_y = cmd_i[gw_isa_pkg::TAPS_Y_LSB+:gw_isa_pkg::TAPS_Y_W];
    f.taps_x = cmd_i[gw_isa_pkg::TAPS_X_LSB+:gw_isa_pkg::TAPS_X_W];
    f.b_tap  = cmd_i[gw_isa_pkg::B_TAP_LSB+:gw_isa_pkg::B_TAP_W];
    f.off_y  = cmd_i[gw_isa_pkg::OFF_Y_LSB+:gw_isa_pkg::OFF_Y_W];
    f.off_x  = cmd_i[gw_isa_pkg::OFF_X_LSB+:gw_isa_pkg::OFF_X_W];
    f.step_y = cmd_i[gw_isa_pkg::STEP_Y_LSB+:gw_isa_pkg::STEP_Y_W];
    f.step_x = cmd_i[gw_isa_pkg::STEP_X_LSB+:gw_isa_pkg::STEP_X_W];
    f.img_h  = cmd_i[gw_isa_pkg::IMG_H_LSB+:gw_isa_pkg::IMG_H_W];
    f.img_w  = cmd_i[gw_isa_pkg::IMG_W_LSB+:gw_isa_pkg::IMG_W_W];
  end

  // --- Environment: gemm_core, whose feed asks for a tap if there is one; cmd_check -------------------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);
  logic here_q, any_q;           // a block of the command is still to begin; one has begun
  assign load  = load_i && !here_q && rst_ni;
  assign start = start_i && here_q && rst_ni;
  assign tap   = tap_i && any_q && more && !start;
  always @* begin
    if (load && (f.conv || f.wgrad)) begin
      assume (f.stride != 2'd0 && f.grid_w != '0 && f.img_w != '0 && f.img_h != '0);
      assume (!f.conv || (f.taps_y != '0 && f.taps_x != '0));
      assume (f.grid_w < 11'd8 && f.plane < 20'd8 && f.img_w < 11'd16 && f.img_h < 10'd16);
      assume (wide(f.off_y) + 16'd8 < 16'd16 && wide(f.off_x) + 16'd8 < 16'd16);
      assume (wide(f.step_y) + 16'd4 < 16'd8 && wide(f.step_x) + 16'd4 < 16'd8);
    end
  end

  // --- The tap at hand ---------------------------------------------------------------------------------------------------------
  logic [3:0]  row_q, col_q;     // of the kernel
  logic [15:0] py_q, px_q;       // what it reads for pixel (0, 0), as a pixel of the image
  logic [23:0] b_row_q;
  logic        ends;
  assign ends = col_q + 4'd1 == q.taps_x;

  always @(posedge clk_i) begin
    if (!rst_ni) {here_q, any_q} <= 2'd0;
    else begin
      here_q <= load || (here_q && !(start && last_i));
      any_q  <= any_q || start;
    end
    if (load) next_q <= f;
    if (start) begin
      q       <= next_q;
      row_q   <= 4'd0;
      col_q   <= 4'd0;
      py_q    <= wide(next_q.off_y);
      px_q    <= wide(next_q.off_x);
      b_row_q <= b_row_i;
    end else if (tap) begin
      row_q   <= ends ? (row_q + 4'd1) : row_q;
      col_q   <= ends ? 4'd0 : (col_q + 4'd1);
      py_q    <= ends ? (py_q + wide(q.step_y)) : py_q;
      px_q    <= ends ? wide(q.off_x) : (px_q + wide(q.step_x));
      b_row_q <= b_row_q + {8'd0, q.b_tap};
    end
  end

  // Pixels of a row, or a column, of the image that a phase plane has.
  function automatic logic has_size(input logic [11:0] size, input logic [1:0] phase, input logic [1:0] stride, input logic [10:0] all);
    logic [15:0] from;           // the pixel that would be one more
    from = pixel_at(size, phase, stride);
    has_size = !size[11] && from >= {5'd0, all} && (size == 12'd0 || from < {5'd0, all} + {14'd0, stride});
  endfunction

  // As tap_walker keeps a command.
  logic [112:0] plan, next_plan;
  assign plan      = {q.conv, q.wgrad, q.grid_w, q.plane, q.in_line, q.stride, q.taps_y, q.taps_x, q.b_tap, q.off_y, q.off_x, q.step_y, q.step_x,
                      q.img_h, q.img_w};
  assign next_plan = {next_q.conv, next_q.wgrad, next_q.grid_w, next_q.plane, next_q.in_line, next_q.stride, next_q.taps_y, next_q.taps_x, next_q.b_tap,
                      next_q.off_y, next_q.off_x, next_q.step_y, next_q.step_x, next_q.img_h, next_q.img_w};

  // --- Properties ----------------------------------------------------------------------------------------------------------------
  logic walks;
  assign walks = any_q && (q.conv || q.wgrad);
  always @* begin
    if (rst_ni) begin
      the_commands_are_kept: assert ((!any_q || \dut.plan_q == plan) && (!here_q || \dut.next_q == next_plan));
      another_tap_follows_until_the_last: assert (!any_q || more == (q.conv && !(ends && row_q + 4'd1 == q.taps_y)));
      taps_are_counted: assert (!any_q || !q.conv || (\dut.y_q == row_q && \dut.x_q == col_q && row_q < q.taps_y && col_q < q.taps_x));
      the_mask_is_told_the_row_of_the_tap:
        assert (!walks || (pixel_at(y, \dut.y_phase , q.stride) == py_q && \dut.y_phase < q.stride));
      the_mask_is_told_the_column_of_the_tap:
        assert (!walks || (pixel_at(x, \dut.x_phase , q.stride) == px_q && \dut.x_phase < q.stride));
      the_image_ends_where_its_plane_does:
        assert (!walks || (has_size(y_end, \dut.y_phase , q.stride, {1'b0, q.img_h}) && has_size(x_end, \dut.x_phase , q.stride, q.img_w)));
      sizes_are_no_more_than_those_of_images: assert (!walks || (x_end < 12'd2048 && y_end < 12'd1024));
      rows_of_b_follow_one_another:
        assert (!any_q || (\dut.b_q [23:0] == b_row_q && b_place.row == b_row_q + {8'd0, q.b_tap}));
      // What makes these inductive.
      a_block_begins_at_the_first_tap: assert (!walks || !\dut.first_q || (row_q == 4'd0 && col_q == 4'd0));
      a_row_of_the_kernel_begins_at_its_first_column: assert (!walks || col_q != 4'd0 || px_q == wide(q.off_x));
      rows_are_within_so_many_steps: assert (!walks || py_q + 16'd8 + {10'd0, row_q, 2'd0} < 16'd16 + {9'd0, row_q, 3'd0});
      columns_are_within_so_many_steps: assert (!walks || px_q + 16'd8 + {10'd0, col_q, 2'd0} < 16'd16 + {9'd0, col_q, 3'd0});
      a_walk_has_lines_and_taps: assert (!walks || (q.stride != 2'd0 && q.grid_w != '0 && q.img_w != '0 && q.img_h != '0));
      fields_are_small: assert (!walks || (q.grid_w < 11'd8 && q.plane < 20'd8 && q.img_w < 11'd16 && q.img_h < 10'd16 &&
        wide(q.off_y) + 16'd8 < 16'd16 && wide(q.off_x) + 16'd8 < 16'd16 && wide(q.step_y) + 16'd4 < 16'd8 && wide(q.step_x) + 16'd4 < 16'd8));
      nor_are_those_of_the_next_large: assert (!here_q || !(next_q.conv || next_q.wgrad) || (next_q.grid_w < 11'd8 && next_q.plane < 20'd8 &&
        next_q.img_w < 11'd16 && next_q.img_h < 10'd16 && wide(next_q.off_y) + 16'd8 < 16'd16 && wide(next_q.off_x) + 16'd8 < 16'd16 &&
        wide(next_q.step_y) + 16'd4 < 16'd8 && wide(next_q.step_x) + 16'd4 < 16'd8));
      so_has_the_next: assert (!here_q || !(next_q.conv || next_q.wgrad) || (next_q.stride != 2'd0 && next_q.grid_w != '0 && next_q.img_w != '0 && next_q.img_h != '0 &&
        (!next_q.conv || (next_q.taps_y != '0 && next_q.taps_x != '0))));
    end
  end

  // --- Reachable: the last tap of a kernel with rows and columns, whose stride has phases ---------------------------------------------
  assign covered_o = rst_ni && any_q && q.conv && q.stride == 2'd3 && row_q == 4'd1 && col_q == 4'd1 && !more && \dut.y_phase == 2'd2;

endmodule
