// pixel_mask: the lanes of a CONV's block have ROWS pixels of the grid that follow one another, from the row at which the command
// begins, and those of the next row of blocks the ROWS pixels behind them: each pixel has one lane of one block. A lane is kept if
// what the tap reads for its pixel lies in the image; of a WGRAD each line is the next pixel, which takes part if it is one of the
// result, and is zero outside the image. Grids are small, moves are any: tap_walker_props has those.
//
// Pixels are counted by steps here, and by sums in the block: both go from an image's last row to the next image's first.
//
// sources: core/gw_pixel_mask.sv
// memory: next_x dut.next_x ROWS
// memory: next_y dut.next_y ROWS
// memory: lane_x dut.lane_x ROWS
// memory: lane_y dut.lane_y ROWS
module pixel_mask_props #(
  parameter int unsigned ROWS = 4,
  parameter int unsigned GRID = 8    // rows and columns of a grid are fewer
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,
  input  logic             load_i,
  input  gw_isa_pkg::cmd_t cmd_i,
  input  logic             start_i,
  input  logic             advance_i,
  input  logic             last_i,
  input  logic             step_i,
  input  logic [11:0]      x_i,
  input  logic [11:0]      y_i,
  input  logic [11:0]      x_end_i,
  input  logic [11:0]      y_end_i,
  output logic             covered_o
);

  logic               load, start, step, busy, zero, idle, conv_q, wgrad_q, cur_conv_q, cur_wgrad_q;
  logic [32*ROWS-1:0] keep;

  gw_pixel_mask #(.ROWS(ROWS)) dut (
    .clk_i, .rst_ni, .clear_i,
    .load_i    (load),
    .cmd_i,
    .busy_o    (busy),
    .start_i   (start),
    .advance_i (advance_i),
    .conv_i    (cur_conv_q),
    .wgrad_i   (cur_wgrad_q),
    .x_i, .y_i, .x_end_i, .y_end_i,
    .step_i    (step),
    .keep_o    (keep),
    .zero_o    (zero),
    .idle_o    (idle)
  );

  wire [32*ROWS-1:0] next_x, next_y, lane_x, lane_y;
  (* hierconn *) wire [10:0] \dut.grid_w_q ;
  (* hierconn *) wire [9:0]  \dut.grid_h_q ;
  (* hierconn *) wire [9:0]  \dut.grid_y_q ;
  (* hierconn *) wire [10:0] \dut.out_w_q ;
  (* hierconn *) wire [9:0]  \dut.out_h_q ;
  (* hierconn *) wire [10:0] \dut.cur_grid_w_q ;
  (* hierconn *) wire [9:0]  \dut.cur_grid_h_q ;
  (* hierconn *) wire [10:0] \dut.cur_out_w_q ;
  (* hierconn *) wire [9:0]  \dut.cur_out_h_q ;
  (* hierconn *) wire [10:0] \dut.count_x_q ;
  (* hierconn *) wire [9:0]  \dut.count_y_q ;
  (* hierconn *) wire [9:0]  \dut.down ;
  (* hierconn *) wire [gw_isa_pkg::LANE_W-1:0] \dut.lane_q ;
  (* hierconn *) wire [10:0] \dut.x_q ;
  (* hierconn *) wire [9:0]  \dut.y_q ;
  (* hierconn *) wire        \dut.start_q ;
  (* hierconn *) wire        \dut.advance_q ;
  (* hierconn *) wire        \dut.step1_q ;
  (* hierconn *) wire        \dut.all_q ;

  // --- Environment: gemm_core, block_walker and tap_walker. A command comes when the last block of the one before has begun, and
  // blocks begin at least three cycles apart. Fields are those that cmd_check lets pass.
  reset_first u_reset (.clk_i, .rst_ni);
  logic        here_q;       // a block of the command is still to begin
  logic        any_q;        // a block has begun
  logic [1:0]  since_q;      // cycles since a block began, 3 at most
  logic [10:0] w_q, out_w_q, cur_w_q, cur_out_w_q;
  logic [9:0]  h_q, y0_q, out_h_q, cur_h_q, cur_out_h_q;
  assign load  = load_i && !here_q;
  assign start = start_i && here_q && !busy && since_q == 2'd3;
  assign step  = step_i && any_q && since_q != 2'd0;

  logic [7:0]  opcode;
  logic [10:0] grid_w;
  logic [9:0]  grid_h, grid_y;
  assign opcode = cmd_i[gw_isa_pkg::OPCODE_LSB+:gw_isa_pkg::OPCODE_W];
  assign grid_w = cmd_i[gw_isa_pkg::GRID_W_LSB+:gw_isa_pkg::GRID_W_W];
  assign grid_h = cmd_i[gw_isa_pkg::GRID_H_LSB+:gw_isa_pkg::GRID_H_W];
  assign grid_y = cmd_i[gw_isa_pkg::GRID_Y_LSB+:gw_isa_pkg::GRID_Y_W];
  always @* begin
    assume (!load || (grid_w != '0 && grid_y < grid_h && {21'd0, grid_w} < GRID && {22'd0, grid_h} < GRID));
    assume (x_end_i < 12'd2048 && y_end_i < 12'd1024); // tap_walker_props
  end

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      here_q  <= 1'b0;
      any_q   <= 1'b0;
      since_q <= 2'd3;
    end else begin
      here_q  <= load || (here_q && !(start && last_i));
      any_q   <= any_q || start;
      since_q <= start ? 2'd0 : (since_q == 2'd3) ? 2'd3 : (since_q + 2'd1);
    end
    if (load) begin
      conv_q  <= opcode == gw_isa_pkg::OP_CONV;
      wgrad_q <= opcode == gw_isa_pkg::OP_WGRAD;
      w_q     <= grid_w;
      h_q     <= grid_h;
      y0_q    <= grid_y;
      out_w_q <= cmd_i[gw_isa_pkg::OUT_W_LSB+:gw_isa_pkg::OUT_W_W];
      out_h_q <= cmd_i[gw_isa_pkg::OUT_H_LSB+:gw_isa_pkg::OUT_H_W];
    end
    if (start) begin
      cur_conv_q  <= conv_q;
      cur_wgrad_q <= wgrad_q;
      cur_w_q     <= w_q;
      cur_h_q     <= h_q;
      cur_out_w_q <= out_w_q;
      cur_out_h_q <= out_h_q;
    end
  end

  // --- The pixel behind another, and the one that is as far behind it as a row of blocks -----------------------------------------
  function automatic logic [20:0] behind(input logic [10:0] x, input logic [9:0] y, input logic [10:0] w, input logic [9:0] h);
    behind = (x + 11'd1 != w) ? {x + 11'd1, y} : (y + 10'd1 != h) ? {11'd0, y + 10'd1} : 21'd0;
  endfunction

  logic [20:0] far;          // of lane 0
  logic [31:0] far_x, far_y;
  assign far_x = next_x[31:0] + {21'd0, \dut.count_x_q };
  assign far_y = next_y[31:0] + {22'd0, \dut.down } + {31'd0, far_x >= {21'd0, w_q}};
  assign far   = {11'((far_x >= {21'd0, w_q}) ? (far_x - {21'd0, w_q}) : far_x),
                  10'((far_y >= {22'd0, h_q}) ? (far_y - {22'd0, h_q}) : far_y)};

  logic        first_q, moved_q; // the lanes have not moved yet; they have in the cycle before
  logic [20:0] last_q;           // the last lane's pixel in the cycle before
  always @(posedge clk_i) begin
    if (load) first_q <= 1'b1;
    else if (\dut.start_q && \dut.advance_q ) first_q <= 1'b0;
    moved_q <= rst_ni && !clear_i && \dut.start_q && \dut.advance_q && !load && here_q && conv_q;
    last_q  <= {next_x[32*(ROWS-1)+:11], next_y[32*(ROWS-1)+:10]};
  end
  logic [ROWS-1:0] in_grid, in_order, at_row, behind_last, count_follows, count_is_far;
  genvar i;
  generate
    for (i = 0; i < ROWS; i = i + 1) begin : g_lane
      logic        known; // of the command at hand
      logic [20:0] at, before;
      assign known  = (here_q || since_q == 2'd0) && conv_q && (!busy || gw_isa_pkg::LANE_W'(i) < \dut.lane_q );
      assign at     = {next_x[32*i+:11], next_y[32*i+:10]};
      assign before = {next_x[32*(i == 0 ? 0 : i - 1)+:11], next_y[32*(i == 0 ? 0 : i - 1)+:10]};
      assign in_grid[i]       = !known || (next_x[32*i+:32] < {21'd0, w_q} && next_y[32*i+:32] < {22'd0, h_q});
      assign in_order[i]      = !known || i == 0 || at == behind(before[20:10], before[9:0], w_q, h_q);
      assign at_row[i]        = !known || i != 0 || !first_q || at == {11'd0, y0_q};
      assign behind_last[i]   = !known || i != 0 || !moved_q || at == behind(last_q[20:10], last_q[9:0], w_q, h_q);
      assign count_follows[i] = !known || !busy || \dut.lane_q != gw_isa_pkg::LANE_W'(i + 1) ||
                                {\dut.count_x_q , \dut.count_y_q } == behind(at[20:10], at[9:0], w_q, h_q);
      assign count_is_far[i]  = !known || i != ROWS - 1 || busy || behind(at[20:10], at[9:0], w_q, h_q) == far;
    end
  endgenerate

  always @* begin
    if (rst_ni) begin
      a_lane_has_a_pixel_of_the_grid: assert (&in_grid);
      lanes_follow_one_another: assert (&in_order);
      a_command_begins_at_its_row: assert (&at_row);
      rows_of_blocks_follow_one_another: assert (&behind_last);
      lanes_are_counted_in_order: assert (&count_follows);
      the_count_is_the_move_to_the_next_row: assert (&count_is_far);
    end
  end

  always @* begin
    if (rst_ni) begin
      lanes_are_counted_for_a_command: assert (!busy || (here_q && conv_q && 32'(\dut.lane_q ) < ROWS));
      no_row_of_blocks_ends_before_lanes_are_counted: assert (!busy || first_q);
      counting_begins_at_the_row: assert (!busy || \dut.lane_q != '0 || {\dut.count_x_q , \dut.count_y_q } == {11'd0, y0_q});
      the_count_is_a_pixel: assert (!(here_q && conv_q) || (\dut.count_x_q < w_q && \dut.count_y_q < h_q));
      grids_are_small: assert (!(here_q || since_q == 2'd0) || ({21'd0, w_q} < GRID && {22'd0, h_q} < GRID));
      the_command_is_kept: assert (!(here_q || since_q == 2'd0) || (w_q != '0 && y0_q < h_q && \dut.grid_w_q == w_q && \dut.grid_h_q == h_q &&
                                               \dut.grid_y_q == y0_q && \dut.out_w_q == out_w_q && \dut.out_h_q == out_h_q));
      the_block_is_kept: assert (!any_q || (cur_w_q != '0 && cur_h_q != '0 && {21'd0, cur_w_q} < GRID && {22'd0, cur_h_q} < GRID && \dut.cur_grid_w_q == cur_w_q && \dut.cur_grid_h_q == cur_h_q &&
                                            \dut.cur_out_w_q == cur_out_w_q && \dut.cur_out_h_q == cur_out_h_q));
      a_start_is_followed: assert (\dut.start_q == (since_q == 2'd0));
    end
  end

  // --- The mask, two cycles after its step --------------------------------------------------------------------------------------
  logic [21*ROWS-1:0] cur_q;     // pixels of the current block's lanes
  logic [20:0]        line_q;    // pixel of a WGRAD's line
  logic [ROWS-1:0]    inside, inside1_q, inside2_q;
  logic               step1_q, step2_q, conv1_q, conv2_q, zero1_q, zero2_q, idle1_q, idle2_q, in_line;

  function automatic logic lies_in(input logic [10:0] at, input logic [11:0] move, input logic [11:0] size);
    logic [15:0] to; // signed
    to = {5'd0, at} + {{4{move[11]}}, move};
    lies_in = !to[15] && to < {4'd0, size};
  endfunction

  assign in_line = lies_in(line_q[20:10], x_i, x_end_i) && lies_in({1'b0, line_q[9:0]}, y_i, y_end_i);
  logic [ROWS-1:0] kept, taken, all_kept;
  generate
    for (i = 0; i < ROWS; i = i + 1) begin : g_mask
      logic [63:0] pixel, next, lane;
      assign pixel     = {21'd0, cur_q[21*i+10+:11], 22'd0, cur_q[21*i+:10]};
      assign next      = {next_x[32*i+:32], next_y[32*i+:32]};
      assign lane      = {lane_x[32*i+:32], lane_y[32*i+:32]};
      assign inside[i] = !cur_conv_q || (lies_in(cur_q[21*i+10+:11], x_i, x_end_i) && lies_in({1'b0, cur_q[21*i+:10]}, y_i, y_end_i));
      assign kept[i]     = keep[32*i+:32] == (inside2_q[i] ? 32'hffff : 32'd0);
      assign taken[i]    = (since_q == 2'd0 ? next : lane) == pixel;
      assign all_kept[i] = keep[32*i+:32] == 32'hffff;
      always @(posedge clk_i) if (start) cur_q[21*i+:21] <= {next_x[32*i+:11], next_y[32*i+:10]};
    end
  endgenerate

  always @* begin
    if (rst_ni) begin
      a_lane_is_kept_if_its_pixel_lies_in_the_image: assert (!step2_q || &kept);
      the_block_has_its_lanes: assert (!(any_q && cur_conv_q) || &taken);
      what_keeps_all_stays: assert (!\dut.all_q || &all_kept);
    end
  end

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) {step1_q, step2_q} <= 2'd0;
    else {step1_q, step2_q} <= {step, step1_q};
    if (start) line_q <= {11'd0, y0_q};
    else if (step && cur_wgrad_q) line_q <= behind(line_q[20:10], line_q[9:0], cur_w_q, cur_h_q);
    if (step) begin
      inside1_q <= inside;
      conv1_q   <= cur_conv_q;
      zero1_q   <= cur_wgrad_q && !in_line;
      idle1_q   <= cur_wgrad_q && !(line_q[20:10] < cur_out_w_q && line_q[9:0] < cur_out_h_q);
    end
    inside2_q <= inside1_q;
    conv2_q   <= conv1_q;
    zero2_q   <= zero1_q;
    idle2_q   <= idle1_q;
  end

  always @* begin
    if (rst_ni) begin
      a_line_is_zero_if_its_pixel_lies_outside: assert (!step2_q || zero == zero2_q);
      a_line_is_idle_if_it_is_no_result: assert (!step2_q || idle == idle2_q);
      lines_follow_one_another: assert (!any_q || (\dut.x_q == line_q[20:10] && \dut.y_q == line_q[9:0]));
      steps_are_followed: assert (\dut.step1_q == step1_q);
    end
  end

  // --- Reachable: lanes within and beyond an image in a line, and the next row of blocks; of a WGRAD mutants show it ---------------
  logic [1:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni) seen_q <= '0;
    else seen_q <= seen_q | {moved_q, step2_q && conv2_q && !(&inside2_q) && (|inside2_q)};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
