// Owns the shadow accumulators between swaps: when the swap mark has passed the first column, shifts finished results
// out (to the scratchpad) and initial values of the next block in, in one pass of ROWS cycles, last row first. The
// array skews a pass over its columns, so it follows the mark across the array.
//
// start_i (a block's first line is about to be read) hands the shadow to the swap. A block may start when the shadow
// holds its initial values: those loaded for it, or zeros. A pass begins only when all results of the pass before it
// are written: this is what lets software read partial sums of the third block before without a semaphore.
module gw_shadow_ctrl #(
  parameter int unsigned ROWS      = 8,
  parameter int unsigned COLS      = 8,
  parameter int unsigned LANES     = 8,
  parameter int unsigned BANK_ROWS = 64
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,
  input  logic               start_i,      // a block, real or null, starts
  input  logic               swapped_i,    // its swap mark passes the bottom of the first column
  // The next block, and whether it may start
  input  logic               next_valid_i,
  input  logic               next_acc_i,
  input  gw_isa_pkg::lanes_t next_rows_i,
  input  gw_isa_pkg::lanes_t next_cols_i,
  input  gw_isa_pkg::place_t next_place_i,
  output logic               zero_o,       // shadow holds zeros
  output logic               init_o,       // shadow holds the next block's initial values
  // The block whose results the swap puts into the shadow
  input  logic               out_real_i,
  input  logic               out_last_i,
  input  gw_isa_pkg::index_t out_index_i,
  input  gw_isa_pkg::posts_t out_posts_i,
  input  logic               out_bf16_i,
  input  gw_isa_pkg::lanes_t out_rows_i,
  input  gw_isa_pkg::lanes_t out_cols_i,
  input  gw_isa_pkg::place_t out_place_i,
  // Scratchpad: read of initial values, write of results
  output logic               c_en_o,
  output gw_isa_pkg::line_t  c_at_o,
  output gw_isa_pkg::row_t   c_bank_lo_o,
  output gw_isa_pkg::row_t   c_bank_hi_o,
  output logic               w_en_o,
  output logic               w_fp32_o,
  output gw_isa_pkg::line_t  w_at_o,
  output gw_isa_pkg::lanes_t w_count_o,
  // Array
  output logic               shift_o,
  output logic               shift_init_o, // with shift_o: the row that enters is the line read for c_en_o, else zeros
  // Completion
  output logic               busy_o,       // results are still on their way
  output gw_isa_pkg::index_t busy_index_o, // of the oldest command among them
  output logic               block_done_o,
  output logic               done_valid_o,
  output gw_isa_pkg::index_t done_index_o,
  output gw_isa_pkg::posts_t done_posts_o
);

  localparam int unsigned        ROW_W       = gw_isa_pkg::ROW_W;
  localparam int unsigned        LANE_W      = gw_isa_pkg::LANE_W;
  localparam gw_isa_pkg::lanes_t N_LANES     = gw_isa_pkg::LANES_W'(LANES);
  localparam gw_isa_pkg::row_t   ROWS_A_BANK = ROW_W'(BANK_ROWS);

  // --- States ----------------------------------------------------------------------------------
  localparam logic [1:0] ZERO  = 2'd0; // shadow is all zeros
  localparam logic [1:0] WAVE  = 2'd1; // a swap is on its way through the array
  localparam logic [1:0] SHIFT = 2'd2; // results leave, initial values or zeros enter
  localparam logic [1:0] INIT  = 2'd3; // shadow holds the next block's initial values

  logic [1:0]        state_q, state_d;
  logic              swapped_q, swapped_d; // WAVE: the first column is ready to shift
  gw_isa_pkg::lane_t row_q, row_d;         // row whose turn it is, ROWS - 1 down to 0
  logic              take_q, take_d;       // this pass brings initial values in
  logic              want_init, written, pass, drain;
  assign want_init = next_valid_i && next_acc_i;

  always_comb begin
    state_d   = state_q;
    swapped_d = swapped_q;
    row_d     = row_q;
    take_d    = take_q;
    pass      = 1'b0;
    drain     = 1'b0;
    if (start_i) begin
      state_d   = WAVE;
      swapped_d = 1'b0;
    end else if (state_q == WAVE) begin
      swapped_d = swapped_q || swapped_i;
      if (swapped_d && !out_real_i && !want_init) begin
        state_d = ZERO;
      end else if (swapped_d && written) begin
        pass  = 1'b1;
        drain = out_real_i;
      end
    end else if (state_q == SHIFT) begin
      row_d = row_q - LANE_W'(1);
      if (row_q == '0) state_d = take_q ? INIT : ZERO;
    end else if (state_q == ZERO && want_init && written) begin
      pass = 1'b1;
    end
    if (pass) begin
      state_d = SHIFT;
      row_d   = LANE_W'(ROWS - 1);
      take_d  = want_init;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= ZERO;
      swapped_q <= 1'b0;
      row_q     <= '0;
      take_q    <= 1'b0;
    end else if (clear_i) begin
      state_q   <= ZERO;
      swapped_q <= 1'b0;
      row_q     <= '0;
      take_q    <= 1'b0;
    end else begin
      state_q   <= state_d;
      swapped_q <= swapped_d;
      row_q     <= row_d;
      take_q    <= take_d;
    end
  end

  assign zero_o = state_q == ZERO;
  assign init_o = state_q == INIT;

  // --- Read of initial values: the line arrives two cycles later, with the shift of its row ------------------
  logic              shifting;
  gw_isa_pkg::row_t  c_addr0, c_addr1;
  gw_isa_pkg::lane_t c_rot;
  assign shifting    = state_q == SHIFT;
  assign c_en_o      = shifting && take_q && ({1'b0, row_q} < next_rows_i);
  assign c_addr0     = next_place_i.row + ROW_W'({row_q, 1'b0});
  assign c_addr1     = c_addr0 + next_place_i.pstride;
  assign c_rot       = gw_lane_pkg::add_mod(next_place_i.rot, {1'b0, row_q}, N_LANES);
  assign c_at_o      = {c_addr1, c_addr0, c_rot, next_place_i.jj};
  assign c_bank_lo_o = c_addr0 / ROWS_A_BANK;
  assign c_bank_hi_o = ((32'(next_place_i.jj) + 32'(next_cols_i) > LANES) ? c_addr1 : c_addr0) / ROWS_A_BANK;

  logic s1_q, s2_q, s1_init_q, s2_init_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {s1_q, s2_q, s1_init_q, s2_init_q} <= 4'b0;
    else if (clear_i) {s1_q, s2_q, s1_init_q, s2_init_q} <= 4'b0;
    else {s1_q, s2_q, s1_init_q, s2_init_q} <= {shifting, s1_q, c_en_o, s1_init_q};
  end

  assign shift_o      = s2_q;
  assign shift_init_o = s2_init_q;

  // --- Write of results: a row appears COLS cycles after its shift -------------------------------------------
  localparam int unsigned DRAIN_CYCLES = ROWS + COLS + 2; // from the pass's first cycle to the last write
  localparam int unsigned LEFT_W       = $clog2(DRAIN_CYCLES + 1);

  logic [LEFT_W-1:0]  left_q; // cycles to go; the last ROWS of them write
  logic               last_q, bf16_q, done_q, done_last_q;
  gw_isa_pkg::index_t index_q;
  gw_isa_pkg::posts_t posts_q;
  gw_isa_pkg::row_t   addr_q, pstride_q, w_addr0, w_addr1;
  gw_isa_pkg::lanes_t rows_q, cols_q;
  gw_isa_pkg::lane_t  rot_q, jj_q, out_row, w_rot;
  logic               last_cycle;
  assign last_cycle = left_q == LEFT_W'(1);
  assign written    = left_q == '0 || last_cycle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q      <= '0;
      done_q      <= 1'b0;
      done_last_q <= 1'b0;
    end else if (clear_i) begin
      left_q      <= '0;
      done_q      <= 1'b0;
      done_last_q <= 1'b0;
    end else begin
      if (drain) left_q <= LEFT_W'(DRAIN_CYCLES);
      else if (left_q != '0) left_q <= left_q - LEFT_W'(1);
      done_q      <= last_cycle;
      done_last_q <= last_cycle && last_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (drain) begin
      last_q    <= out_last_i;
      index_q   <= out_index_i;
      posts_q   <= out_posts_i;
      bf16_q    <= out_bf16_i;
      rows_q    <= out_rows_i;
      cols_q    <= out_cols_i;
      addr_q    <= out_place_i.row;
      pstride_q <= out_place_i.pstride;
      rot_q     <= out_place_i.rot;
      jj_q      <= out_place_i.jj;
    end
    if (last_cycle) begin
      done_index_o <= index_q;
      done_posts_o <= posts_q;
    end
  end

  assign out_row      = LANE_W'(32'(left_q) - 32'd1);
  assign w_en_o       = (left_q != '0) && (32'(left_q) <= 32'(rows_q));
  assign w_fp32_o     = !bf16_q;
  assign w_addr0      = addr_q + (bf16_q ? ROW_W'(out_row) : ROW_W'({out_row, 1'b0}));
  assign w_addr1      = w_addr0 + pstride_q;
  assign w_rot        = gw_lane_pkg::add_mod(rot_q, {1'b0, out_row}, N_LANES);
  assign w_at_o       = {w_addr1, w_addr0, w_rot, jj_q};
  assign w_count_o    = cols_q;

  assign block_done_o = done_q;
  assign done_valid_o = done_last_q;
  assign busy_o       = (state_q == WAVE && out_real_i) || (left_q != '0) || done_q;
  assign busy_index_o = done_q ? done_index_o : (left_q != '0) ? index_q : out_index_i;

  // --- Checks ----------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) if (!clear_i) begin
      StartsOnlyWithInitialValuesReady : assert (!start_i || zero_o || init_o);
      InitialValuesBelongToTheNextBlock : assert (!init_o || want_init);
    end
  end
`endif

endmodule
