// Which elements of a line of A lie in the image, and which lines of a WGRAD take part (docs/convolution.md).
//
// A line of a CONV has a pixel a lane; where a lane's pixel lies in the grid is fixed for a block, and counted once a
// command, a lane a cycle, while the blocks before still compute. A line of a WGRAD is one pixel; it is counted as the
// lines are read. What lies outside the image is +0.
module gw_pixel_mask #(
  parameter int unsigned ROWS = 8
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,
  // Command
  input  logic               load_i,
  // The core decides by the opcode; field places are those of the command.
  // verilator lint_off UNUSEDSIGNAL
  input  gw_isa_pkg::cmd_t   cmd_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic               busy_o,    // lanes are being counted: no block of the command can start
  // Current block
  input  logic               start_i,   // it is the next one's turn
  input  logic               advance_i, // with start_i: the one after it is in the next row of blocks
  input  logic               conv_i,    // of the current block; its tap, as tap_walker has it
  input  logic               wgrad_i,
  input  logic [11:0]        x_i,
  input  logic [11:0]        y_i,
  input  logic [11:0]        x_end_i,
  input  logic [11:0]        y_end_i,
  input  logic               step_i,    // a line pair is complete in this cycle
  // Of that pair, two cycles later
  output logic [32*ROWS-1:0] keep_o,    // a lane's mask for a bf16
  output logic               zero_o,    // the whole line is outside the image
  output logic               idle_o     // it takes no part: a bubble
);

  // --- Grid of the next block's command, and of the current one's ------------------------------------
  logic [10:0] grid_w_q, out_w_q, cur_grid_w_q, cur_out_w_q;
  logic [9:0]  grid_h_q, grid_y_q, out_h_q, cur_grid_h_q, cur_out_h_q;
  logic        f_conv;
  assign f_conv = cmd_i[gw_isa_pkg::OPCODE_LSB+:gw_isa_pkg::OPCODE_W] == gw_isa_pkg::OP_CONV;

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      grid_w_q <= cmd_i[gw_isa_pkg::GRID_W_LSB+:gw_isa_pkg::GRID_W_W];
      grid_h_q <= cmd_i[gw_isa_pkg::GRID_H_LSB+:gw_isa_pkg::GRID_H_W];
      grid_y_q <= cmd_i[gw_isa_pkg::GRID_Y_LSB+:gw_isa_pkg::GRID_Y_W];
      out_w_q  <= cmd_i[gw_isa_pkg::OUT_W_LSB+:gw_isa_pkg::OUT_W_W];
      out_h_q  <= cmd_i[gw_isa_pkg::OUT_H_LSB+:gw_isa_pkg::OUT_H_W];
    end
    if (start_i) begin
      cur_grid_w_q <= grid_w_q;
      cur_grid_h_q <= grid_h_q;
      cur_out_w_q  <= out_w_q;
      cur_out_h_q  <= out_h_q;
    end
  end

  // --- Counting the lanes of a CONV ------------------------------------------------------------------
  // Afterwards the count stands behind the last lane, which is how far a row of blocks is from the next.
  logic              busy_q, start_q, advance_q;
  gw_isa_pkg::lane_t lane_q;
  logic [10:0]       count_x_q;
  logic [9:0]        count_y_q, down;
  logic              x_wraps, y_wraps;
  assign x_wraps = count_x_q == grid_w_q - 11'd1;
  assign y_wraps = count_y_q == grid_h_q - 10'd1;
  assign down    = (count_y_q >= grid_y_q) ? (count_y_q - grid_y_q) : (count_y_q + grid_h_q - grid_y_q);
  assign busy_o  = busy_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (clear_i) busy_q <= 1'b0;
    else if (load_i) busy_q <= f_conv;
    else if (lane_q == gw_isa_pkg::LANE_W'(ROWS - 1)) busy_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      lane_q    <= '0;
      count_x_q <= 11'd0;
      count_y_q <= cmd_i[gw_isa_pkg::GRID_Y_LSB+:gw_isa_pkg::GRID_Y_W];
    end else if (busy_q) begin
      lane_q    <= lane_q + gw_isa_pkg::LANE_W'(1);
      count_x_q <= x_wraps ? 11'd0 : (count_x_q + 11'd1);
      count_y_q <= !x_wraps ? count_y_q : y_wraps ? 10'd0 : (count_y_q + 10'd1);
    end
  end

  // --- Line of a WGRAD -------------------------------------------------------------------------------
  logic [10:0] x_q;
  logic [9:0]  y_q;
  logic        x_ends, y_ends, in_image, counts;
  logic [11:0] at_x, at_y;
  assign x_ends = x_q == cur_grid_w_q - 11'd1;
  assign y_ends = y_q == cur_grid_h_q - 10'd1;
  assign at_x   = {1'b0, x_q} + x_i;
  assign at_y   = {2'b0, y_q} + y_i;
  assign in_image = (at_x < x_end_i) && (at_y < y_end_i);
  assign counts = (x_q < cur_out_w_q) && (y_q < cur_out_h_q);

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      x_q <= 11'd0;
      y_q <= grid_y_q;
    end else if (step_i && wgrad_i) begin
      x_q <= x_ends ? 11'd0 : (x_q + 11'd1);
      y_q <= !x_ends ? y_q : y_ends ? 10'd0 : (y_q + 10'd1);
    end
  end

  // --- On the way with the pair: stage 1 in the lane memories, stage 2 in the rotators ------------------
  logic        step1_q, conv1_q, zero1_q, idle1_q, zero2_q, idle2_q;
  logic [11:0] x1_q, y1_q, x_end1_q, y_end1_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {step1_q, start_q, advance_q} <= 3'd0;
    else if (clear_i) {step1_q, start_q, advance_q} <= 3'd0;
    else {step1_q, start_q, advance_q} <= {step_i, start_i, advance_i};
  end

  always_ff @(posedge clk_i) begin
    if (step_i) begin
      conv1_q  <= conv_i;
      zero1_q  <= wgrad_i && !in_image;
      idle1_q  <= wgrad_i && !counts;
      x1_q     <= x_i;
      y1_q     <= y_i;
      x_end1_q <= x_end_i;
      y_end1_q <= y_end_i;
    end
    zero2_q <= zero1_q;
    idle2_q <= idle1_q;
  end

  assign zero_o = zero2_q;
  assign idle_o = idle2_q;

  // --- Lanes -----------------------------------------------------------------------------------------
  // State arrays are written in loops inside one clocked process.
  // verilator lint_off BLKSEQ
  logic [31:0] next_x [0:ROWS-1]; // place in the grid, of the next block
  logic [31:0] next_y [0:ROWS-1];
  logic [31:0] lane_x [0:ROWS-1]; // of the current one
  logic [31:0] lane_y [0:ROWS-1];
  logic        all_q;             // every lane is kept: no CONV

  task automatic keep_all;
    logic [31:0] i;
    for (i = 0; i < ROWS; i = i + 1) keep_o[i*32+:32] <= 32'hffff;
  endtask

  task automatic keep_inside;
    logic [31:0] i, x, y, columns, lines;
    x = {{20{x1_q[11]}}, x1_q};
    y = {{20{y1_q[11]}}, y1_q};
    columns = {20'd0, x_end1_q};
    lines = {20'd0, y_end1_q};
    for (i = 0; i < ROWS; i = i + 1)
      keep_o[i*32+:32] <= ((lane_x[i] + x < columns) ? 32'hffff : 32'd0) & ((lane_y[i] + y < lines) ? 32'hffff : 32'd0);
  endtask

  task automatic take_lanes;
    logic [31:0] i;
    for (i = 0; i < ROWS; i = i + 1) lane_x[i] = next_x[i];
    for (i = 0; i < ROWS; i = i + 1) lane_y[i] = next_y[i];
  endtask

  // ROWS pixels on.
  task automatic advance_lanes;
    logic [31:0] i, w, h, x, y, wraps;
    w = {21'd0, grid_w_q};
    h = {22'd0, grid_h_q};
    for (i = 0; i < ROWS; i = i + 1) begin
      x = next_x[i] + {21'd0, count_x_q};
      wraps = (x >= w) ? 32'd1 : 32'd0;
      y = next_y[i] + {22'd0, down} + wraps;
      next_x[i] = (x >= w) ? (x - w) : x;
      next_y[i] = (y >= h) ? (y - h) : y;
    end
  endtask

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) all_q <= 1'b0;
    else if (step1_q) all_q <= !conv1_q;
  end

  task automatic count_lane;
    logic [31:0] i;
    for (i = 0; i < ROWS; i = i + 1) begin
      next_x[i] = (i == 32'(lane_q)) ? {21'd0, count_x_q} : next_x[i];
      next_y[i] = (i == 32'(lane_q)) ? {22'd0, count_y_q} : next_y[i];
    end
  endtask

  // The last line of a block before the lanes of the next.
  always_ff @(posedge clk_i) begin
    if (step1_q && conv1_q) keep_inside;
    else if (step1_q && !all_q) keep_all;
    if (start_q) take_lanes;
    if (busy_q) count_lane;
    else if (start_q && advance_q) advance_lanes;
  end
  // verilator lint_on BLKSEQ

endmodule
