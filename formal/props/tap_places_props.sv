// tap_walker: a CONV's tap reads A from the row and the lane of the pixel that the mask is told of: as many lines of the grid and lines
// on from the first tap, and as many phase planes, as that pixel. The first tap of a command is as far from the tile's own row and lane.
//
// A row is a sum of products with GRID_W and PLANE. Both sides multiply each move by itself, which makes their products one; that the sum
// of these is the product with the sum of the moves is products_props'. So fields have their full width. A sum in another order is work
// for the solver, too: so each property reorders little, and what rests on no product is proven apart (MOVES).
//
// sources: core/gw_lane_pkg.sv core/gw_tap_walker.sv
// helpers: tap_walk_pkg tap_commands running_product
module tap_places_props #(
  parameter int unsigned LANES = 8,     // a power of two
  parameter int unsigned MOVES = 0,     // 1: the moves are those of the pixel; 0: rows and lanes are those of the moves
  localparam int unsigned ROW_W = gw_isa_pkg::ROW_W
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
    .b_place_i (64'd0),
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

  (* hierconn *) wire         \dut.first_q ;
  (* hierconn *) wire [3:0]   \dut.x_q ;
  (* hierconn *) wire [3:0]   \dut.y_q ;
  (* hierconn *) wire [112:0] \dut.next_q ;
  (* hierconn *) wire [112:0] \dut.plan_q ;
  (* hierconn *) wire [1:0]   \dut.y_phase ;
  (* hierconn *) wire [1:0]   \dut.x_phase ;
  (* hierconn *) wire         \dut.row_ends ;
  (* hierconn *) wire [gw_isa_pkg::ROW_W-1:0] \dut.a_row_q ;
  (* hierconn *) wire [gw_isa_pkg::ROW_W-1:0] \dut.line_row_q ;
  (* hierconn *) wire [gw_isa_pkg::LANE_W-1:0] \dut.a_rot_q ;
  (* hierconn *) wire [gw_isa_pkg::LANE_W-1:0] \dut.line_rot_q ;

  // --- Commands, and what asks for taps ---------------------------------------------------------------------------------------------
  logic                here, any;  // a block of the command is still to begin; one has begun
  tap_walk_pkg::walk_t f, next, q, kept;
  reset_first u_reset (.clk_i, .rst_ni);
  tap_commands u_commands (.clk_i, .rst_ni, .load_i, .cmd_i, .start_i, .last_i, .tap_i, .more_i (more), .load_o (load), .start_o (start),
    .tap_o (tap), .here_o (here), .any_o (any), .f_o (f), .next_o (next), .current_o (q));
  assign kept = \dut.plan_q ;

  // --- Pixels, in steps of the stride and phases -----------------------------------------------------------------------------------
  // 384 is a multiple of every stride and makes all positive.
  function automatic logic [11:0] divide(input logic [11:0] pixel, input logic [1:0] stride);
    case (stride)
      2'd2:    divide = pixel >> 1;
      2'd3:    divide = pixel / 12'd3;
      default: divide = pixel;
    endcase
  endfunction
  function automatic logic [11:0] steps_of(input logic [7:0] pixel, input logic [1:0] stride);
    steps_of = divide({{4{pixel[7]}}, pixel} + 12'd384, stride) - divide(12'd384, stride);
  endfunction
  function automatic logic [1:0] phase_of(input logic [7:0] pixel, input logic [1:0] stride);
    phase_of = 2'({{4{pixel[7]}}, pixel} - (steps_of(pixel, stride) * {10'd0, stride}));
  endfunction
  function automatic logic [27:0] wide(input logic [11:0] steps); // signed
    wide = {{16{steps[11]}}, steps};
  endfunction
  function automatic logic [27:0] plane_of(input logic [1:0] down, input logic [1:0] right, input logic [1:0] stride);
    plane_of = {26'd0, down} * {26'd0, stride} + {26'd0, right};
  endfunction
  function automatic logic is_pixel(input logic [7:0] pixel, input logic [1:0] stride);
    is_pixel = phase_of(pixel, stride) < stride &&
      steps_of(pixel, stride) * {10'd0, stride} + {10'd0, phase_of(pixel, stride)} == {{4{pixel[7]}}, pixel};
  endfunction

  // --- Moves since the first tap of the block: of its row of the kernel, and within that row -------------------------------------------
  logic        next_row, next_column, carry;
  logic [1:0]  from_phase, to_phase;
  logic [2:0]  phase_sum;
  logic [7:0]  step;
  logic [27:0] down, lines, row_planes, row_plane_rows, planes, plane_rows, by, by_planes, line;
  assign next_row    = tap && \dut.row_ends ;
  assign next_column = tap && !\dut.row_ends ;
  assign step        = \dut.row_ends ? kept.step_y : kept.step_x;
  assign from_phase  = \dut.row_ends ? \dut.y_phase : \dut.x_phase ;
  assign phase_sum   = {1'b0, from_phase} + {1'b0, phase_of(step, kept.stride)};
  assign carry       = phase_sum >= {1'b0, kept.stride};
  assign to_phase    = 2'(carry ? (phase_sum - {1'b0, kept.stride}) : phase_sum);
  assign by          = wide(steps_of(step, kept.stride) + {11'd0, carry});
  assign line        = \dut.row_ends ? {17'd0, kept.grid_w} : 28'd1;
  assign by_planes   = ({26'd0, to_phase} - {26'd0, from_phase}) * (\dut.row_ends ? {26'd0, kept.stride} : 28'd1);
  running_product u_lines (.clk_i, .set_i (start), .add_i (next_row), .from_moved_i (down), .from_product_i (lines), .by_i (by), .times_i (line),
    .moved_o (down), .product_o (lines));
  running_product u_row_planes (.clk_i, .set_i (start), .add_i (next_row), .from_moved_i (row_planes), .from_product_i (row_plane_rows),
    .by_i (by_planes), .times_i ({8'd0, kept.plane}), .moved_o (row_planes), .product_o (row_plane_rows));
  running_product u_planes (.clk_i, .set_i (start), .add_i (tap), .from_moved_i (next_row ? row_planes : planes),
    .from_product_i (next_row ? row_plane_rows : plane_rows), .by_i (by_planes), .times_i ({8'd0, kept.plane}),
    .moved_o (planes), .product_o (plane_rows));

  logic [27:0] right_q, pixels_q, pixels_move, planes_move;
  gw_isa_pkg::row_t rows_q, row_rows_q, rows_move; // of A
  assign pixels_move = by * line;
  assign planes_move = by_planes * {8'd0, kept.plane};
  assign rows_move   = kept.in_line ? ROW_W'(pixels_move) : ROW_W'(pixels_move + planes_move);
  always @(posedge clk_i) begin
    if (start) begin
      {right_q, pixels_q}  <= '0;
      {rows_q, row_rows_q} <= '0;
    end else if (tap) begin
      right_q    <= next_row ? 28'd0 : (right_q + by);
      pixels_q   <= (next_row ? lines : pixels_q) + pixels_move;
      rows_q     <= (next_row ? row_rows_q : rows_q) + rows_move;
      row_rows_q <= next_row ? (row_rows_q + rows_move) : row_rows_q;
    end
  end

  // --- The tap at hand, as the block told where it is; its first one ---------------------------------------------------------------------
  gw_isa_pkg::row_t row_q, first_row_q;
  gw_isa_pkg::lane_t rot_q, first_rot_q;
  always @(posedge clk_i) begin
    if (start) {row_q, rot_q, first_row_q, first_rot_q} <= {a_row_i, a_rot_i, a_row_i, a_rot_i};
    else if (tap) {row_q, rot_q} <= {a_place.row, a_place.rot};
  end

  function automatic gw_isa_pkg::row_t row_at(input gw_isa_pkg::row_t from, input logic [27:0] pixels, input logic [27:0] planes, input logic in_line);
    row_at = from + pixels[ROW_W-1:0] + (in_line ? ROW_W'(0) : planes[ROW_W-1:0]);
  endfunction
  function automatic gw_isa_pkg::lane_t rot_at(input gw_isa_pkg::lane_t from, input logic [27:0] moved);
    rot_at = (from + moved[gw_isa_pkg::LANE_W-1:0]) & gw_isa_pkg::LANE_W'(LANES - 1);
  endfunction

  logic [27:0] tile_pixels, tile_planes; // from the tile to a command's first tap
  assign tile_pixels = wide(steps_of(f.off_y, f.stride)) * {17'd0, f.grid_w} + wide(steps_of(f.off_x, f.stride));
  assign tile_planes = plane_of(phase_of(f.off_y, f.stride), phase_of(f.off_x, f.stride), f.stride) * {8'd0, f.plane};

  // --- Properties -----------------------------------------------------------------------------------------------------------------------
  logic walks;
  assign walks = any && (q.conv || q.wgrad);
  if (MOVES != 0) begin : gen_moves
    always @* begin
      if (rst_ni) begin
        the_mask_is_told_of_the_row_of_the_moves: assert (!walks || wide(y) == wide(steps_of(q.off_y, q.stride)) + down);
        the_mask_is_told_of_the_column_of_the_moves: assert (!walks || wide(x) == wide(steps_of(q.off_x, q.stride)) + right_q);
        and_of_the_plane: assert (!walks || plane_of(\dut.y_phase , \dut.x_phase , q.stride) ==
          plane_of(phase_of(q.off_y, q.stride), phase_of(q.off_x, q.stride), q.stride) + planes);
        steps_and_phase_are_the_pixel: assert (!load || !(f.conv || f.wgrad) || (is_pixel(f.off_y, f.stride) && is_pixel(f.off_x, f.stride)));
        // What makes these inductive.
        taps_are_those_of_the_kernel: assert (!any || !q.conv || (\dut.y_q < q.taps_y && \dut.x_q < q.taps_x));
        a_kernel_has_taps: assert (!here || !next.conv || (next.taps_y != 4'd0 && next.taps_x != 4'd0));
        a_step_is_at_most_128: assert (!walks || (down + {17'd0, \dut.y_q , 7'd0} <= {16'd0, \dut.y_q , 8'd0} &&
          right_q + {17'd0, \dut.x_q , 7'd0} <= {16'd0, \dut.x_q , 8'd0}));
        phases_are_of_the_stride: assert (!walks || (\dut.y_phase < q.stride && \dut.x_phase < q.stride));
        rows_of_the_kernel_move_their_planes:
          assert (!walks || plane_of(\dut.y_phase , 2'd0, q.stride) == plane_of(phase_of(q.off_y, q.stride), 2'd0, q.stride) + row_planes);
        the_commands_are_kept: assert ((!any || kept == q) && (!here || \dut.next_q == next));
        a_walk_has_a_stride: assert ((!walks || q.stride != 2'd0) && (!here || !(next.conv || next.wgrad) || next.stride != 2'd0));
        a_block_begins_at_the_first_tap: assert (!walks || !\dut.first_q ||
          (\dut.x_q == 4'd0 && \dut.y_q == 4'd0 && down == '0 && right_q == '0 && row_planes == '0 && planes == '0));
      end
    end
  end else begin : gen_rows
    always @* begin
      assume (!start || 32'(a_rot_i) < LANES);
      assume (!load || 32'(cmd_i[gw_isa_pkg::A_ROT_LSB+:gw_isa_pkg::LANE_W]) < LANES);
      if (rst_ni) begin
        a_tap_has_the_row_of_its_moves: assert (!walks || row_q == first_row_q + rows_q);
        a_tap_has_the_lane_of_its_moves: assert (!walks || rot_q == rot_at(first_rot_q, pixels_q + plane_rows));
        rows_are_pixels_and_planes: assert (!walks || rows_q == pixels_q[ROW_W-1:0] + (kept.in_line ? ROW_W'(0) : plane_rows[ROW_W-1:0]));
        pixels_are_lines_of_the_grid_and_columns: assert (!walks || pixels_q == lines + right_q);
        a_command_begins_at_the_row_of_its_first_tap: assert (!load || !(f.conv || f.wgrad) ||
          a_tile.row == row_at(cmd_i[gw_isa_pkg::A_ROW_LSB+:ROW_W], tile_pixels, tile_planes, f.in_line));
        a_command_begins_at_the_lane_of_its_first_tap: assert (!load || !(f.conv || f.wgrad) ||
          a_tile.rot == rot_at(cmd_i[gw_isa_pkg::A_ROT_LSB+:gw_isa_pkg::LANE_W], tile_pixels + tile_planes));
        // What makes these inductive.
        the_commands_are_kept: assert ((!any || kept == q) && (!here || \dut.next_q == next));
        places_are_kept: assert (!any || (\dut.a_row_q == row_q && \dut.a_rot_q == rot_q));
        so_has_the_first_column: assert (!walks || (\dut.line_row_q == first_row_q + row_rows_q &&
          \dut.line_rot_q == rot_at(first_rot_q, lines + row_plane_rows) && row_rows_q == lines[ROW_W-1:0] + (kept.in_line ? ROW_W'(0) : row_plane_rows[ROW_W-1:0])));
        lanes_are_lanes: assert (!any || (32'(rot_q) < LANES && 32'(first_rot_q) < LANES));
      end
    end
  end

  // --- Reachable: a tap behind the end of a kernel's row, in another phase plane ---------------------------------------------------
  assign covered_o = rst_ni && walks && \dut.y_q == 4'd1 && \dut.x_q == 4'd1 && q.stride == 2'd3 && \dut.y_phase == 2'd2 && !q.in_line;

endmodule
