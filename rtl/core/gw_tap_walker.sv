// Moves the operands of a CONV from tap to tap while its block goes on, and a WGRAD's image by its one tap
// (docs/convolution.md). A tap is the image's tile, moved by some rows, and the rows of B that follow.
//
// Two commands are in hand, as in gemm_core: that of the next block, and that of the current one, whose taps are walked.
// A GEMM is one tap that is not moved.
module gw_tap_walker #(
  parameter int unsigned LANES = 8
) (
  input  logic                    clk_i,
  // Command
  input  logic                    load_i,
  // The core decides by the opcode; field places are those of the command.
  // verilator lint_off UNUSEDSIGNAL
  input  gw_isa_pkg::cmd_t        cmd_i,
  // verilator lint_on UNUSEDSIGNAL
  output gw_isa_pkg::tile_t       a_tile_o,  // of cmd_i: A as its first tap reads it
  // Current block
  input  logic                    start_i,   // it is the next one's turn
  // A CONV walks A by columns: its lines begin at a panel.
  // verilator lint_off UNUSEDSIGNAL
  input  gw_isa_pkg::place_t      a_place_i, // of the next block, first tap
  // verilator lint_on UNUSEDSIGNAL
  input  gw_isa_pkg::place_t      b_place_i,
  input  logic                    tap_i,     // to the next tap
  output logic                    more_o,    // another tap follows
  output gw_isa_pkg::place_t      a_place_o, // where that begins
  output gw_isa_pkg::place_t      b_place_o,
  // Of the current tap: pixel (x, y) of the grid reads image column x + x_o of its phase plane, and row y + y_o. It lies
  // in the image if that is below the end, as a number without sign.
  output logic                    conv_o,
  output logic                    wgrad_o,
  output logic [11:0]             x_o,
  output logic [11:0]             y_o,
  output logic [11:0]             x_end_o,
  output logic [11:0]             y_end_o
);

  localparam int unsigned        ROW_W   = gw_isa_pkg::ROW_W;
  localparam gw_isa_pkg::lanes_t N_LANES = gw_isa_pkg::LANES_W'(LANES);
  // A multiple of LANES that makes any move positive.
  localparam logic [27:0]        BIAS    = 28'((2**25 / LANES) * LANES);

  function automatic gw_isa_pkg::lanes_t lane_of(input logic [27:0] move);
    lane_of = gw_isa_pkg::LANES_W'((move + BIAS) % 28'(LANES));
  endfunction

  // x / stride, rounded down, for 0 <= x < 2048.
  function automatic logic [11:0] divide(input logic [11:0] x, input logic [1:0] stride);
    case (stride)
      2'd2:    divide = x >> 1;
      2'd3:    divide = x / 12'd3;
      default: divide = x;
    endcase
  endfunction

  // A signed byte in steps of the stride, rounded down: 384 is a multiple of every stride.
  function automatic logic [11:0] steps_of(input logic [7:0] x, input logic [1:0] stride);
    steps_of = divide({{4{x[7]}}, x} + 12'd384, stride) - divide(12'd384, stride);
  endfunction

  // What that leaves.
  function automatic logic [1:0] phase_of(input logic [7:0] x, input logic [1:0] stride);
    phase_of = 2'({{4{x[7]}}, x} - (steps_of(x, stride) * {10'd0, stride}));
  endfunction

  function automatic logic [27:0] wide(input logic [11:0] x); // signed
    wide = {{16{x[11]}}, x};
  endfunction

  // Rows of a move: phases that are packed are other lanes of the same rows.
  // verilator lint_off UNUSEDSIGNAL
  function automatic gw_isa_pkg::row_t rows_of(input logic [27:0] pixels_move, input logic [27:0] planes_move,
                                               input logic in_line);
    rows_of = in_line ? ROW_W'(pixels_move) : ROW_W'(pixels_move + planes_move);
  // verilator lint_on UNUSEDSIGNAL
  endfunction

  // --- Fields of a command -----------------------------------------------------------------------
  localparam int unsigned PLAN_W = 2 + 11 + 20 + 1 + 2 + 8 + 16 + 32 + 21;

  logic              f_conv, f_wgrad;
  logic [PLAN_W-1:0] f_plan, next_q, plan_q;
  assign f_conv  = cmd_i[gw_isa_pkg::OPCODE_LSB+:gw_isa_pkg::OPCODE_W] == gw_isa_pkg::OP_CONV;
  assign f_wgrad = cmd_i[gw_isa_pkg::OPCODE_LSB+:gw_isa_pkg::OPCODE_W] == gw_isa_pkg::OP_WGRAD;
  assign f_plan  = {f_conv, f_wgrad,
                    cmd_i[gw_isa_pkg::GRID_W_LSB+:gw_isa_pkg::GRID_W_W],
                    cmd_i[gw_isa_pkg::PLANE_LSB+:gw_isa_pkg::PLANE_W],
                    cmd_i[gw_isa_pkg::PACKED_LSB],
                    f_conv ? cmd_i[gw_isa_pkg::STRIDE_LSB+:gw_isa_pkg::STRIDE_W] : 2'd1,
                    cmd_i[gw_isa_pkg::TAPS_Y_LSB+:gw_isa_pkg::TAPS_Y_W],
                    cmd_i[gw_isa_pkg::TAPS_X_LSB+:gw_isa_pkg::TAPS_X_W],
                    cmd_i[gw_isa_pkg::B_TAP_LSB+:gw_isa_pkg::B_TAP_W],
                    cmd_i[gw_isa_pkg::OFF_Y_LSB+:gw_isa_pkg::OFF_Y_W],
                    cmd_i[gw_isa_pkg::OFF_X_LSB+:gw_isa_pkg::OFF_X_W],
                    cmd_i[gw_isa_pkg::STEP_Y_LSB+:gw_isa_pkg::STEP_Y_W],
                    cmd_i[gw_isa_pkg::STEP_X_LSB+:gw_isa_pkg::STEP_X_W],
                    cmd_i[gw_isa_pkg::IMG_H_LSB+:gw_isa_pkg::IMG_H_W],
                    cmd_i[gw_isa_pkg::IMG_W_LSB+:gw_isa_pkg::IMG_W_W]};

  // --- First tap of a command ------------------------------------------------------------------------
  logic [10:0]       f_grid_w;
  logic [19:0]       f_plane;
  logic [1:0]        f_stride;
  logic [7:0]        f_off_y, f_off_x;
  logic [27:0]       f_pixels, f_planes;    // moves: of lines, and from phase to phase
  gw_isa_pkg::tile_t f_a;
  assign f_a      = cmd_i[gw_isa_pkg::A_ROW_LSB+:gw_isa_pkg::TILE_W];
  assign f_grid_w = cmd_i[gw_isa_pkg::GRID_W_LSB+:gw_isa_pkg::GRID_W_W];
  assign f_plane  = cmd_i[gw_isa_pkg::PLANE_LSB+:gw_isa_pkg::PLANE_W];
  assign f_stride = f_conv ? cmd_i[gw_isa_pkg::STRIDE_LSB+:gw_isa_pkg::STRIDE_W] : 2'd1;
  assign f_off_y  = cmd_i[gw_isa_pkg::OFF_Y_LSB+:gw_isa_pkg::OFF_Y_W];
  assign f_off_x  = cmd_i[gw_isa_pkg::OFF_X_LSB+:gw_isa_pkg::OFF_X_W];

  always_comb begin
    f_pixels = 28'd0;
    f_planes = 28'd0;
    if (load_i && (f_conv || f_wgrad)) begin
      f_pixels = wide(steps_of(f_off_y, f_stride)) * {17'd0, f_grid_w} + wide(steps_of(f_off_x, f_stride));
      f_planes = ({26'd0, phase_of(f_off_y, f_stride)} * {26'd0, f_stride} + {26'd0, phase_of(f_off_x, f_stride)}) *
                 {8'd0, f_plane};
    end
  end

  assign a_tile_o = {f_a.pstride,
                     (f_conv || f_wgrad) ? gw_lane_pkg::add_mod(f_a.rot, lane_of(f_pixels + f_planes), N_LANES) : f_a.rot,
                     f_a.row + rows_of(f_pixels, f_planes, cmd_i[gw_isa_pkg::PACKED_LSB])};

  // --- Command of the current block --------------------------------------------------------------------
  logic [10:0] grid_w, img_w;
  logic [9:0]  img_h;
  logic [19:0] plane;
  logic        packed_phases;
  logic [1:0]  stride;
  logic [3:0]  taps_y, taps_x;
  logic [15:0] b_tap;
  logic [7:0]  off_y, off_x, step_y, step_x;
  assign {conv_o, wgrad_o, grid_w, plane, packed_phases, stride, taps_y, taps_x, b_tap, off_y, off_x, step_y, step_x,
          img_h, img_w} = plan_q;

  always_ff @(posedge clk_i) begin
    if (load_i) next_q <= f_plan;
    if (start_i) plan_q <= next_q;
  end

  // --- Its tap -----------------------------------------------------------------------------------------
  logic               first_q;              // no step from tap to tap yet: phases and rows are those of the command
  logic [3:0]         y_q, x_q;             // row and column of the kernel
  logic [11:0]        down_q, right_q;      // of the image, in steps of the stride, since the first tap
  logic [1:0]         y_phase_q, x_phase_q;
  gw_isa_pkg::place_t b_q;
  gw_isa_pkg::row_t   a_row_q, line_row_q, a_pstride_q; // line: first tap of the kernel row
  gw_isa_pkg::lane_t  a_rot_q, line_rot_q;

  logic [11:0] down, right;
  logic [1:0]  y_phase, x_phase;
  assign down    = first_q ? steps_of(off_y, stride) : down_q;
  assign right   = first_q ? steps_of(off_x, stride) : right_q;
  assign y_phase = first_q ? phase_of(off_y, stride) : y_phase_q;
  assign x_phase = first_q ? phase_of(off_x, stride) : x_phase_q;

  logic               row_ends, carry;
  logic [11:0]        jump;                 // of the axis that moves, in steps of the stride
  logic [2:0]         phase_sum;
  logic [1:0]         from_phase, to_phase;
  logic [27:0]        pixels, planes;       // moves
  gw_isa_pkg::row_t   to_row;
  gw_isa_pkg::lane_t  to_rot;
  assign row_ends   = x_q == taps_x - 4'd1;
  assign more_o     = conv_o && !(row_ends && (y_q == taps_y - 4'd1));
  assign from_phase = row_ends ? y_phase : x_phase;

  always_comb begin
    phase_sum = 3'd0;
    carry     = 1'b0;
    jump      = 12'd0;
    to_phase  = 2'd0;
    pixels    = 28'd0;
    planes    = 28'd0;
    if (more_o) begin
      phase_sum = {1'b0, from_phase} + {1'b0, phase_of(row_ends ? step_y : step_x, stride)};
      carry     = phase_sum >= {1'b0, stride};
      jump      = steps_of(row_ends ? step_y : step_x, stride) + {11'd0, carry};
      to_phase  = 2'(carry ? (phase_sum - {1'b0, stride}) : phase_sum);
      pixels    = wide(jump) * (row_ends ? {17'd0, grid_w} : 28'd1);
      planes    = (({26'd0, to_phase} - {26'd0, from_phase}) * (row_ends ? {26'd0, stride} : 28'd1)) * {8'd0, plane};
    end
  end

  assign to_row    = (row_ends ? line_row_q : a_row_q) + rows_of(pixels, planes, packed_phases);
  assign to_rot    = gw_lane_pkg::add_mod(row_ends ? line_rot_q : a_rot_q, lane_of(pixels + planes), N_LANES);
  assign a_place_o = {gw_isa_pkg::LANE_W'(0), a_pstride_q, to_rot, to_row};
  assign b_place_o = {b_q.jj, b_q.pstride, gw_lane_pkg::add_mod(b_q.rot, lane_of({12'd0, b_tap}), N_LANES),
                      b_q.row + ROW_W'(b_tap)};

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      first_q     <= 1'b1;
      y_q         <= 4'd0;
      x_q         <= 4'd0;
      a_row_q     <= a_place_i.row;
      a_rot_q     <= a_place_i.rot;
      a_pstride_q <= a_place_i.pstride;
      line_row_q  <= a_place_i.row;
      line_rot_q  <= a_place_i.rot;
      b_q         <= b_place_i;
    end else if (tap_i) begin
      first_q   <= 1'b0;
      a_row_q   <= to_row;
      a_rot_q   <= to_rot;
      b_q       <= b_place_o;
      y_phase_q <= row_ends ? to_phase : y_phase;
      down_q    <= row_ends ? (down + jump) : down;
      if (row_ends) begin
        y_q        <= y_q + 4'd1;
        x_q        <= 4'd0;
        line_row_q <= to_row;
        line_rot_q <= to_rot;
        x_phase_q  <= phase_of(off_x, stride);
        right_q    <= steps_of(off_x, stride);
      end else begin
        x_q       <= x_q + 4'd1;
        x_phase_q <= to_phase;
        right_q   <= right + jump;
      end
    end
  end

  // --- Its window --------------------------------------------------------------------------------------
  // A plane has the columns (img_w - phase) / stride, rounded up.
  assign x_o     = right;
  assign y_o     = down;
  assign x_end_o = divide({1'b0, img_w} + {10'd0, stride} - 12'd1 - {10'd0, x_phase}, stride);
  assign y_end_o = divide({2'b0, img_h} + {10'd0, stride} - 12'd1 - {10'd0, y_phase}, stride);

endmodule
