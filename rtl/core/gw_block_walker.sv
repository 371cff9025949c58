// Cuts a GEMM, CONV or WGRAD command into blocks of at most ROWS x COLS results, row-major, and gives for each where its operands,
// initial values and results lie in the scratchpad. All addresses advance by additions only.
module gw_block_walker #(
  parameter int unsigned ROWS  = 8,
  parameter int unsigned COLS  = 8,
  parameter int unsigned LANES = 8
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,
  // A product
  input  logic               load_i,  // only while no block is valid, or with next_i on the last one
  input  gw_isa_pkg::cmd_t   cmd_i,
  input  gw_isa_pkg::index_t index_i,
  input  gw_isa_pkg::tile_t  a_tile_i, // its A, as the first tap reads it
  // The current block
  output logic               valid_o,
  input  logic               next_i,
  output logic               last_o,  // of its command
  output logic               row_end_o, // the next one is in the next row of blocks
  output gw_isa_pkg::index_t index_o, // of its command
  output gw_isa_pkg::posts_t posts_o,
  output gw_isa_pkg::dim_t   k_o,
  output gw_isa_pkg::lanes_t rows_o,  // results in this block
  output gw_isa_pkg::lanes_t cols_o,
  output logic               a_col_o,
  output gw_isa_pkg::place_t a_place_o,
  output logic               b_col_o,
  output gw_isa_pkg::place_t b_place_o,
  output logic               acc_o,
  output gw_isa_pkg::place_t cin_place_o,
  output logic               out_bf16_o,
  output gw_isa_pkg::place_t cout_place_o
);

  localparam int unsigned        ROW_W   = gw_isa_pkg::ROW_W;
  localparam gw_isa_pkg::lanes_t N_ROWS  = gw_isa_pkg::LANES_W'(ROWS);
  localparam gw_isa_pkg::lanes_t N_COLS  = gw_isa_pkg::LANES_W'(COLS);
  localparam gw_isa_pkg::lanes_t N_LANES = gw_isa_pkg::LANES_W'(LANES);

  // Whether a step of y columns from column x of a panel leaves the panel.
  function automatic logic crosses(input gw_isa_pkg::lane_t x, input gw_isa_pkg::lanes_t y);
    crosses = ({1'b0, x} + y) >= N_LANES;
  endfunction

  // --- Fields of the command -------------------------------------------------------------------
  logic              f_a_col, f_b_col, f_acc, f_out_bf16;
  gw_isa_pkg::dim_t  f_m, f_n, f_k;
  gw_isa_pkg::tile_t f_a, f_b, f_cin, f_cout;
  assign f_a        = a_tile_i;
  assign f_b        = cmd_i[gw_isa_pkg::B_ROW_LSB+:gw_isa_pkg::TILE_W];
  assign f_cin      = cmd_i[gw_isa_pkg::CIN_ROW_LSB+:gw_isa_pkg::TILE_W];
  assign f_cout     = cmd_i[gw_isa_pkg::COUT_ROW_LSB+:gw_isa_pkg::TILE_W];
  assign f_a_col    = cmd_i[gw_isa_pkg::A_COL_LSB] ||
                      cmd_i[gw_isa_pkg::OPCODE_LSB+:gw_isa_pkg::OPCODE_W] == gw_isa_pkg::OP_CONV;
  assign f_b_col    = cmd_i[gw_isa_pkg::B_COL_LSB];
  assign f_acc      = cmd_i[gw_isa_pkg::ACC_LSB];
  assign f_out_bf16 = cmd_i[gw_isa_pkg::OUT_BF16_LSB];
  assign f_m        = cmd_i[gw_isa_pkg::M_LSB+:gw_isa_pkg::M_W];
  assign f_n        = cmd_i[gw_isa_pkg::N_LSB+:gw_isa_pkg::N_W];
  assign f_k        = cmd_i[gw_isa_pkg::K_LSB+:gw_isa_pkg::K_W];

  // --- State -----------------------------------------------------------------------------------
  logic               valid_q, acc_q, out_bf16_q, a_col_q, b_col_q;
  gw_isa_pkg::index_t index_q;
  gw_isa_pkg::posts_t posts_q;
  gw_isa_pkg::dim_t   n_q, k_q;
  gw_isa_pkg::dim_t   m_left_q, n_left_q; // from this block on
  gw_isa_pkg::row_t   a_addr_q, a_pstride_q, b_addr_q, b_pstride_q, b_first_q;
  gw_isa_pkg::lane_t  a_rot_q, a_jj_q, b_rot_q, b_jj_q, b_rot_first_q;
  gw_isa_pkg::row_t   cin_addr_q, cin_first_q, cin_pstride_q, cout_addr_q, cout_first_q, cout_pstride_q;
  gw_isa_pkg::lane_t  cin_rot_q, cin_rot_first_q, cout_rot_q, cout_rot_first_q, c_jj_q;

  logic row_end, col_end;
  assign col_end = n_left_q <= 16'(COLS); // last block of its block row
  assign row_end = m_left_q <= 16'(ROWS);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else if (clear_i) begin
      valid_q <= 1'b0;
    end else if (load_i) begin
      valid_q <= 1'b1;
    end else if (next_i && row_end && col_end) begin
      valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      index_q          <= index_i;
      posts_q          <= cmd_i[gw_isa_pkg::POST0_LSB+:24];
      acc_q            <= f_acc;
      out_bf16_q       <= f_out_bf16;
      a_col_q          <= f_a_col;
      b_col_q          <= f_b_col;
      k_q              <= f_k;
      n_q              <= f_n;
      m_left_q         <= f_m;
      n_left_q         <= f_n;
      a_addr_q         <= f_a.row;
      a_pstride_q      <= f_a.pstride;
      a_rot_q          <= f_a.rot;
      a_jj_q           <= '0;
      b_addr_q         <= f_b.row;
      b_first_q        <= f_b.row;
      b_pstride_q      <= f_b.pstride;
      b_rot_q          <= f_b.rot;
      b_rot_first_q    <= f_b.rot;
      b_jj_q           <= '0;
      cin_addr_q       <= f_cin.row;
      cin_first_q      <= f_cin.row;
      cin_pstride_q    <= f_cin.pstride;
      cin_rot_q        <= f_cin.rot;
      cin_rot_first_q  <= f_cin.rot;
      cout_addr_q      <= f_cout.row;
      cout_first_q     <= f_cout.row;
      cout_pstride_q   <= f_cout.pstride;
      cout_rot_q       <= f_cout.rot;
      cout_rot_first_q <= f_cout.rot;
      c_jj_q           <= '0;
    end else if (next_i && !col_end) begin
      // One block to the right.
      n_left_q   <= n_left_q - 16'(COLS);
      b_rot_q    <= gw_lane_pkg::add_mod(b_rot_q, N_COLS, N_LANES);
      b_jj_q     <= b_col_q ? '0 : gw_lane_pkg::add_mod(b_jj_q, N_COLS, N_LANES);
      b_addr_q   <= b_addr_q + (b_col_q ? ROW_W'(COLS) : (crosses(b_jj_q, N_COLS) ? b_pstride_q : '0));
      c_jj_q     <= gw_lane_pkg::add_mod(c_jj_q, N_COLS, N_LANES);
      cin_rot_q  <= gw_lane_pkg::add_mod(cin_rot_q, N_COLS, N_LANES);
      cin_addr_q <= cin_addr_q + (crosses(c_jj_q, N_COLS) ? cin_pstride_q : '0);
      cout_rot_q <= gw_lane_pkg::add_mod(cout_rot_q, N_COLS, N_LANES);
      cout_addr_q <= cout_addr_q + (crosses(c_jj_q, N_COLS) ? cout_pstride_q : '0);
    end else if (next_i) begin
      // First block of the next block row.
      n_left_q         <= n_q;
      m_left_q         <= m_left_q - 16'(ROWS);
      a_rot_q          <= gw_lane_pkg::add_mod(a_rot_q, N_ROWS, N_LANES);
      a_jj_q           <= a_col_q ? '0 : gw_lane_pkg::add_mod(a_jj_q, N_ROWS, N_LANES);
      a_addr_q         <= a_addr_q + (a_col_q ? ROW_W'(ROWS) : (crosses(a_jj_q, N_ROWS) ? a_pstride_q : '0));
      b_addr_q         <= b_first_q;
      b_rot_q          <= b_rot_first_q;
      b_jj_q           <= '0;
      cin_addr_q       <= cin_first_q + ROW_W'(2 * ROWS);
      cin_first_q      <= cin_first_q + ROW_W'(2 * ROWS);
      cin_rot_q        <= gw_lane_pkg::add_mod(cin_rot_first_q, N_ROWS, N_LANES);
      cin_rot_first_q  <= gw_lane_pkg::add_mod(cin_rot_first_q, N_ROWS, N_LANES);
      cout_addr_q      <= cout_first_q + (out_bf16_q ? ROW_W'(ROWS) : ROW_W'(2 * ROWS));
      cout_first_q     <= cout_first_q + (out_bf16_q ? ROW_W'(ROWS) : ROW_W'(2 * ROWS));
      cout_rot_q       <= gw_lane_pkg::add_mod(cout_rot_first_q, N_ROWS, N_LANES);
      cout_rot_first_q <= gw_lane_pkg::add_mod(cout_rot_first_q, N_ROWS, N_LANES);
      c_jj_q           <= '0;
    end
  end

  // --- Outputs ---------------------------------------------------------------------------------
  assign valid_o        = valid_q;
  assign last_o         = row_end && col_end;
  assign row_end_o      = col_end;
  assign index_o        = index_q;
  assign posts_o        = posts_q;
  assign k_o            = k_q;
  assign rows_o         = row_end ? m_left_q[gw_isa_pkg::LANES_W-1:0] : N_ROWS;
  assign cols_o         = col_end ? n_left_q[gw_isa_pkg::LANES_W-1:0] : N_COLS;
  assign a_col_o        = a_col_q;
  assign a_place_o = {a_jj_q, a_pstride_q, a_rot_q, a_addr_q};
  assign b_col_o        = b_col_q;
  assign b_place_o = {b_jj_q, b_pstride_q, b_rot_q, b_addr_q};
  assign acc_o          = acc_q;
  assign cin_place_o = {c_jj_q, cin_pstride_q, cin_rot_q, cin_addr_q};
  assign out_bf16_o     = out_bf16_q;
  assign cout_place_o = {c_jj_q, cout_pstride_q, cout_rot_q, cout_addr_q};

endmodule
