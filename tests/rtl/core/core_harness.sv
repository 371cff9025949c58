// A compute engine on a scratchpad; the load and store ports of the scratchpad are driven from outside, an element at a
// time, to set up operands and read results.
module core_harness #(
  parameter int unsigned ROWS      = 8,
  parameter int unsigned COLS      = 8,
  parameter int unsigned SPM_ROWS  = 512,
  parameter int unsigned SPM_BANKS = 4,
  localparam int unsigned LANES    = (ROWS > COLS) ? ROWS : COLS
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         clear_i,
  input  logic         start_valid_i,
  output logic         start_ready_o,
  input  logic [511:0] cmd_i,
  input  logic [31:0]  index_i,
  input  logic         head_valid_i,
  output logic         done_valid_o,
  output logic [31:0]  done_index_o,
  output logic [23:0]  done_posts_o,
  output logic         busy_o,
  output logic         oldest_valid_o,
  output logic [31:0]  oldest_index_o,
  output logic [6:0]   counts_o, // add, active, bank, shadow, drain, sem, empty
  output logic         block_done_o,
  // Element access
  input  logic         put_i,
  input  logic         get_i,
  input  logic         fp32_i,
  input  gw_isa_pkg::row_t  row_i,
  input  gw_isa_pkg::lane_t lane_i,
  input  logic [31:0]  data_i,
  output logic [31:0]  data_o
);

  logic                a_en, a_col, b_en, b_col, c_en, w_en, w_fp32;
  gw_isa_pkg::line_t   a_at, b_at, c_at, w_at;
  gw_isa_pkg::lanes_t  w_count;
  logic [32*LANES-1:0] a_line, b_line, c_line;
  logic [32*COLS-1:0]  w_line;

  gw_gemm_core #(.ROWS(ROWS), .COLS(COLS), .SPM_ROWS(SPM_ROWS), .SPM_BANKS(SPM_BANKS)) u_core (
    .clk_i, .rst_ni, .clear_i,
    .run_i        (1'b1),
    .start_valid_i, .start_ready_o, .cmd_i, .index_i, .head_valid_i, .done_valid_o, .done_index_o, .done_posts_o, .busy_o,
    .quiet_o        (),
    .oldest_valid_o,
    .oldest_index_o,
    .progress_o     (),
    .cnt_add_o      (counts_o[6]),
    .cnt_active_o   (counts_o[5]),
    .cnt_bank_o     (counts_o[4]),
    .cnt_shadow_o   (counts_o[3]),
    .cnt_drain_o    (counts_o[2]),
    .cnt_sem_o      (counts_o[1]),
    .cnt_empty_o    (counts_o[0]),
    .block_done_o,
    .a_en_o (a_en), .a_col_o (a_col), .a_at_o (a_at), .a_line_i (a_line),
    .b_en_o (b_en), .b_col_o (b_col), .b_at_o (b_at), .b_line_i (b_line),
    .c_en_o (c_en), .c_at_o (c_at),
    .c_line_i (c_line),
    .w_en_o (w_en), .w_fp32_o (w_fp32), .w_at_o (w_at), .w_count_o (w_count), .w_line_o (w_line)
  );

  gw_spm #(.LANES(LANES), .COLS(COLS), .SPM_ROWS(SPM_ROWS), .BUS_BYTES(4)) u_spm (
    .clk_i,
    .a_en_i (a_en), .a_col_i (a_col), .a_at_i (a_at), .a_line_o (a_line),
    .b_en_i (b_en), .b_col_i (b_col), .b_at_i (b_at), .b_line_o (b_line),
    .c_en_i (c_en), .c_at_i (c_at),
    .c_line_o (c_line),
    .w_en_i (w_en), .w_fp32_i (w_fp32), .w_at_i (w_at), .w_count_i (w_count), .w_line_i (w_line),
    .ld_en_i (put_i), .ld_fp32_i (fp32_i), .ld_addr_i (row_i), .ld_pstride_i ('0), .ld_split_i (gw_isa_pkg::LANES_W'(1)),
    .ld_lane_i (lane_i), .ld_first_i (10'd0), .ld_count_i (11'd1), .ld_data_i (data_i),
    .st_en_i (get_i), .st_fp32_i (fp32_i), .st_addr_i (row_i), .st_pstride_i ('0), .st_split_i (gw_isa_pkg::LANES_W'(1)),
    .st_lane_i (lane_i), .st_first_i (10'd0), .st_count_i (11'd1), .st_data_o (data_o)
  );

endmodule
