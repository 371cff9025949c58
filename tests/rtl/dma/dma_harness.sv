// Load engine behind the read multiplexer, and store engine, with bus ports of at least 2048 bits, so that one test
// drives every configuration. The scratchpad and the memory are the test's.
module dma_harness #(
  parameter int unsigned LANES       = 8,
  parameter int unsigned BUS_BYTES   = 16,
  parameter int unsigned OUTSTANDING = 64,
  localparam int unsigned PORT_W      = (8 * BUS_BYTES > 2048) ? 8 * BUS_BYTES : 2048
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  input  logic                run_i,
  // Load engine
  input  logic                l_start_valid_i,
  output logic                l_start_ready_o,
  input  logic [511:0]        l_cmd_i,
  input  logic [31:0]         l_index_i,
  input  logic                l_head_valid_i,
  output logic                l_done_valid_o,
  output logic [31:0]         l_done_index_o,
  output logic [23:0]         l_done_posts_o,
  output logic                l_err_valid_o,
  output logic [7:0]          l_err_code_o,
  output logic [31:0]         l_err_index_o,
  output logic                l_busy_o,
  output logic                l_quiet_o,
  output logic [31:0]         l_oldest_o,
  output logic [3:0]          l_counts_o, // active, dram, sem, empty
  output logic [15:0]         l_bytes_o,
  output logic                ld_en_o,
  output logic                ld_fp32_o,
  output gw_isa_pkg::row_t    ld_addr_o,
  output gw_isa_pkg::row_t    ld_pstride_o,
  output gw_isa_pkg::lanes_t  ld_split_o,
  output gw_isa_pkg::lane_t   ld_lane_o,
  output logic [9:0]          ld_first_o,
  output logic [10:0]         ld_count_o,
  output logic [PORT_W-1:0]   ld_data_o,
  // Fetch port of the multiplexer
  input  logic                f_ar_valid_i,
  output logic                f_ar_ready_o,
  input  logic [63:0]         f_ar_addr_i,
  input  logic [7:0]          f_ar_len_i,
  output logic                f_r_valid_o,
  output logic                f_r_last_o,
  // Store engine
  input  logic                s_start_valid_i,
  output logic                s_start_ready_o,
  input  logic [511:0]        s_cmd_i,
  input  logic [31:0]         s_index_i,
  input  logic                s_head_valid_i,
  output logic                s_done_valid_o,
  output logic [31:0]         s_done_index_o,
  output logic [23:0]         s_done_posts_o,
  output logic                s_err_valid_o,
  output logic [7:0]          s_err_code_o,
  output logic [31:0]         s_err_index_o,
  output logic                s_busy_o,
  output logic                s_quiet_o,
  output logic [31:0]         s_oldest_o,
  output logic [3:0]          s_counts_o,
  output logic [15:0]         s_bytes_o,
  output logic                st_en_o,
  output logic                st_fp32_o,
  output gw_isa_pkg::row_t    st_addr_o,
  output gw_isa_pkg::row_t    st_pstride_o,
  output gw_isa_pkg::lanes_t  st_split_o,
  output gw_isa_pkg::lane_t   st_lane_o,
  output logic [9:0]          st_first_o,
  output logic [10:0]         st_count_o,
  input  logic [PORT_W-1:0]   st_data_i,
  // The bus
  output logic                arvalid_o,
  input  logic                arready_i,
  output logic                arid_o,
  output logic [63:0]         araddr_o,
  output logic [7:0]          arlen_o,
  output logic [23:0]         aruser_o,
  input  logic                rvalid_i,
  input  logic                rid_i,
  input  logic [PORT_W-1:0]   rdata_i,
  input  logic [1:0]          rresp_i,
  input  logic                rlast_i,
  output logic                awvalid_o,
  input  logic                awready_i,
  output logic [63:0]         awaddr_o,
  output logic [7:0]          awlen_o,
  output logic [23:0]         awuser_o,
  output logic                wvalid_o,
  input  logic                wready_i,
  output logic [PORT_W-1:0]   wdata_o,
  output logic [PORT_W/8-1:0] wstrb_o,
  output logic                wlast_o,
  input  logic                bvalid_i,
  input  logic [1:0]          bresp_i
);

  localparam int unsigned DATA_W = 8 * BUS_BYTES;

  logic              l_ar_valid, l_ar_ready, l_r_valid, l_r_last;
  logic [63:0]       l_ar_addr;
  logic [7:0]        l_ar_len;
  logic [23:0]       l_ar_user;
  logic [DATA_W-1:0] l_r_data, ld_data, wdata;
  logic [1:0]        l_r_resp;

  assign ld_data_o = PORT_W'(ld_data);
  assign wdata_o   = PORT_W'(wdata);

  gw_dma_load #(.LANES(LANES), .BUS_BYTES(BUS_BYTES), .OUTSTANDING(OUTSTANDING)) u_load (
    .clk_i, .rst_ni, .clear_i, .run_i,
    .start_valid_i (l_start_valid_i), .start_ready_o (l_start_ready_o), .cmd_i (l_cmd_i), .index_i (l_index_i),
    .head_valid_i (l_head_valid_i),
    .done_valid_o (l_done_valid_o), .done_index_o (l_done_index_o), .done_posts_o (l_done_posts_o),
    .ar_valid_o (l_ar_valid), .ar_ready_i (l_ar_ready), .ar_addr_o (l_ar_addr), .ar_len_o (l_ar_len), .ar_user_o (l_ar_user),
    .r_valid_i (l_r_valid), .r_data_i (l_r_data), .r_resp_i (l_r_resp), .r_last_i (l_r_last),
    .ld_en_o, .ld_fp32_o, .ld_addr_o, .ld_pstride_o, .ld_split_o, .ld_lane_o, .ld_first_o, .ld_count_o,
    .ld_data_o (ld_data),
    .err_valid_o (l_err_valid_o), .err_code_o (l_err_code_o), .err_index_o (l_err_index_o),
    .busy_o (l_busy_o), .quiet_o (l_quiet_o), .oldest_valid_o (), .oldest_index_o (l_oldest_o),
    .cnt_active_o (l_counts_o[3]), .cnt_dram_o (l_counts_o[2]), .cnt_sem_o (l_counts_o[1]),
    .cnt_empty_o (l_counts_o[0]), .bytes_o (l_bytes_o)
  );

  gw_axi_read_mux #(.BUS_BYTES(BUS_BYTES)) u_mux (
    .clk_i, .rst_ni, .clear_i,
    .f_ar_valid_i, .f_ar_ready_o, .f_ar_addr_i, .f_ar_len_i, .f_ar_user_i (24'd0),
    .f_r_valid_o, .f_r_data_o (), .f_r_resp_o (), .f_r_last_o,
    .l_ar_valid_i (l_ar_valid), .l_ar_ready_o (l_ar_ready), .l_ar_addr_i (l_ar_addr), .l_ar_len_i (l_ar_len),
    .l_ar_user_i (l_ar_user),
    .l_r_valid_o (l_r_valid), .l_r_data_o (l_r_data), .l_r_resp_o (l_r_resp), .l_r_last_o (l_r_last),
    .ar_valid_o (arvalid_o), .ar_ready_i (arready_i), .ar_id_o (arid_o), .ar_addr_o (araddr_o), .ar_len_o (arlen_o),
    .ar_user_o (aruser_o),
    .r_valid_i (rvalid_i), .r_id_i (rid_i), .r_data_i (rdata_i[DATA_W-1:0]), .r_resp_i (rresp_i), .r_last_i (rlast_i)
  );

  logic [BUS_BYTES-1:0] wstrb;

  assign wstrb_o = (PORT_W/8)'(wstrb);

  gw_dma_store #(.LANES(LANES), .BUS_BYTES(BUS_BYTES), .OUTSTANDING(OUTSTANDING)) u_store (
    .clk_i, .rst_ni, .clear_i, .run_i,
    .start_valid_i (s_start_valid_i), .start_ready_o (s_start_ready_o), .cmd_i (s_cmd_i), .index_i (s_index_i),
    .head_valid_i (s_head_valid_i),
    .done_valid_o (s_done_valid_o), .done_index_o (s_done_index_o), .done_posts_o (s_done_posts_o),
    .aw_valid_o (awvalid_o), .aw_ready_i (awready_i), .aw_addr_o (awaddr_o), .aw_len_o (awlen_o), .aw_user_o (awuser_o),
    .w_valid_o (wvalid_o), .w_ready_i (wready_i), .w_data_o (wdata), .w_strb_o (wstrb), .w_last_o (wlast_o),
    .b_valid_i (bvalid_i), .b_resp_i (bresp_i),
    .st_en_o, .st_fp32_o, .st_addr_o, .st_pstride_o, .st_split_o, .st_lane_o, .st_first_o, .st_count_o,
    .st_data_i (st_data_i[DATA_W-1:0]),
    .err_valid_o (s_err_valid_o), .err_code_o (s_err_code_o), .err_index_o (s_err_index_o),
    .busy_o (s_busy_o), .quiet_o (s_quiet_o), .oldest_valid_o (), .oldest_index_o (s_oldest_o),
    .cnt_active_o (s_counts_o[3]), .cnt_dram_o (s_counts_o[2]), .cnt_sem_o (s_counts_o[1]),
    .cnt_empty_o (s_counts_o[0]), .bytes_o (s_bytes_o)
  );

endmodule
