// The NPU: command processor, load engine, store engine and compute engines around one scratchpad, behind AXI4
// masters, an AXI4-Lite slave and an interrupt. docs/microarchitecture.md describes the whole, docs/isa.md commands
// and registers.
//
// Vectors over engines have the order of the ENGINE field: load, store, cores, vector units. No output depends on an input of the
// same cycle. Events tell, a cycle later, that the NPU runs, that dispatch put a command into its queue, and that an
// engine started or completed the command of an index.
module gw_npu #(
  parameter int unsigned ROWS        = 8,
  parameter int unsigned COLS        = 8,
  parameter int unsigned CORES       = 1,
  parameter int unsigned SPM_ROWS    = 512,
  parameter int unsigned SPM_BANKS   = 4,
  parameter int unsigned BUS_BYTES   = 16,
  parameter int unsigned PORT_BYTES  = 16,
  parameter int unsigned QUEUE_DEPTH = 8,
  parameter int unsigned SEMAPHORES  = 64,
  parameter int unsigned OUTSTANDING = 64,
  parameter int unsigned VECTOR_GROUPS = 0, // lines at once of each core's vector unit: 1, 2, 4 or 8; 0: there is none
  localparam int unsigned VECTORS    = (VECTOR_GROUPS == 0) ? 0 : CORES,
  localparam int unsigned ENGINES    = 2 + CORES + VECTORS,
  localparam int unsigned PORTS      = BUS_BYTES / PORT_BYTES
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  output logic                                   irq_o,
  // Registers: AXI4-Lite slave
  input  logic                                   s_axil_awvalid_i,
  output logic                                   s_axil_awready_o,
  input  gw_isa_pkg::csr_addr_t                  s_axil_awaddr_i,
  input  logic                                   s_axil_wvalid_i,
  output logic                                   s_axil_wready_o,
  input  gw_isa_pkg::csr_data_t                  s_axil_wdata_i,
  input  logic [3:0]                             s_axil_wstrb_i,
  output logic                                   s_axil_bvalid_o,
  input  logic                                   s_axil_bready_i,
  output gw_bus_pkg::resp_t                      s_axil_bresp_o,
  input  logic                                   s_axil_arvalid_i,
  output logic                                   s_axil_arready_o,
  input  gw_isa_pkg::csr_addr_t                  s_axil_araddr_i,
  output logic                                   s_axil_rvalid_o,
  input  logic                                   s_axil_rready_i,
  output gw_isa_pkg::csr_data_t                  s_axil_rdata_o,
  output gw_bus_pkg::resp_t                      s_axil_rresp_o,
  // Memory: AXI4 masters, port 0 lowest, each with addresses of its own (gw_port_split)
  output logic [PORTS-1:0]                       m_axi_arvalid_o,
  input  logic [PORTS-1:0]                       m_axi_arready_i,
  output logic [PORTS-1:0]                       m_axi_arid_o,
  output logic [gw_isa_pkg::ADDR_W*PORTS-1:0]    m_axi_araddr_o,
  output logic [gw_bus_pkg::LEN_W*PORTS-1:0]     m_axi_arlen_o,
  output logic [gw_bus_pkg::SIZE_W*PORTS-1:0]    m_axi_arsize_o,
  output logic [gw_bus_pkg::KIND_W*PORTS-1:0]    m_axi_arburst_o,
  // the wanted bytes of the burst of all ports from its address on: last above first
  output logic [gw_bus_pkg::USER_W*PORTS-1:0]    m_axi_aruser_o,
  input  logic [PORTS-1:0]                       m_axi_rvalid_i,
  output logic [PORTS-1:0]                       m_axi_rready_o,
  input  logic [PORTS-1:0]                       m_axi_rid_i,
  input  logic [8*BUS_BYTES-1:0]                 m_axi_rdata_i,
  input  logic [gw_bus_pkg::RESP_W*PORTS-1:0]    m_axi_rresp_i,
  input  logic [PORTS-1:0]                       m_axi_rlast_i,
  output logic [PORTS-1:0]                       m_axi_awvalid_o,
  input  logic [PORTS-1:0]                       m_axi_awready_i,
  output logic [PORTS-1:0]                       m_axi_awid_o,
  output logic [gw_isa_pkg::ADDR_W*PORTS-1:0]    m_axi_awaddr_o,
  output logic [gw_bus_pkg::LEN_W*PORTS-1:0]     m_axi_awlen_o,
  output logic [gw_bus_pkg::SIZE_W*PORTS-1:0]    m_axi_awsize_o,
  output logic [gw_bus_pkg::KIND_W*PORTS-1:0]    m_axi_awburst_o,
  output logic [gw_bus_pkg::USER_W*PORTS-1:0]    m_axi_awuser_o,
  output logic [PORTS-1:0]                       m_axi_wvalid_o,
  input  logic [PORTS-1:0]                       m_axi_wready_i,
  output logic [8*BUS_BYTES-1:0]                 m_axi_wdata_o,
  output logic [BUS_BYTES-1:0]                   m_axi_wstrb_o,
  output logic [PORTS-1:0]                       m_axi_wlast_o,
  input  logic [PORTS-1:0]                       m_axi_bvalid_i,
  output logic [PORTS-1:0]                       m_axi_bready_o,
  // All writes have ID 0.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [PORTS-1:0]                       m_axi_bid_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [gw_bus_pkg::RESP_W*PORTS-1:0]    m_axi_bresp_i,
  // Command events
  output logic                                   evt_run_o,
  output logic                                   evt_issue_o,
  output gw_isa_pkg::index_t                     evt_issue_index_o,
  output logic [ENGINES-1:0]                     evt_start_o,
  output logic [gw_isa_pkg::INDEX_W*ENGINES-1:0] evt_start_index_o,
  output logic [ENGINES-1:0]                     evt_done_o,
  output logic [gw_isa_pkg::INDEX_W*ENGINES-1:0] evt_done_index_o
);

  localparam int unsigned LANES = (ROWS > COLS) ? ROWS : COLS;
  localparam int unsigned LOAD  = 32'(gw_isa_pkg::ENG_LOAD);
  localparam int unsigned STORE = 32'(gw_isa_pkg::ENG_STORE);
  localparam int unsigned CORE0 = 32'(gw_isa_pkg::ENG_COMPUTE0);
  localparam int unsigned UNITS = (VECTORS == 0) ? 1 : VECTORS; // of signals that are there without a vector unit, too
  // What software reads from CSR_CFG on, the last register first.
  localparam logic [32*gw_isa_pkg::CFG_NUM-1:0] CFG = {
    OUTSTANDING, QUEUE_DEPTH, SEMAPHORES, 16'(PORTS - 1), 16'(BUS_BYTES), SPM_BANKS, SPM_ROWS, 16'(VECTOR_GROUPS),
    16'(CORES), COLS, ROWS
  };

  // --- Signals between the blocks ------------------------------------------------------------------
  logic                   run, clear;
  // Engines
  logic [ENGINES-1:0]                      head_valid, start_ready, start;
  logic [gw_isa_pkg::CMD_BITS*ENGINES-1:0] head_cmd;
  logic [gw_isa_pkg::INDEX_W*ENGINES-1:0]  head_index;
  logic [ENGINES-1:0]                      done_valid;
  logic [gw_isa_pkg::INDEX_W*ENGINES-1:0]  done_index;
  logic [gw_isa_pkg::POSTS_W*ENGINES-1:0]  done_posts;
  logic [ENGINES-1:0]                      busy, quiet, oldest_valid;
  logic [gw_isa_pkg::INDEX_W*ENGINES-1:0]  oldest_index;
  logic                                    load_err_valid, store_err_valid;
  gw_isa_pkg::err_t                        load_err_code, store_err_code;
  gw_isa_pkg::index_t                      load_err_index, store_err_index;
  logic [3:0]                              load_counters, store_counters;
  gw_bus_pkg::bytes_t                      read_bytes, write_bytes;
  logic [7*CORES-1:0]                      core_counters;
  logic [CORES-1:0]                        core_block, core_progress;
  // Read channels of fetch (f) and load (l)
  logic                   f_ar_valid, f_ar_ready, f_r_valid, f_r_last;
  gw_isa_pkg::addr_t      f_ar_addr;
  gw_bus_pkg::len_t       f_ar_len;
  gw_bus_pkg::user_t      f_ar_user;
  logic [8*BUS_BYTES-1:0] f_r_data;
  gw_bus_pkg::resp_t      f_r_resp;
  logic                   l_ar_valid, l_ar_ready, l_r_valid, l_r_last;
  gw_isa_pkg::addr_t      l_ar_addr;
  gw_bus_pkg::len_t       l_ar_len;
  gw_bus_pkg::user_t      l_ar_user;
  logic [8*BUS_BYTES-1:0] l_r_data;
  gw_bus_pkg::resp_t      l_r_resp;
  // The bus: as if there was one port
  logic                   ar_valid, ar_ready, ar_id, r_valid, r_id, r_last, aw_valid, aw_ready;
  logic                   w_valid, w_ready, w_last, b_valid;
  gw_isa_pkg::addr_t      ar_addr, aw_addr;
  gw_bus_pkg::len_t       ar_len, aw_len;
  gw_bus_pkg::user_t      ar_user, aw_user;
  logic [8*BUS_BYTES-1:0] r_data, w_data;
  logic [BUS_BYTES-1:0]   w_strb;
  gw_bus_pkg::resp_t      r_resp, b_resp;
  // Scratchpad: DMA side
  logic                   ld_en, ld_fp32, st_en, st_fp32;
  gw_isa_pkg::row_t       ld_addr, ld_pstride, st_addr, st_pstride;
  gw_isa_pkg::lane_t      ld_lane, st_lane;
  gw_isa_pkg::lanes_t     ld_split, st_split;
  gw_bus_pkg::slot_t      ld_first, st_first;
  gw_bus_pkg::slots_t     ld_count, st_count;
  logic [8*BUS_BYTES-1:0] ld_data, st_data;
  // Scratchpad: array side, of each core
  logic [CORES-1:0]                       a_en, a_col, b_en, b_col, c_en, w_en, w_fp32;
  logic [gw_isa_pkg::LINE_W*CORES-1:0]    a_at, b_at, c_at, w_at; // line_t of each core
  logic [gw_isa_pkg::LANES_W*CORES-1:0]   w_count;
  logic [32*LANES*CORES-1:0]              a_line, b_line, c_line;
  logic [32*COLS*CORES-1:0]               w_line;

  // Vector units: clocks, errors, counters, and the scratchpad's ports of each
  // verilator lint_off UNUSEDSIGNAL
  logic [UNITS-1:0]                       vector_clk; // nobody's without a vector unit
  // verilator lint_on UNUSEDSIGNAL
  logic [UNITS-1:0]                       vector_err_valid, vector_progress;
  logic [32*UNITS-1:0]                    vector_err_word;
  logic [7*UNITS-1:0]                     vector_counters;
  logic [UNITS-1:0]                       v_en, v_fp32, v_col, v_same, x_en, x_fp32, x_col;
  logic [gw_isa_pkg::LINE_W*UNITS-1:0]    v_at, x_at; // line_t of each unit
  logic [gw_isa_pkg::LANES_W*UNITS-1:0]   x_count;
  logic [32*LANES*UNITS-1:0]              v_line, x_line;

  // --- Command processor ---------------------------------------------------------------------------
  logic bus_progress;

  assign bus_progress = |((m_axi_arvalid_o & m_axi_arready_i) | (m_axi_rvalid_i & m_axi_rready_o) |
                          (m_axi_awvalid_o & m_axi_awready_i) | (m_axi_wvalid_o & m_axi_wready_i) |
                          (m_axi_bvalid_i & m_axi_bready_o));

  gw_command_processor #(
    .ROWS(ROWS), .COLS(COLS), .CORES(CORES), .VECTORS(VECTORS), .SPM_ROWS(SPM_ROWS), .BUS_BYTES(BUS_BYTES),
    .QUEUE_DEPTH(QUEUE_DEPTH), .SEMAPHORES(SEMAPHORES), .CFG(CFG)
  ) u_command_processor (
    .clk_i, .rst_ni, .irq_o,
    .s_axil_awvalid_i, .s_axil_awready_o, .s_axil_awaddr_i,
    .s_axil_wvalid_i, .s_axil_wready_o, .s_axil_wdata_i, .s_axil_wstrb_i,
    .s_axil_bvalid_o, .s_axil_bready_i, .s_axil_bresp_o,
    .s_axil_arvalid_i, .s_axil_arready_o, .s_axil_araddr_i,
    .s_axil_rvalid_o, .s_axil_rready_i, .s_axil_rdata_o, .s_axil_rresp_o,
    .ar_valid_o         (f_ar_valid),
    .ar_ready_i         (f_ar_ready),
    .ar_addr_o          (f_ar_addr),
    .ar_len_o           (f_ar_len),
    .ar_user_o          (f_ar_user),
    .r_valid_i          (f_r_valid),
    .r_data_i           (f_r_data),
    .r_resp_i           (f_r_resp),
    .r_last_i           (f_r_last),
    .run_o              (run),
    .clear_o            (clear),
    .head_valid_o       (head_valid),
    .head_cmd_o         (head_cmd),
    .head_index_o       (head_index),
    .start_ready_i      (start_ready),
    .start_o            (start),
    .vector_clk_o       (vector_clk),
    .done_valid_i       (done_valid),
    .done_index_i       (done_index),
    .done_posts_i       (done_posts),
    .busy_i             (busy),
    .quiet_i            (quiet),
    .oldest_valid_i     (oldest_valid),
    .oldest_index_i     (oldest_index),
    .progress_i         (bus_progress | (|core_progress) | (|vector_progress)),
    .load_err_valid_i   (load_err_valid),
    .load_err_code_i    (load_err_code),
    .load_err_index_i   (load_err_index),
    .store_err_valid_i  (store_err_valid),
    .store_err_code_i   (store_err_code),
    .store_err_index_i  (store_err_index),
    .vector_err_valid_i (vector_err_valid),
    .vector_err_word_i  (vector_err_word),
    .load_counters_i    (load_counters),
    .store_counters_i   (store_counters),
    .compute_counters_i (core_counters),
    .vector_counters_i  (vector_counters),
    .read_beat_i        (l_r_valid),
    .write_beat_i       (w_valid & w_ready),
    .read_bytes_i       (read_bytes),
    .write_bytes_i      (write_bytes),
    .block_i            (core_block),
    .evt_run_o, .evt_issue_o, .evt_issue_index_o, .evt_start_o, .evt_start_index_o, .evt_done_o, .evt_done_index_o
  );

  // --- Load and store engines ----------------------------------------------------------------------
  gw_dma_load #(.LANES(LANES), .BUS_BYTES(BUS_BYTES), .OUTSTANDING(OUTSTANDING)) u_load (
    .clk_i, .rst_ni,
    .clear_i        (clear),
    .run_i          (run),
    .start_valid_i  (start[LOAD]),
    .start_ready_o  (start_ready[LOAD]),
    .cmd_i          (head_cmd[gw_isa_pkg::CMD_BITS*LOAD +: gw_isa_pkg::CMD_BITS]),
    .index_i        (head_index[gw_isa_pkg::INDEX_W*LOAD +: gw_isa_pkg::INDEX_W]),
    .head_valid_i   (head_valid[LOAD]),
    .done_valid_o   (done_valid[LOAD]),
    .done_index_o   (done_index[gw_isa_pkg::INDEX_W*LOAD +: gw_isa_pkg::INDEX_W]),
    .done_posts_o   (done_posts[gw_isa_pkg::POSTS_W*LOAD +: gw_isa_pkg::POSTS_W]),
    .ar_valid_o     (l_ar_valid),
    .ar_ready_i     (l_ar_ready),
    .ar_addr_o      (l_ar_addr),
    .ar_len_o       (l_ar_len),
    .ar_user_o      (l_ar_user),
    .r_valid_i      (l_r_valid),
    .r_data_i       (l_r_data),
    .r_resp_i       (l_r_resp),
    .r_last_i       (l_r_last),
    .ld_en_o        (ld_en),
    .ld_fp32_o      (ld_fp32),
    .ld_addr_o      (ld_addr),
    .ld_pstride_o   (ld_pstride),
    .ld_split_o     (ld_split),
    .ld_lane_o      (ld_lane),
    .ld_first_o     (ld_first),
    .ld_count_o     (ld_count),
    .ld_data_o      (ld_data),
    .err_valid_o    (load_err_valid),
    .err_code_o     (load_err_code),
    .err_index_o    (load_err_index),
    .busy_o         (busy[LOAD]),
    .quiet_o        (quiet[LOAD]),
    .oldest_valid_o (oldest_valid[LOAD]),
    .oldest_index_o (oldest_index[gw_isa_pkg::INDEX_W*LOAD +: gw_isa_pkg::INDEX_W]),
    .cnt_active_o   (load_counters[0]),
    .cnt_dram_o     (load_counters[1]),
    .cnt_sem_o      (load_counters[2]),
    .cnt_empty_o    (load_counters[3]),
    .bytes_o        (read_bytes)
  );

  gw_dma_store #(.LANES(LANES), .BUS_BYTES(BUS_BYTES), .OUTSTANDING(OUTSTANDING)) u_store (
    .clk_i, .rst_ni,
    .clear_i        (clear),
    .run_i          (run),
    .start_valid_i  (start[STORE]),
    .start_ready_o  (start_ready[STORE]),
    .cmd_i          (head_cmd[gw_isa_pkg::CMD_BITS*STORE +: gw_isa_pkg::CMD_BITS]),
    .index_i        (head_index[gw_isa_pkg::INDEX_W*STORE +: gw_isa_pkg::INDEX_W]),
    .head_valid_i   (head_valid[STORE]),
    .done_valid_o   (done_valid[STORE]),
    .done_index_o   (done_index[gw_isa_pkg::INDEX_W*STORE +: gw_isa_pkg::INDEX_W]),
    .done_posts_o   (done_posts[gw_isa_pkg::POSTS_W*STORE +: gw_isa_pkg::POSTS_W]),
    .aw_valid_o     (aw_valid),
    .aw_ready_i     (aw_ready),
    .aw_addr_o      (aw_addr),
    .aw_len_o       (aw_len),
    .aw_user_o      (aw_user),
    .w_valid_o      (w_valid),
    .w_ready_i      (w_ready),
    .w_data_o       (w_data),
    .w_strb_o       (w_strb),
    .w_last_o       (w_last),
    .b_valid_i      (b_valid),
    .b_resp_i       (b_resp),
    .st_en_o        (st_en),
    .st_fp32_o      (st_fp32),
    .st_addr_o      (st_addr),
    .st_pstride_o   (st_pstride),
    .st_split_o     (st_split),
    .st_lane_o      (st_lane),
    .st_first_o     (st_first),
    .st_count_o     (st_count),
    .st_data_i      (st_data),
    .err_valid_o    (store_err_valid),
    .err_code_o     (store_err_code),
    .err_index_o    (store_err_index),
    .busy_o         (busy[STORE]),
    .quiet_o        (quiet[STORE]),
    .oldest_valid_o (oldest_valid[STORE]),
    .oldest_index_o (oldest_index[gw_isa_pkg::INDEX_W*STORE +: gw_isa_pkg::INDEX_W]),
    .cnt_active_o   (store_counters[0]),
    .cnt_dram_o     (store_counters[1]),
    .cnt_sem_o      (store_counters[2]),
    .cnt_empty_o    (store_counters[3]),
    .bytes_o        (write_bytes)
  );

  gw_axi_read_mux #(.BUS_BYTES(BUS_BYTES)) u_read_mux (
    .clk_i, .rst_ni,
    .clear_i       (clear),
    .f_ar_valid_i (f_ar_valid), .f_ar_ready_o (f_ar_ready), .f_ar_addr_i (f_ar_addr), .f_ar_len_i (f_ar_len),
    .f_ar_user_i (f_ar_user), .f_r_valid_o (f_r_valid), .f_r_data_o (f_r_data), .f_r_resp_o (f_r_resp),
    .f_r_last_o (f_r_last),
    .l_ar_valid_i (l_ar_valid), .l_ar_ready_o (l_ar_ready), .l_ar_addr_i (l_ar_addr), .l_ar_len_i (l_ar_len),
    .l_ar_user_i (l_ar_user), .l_r_valid_o (l_r_valid), .l_r_data_o (l_r_data), .l_r_resp_o (l_r_resp),
    .l_r_last_o (l_r_last),
    .ar_valid_o (ar_valid), .ar_ready_i (ar_ready), .ar_id_o (ar_id), .ar_addr_o (ar_addr), .ar_len_o (ar_len),
    .ar_user_o (ar_user),
    .r_valid_i (r_valid), .r_id_i (r_id), .r_data_i (r_data), .r_resp_i (r_resp), .r_last_i (r_last)
  );

  // Reads under way: those of loads, and of fetch, whose buffer has room for sixteen bursts of a command each.
  gw_port_split #(.BUS_BYTES(BUS_BYTES), .PORT_BYTES(PORT_BYTES), .READS(OUTSTANDING + 16)) u_ports (
    .clk_i, .rst_ni,
    .clear_i    (clear),
    .ar_valid_i (ar_valid), .ar_ready_o (ar_ready), .ar_id_i (ar_id), .ar_addr_i (ar_addr), .ar_len_i (ar_len),
    .ar_user_i (ar_user),
    .r_valid_o (r_valid), .r_id_o (r_id), .r_data_o (r_data), .r_resp_o (r_resp), .r_last_o (r_last),
    .aw_valid_i (aw_valid), .aw_ready_o (aw_ready), .aw_addr_i (aw_addr), .aw_len_i (aw_len), .aw_user_i (aw_user),
    .w_valid_i (w_valid), .w_ready_o (w_ready), .w_data_i (w_data), .w_strb_i (w_strb), .w_last_i (w_last),
    .b_valid_o (b_valid), .b_resp_o (b_resp),
    .m_axi_arvalid_o, .m_axi_arready_i, .m_axi_arid_o, .m_axi_araddr_o, .m_axi_arlen_o, .m_axi_arsize_o,
    .m_axi_arburst_o, .m_axi_aruser_o, .m_axi_rvalid_i, .m_axi_rready_o, .m_axi_rid_i, .m_axi_rdata_i, .m_axi_rresp_i,
    .m_axi_rlast_i, .m_axi_awvalid_o, .m_axi_awready_i, .m_axi_awid_o, .m_axi_awaddr_o, .m_axi_awlen_o,
    .m_axi_awsize_o, .m_axi_awburst_o, .m_axi_awuser_o, .m_axi_wvalid_o, .m_axi_wready_i, .m_axi_wdata_o,
    .m_axi_wstrb_o, .m_axi_wlast_o, .m_axi_bvalid_i, .m_axi_bready_o, .m_axi_bresp_i
  );

  // --- Compute engines -----------------------------------------------------------------------------
  for (genvar c = 0; c < CORES; c++) begin : gen_core
    localparam int unsigned ENGINE = CORE0 + c;

    gw_gemm_core #(.ROWS(ROWS), .COLS(COLS), .SPM_ROWS(SPM_ROWS), .SPM_BANKS(SPM_BANKS)) u_core (
      .clk_i, .rst_ni,
      .clear_i        (clear),
      .run_i          (run),
      .start_valid_i  (start[ENGINE]),
      .start_ready_o  (start_ready[ENGINE]),
      .cmd_i          (head_cmd[gw_isa_pkg::CMD_BITS*ENGINE +: gw_isa_pkg::CMD_BITS]),
      .index_i        (head_index[gw_isa_pkg::INDEX_W*ENGINE +: gw_isa_pkg::INDEX_W]),
      .head_valid_i   (head_valid[ENGINE]),
      .done_valid_o   (done_valid[ENGINE]),
      .done_index_o   (done_index[gw_isa_pkg::INDEX_W*ENGINE +: gw_isa_pkg::INDEX_W]),
      .done_posts_o   (done_posts[gw_isa_pkg::POSTS_W*ENGINE +: gw_isa_pkg::POSTS_W]),
      .busy_o         (busy[ENGINE]),
      .quiet_o        (quiet[ENGINE]),
      .oldest_valid_o (oldest_valid[ENGINE]),
      .oldest_index_o (oldest_index[gw_isa_pkg::INDEX_W*ENGINE +: gw_isa_pkg::INDEX_W]),
      .progress_o     (core_progress[c]),
      .cnt_active_o   (core_counters[7*c + 0]),
      .cnt_bank_o     (core_counters[7*c + 1]),
      .cnt_shadow_o   (core_counters[7*c + 2]),
      .cnt_drain_o    (core_counters[7*c + 3]),
      .cnt_sem_o      (core_counters[7*c + 4]),
      .cnt_empty_o    (core_counters[7*c + 5]),
      .cnt_add_o      (core_counters[7*c + 6]),
      .block_done_o   (core_block[c]),
      .a_en_o         (a_en[c]),
      .a_col_o        (a_col[c]),
      .a_at_o         (a_at[gw_isa_pkg::LINE_W*c +: gw_isa_pkg::LINE_W]),
      .a_line_i       (a_line[32*LANES*c +: 32*LANES]),
      .b_en_o         (b_en[c]),
      .b_col_o        (b_col[c]),
      .b_at_o         (b_at[gw_isa_pkg::LINE_W*c +: gw_isa_pkg::LINE_W]),
      .b_line_i       (b_line[32*LANES*c +: 32*LANES]),
      .c_en_o         (c_en[c]),
      .c_at_o         (c_at[gw_isa_pkg::LINE_W*c +: gw_isa_pkg::LINE_W]),
      .c_line_i       (c_line[32*LANES*c +: 32*LANES]),
      .w_en_o         (w_en[c]),
      .w_fp32_o       (w_fp32[c]),
      .w_at_o         (w_at[gw_isa_pkg::LINE_W*c +: gw_isa_pkg::LINE_W]),
      .w_count_o      (w_count[gw_isa_pkg::LANES_W*c +: gw_isa_pkg::LANES_W]),
      .w_line_o       (w_line[32*COLS*c +: 32*COLS])
    );
  end

  // --- Vector units --------------------------------------------------------------------------------
  if (VECTORS != 0) begin : gen_vectors
    for (genvar c = 0; c < VECTORS; c++) begin : gen_vector
      localparam int unsigned ENGINE = CORE0 + CORES + c;

      gw_vector_engine #(.LANES(LANES), .G(VECTOR_GROUPS)) u_vector (
        .clk_i         (vector_clk[c]),
        .rst_ni,
        .clear_i       (clear),
        .run_i         (run),
        .start_valid_i (start[ENGINE]),
        .start_ready_o (start_ready[ENGINE]),
        .cmd_i         (head_cmd[gw_isa_pkg::CMD_BITS*ENGINE +: gw_isa_pkg::CMD_BITS]),
        .index_i       (head_index[gw_isa_pkg::INDEX_W*ENGINE +: gw_isa_pkg::INDEX_W]),
        .head_valid_i  (head_valid[ENGINE]),
        .done_valid_o  (done_valid[ENGINE]),
        .done_index_o  (done_index[gw_isa_pkg::INDEX_W*ENGINE +: gw_isa_pkg::INDEX_W]),
        .done_posts_o  (done_posts[gw_isa_pkg::POSTS_W*ENGINE +: gw_isa_pkg::POSTS_W]),
        .err_valid_o   (vector_err_valid[c]),
        .err_word_o    (vector_err_word[32*c +: 32]),
        .busy_o        (busy[ENGINE]),
        .counters_o    (vector_counters[7*c +: 7]),
        .r_en_o        (v_en[c]),
        .r_fp32_o      (v_fp32[c]),
        .r_col_o       (v_col[c]),
        .r_same_o      (v_same[c]),
        .r_at_o        (v_at[gw_isa_pkg::LINE_W*c +: gw_isa_pkg::LINE_W]),
        .r_line_i      (v_line[32*LANES*c +: 32*LANES]),
        .w_en_o        (x_en[c]),
        .w_fp32_o      (x_fp32[c]),
        .w_col_o       (x_col[c]),
        .w_at_o        (x_at[gw_isa_pkg::LINE_W*c +: gw_isa_pkg::LINE_W]),
        .w_count_o     (x_count[gw_isa_pkg::LANES_W*c +: gw_isa_pkg::LANES_W]),
        .w_line_o      (x_line[32*LANES*c +: 32*LANES])
      );

      assign quiet[ENGINE]        = 1'b1; // nothing of this engine is on the bus
      assign oldest_valid[ENGINE] = busy[ENGINE];
      assign oldest_index[gw_isa_pkg::INDEX_W*ENGINE +: gw_isa_pkg::INDEX_W] =
             done_index[gw_isa_pkg::INDEX_W*ENGINE +: gw_isa_pkg::INDEX_W];
      assign vector_progress[c]   = busy[ENGINE];
    end
  end else begin : gen_no_vectors
    assign vector_err_valid = '0;
    assign vector_err_word  = '0;
    assign vector_progress  = '0;
    assign vector_counters  = '0;
    assign {v_en, v_fp32, v_col, v_same, x_en, x_fp32, x_col} = '0;
    assign {v_at, x_at, x_count} = '0;
    assign x_line           = {(LANES * UNITS){32'd0}};
    // verilator lint_off UNUSEDSIGNAL
    logic unused;
    // verilator lint_on UNUSEDSIGNAL
    assign unused = |v_line;
  end

  // --- Scratchpad ----------------------------------------------------------------------------------
  gw_spm #(
    .LANES(LANES), .COLS(COLS), .CORES(CORES), .SPM_ROWS(SPM_ROWS), .BUS_BYTES(BUS_BYTES), .VECTORS(VECTORS)
  ) u_spm (
    .clk_i,
    .a_en_i (a_en), .a_col_i (a_col), .a_at_i (a_at), .a_line_o (a_line),
    .b_en_i (b_en), .b_col_i (b_col), .b_at_i (b_at), .b_line_o (b_line),
    .c_en_i (c_en), .c_at_i (c_at),
    .c_line_o (c_line),
    .w_en_i (w_en), .w_fp32_i (w_fp32), .w_at_i (w_at), .w_count_i (w_count), .w_line_i (w_line),
    .v_en_i (v_en), .v_fp32_i (v_fp32), .v_col_i (v_col), .v_same_i (v_same), .v_at_i (v_at), .v_line_o (v_line),
    .x_en_i (x_en), .x_fp32_i (x_fp32), .x_col_i (x_col), .x_at_i (x_at), .x_count_i (x_count), .x_line_i (x_line),
    .ld_en_i (ld_en), .ld_fp32_i (ld_fp32), .ld_addr_i (ld_addr), .ld_pstride_i (ld_pstride), .ld_split_i (ld_split),
    .ld_lane_i (ld_lane), .ld_first_i (ld_first), .ld_count_i (ld_count), .ld_data_i (ld_data),
    .st_en_i (st_en), .st_fp32_i (st_fp32), .st_addr_i (st_addr), .st_pstride_i (st_pstride), .st_split_i (st_split),
    .st_lane_i (st_lane), .st_first_i (st_first), .st_count_i (st_count), .st_data_o (st_data)
  );

  // --- Assertions ----------------------------------------------------------------------------------
`ifndef SYNTHESIS
  initial begin
    there_are_one_to_eight_cores: assert (CORES >= 1 && CORES <= 8);
    a_beat_holds_at_most_a_row_for_each_core: assert (BUS_BYTES <= 2 * LANES * CORES);
    ports_are_as_wide_as_axi4_allows: assert (PORT_BYTES <= 128);
    a_vector_unit_has_one_two_four_or_eight_lines:
      assert (VECTOR_GROUPS <= 8 && (VECTOR_GROUPS & (VECTOR_GROUPS - 1)) == 0);
  end
`endif

endmodule
