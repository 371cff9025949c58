// Output-stationary systolic array: ROWS x COLS fused multiply-accumulate cells with shadow accumulators.
//
// A step takes one line of A at the left and one of B at the top; a moves right, b moves down, each cell adds a x b to
// its accumulator. Triangular delays skew the lines, so cell (i, j) sees a line i + j steps after it enters. A line
// marked swap_i starts a block: where it passes, accumulator and shadow are exchanged.
//
// shift_i moves the shadow registers of column 0 down by a row, a cycle later those of column 1, and so on: finished
// sums leave at the bottom, initial values enter at the top, skewed like the swap that they follow. The line that enters
// is delayed to fit, the one that leaves is straightened and appears COLS cycles after its shift_i. A column must have seen its swap
// before its shifts and its shifts before the next swap: shift_i at least ROWS steps after swap_i, and done before the next.
//
// The cells are one module with unpacked state and plain loops rather than ROWS x COLS instances: the same hardware,
// in a form that a simulator keeps as loops (docs/simulation-speed.md). For that reason loop variables are 32-bit,
// loops stand in tasks, and copies are separate from arithmetic.
module gw_systolic_array #(
  parameter int unsigned ROWS = 8,
  parameter int unsigned COLS = 8
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,
  input  logic               step_i,
  input  logic               swap_i,      // with step_i: the line is the first of a block
  input  logic [32*ROWS-1:0] a_line_i,    // decoded operands (gw_fp_pkg)
  input  logic [32*COLS-1:0] b_line_i,
  input  logic               shift_i,      // of column 0
  input  logic [32*COLS-1:0] init_line_i,  // fp32, with shift_i
  output logic [32*COLS-1:0] result_line_o // fp32, the row that the shift_i of COLS cycles ago took out
);

  localparam int unsigned N        = ROWS * COLS;
  localparam int unsigned A_DELAYS = ROWS * (ROWS - 1) / 2;
  localparam int unsigned B_DELAYS = COLS * (COLS - 1) / 2;
  localparam int unsigned TAIL_W   = $clog2(COLS);
  localparam logic [31:0] SWAP     = 32'h0008_0000; // rides in a free bit of the decoded a

  // State arrays are written in loops inside one clocked process.
  // verilator lint_off BLKSEQ
  // --- State ---------------------------------------------------------------------------------
  logic [31:0] a      [0:N-1];
  logic [31:0] b      [0:N-1];
  logic [31:0] acc    [0:N-1];
  logic [31:0] shadow [0:N-1];
  // Delays: row (column) r has r stages, first stage at r (r - 1) / 2. One spare word keeps the size positive.
  logic [31:0] a_delay     [0:A_DELAYS];
  logic [31:0] b_delay     [0:B_DELAYS];
  logic [31:0] init_delay  [0:B_DELAYS];
  logic [31:0] result_delay[0:B_DELAYS]; // column COLS - 1 - r has r stages
  logic [31:0] shift_mask  [0:N-1];      // all ones where a cell's shadow shifts in this cycle; moves right
  // What enters the top row of the shadows. (An array local to the task below would be cleared at every call.)
  logic [31:0] above       [0:COLS-1];
  logic [TAIL_W-1:0] shift_tail_q;       // cycles until the last shift has passed the last column

  // --- One step: move, then multiply and accumulate ----------------------------------------------
  task automatic step;
    logic [31:0] i, first;
    logic [31:0] mark, x;

    // Operands move right and down, in place, the last one first; skewed lines enter column 0 and row 0.
    for (i = 0; i < N - 1; i = i + 1) a[N-1-i] = a[N-2-i];
    a[0] = a_line_i[31:0] | (swap_i ? SWAP : 32'd0);
    first = 32'd0;
    for (i = 1; i < ROWS; i = i + 1) begin
      first = first + i;
      a[i*COLS] = a_delay[first-1];
    end
    for (i = 0; i < N - COLS; i = i + 1) b[N-1-i] = b[N-1-COLS-i];
    b[0] = b_line_i[31:0];
    first = 32'd0;
    for (i = 1; i < COLS; i = i + 1) begin
      first = first + i;
      b[i] = b_delay[first-1];
    end

    // Delays move on by one; each row's first stage takes the new line.
    for (i = 0; i < A_DELAYS; i = i + 1) a_delay[A_DELAYS-i] = a_delay[A_DELAYS-1-i];
    first = 32'd0;
    for (i = 1; i < ROWS; i = i + 1) begin
      a_delay[first] = a_line_i[i*32+:32] | (swap_i ? SWAP : 32'd0);
      first = first + i;
    end
    for (i = 0; i < B_DELAYS; i = i + 1) b_delay[B_DELAYS-i] = b_delay[B_DELAYS-1-i];
    first = 32'd0;
    for (i = 1; i < COLS; i = i + 1) begin
      b_delay[first] = b_line_i[i*32+:32];
      first = first + i;
    end

    for (i = 0; i < N; i = i + 1) begin
      mark = 32'd0 - ((a[i] >> 19) & 32'd1);
      x = (acc[i] & ~mark) | (shadow[i] & mark);
      shadow[i] = (acc[i] & mark) | (shadow[i] & ~mark);
      acc[i] = gw_fp_pkg::mac(a[i], b[i], x);
    end
  endtask

  // --- One cycle of the shadow chain -----------------------------------------------------------
  task automatic shift;
    logic [31:0] i, first;

    for (i = 0; i < N - 1; i = i + 1) shift_mask[N-1-i] = shift_mask[N-2-i];
    for (i = 0; i < N; i = i + COLS) shift_mask[i] = shift_i ? 32'hffff_ffff : 32'd0;

    // The bottom row leaves, straightened.
    result_line_o[(COLS-1)*32+:32] <= shadow[N-1];
    first = 32'd0;
    for (i = 1; i < COLS; i = i + 1) begin
      first = first + i;
      result_line_o[(COLS-1-i)*32+:32] <= result_delay[first-1];
    end
    for (i = 0; i < B_DELAYS; i = i + 1) result_delay[B_DELAYS-i] = result_delay[B_DELAYS-1-i];
    first = 32'd0;
    for (i = 1; i < COLS; i = i + 1) begin
      result_delay[first] = shadow[N-1-i];
      first = first + i;
    end

    // The line that enters the top row, skewed.
    above[0] = init_line_i[31:0];
    first = 32'd0;
    for (i = 1; i < COLS; i = i + 1) begin
      first = first + i;
      above[i] = init_delay[first-1];
    end
    for (i = 0; i < B_DELAYS; i = i + 1) init_delay[B_DELAYS-i] = init_delay[B_DELAYS-1-i];
    first = 32'd0;
    for (i = 1; i < COLS; i = i + 1) begin
      init_delay[first] = init_line_i[i*32+:32];
      first = first + i;
    end

    // Rows from the bottom on, each of which takes what the one above it still holds.
    for (i = 0; i < N - COLS; i = i + 1)
      shadow[N-1-i] = (shadow[N-1-COLS-i] & shift_mask[N-1-i]) | (shadow[N-1-i] & ~shift_mask[N-1-i]);
    for (i = 0; i < COLS; i = i + 1) shadow[i] = (above[i] & shift_mask[i]) | (shadow[i] & ~shift_mask[i]);
  endtask

  // Operand registers start as zeros that leave any accumulator as it is (-0 x +0), so a block may start at once.
  task automatic reset;
    logic [31:0] i;
    for (i = 0; i < N; i = i + 1) begin
      a[i] = gw_fp_pkg::DEC_NEG_ZERO;
      b[i] = gw_fp_pkg::DEC_POS_ZERO;
      acc[i] = 32'd0;
      shadow[i] = 32'd0;
      shift_mask[i] = 32'd0;
    end
    for (i = 0; i <= A_DELAYS; i = i + 1) a_delay[i] = gw_fp_pkg::DEC_NEG_ZERO;
    for (i = 0; i <= B_DELAYS; i = i + 1) begin
      b_delay[i] = gw_fp_pkg::DEC_POS_ZERO;
      init_delay[i] = 32'd0;
      result_delay[i] = 32'd0;
    end
  endtask

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reset;
      shift_tail_q <= '0;
    end else if (clear_i) begin
      reset;
      shift_tail_q <= '0;
    end else begin
      if (step_i) step;
      if (shift_i || shift_tail_q != '0) shift;
      if (shift_i) shift_tail_q <= TAIL_W'(COLS - 1);
      else if (shift_tail_q != '0) shift_tail_q <= shift_tail_q - TAIL_W'(1);
    end
  end
  // verilator lint_on BLKSEQ

endmodule
