// Owns the shadow accumulators between swaps: waits for the swap mark to pass the array, then shifts finished results
// out (to the scratchpad) and initial values of the next block in, in one pass of ROWS cycles, last row first.
//
// start_i (a block's first line is about to be read) hands the shadow to the swap. A block may start when the shadow
// holds its initial values: those loaded for it, or zeros.
module shadow_ctrl #(
  parameter int unsigned ROWS      = 8,
  parameter int unsigned LANES     = 8,
  parameter int unsigned BANK_ROWS = 64
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,
  input  logic               start_i,     // a block, real or null, starts
  input  logic               wave_done_i, // its swap mark has passed the last cell
  // The next block, and whether it may start
  input  logic               next_valid_i,
  input  logic               next_acc_i,
  input  logic [7:0]         next_rows_i,
  input  logic [7:0]         next_cols_i,
  input  logic [23:0]        next_addr_i,
  input  logic [23:0]        next_pstride_i,
  input  logic [7:0]         next_rot_i,
  input  logic [7:0]         next_jj_i,
  output logic               zero_o,      // shadow holds zeros
  output logic               init_o,      // shadow holds the next block's initial values
  // The block whose results the swap puts into the shadow
  input  logic               out_real_i,
  input  logic               out_last_i,
  input  logic [31:0]        out_index_i,
  input  logic [23:0]        out_posts_i,
  input  logic               out_bf16_i,
  input  logic [7:0]         out_rows_i,
  input  logic [7:0]         out_cols_i,
  input  logic [23:0]        out_addr_i,
  input  logic [23:0]        out_pstride_i,
  input  logic [7:0]         out_rot_i,
  input  logic [7:0]         out_jj_i,
  // Scratchpad: read of initial values, write of results
  output logic               c_en_o,
  output logic [23:0]        c_addr0_o,
  output logic [23:0]        c_addr1_o,
  output logic [7:0]         c_split_o,
  output logic [7:0]         c_rot_o,
  output logic [23:0]        c_bank_lo_o,
  output logic [23:0]        c_bank_hi_o,
  output logic               w_en_o,
  output logic               w_fp32_o,
  output logic [23:0]        w_addr0_o,
  output logic [23:0]        w_addr1_o,
  output logic [7:0]         w_split_o,
  output logic [7:0]         w_rot_o,
  output logic [7:0]         w_count_o,
  // Array
  output logic               shift_o,
  output logic               shift_init_o, // with shift_o: the row that enters is the line read for c_en_o, else zeros
  // Completion
  output logic               busy_o,       // results are still on their way
  output logic               block_done_o,
  output logic               done_valid_o,
  output logic [31:0]        done_index_o,
  output logic [23:0]        done_posts_o
);

  localparam logic [7:0]  ROWS8   = ROWS[7:0];
  localparam logic [7:0]  LANES8  = LANES[7:0];
  localparam logic [8:0]  LANES9  = LANES[8:0];
  localparam logic [23:0] BROWS24 = BANK_ROWS[23:0];

  function automatic logic [7:0] add_mod(input logic [7:0] x, input logic [7:0] y);
    logic [8:0] s;
    s = {1'b0, x} + {1'b0, y};
    s = (s >= LANES9) ? (s - LANES9) : s;
    add_mod = s[7:0];
  endfunction

  // --- States ----------------------------------------------------------------------------------
  localparam logic [1:0] ZERO  = 2'd0; // shadow is all zeros
  localparam logic [1:0] WAVE  = 2'd1; // a swap is on its way through the array
  localparam logic [1:0] SHIFT = 2'd2; // results leave, initial values or zeros enter
  localparam logic [1:0] INIT  = 2'd3; // shadow holds the next block's initial values

  logic [1:0] state_q, state_d;
  logic [7:0] row_q, row_d;              // row whose turn it is, ROWS - 1 down to 0
  logic       take_q, take_d;            // this pass brings initial values in
  logic       drain_q, drain_d;          // this pass takes results out
  logic       want_init;
  assign want_init = next_valid_i && next_acc_i;

  always_comb begin
    state_d = state_q;
    row_d   = row_q;
    take_d  = take_q;
    drain_d = drain_q;
    if (start_i) begin
      state_d = WAVE;
    end else if (state_q == WAVE) begin
      if (wave_done_i) begin
        state_d = (out_real_i || want_init) ? SHIFT : ZERO;
        row_d   = ROWS8 - 8'd1;
        take_d  = want_init;
        drain_d = out_real_i;
      end
    end else if (state_q == SHIFT) begin
      row_d = row_q - 8'd1;
      if (row_q == 8'd0) state_d = take_q ? INIT : ZERO;
    end else if (state_q == ZERO && want_init) begin
      state_d = SHIFT;
      row_d   = ROWS8 - 8'd1;
      take_d  = 1'b1;
      drain_d = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= ZERO;
      row_q   <= 8'd0;
      take_q  <= 1'b0;
      drain_q <= 1'b0;
    end else if (clear_i) begin
      state_q <= ZERO;
      row_q   <= 8'd0;
      take_q  <= 1'b0;
      drain_q <= 1'b0;
    end else begin
      state_q <= state_d;
      row_q   <= row_d;
      take_q  <= take_d;
      drain_q <= drain_d;
    end
  end

  assign zero_o = state_q == ZERO;
  assign init_o = state_q == INIT;

  // --- Read of initial values: the line arrives two cycles later, with the shift of its row ------------------
  logic shifting;
  assign shifting    = state_q == SHIFT;
  assign c_en_o      = shifting && take_q && (row_q < next_rows_i);
  assign c_addr0_o   = next_addr_i + {15'd0, row_q, 1'b0};
  assign c_addr1_o   = c_addr0_o + next_pstride_i;
  assign c_split_o   = LANES8 - next_jj_i;
  assign c_rot_o     = add_mod(next_rot_i, row_q);
  assign c_bank_lo_o = c_addr0_o / BROWS24;
  assign c_bank_hi_o = ((next_cols_i > c_split_o) ? c_addr1_o : c_addr0_o) / BROWS24;

  // --- Two stages to the shift, one more to the write --------------------------------------------------------
  logic        s1_q, s2_q, s1_init_q, s2_init_q;
  logic        d1_en_q, d2_en_q, d3_en_q, d1_end_q, d2_end_q, d3_end_q, d4_end_q;
  logic        d1_fp32_q, d2_fp32_q, d3_fp32_q;
  logic [23:0] d1_addr_q, d2_addr_q, d3_addr_q, d1_pstride_q, d2_pstride_q, d3_pstride_q;
  logic [7:0]  d1_split_q, d2_split_q, d3_split_q, d1_rot_q, d2_rot_q, d3_rot_q, d1_cols_q, d2_cols_q, d3_cols_q;
  logic        d1_last_q, d2_last_q, d3_last_q, d4_last_q;
  logic [31:0] d1_index_q, d2_index_q, d3_index_q, d4_index_q;
  logic [23:0] d1_posts_q, d2_posts_q, d3_posts_q, d4_posts_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {s1_q, s2_q}                 <= 2'b0;
      {d1_en_q, d2_en_q, d3_en_q}  <= 3'b0;
      {d1_end_q, d2_end_q, d3_end_q, d4_end_q} <= 4'b0;
    end else if (clear_i) begin
      {s1_q, s2_q}                 <= 2'b0;
      {d1_en_q, d2_en_q, d3_en_q}  <= 3'b0;
      {d1_end_q, d2_end_q, d3_end_q, d4_end_q} <= 4'b0;
    end else begin
      s1_q     <= shifting;
      s2_q     <= s1_q;
      d1_en_q  <= shifting && drain_q && (row_q < out_rows_i);
      d2_en_q  <= d1_en_q;
      d3_en_q  <= d2_en_q;
      d1_end_q <= shifting && drain_q && (row_q == 8'd0);
      d2_end_q <= d1_end_q;
      d3_end_q <= d2_end_q;
      d4_end_q <= d3_end_q;
    end
  end

  always_ff @(posedge clk_i) begin
    s1_init_q <= c_en_o;
    s2_init_q <= s1_init_q;
    if (shifting) begin
      d1_fp32_q    <= !out_bf16_i;
      d1_addr_q    <= out_addr_i + (out_bf16_i ? {16'd0, row_q} : {15'd0, row_q, 1'b0});
      d1_pstride_q <= out_pstride_i;
      d1_split_q   <= LANES8 - out_jj_i;
      d1_rot_q     <= add_mod(out_rot_i, row_q);
      d1_cols_q    <= out_cols_i;
      d1_last_q    <= out_last_i;
      d1_index_q   <= out_index_i;
      d1_posts_q   <= out_posts_i;
    end
    if (s1_q) begin
      d2_fp32_q    <= d1_fp32_q;
      d2_addr_q    <= d1_addr_q;
      d2_pstride_q <= d1_pstride_q;
      d2_split_q   <= d1_split_q;
      d2_rot_q     <= d1_rot_q;
      d2_cols_q    <= d1_cols_q;
      d2_last_q    <= d1_last_q;
      d2_index_q   <= d1_index_q;
      d2_posts_q   <= d1_posts_q;
    end
    if (s2_q) begin
      d3_fp32_q    <= d2_fp32_q;
      d3_addr_q    <= d2_addr_q;
      d3_pstride_q <= d2_pstride_q;
      d3_split_q   <= d2_split_q;
      d3_rot_q     <= d2_rot_q;
      d3_cols_q    <= d2_cols_q;
      d3_last_q    <= d2_last_q;
      d3_index_q   <= d2_index_q;
      d3_posts_q   <= d2_posts_q;
    end
    if (d3_end_q) begin
      d4_last_q  <= d3_last_q;
      d4_index_q <= d3_index_q;
      d4_posts_q <= d3_posts_q;
    end
  end

  assign shift_o      = s2_q;
  assign shift_init_o = s2_init_q;
  assign w_en_o       = d3_en_q;
  assign w_fp32_o     = d3_fp32_q;
  assign w_addr0_o    = d3_addr_q;
  assign w_addr1_o    = d3_addr_q + d3_pstride_q;
  assign w_split_o    = d3_split_q;
  assign w_rot_o      = d3_rot_q;
  assign w_count_o    = d3_cols_q;

  assign block_done_o = d4_end_q;
  assign done_valid_o = d4_end_q && d4_last_q;
  assign done_index_o = d4_index_q;
  assign done_posts_o = d4_posts_q;
  assign busy_o       = (state_q == WAVE && out_real_i) || (shifting && drain_q) ||
                        d1_end_q || d2_end_q || d3_end_q || d4_end_q;

  // --- Checks ----------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && !clear_i) begin
      StartsOnlyWithInitialValuesReady : assert (!start_i || zero_o || init_o);
      InitialValuesBelongToTheNextBlock : assert (!init_o || want_init);
    end
  end
`endif

endmodule
