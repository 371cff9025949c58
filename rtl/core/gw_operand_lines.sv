// Takes the line pairs that operand_feed reads to the array: lane memories, rotators, decoded lines, a cycle each.
//
// Bubbles, and lanes beyond the block, are -0 x +0, which leaves every accumulator as it is. What an image has beyond its
// edge is +0, a value like others.
module gw_operand_lines #(
  parameter int unsigned ROWS   = 8,
  parameter int unsigned COLS   = 8,
  localparam int unsigned LANES = (ROWS > COLS) ? ROWS : COLS
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  // Pair whose reads are complete in this cycle
  input  logic                step_i,
  input  logic                first_i,   // the block's first
  input  logic                null_i,    // a bubble
  input  gw_isa_pkg::lanes_t  a_count_i, // elements of the line
  input  gw_isa_pkg::lanes_t  b_count_i,
  // Scratchpad's line ports, two cycles later
  // An array narrower than LANES uses the first elements of a line only.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [32*LANES-1:0] a_line_i,
  input  logic [32*LANES-1:0] b_line_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [32*ROWS-1:0]  keep_i, // lanes of A in the image: a bf16's mask
  input  logic                zero_i, // no lane is
  input  logic                idle_i, // the pair takes no part
  // Lines at the array, three cycles later
  output logic                valid_o,
  output logic                first_o,
  output logic [32*ROWS-1:0]  a_dec_o,
  output logic [32*COLS-1:0]  b_dec_o
);

  // --- On the way: stage 1 in the lane memories, stage 2 in the rotators ---------------------------
  logic               v1_q, v2_q, v3_q, first1_q, first2_q, first3_q, null1_q, null2_q;
  gw_isa_pkg::lanes_t a_count1_q, a_count2_q, b_count1_q, b_count2_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {v1_q, v2_q, v3_q} <= 3'b0;
    else if (clear_i) {v1_q, v2_q, v3_q} <= 3'b0;
    else {v1_q, v2_q, v3_q} <= {step_i, v1_q, v2_q};
  end

  always_ff @(posedge clk_i) begin
    first1_q   <= first_i;
    null1_q    <= null_i;
    a_count1_q <= a_count_i;
    b_count1_q <= b_count_i;
    first2_q   <= first1_q;
    null2_q    <= null1_q;
    a_count2_q <= a_count1_q;
    b_count2_q <= b_count1_q;
    first3_q   <= first2_q;
  end

  // --- Decoded lines -------------------------------------------------------------------------------
  logic               bubble_q; // the line registers hold a bubble
  logic [32*ROWS-1:0] a_dec_q;
  logic [32*COLS-1:0] b_dec_q;

  task automatic decode_lines;
    logic [31:0] i, all;
    all = zero_i ? 32'd0 : 32'hffff;
    for (i = 0; i < ROWS; i = i + 1)
      a_dec_q[i*32+:32] <= (i < 32'(a_count2_q)) ? gw_fp_pkg::decode_bf16(a_line_i[i*32+:32] & keep_i[i*32+:32] & all)
                                                     : gw_fp_pkg::DEC_NEG_ZERO;
    for (i = 0; i < COLS; i = i + 1)
      b_dec_q[i*32+:32] <= (i < 32'(b_count2_q)) ? gw_fp_pkg::decode_bf16(b_line_i[i*32+:32]) : gw_fp_pkg::DEC_POS_ZERO;
  endtask

  task automatic bubble_lines;
    logic [31:0] i;
    for (i = 0; i < ROWS; i = i + 1) a_dec_q[i*32+:32] <= gw_fp_pkg::DEC_NEG_ZERO;
    for (i = 0; i < COLS; i = i + 1) b_dec_q[i*32+:32] <= gw_fp_pkg::DEC_POS_ZERO;
  endtask

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bubble_lines;
      bubble_q <= 1'b1;
    end else if (v2_q && !null2_q && !idle_i) begin
      decode_lines;
      bubble_q <= 1'b0;
    end else if (!bubble_q) begin
      bubble_lines;
      bubble_q <= 1'b1;
    end
  end

  assign valid_o = v3_q;
  assign first_o = first3_q;
  assign a_dec_o = a_dec_q;
  assign b_dec_o = b_dec_q;

endmodule
