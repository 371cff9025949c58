// Compute engine of one core: takes products (GEMM, CONV, WGRAD), walks their blocks through the systolic array, back to
// back. An ADD (tile_adder) has the engine to itself.
//
// Three blocks are in hand: the next one (block_walker; its initial values are being brought into the shadow
// accumulators), the current one (operand_feed reads its lines) and the one before (its results leave through the
// shadow chain). A line pair takes three cycles from its read to its step in the array.
module gw_gemm_core #(
  parameter int unsigned ROWS      = 8,
  parameter int unsigned COLS      = 8,
  parameter int unsigned SPM_ROWS  = 64,
  parameter int unsigned SPM_BANKS = 1,
  localparam int unsigned LANES    = (ROWS > COLS) ? ROWS : COLS
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  input  logic                run_i,        // 0: start no further command and no further block
  // Command: a product, ADD or SYNC; its waits are taken
  input  logic                start_valid_i,
  output logic                start_ready_o,
  input  gw_isa_pkg::cmd_t    cmd_i,
  input  gw_isa_pkg::index_t  index_i,
  input  logic                head_valid_i, // a command is in the queue, maybe waiting for a semaphore
  output logic                done_valid_o,
  output gw_isa_pkg::index_t  done_index_o,
  output gw_isa_pkg::posts_t  done_posts_o,
  output logic                busy_o,
  output logic                quiet_o,
  output logic                oldest_valid_o,
  output gw_isa_pkg::index_t  oldest_index_o,
  output logic                progress_o,
  // Counters: exactly one of the seven in each cycle
  output logic                cnt_active_o,
  output logic                cnt_bank_o,
  output logic                cnt_shadow_o,
  output logic                cnt_drain_o,
  output logic                cnt_sem_o,
  output logic                cnt_empty_o,
  output logic                cnt_add_o,
  output logic                block_done_o,
  // Scratchpad
  output logic                a_en_o,
  output logic                a_col_o,
  output gw_isa_pkg::line_t   a_at_o,
  input  logic [32*LANES-1:0] a_line_i,
  output logic                b_en_o,
  output logic                b_col_o,
  output gw_isa_pkg::line_t   b_at_o,
  input  logic [32*LANES-1:0] b_line_i,
  output logic                c_en_o,
  output gw_isa_pkg::line_t   c_at_o,
  input  logic [32*LANES-1:0] c_line_i,
  output logic                w_en_o,
  output logic                w_fp32_o,
  output gw_isa_pkg::line_t   w_at_o,
  output gw_isa_pkg::lanes_t  w_count_o,
  output logic [32*COLS-1:0]  w_line_o
);

  localparam int unsigned BANK_ROWS  = SPM_ROWS / SPM_BANKS;
  localparam int unsigned WAVE_STEPS = ROWS + COLS - 2; // after the marked line until it passed the last cell
  localparam int unsigned WAVE_W     = $clog2(WAVE_STEPS + 1);

  // --- Next block --------------------------------------------------------------------------------
  logic               is_product, is_add, accept, walker_load;
  logic               nx_here, nx_valid; // there is a block; it can start
  logic               nx_last, nx_row_end, nx_a_col, nx_b_col, nx_acc, nx_bf16;
  gw_isa_pkg::index_t nx_index;
  gw_isa_pkg::posts_t nx_posts;
  gw_isa_pkg::place_t nx_a, nx_b, nx_cin, nx_cout; // where operands, initial values and results lie
  gw_isa_pkg::dim_t   nx_k;
  gw_isa_pkg::lanes_t nx_rows, nx_cols;
  logic               start_block, start_null;
  gw_isa_pkg::tile_t  a_tile;
  gw_isa_pkg::opcode_t opcode;
  assign opcode      = cmd_i[gw_isa_pkg::OPCODE_LSB+:gw_isa_pkg::OPCODE_W];
  assign is_product  = opcode == gw_isa_pkg::OP_GEMM || opcode == gw_isa_pkg::OP_CONV || opcode == gw_isa_pkg::OP_WGRAD;
  assign is_add      = opcode == gw_isa_pkg::OP_ADD;
  assign accept      = start_valid_i && start_ready_o;
  assign walker_load = accept && is_product;

  gw_block_walker #(.ROWS(ROWS), .COLS(COLS), .LANES(LANES)) u_walker (
    .clk_i, .rst_ni, .clear_i,
    .load_i         (walker_load),
    .cmd_i, .index_i,
    .a_tile_i       (a_tile),
    .valid_o        (nx_here),
    .next_i         (start_block),
    .last_o         (nx_last),
    .row_end_o      (nx_row_end),
    .index_o        (nx_index),
    .posts_o        (nx_posts),
    .k_o            (nx_k),
    .rows_o         (nx_rows),
    .cols_o         (nx_cols),
    .a_col_o        (nx_a_col),
    .a_place_o      (nx_a),
    .b_col_o        (nx_b_col),
    .b_place_o      (nx_b),
    .acc_o          (nx_acc),
    .cin_place_o    (nx_cin),
    .out_bf16_o     (nx_bf16),
    .cout_place_o   (nx_cout)
  );

  // --- Images ------------------------------------------------------------------------------------
  gw_isa_pkg::place_t a_tap, b_tap;
  logic               feed_step, feed_null, tap, more_taps, lanes_busy, conv, wgrad, zero, idle;
  logic [11:0]        tap_x, tap_y, x_end, y_end;
  logic [32*ROWS-1:0] keep;
  assign nx_valid = nx_here && !lanes_busy;

  gw_tap_walker #(.LANES(LANES)) u_taps (
    .clk_i,
    .load_i    (walker_load),
    .cmd_i,
    .a_tile_o  (a_tile),
    .start_i   (start_block),
    .a_place_i (nx_a),
    .b_place_i (nx_b),
    .tap_i     (tap),
    .more_o    (more_taps),
    .a_place_o (a_tap),
    .b_place_o (b_tap),
    .conv_o    (conv),
    .wgrad_o   (wgrad),
    .x_o       (tap_x),
    .y_o       (tap_y),
    .x_end_o   (x_end),
    .y_end_o   (y_end)
  );

  gw_pixel_mask #(.ROWS(ROWS)) u_mask (
    .clk_i, .rst_ni, .clear_i,
    .load_i    (walker_load),
    .cmd_i,
    .busy_o    (lanes_busy),
    .start_i   (start_block),
    .advance_i (nx_row_end),
    .conv_i    (conv),
    .wgrad_i   (wgrad),
    .x_i       (tap_x),
    .y_i       (tap_y),
    .x_end_i   (x_end),
    .y_end_i   (y_end),
    .step_i    (feed_step && !feed_null),
    .keep_o    (keep),
    .zero_o    (zero),
    .idle_o    (idle)
  );

  // --- Current block and the one before -----------------------------------------------------------
  // Null blocks (flushes) have no results: real is 0.
  // Where a block's results go, and of which command.
  localparam int unsigned RESULT_W = gw_isa_pkg::INDEX_W + 2 + gw_isa_pkg::POSTS_W + 2 * gw_isa_pkg::LANES_W +
                                     gw_isa_pkg::PLACE_W;

  logic                cur_real_q, prv_real_q, start_any, sh_zero, sh_init, sh_busy, feed_ready;
  logic                prv_last, prv_bf16;
  gw_isa_pkg::index_t  cur_index, prv_index;
  gw_isa_pkg::posts_t  prv_posts;
  gw_isa_pkg::lanes_t  prv_rows, prv_cols;
  gw_isa_pkg::place_t  prv_place;
  logic [RESULT_W-1:0] nx_result, cur_result_q, prv_result_q;

  assign nx_result = {nx_index, nx_last, nx_bf16, nx_posts, nx_rows, nx_cols, nx_cout};
  assign cur_index = cur_result_q[RESULT_W-1-:gw_isa_pkg::INDEX_W];
  assign {prv_index, prv_last, prv_bf16, prv_posts, prv_rows, prv_cols, prv_place} = prv_result_q;

  assign start_block = run_i && nx_valid && feed_ready && (sh_init || (sh_zero && !nx_acc));
  assign start_null  = run_i && !nx_valid && feed_ready && sh_zero && cur_real_q;
  assign start_any   = start_block || start_null;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {cur_real_q, prv_real_q} <= 2'b0;
    else if (clear_i) {cur_real_q, prv_real_q} <= 2'b0;
    else if (start_any) {cur_real_q, prv_real_q} <= {start_block, cur_real_q};
  end

  always_ff @(posedge clk_i) begin
    if (start_any) prv_result_q <= cur_result_q;
    if (start_block) cur_result_q <= nx_result;
  end

  // --- Operand lines -----------------------------------------------------------------------------
  logic               feed_first, feed_blocked, line_valid, line_first;
  gw_isa_pkg::lanes_t a_count, b_count;
  gw_isa_pkg::row_t   c_bank_lo, c_bank_hi;

  gw_operand_feed #(.LANES(LANES), .BANK_ROWS(BANK_ROWS)) u_feed (
    .clk_i, .rst_ni, .clear_i,
    .start_i     (start_any),
    .null_i      (start_null),
    .ready_o     (feed_ready),
    .k_i         (nx_k),
    .a_col_i     (nx_a_col),
    .a_place_i   (nx_a),
    .a_count_i   (nx_rows),
    .b_col_i     (nx_b_col),
    .b_place_i   (nx_b),
    .b_count_i   (nx_cols),
    .more_i      (more_taps),
    .a_tap_i     (a_tap),
    .b_tap_i     (b_tap),
    .tap_o       (tap),
    .c_en_i      (sh_c_en),
    .c_bank_lo_i (c_bank_lo),
    .c_bank_hi_i (c_bank_hi),
    .a_en_o, .a_col_o, .a_at_o,
    .a_count_o   (a_count),
    .b_en_o, .b_col_o, .b_at_o,
    .b_count_o   (b_count),
    .step_o      (feed_step),
    .first_o     (feed_first),
    .null_o      (feed_null),
    .blocked_o   (feed_blocked)
  );

  logic [32*ROWS-1:0] a_dec;
  logic [32*COLS-1:0] b_dec;

  gw_operand_lines #(.ROWS(ROWS), .COLS(COLS)) u_lines (
    .clk_i, .rst_ni, .clear_i,
    .step_i    (feed_step),
    .first_i   (feed_first),
    .null_i    (feed_null),
    .a_count_i (a_count),
    .b_count_i (b_count),
    .a_line_i, .b_line_i,
    .keep_i    (keep),
    .zero_i    (zero),
    .idle_i    (idle),
    .valid_o   (line_valid),
    .first_o   (line_first),
    .a_dec_o   (a_dec),
    .b_dec_o   (b_dec)
  );

  // --- Array: steps for each line, and on its own until a swap mark has passed --------------------------------
  logic [WAVE_W-1:0]  wave_q;
  logic               step, swap, swapped, shift, shift_init;
  logic [32*COLS-1:0] init_line, result_line;
  assign step      = line_valid || (wave_q != '0);
  assign swap      = line_valid && line_first;
  assign swapped   = wave_q == WAVE_W'(COLS); // the mark passes the bottom of the first column

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wave_q <= '0;
    else if (clear_i) wave_q <= '0;
    else if (swap) wave_q <= WAVE_W'(WAVE_STEPS);
    else if (wave_q != '0) wave_q <= wave_q - WAVE_W'(1);
  end

  assign init_line = shift_init ? c_line_i[32*COLS-1:0] : {COLS{32'd0}};

  gw_systolic_array #(.ROWS(ROWS), .COLS(COLS)) u_array (
    .clk_i,
    .rst_ni,
    .clear_i,
    .step_i        (step),
    .swap_i        (swap),
    .a_line_i      (a_dec),
    .b_line_i      (b_dec),
    .shift_i       (shift),
    .init_line_i   (init_line),
    .result_line_o (result_line)
  );

  // --- Shadow chain ------------------------------------------------------------------------------
  logic               sh_done, sh_c_en, sh_w_en, sh_w_fp32;
  gw_isa_pkg::line_t  sh_c_at, sh_w_at;
  gw_isa_pkg::lanes_t sh_w_count;
  gw_isa_pkg::index_t sh_done_index, sh_busy_index;
  gw_isa_pkg::posts_t sh_done_posts;

  gw_shadow_ctrl #(.ROWS(ROWS), .COLS(COLS), .LANES(LANES), .BANK_ROWS(BANK_ROWS)) u_shadow (
    .clk_i, .rst_ni, .clear_i,
    .start_i        (start_any),
    .swapped_i      (swapped),
    .next_valid_i   (nx_valid),
    .next_acc_i     (nx_acc),
    .next_rows_i    (nx_rows),
    .next_cols_i    (nx_cols),
    .next_place_i   (nx_cin),
    .zero_o         (sh_zero),
    .init_o         (sh_init),
    .out_real_i     (prv_real_q),
    .out_last_i     (prv_last),
    .out_index_i    (prv_index),
    .out_posts_i    (prv_posts),
    .out_bf16_i     (prv_bf16),
    .out_rows_i     (prv_rows),
    .out_cols_i     (prv_cols),
    .out_place_i    (prv_place),
    .c_en_o         (sh_c_en),
    .c_at_o         (sh_c_at),
    .c_bank_lo_o    (c_bank_lo),
    .c_bank_hi_o    (c_bank_hi),
    .w_en_o         (sh_w_en),
    .w_fp32_o       (sh_w_fp32),
    .w_at_o         (sh_w_at),
    .w_count_o      (sh_w_count),
    .shift_o        (shift),
    .shift_init_o   (shift_init),
    .busy_o         (sh_busy),
    .busy_index_o   (sh_busy_index),
    .block_done_o,
    .done_valid_o   (sh_done),
    .done_index_o   (sh_done_index),
    .done_posts_o   (sh_done_posts)
  );

  // --- ADD -----------------------------------------------------------------------------------------
  logic               add_busy, add_done, add_c_en, add_w_en, add_w_fp32;
  gw_isa_pkg::line_t  add_c_at, add_w_at;
  gw_isa_pkg::lanes_t add_w_count;
  logic [32*COLS-1:0] sum_line;

  gw_tile_adder #(.COLS(COLS), .LANES(LANES)) u_adder (
    .clk_i, .rst_ni, .clear_i,
    .start_i      (accept && is_add),
    .cmd_i,
    .busy_o       (add_busy),
    .done_valid_o (add_done),
    .c_en_o       (add_c_en),
    .c_at_o       (add_c_at),
    .c_line_i,
    .w_en_o       (add_w_en),
    .w_fp32_o     (add_w_fp32),
    .w_at_o       (add_w_at),
    .w_count_o    (add_w_count),
    .w_line_o     (sum_line)
  );

  // --- Scratchpad ports of shadow chain and ADD ------------------------------------------------------
  assign c_en_o    = sh_c_en || add_c_en;
  assign c_at_o    = add_busy ? add_c_at : sh_c_at;
  assign w_en_o    = sh_w_en || add_w_en;
  assign w_fp32_o  = add_busy ? add_w_fp32 : sh_w_fp32;
  assign w_at_o    = add_busy ? add_w_at : sh_w_at;
  assign w_count_o = add_busy ? add_w_count : sh_w_count;

  // fp32, or rounded once to bf16.
  task automatic round_line(input logic [32*COLS-1:0] line);
    logic [31:0] i;
    for (i = 0; i < COLS; i = i + 1)
      w_line_o[i*32+:32] = w_fp32_o ? line[i*32+:32] : gw_fp_pkg::round_bf16(line[i*32+:32]);
  endtask
  always_comb begin
    w_line_o = {COLS{32'd0}};
    if (sh_w_en) round_line(result_line);
    else if (add_w_en) round_line(sum_line);
  end

  // --- Commands ----------------------------------------------------------------------------------
  // A SYNC waits here until everything before it is done, then completes in the next cycle.
  // So does an ADD, and nothing starts until it is done.
  logic               sync_q;
  gw_isa_pkg::index_t own_index_q; // of the last command accepted
  gw_isa_pkg::posts_t own_posts_q;
  logic               empty;
  assign empty         = !nx_here && !cur_real_q && !sh_busy && !sync_q && !add_busy;
  assign start_ready_o = run_i && !nx_here && !add_busy && (is_product || empty);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sync_q <= 1'b0;
    else sync_q <= accept && !is_product && !is_add && !clear_i;
  end
  always_ff @(posedge clk_i) begin
    if (accept) begin
      own_index_q <= index_i;
      own_posts_q <= cmd_i[gw_isa_pkg::POST0_LSB+:24];
    end
  end

  assign done_valid_o   = sh_done || sync_q || add_done;
  assign done_index_o   = sh_done ? sh_done_index : own_index_q;
  assign done_posts_o   = sh_done ? sh_done_posts : own_posts_q;
  assign busy_o         = !empty;
  assign quiet_o        = 1'b1; // nothing of this engine is on the bus
  assign oldest_valid_o = !empty;
  assign oldest_index_o = sh_busy ? sh_busy_index :
                          cur_real_q ? cur_index :
                          nx_here ? nx_index : own_index_q;
  assign progress_o     = step || sh_busy || add_busy || lanes_busy;

  // --- Counters ----------------------------------------------------------------------------------
  assign cnt_active_o = feed_step && !feed_null;
  assign cnt_bank_o   = feed_blocked;
  assign cnt_shadow_o = !cnt_active_o && !feed_blocked && nx_here;
  assign cnt_drain_o  = !cnt_active_o && !feed_blocked && !nx_here && !empty && !add_busy;
  assign cnt_sem_o    = !cnt_active_o && !feed_blocked && empty && head_valid_i;
  assign cnt_empty_o  = !cnt_active_o && !feed_blocked && empty && !head_valid_i;
  assign cnt_add_o    = add_busy;

  // --- Checks ------------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) if (!clear_i) begin
      ShiftFollowsTheSwapMark : assert (!shift || wave_q < WAVE_W'(COLS));
      CompletionsDoNotCollide : assert (!(sh_done && (sync_q || add_done)));
      AddHasTheEngineToItself : assert (!add_busy || !(nx_here || cur_real_q || sh_busy || sync_q || sh_c_en));
    end
  end
`endif

endmodule
