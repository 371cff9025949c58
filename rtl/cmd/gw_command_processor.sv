// Command processor: registers, run control, command fetch and dispatch, a queue for each engine, the semaphores that
// let the heads of the queues start, and the log of marks. The interrupt stands while a run's end was not taken back or a
// mark is in the log.
//
// Vectors over engines have the order of the ENGINE field: load, store, cores, vector units. A command starts in the cycle in
// which start_o is 1; its engine has said start_ready_i before. Events tell the same a cycle later, with the
// command's index.
module gw_command_processor #(
  parameter int unsigned ROWS        = 8,
  parameter int unsigned COLS        = 8,
  parameter int unsigned CORES       = 1,
  parameter int unsigned VECTORS     = 0, // vector units: none, or one for each core
  parameter int unsigned SPM_ROWS    = 512,
  parameter int unsigned BUS_BYTES   = 16,
  parameter int unsigned QUEUE_DEPTH = 8,
  parameter int unsigned SEMAPHORES  = 64,
  parameter logic [32*gw_isa_pkg::CFG_NUM-1:0] CFG = '0, // what software reads of the NPU (gw_csr)
  localparam int unsigned ENGINES    = 2 + CORES + VECTORS,
  localparam int unsigned UNITS      = (VECTORS == 0) ? 1 : VECTORS // of ports that are there without a unit, too
) (
  input  logic                                    clk_i,
  input  logic                                    rst_ni,
  output logic                                    irq_o,
  // Registers: AXI4-Lite slave
  input  logic                                    s_axil_awvalid_i,
  output logic                                    s_axil_awready_o,
  input  gw_isa_pkg::csr_addr_t                   s_axil_awaddr_i,
  input  logic                                    s_axil_wvalid_i,
  output logic                                    s_axil_wready_o,
  input  gw_isa_pkg::csr_data_t                   s_axil_wdata_i,
  input  logic [3:0]                              s_axil_wstrb_i,
  output logic                                    s_axil_bvalid_o,
  input  logic                                    s_axil_bready_i,
  output gw_bus_pkg::resp_t                       s_axil_bresp_o,
  input  logic                                    s_axil_arvalid_i,
  output logic                                    s_axil_arready_o,
  input  gw_isa_pkg::csr_addr_t                   s_axil_araddr_i,
  output logic                                    s_axil_rvalid_o,
  input  logic                                    s_axil_rready_i,
  output gw_isa_pkg::csr_data_t                   s_axil_rdata_o,
  output gw_bus_pkg::resp_t                       s_axil_rresp_o,
  // Command fetch: read channels
  output logic                                    ar_valid_o,
  input  logic                                    ar_ready_i,
  output gw_isa_pkg::addr_t                       ar_addr_o,
  output gw_bus_pkg::len_t                        ar_len_o,
  output gw_bus_pkg::user_t                       ar_user_o,
  input  logic                                    r_valid_i,
  input  logic [8*BUS_BYTES-1:0]                  r_data_i,
  input  gw_bus_pkg::resp_t                       r_resp_i,
  input  logic                                    r_last_i,
  // Engines: start
  output logic                                    run_o,        // 0: start nothing more
  output logic                                    clear_o,      // back to the reset state
  output logic [ENGINES-1:0]                      head_valid_o, // a command is there, its waits may not be
  output logic [gw_isa_pkg::CMD_BITS*ENGINES-1:0] head_cmd_o,
  output logic [gw_isa_pkg::INDEX_W*ENGINES-1:0]  head_index_o,
  input  logic [ENGINES-1:0]                      start_ready_i,
  output logic [ENGINES-1:0]                      start_o,
  output logic [UNITS-1:0]                        vector_clk_o, // of each vector unit; stands still while the unit rests
  // Engines: state
  input  logic [ENGINES-1:0]                      done_valid_i,
  input  logic [gw_isa_pkg::INDEX_W*ENGINES-1:0]  done_index_i,
  input  logic [gw_isa_pkg::POSTS_W*ENGINES-1:0]  done_posts_i,
  input  logic [ENGINES-1:0]                      busy_i,
  input  logic [ENGINES-1:0]                      quiet_i,      // no burst offered or under way
  input  logic [ENGINES-1:0]                      oldest_valid_i,
  input  logic [gw_isa_pkg::INDEX_W*ENGINES-1:0]  oldest_index_i,
  input  logic                                    progress_i,   // bus or array moved
  // Engines: errors
  input  logic                                    load_err_valid_i,
  input  gw_isa_pkg::err_t                        load_err_code_i,
  input  gw_isa_pkg::index_t                      load_err_index_i,
  input  logic                                    store_err_valid_i,
  input  gw_isa_pkg::err_t                        store_err_code_i,
  input  gw_isa_pkg::index_t                      store_err_index_i,
  input  logic [UNITS-1:0]                        vector_err_valid_i,
  // verilator lint_off UNUSEDSIGNAL
  input  logic [32*UNITS-1:0]                     vector_err_word_i, // 0: the unit had no error
  // verilator lint_on UNUSEDSIGNAL
  // Counters (perf_counters)
  input  logic [3:0]                              load_counters_i,
  input  logic [3:0]                              store_counters_i,
  input  logic [7*CORES-1:0]                      compute_counters_i,
  input  logic [7*UNITS-1:0]                      vector_counters_i,
  input  logic                                    read_beat_i,
  input  logic                                    write_beat_i,
  input  gw_bus_pkg::bytes_t                      read_bytes_i,
  input  gw_bus_pkg::bytes_t                      write_bytes_i,
  input  logic [CORES-1:0]                        block_i,
  // Command events
  output logic                                    evt_run_o,
  output logic                                    evt_issue_o,
  output gw_isa_pkg::index_t                      evt_issue_index_o,
  output logic [ENGINES-1:0]                      evt_start_o,
  output logic [gw_isa_pkg::INDEX_W*ENGINES-1:0]  evt_start_index_o,
  output logic [ENGINES-1:0]                      evt_done_o,
  output logic [gw_isa_pkg::INDEX_W*ENGINES-1:0]  evt_done_index_o
);

  localparam int unsigned LANES = (ROWS > COLS) ? ROWS : COLS;
  localparam int unsigned STORE = 32'(gw_isa_pkg::ENG_STORE);

  // --- Signals between the blocks ------------------------------------------------------------------
  // Registers and run control
  gw_isa_pkg::addr_t          cmd_addr, dram_base, dram_size;
  gw_isa_pkg::index_t         cmd_count, ring_size, received, err_index, retired;
  logic [31:0]                watchdog;
  logic                       start_run, soft_reset, irq_clear, run_busy, finished, failed, ended, close_ring, ring_open;
  gw_isa_pkg::err_t           err_code;
  gw_isa_pkg::counter_index_t counter_index;
  gw_isa_pkg::counter_t       counter_value;
  // Marks
  logic                       is_mark, mark_ready, mark_valid, mark_take;
  gw_isa_pkg::tag_t           mark_tag;
  gw_isa_pkg::counter_t       mark_cycle;
  // Fetch and dispatch
  logic               fetch_valid, fetch_ready, fetch_err_valid, fetch_quiet;
  gw_isa_pkg::cmd_t   fetch_cmd;
  gw_isa_pkg::err_t   fetch_err_code;
  gw_isa_pkg::index_t fetch_err_index;
  logic [3:0]         fetch_counters;
  gw_isa_pkg::index_t dispatch_index;
  logic               dispatch_err_valid;
  gw_isa_pkg::err_t   dispatch_err_code;
  // Queues and semaphores
  logic [ENGINES-1:0]    push, room;
  logic [48*ENGINES-1:0] head_waits;
  logic                  sem_err_valid;
  gw_isa_pkg::index_t    sem_err_index;

  // --- Registers and run control -------------------------------------------------------------------
  gw_csr #(.CORES(CORES), .VECTORS(VECTORS), .CFG(CFG)) u_csr (
    .clk_i, .rst_ni,
    .s_axil_awvalid_i, .s_axil_awready_o, .s_axil_awaddr_i,
    .s_axil_wvalid_i, .s_axil_wready_o, .s_axil_wdata_i, .s_axil_wstrb_i,
    .s_axil_bvalid_o, .s_axil_bready_i, .s_axil_bresp_o,
    .s_axil_arvalid_i, .s_axil_arready_o, .s_axil_araddr_i,
    .s_axil_rvalid_o, .s_axil_rready_i, .s_axil_rdata_o, .s_axil_rresp_o,
    .cmd_addr_o      (cmd_addr),
    .cmd_count_o     (cmd_count),
    .ring_size_o     (ring_size),
    .dram_base_o     (dram_base),
    .dram_size_o     (dram_size),
    .watchdog_o      (watchdog),
    .start_o         (start_run),
    .soft_reset_o    (soft_reset),
    .irq_clear_o     (irq_clear),
    .close_o         (close_ring),
    .open_i          (ring_open),
    .head_i          (received),
    .busy_i          (run_busy),
    .done_i          (finished),
    .error_i         (failed),
    .irq_i           (irq_o),
    .err_code_i      (err_code),
    .err_index_i     (err_index),
    .err_word_i      (err_word),
    .retired_i       (retired),
    .mark_take_o     (mark_take),
    .mark_valid_i    (mark_valid),
    .mark_tag_i      (mark_tag),
    .mark_cycle_i    (mark_cycle),
    .counter_index_o (counter_index),
    .counter_value_i (counter_value)
  );

  gw_run_ctrl #(.ENGINES(ENGINES)) u_run_ctrl (
    .clk_i, .rst_ni,
    .start_i              (start_run),
    .soft_reset_i         (soft_reset),
    .irq_clear_i          (irq_clear),
    .cmd_count_i          (cmd_count),
    .ring_i               (ring_size != 32'd0),
    .close_i              (close_ring),
    .watchdog_i           (watchdog),
    .busy_o               (run_busy),
    .done_o               (finished),
    .error_o              (failed),
    .irq_o                (ended),
    .open_o               (ring_open),
    .err_code_o           (err_code),
    .err_index_o          (err_index),
    .retired_o            (retired),
    .run_o                (run_o),
    .clear_o              (clear_o),
    .done_i               (done_valid_i),
    .progress_i           (progress_i | (|push)),
    .quiet_i              (fetch_quiet & (&quiet_i)),
    .mark_blocked_i       (is_mark & ~mark_ready),
    .fetch_err_valid_i    (fetch_err_valid),
    .fetch_err_code_i     (fetch_err_code),
    .fetch_err_index_i    (fetch_err_index),
    .dispatch_err_valid_i (dispatch_err_valid),
    .dispatch_err_code_i  (dispatch_err_code),
    .load_err_valid_i     (load_err_valid_i),
    .load_err_code_i      (load_err_code_i),
    .load_err_index_i     (load_err_index_i),
    .store_err_valid_i    (store_err_valid_i),
    .store_err_code_i     (store_err_code_i),
    .store_err_index_i    (store_err_index_i),
    .vector_err_valid_i   (|vector_err_valid_i),
    .vector_err_index_i   (vector_err_index),
    .sem_err_valid_i      (sem_err_valid),
    .sem_err_index_i      (sem_err_index),
    .dispatch_index_i     (dispatch_index),
    .head_valid_i         (head_valid_o),
    .head_index_i         (head_index_o),
    .oldest_valid_i       (oldest_valid_i),
    .oldest_index_i       (oldest_index_i)
  );

  // Of several vector units with an error the first. A unit keeps its error's word, and starts nothing behind it.
  gw_isa_pkg::index_t vector_err_index;
  logic [31:0]        vector_err_word, err_word;

  if (VECTORS != 0) begin : gen_vector_errors
    always_comb begin
      vector_err_index = 32'd0;
      vector_err_word  = 32'd0;
      for (int unsigned u = 0; u < VECTORS; u = u + 1) begin
        if (vector_err_valid_i[VECTORS-1-u]) vector_err_index = done_index_i[32*(ENGINES-1-u) +: 32];
        if (vector_err_word_i[32*(VECTORS-1-u) +: 32] != 32'd0) vector_err_word = vector_err_word_i[32*(VECTORS-1-u) +: 32];
      end
    end
  end else begin : gen_no_vector_errors
    assign vector_err_index = 32'd0;
    assign vector_err_word  = 32'd0;
  end

  assign err_word = (err_code == gw_isa_pkg::ERR_VECTOR_FAULT) ? vector_err_word : 32'd0;

  // --- Marks ---------------------------------------------------------------------------------------
  gw_mark_log u_marks (
    .clk_i, .rst_ni,
    .clear_i       (clear_o),
    .run_i         (run_o),
    .ready_o       (mark_ready),
    .start_i       (start_o[STORE] & is_mark),
    .start_index_i (head_index_o[gw_isa_pkg::INDEX_W*STORE +: gw_isa_pkg::INDEX_W]),
    .start_tag_i   (head_cmd_o[gw_isa_pkg::CMD_BITS*STORE + gw_isa_pkg::TAG_LSB +: gw_isa_pkg::TAG_W]),
    .done_i        (done_valid_i[STORE]),
    .done_index_i  (done_index_i[gw_isa_pkg::INDEX_W*STORE +: gw_isa_pkg::INDEX_W]),
    .valid_o       (mark_valid),
    .tag_o         (mark_tag),
    .cycle_o       (mark_cycle),
    .take_i        (mark_take)
  );

  assign is_mark = head_valid_o[STORE] & (head_cmd_o[gw_isa_pkg::CMD_BITS*STORE + gw_isa_pkg::OPCODE_LSB +:
                                                     gw_isa_pkg::OPCODE_W] == gw_isa_pkg::OP_MARK);
  assign irq_o   = ended | mark_valid;

  // --- Counters ------------------------------------------------------------------------------------
  gw_perf_counters #(.CORES(CORES), .VECTORS(VECTORS)) u_counters (
    .clk_i, .rst_ni,
    .clear_i       (clear_o),
    .count_i       (run_o),
    .load_i        (load_counters_i),
    .store_i       (store_counters_i),
    .fetch_i       (fetch_counters),
    .compute_i     (compute_counters_i),
    .vector_i      (vector_counters_i),
    .read_beat_i   (read_beat_i),
    .write_beat_i  (write_beat_i),
    .fetch_beat_i  (r_valid_i),
    .read_bytes_i  (read_bytes_i),
    .write_bytes_i (write_bytes_i),
    .block_i       (block_i),
    .index_i       (counter_index),
    .value_o       (counter_value)
  );

  // --- Fetch, dispatch and queues ------------------------------------------------------------------
  gw_cmd_fetch #(.BUS_BYTES(BUS_BYTES)) u_fetch (
    .clk_i, .rst_ni,
    .clear_i       (clear_o),
    .run_i         (run_o),
    .cmd_addr_i    (cmd_addr),
    .cmd_count_i   (cmd_count),
    .ring_size_i   (ring_size),
    .dram_base_i   (dram_base),
    .dram_size_i   (dram_size),
    .ar_valid_o    (ar_valid_o),
    .ar_ready_i    (ar_ready_i),
    .ar_addr_o     (ar_addr_o),
    .ar_len_o      (ar_len_o),
    .ar_user_o     (ar_user_o),
    .r_valid_i     (r_valid_i),
    .r_data_i      (r_data_i),
    .r_resp_i      (r_resp_i),
    .r_last_i      (r_last_i),
    .cmd_valid_o   (fetch_valid),
    .cmd_ready_i   (fetch_ready),
    .cmd_o         (fetch_cmd),
    .received_o    (received),
    .err_valid_o   (fetch_err_valid),
    .err_code_o    (fetch_err_code),
    .err_index_o   (fetch_err_index),
    .quiet_o       (fetch_quiet),
    .cnt_active_o  (fetch_counters[0]),
    .cnt_dram_o    (fetch_counters[1]),
    .cnt_blocked_o (fetch_counters[2]),
    .cnt_done_o    (fetch_counters[3])
  );

  gw_cmd_dispatch #(
    .LANES(LANES), .SPM_ROWS(SPM_ROWS), .CORES(CORES), .VECTORS(VECTORS), .SEMAPHORES(SEMAPHORES),
    .ENGINES(ENGINES)
  ) u_dispatch (
    .clk_i, .rst_ni,
    .clear_i     (clear_o),
    .run_i       (run_o),
    .dram_base_i (dram_base),
    .dram_size_i (dram_size),
    .cmd_valid_i (fetch_valid),
    .cmd_ready_o (fetch_ready),
    .cmd_i       (fetch_cmd),
    .push_o      (push),
    .full_i      (~room),
    .index_o     (dispatch_index),
    .err_valid_o (dispatch_err_valid),
    .err_code_o  (dispatch_err_code)
  );

  // A vector unit without a command rests, and so does its queue. Its clock goes on for some cycles behind its last command, in
  // which registers without an enable take what they would have for ever.
  if (VECTORS != 0) begin : gen_vector_clocks
    for (genvar u = 0; u < VECTORS; u++) begin : gen_vector_clock
      localparam int unsigned ENGINE = ENGINES - VECTORS + u;

      logic       needed;
      logic [4:0] needed_q;

      assign needed = push[ENGINE] | head_valid_o[ENGINE] | busy_i[ENGINE] | clear_o;

      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) needed_q <= '1;
        else needed_q <= {needed_q[3:0], needed};
      end

      gw_clock_gate u_gate (.clk_i, .en_i (needed | (|needed_q)), .clk_o (vector_clk_o[u]));
    end
  end else begin : gen_no_vector_clocks
    assign vector_clk_o = '0;
  end

  for (genvar e = 0; e < ENGINES; e++) begin : gen_queue
    logic clk;

    if (e < ENGINES - VECTORS) begin : gen_clock
      assign clk = clk_i;
    end else begin : gen_clock
      assign clk = vector_clk_o[e - (ENGINES - VECTORS)];
    end

    gw_fifo #(.WIDTH(gw_isa_pkg::CMD_BITS + 32), .DEPTH(QUEUE_DEPTH)) u_queue (
      .clk_i       (clk),
      .rst_ni,
      .clear_i     (clear_o),
      .in_valid_i  (push[e]),
      .in_ready_o  (room[e]),
      .in_data_i   ({dispatch_index, fetch_cmd}),
      .out_valid_o (head_valid_o[e]),
      .out_ready_i (start_o[e]),
      .out_data_o  ({head_index_o[32*e +: 32], head_cmd_o[512*e +: 512]}),
      // Full or not is all that dispatch needs.
      // verilator lint_off PINCONNECTEMPTY
      .count_o     ()
      // verilator lint_on PINCONNECTEMPTY
    );

    assign head_waits[48*e +: 48] = head_cmd_o[512*e + gw_isa_pkg::WAIT0_SEM_LSB +: 48];
  end

  logic [ENGINES-1:0] may_start; // what is no wait forbids it

  always_comb begin
    may_start        = start_ready_i & {ENGINES{run_o}};
    may_start[STORE] = may_start[STORE] & (~is_mark | mark_ready);
  end

  gw_semaphores #(.ENGINES(ENGINES), .SEMAPHORES(SEMAPHORES)) u_semaphores (
    .clk_i, .rst_ni,
    .clear_i      (clear_o),
    .req_i        (head_valid_o & may_start),
    .waits_i      (head_waits),
    .grant_o      (start_o),
    .done_valid_i (done_valid_i),
    .done_index_i (done_index_i),
    .done_posts_i (done_posts_i),
    .err_valid_o  (sem_err_valid),
    .err_index_o  (sem_err_index)
  );

  // --- Events --------------------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      evt_run_o         <= 1'b0;
      evt_issue_o       <= 1'b0;
      evt_issue_index_o <= '0;
      evt_start_o       <= '0;
      evt_start_index_o <= '0;
      evt_done_o        <= '0;
      evt_done_index_o  <= '0;
    end else begin
      evt_run_o         <= run_o;
      evt_issue_o       <= |push;
      evt_issue_index_o <= dispatch_index;
      evt_start_o       <= start_o;
      evt_start_index_o <= head_index_o;
      evt_done_o        <= done_valid_i & {ENGINES{run_o}};
      evt_done_index_o  <= done_index_i;
    end
  end

  // --- Assertions ----------------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      only_a_ready_engine_starts:
        assert ((start_o & ~start_ready_i) == '0);
      a_finished_run_leaves_nothing_behind:
        assert (~finished | ((busy_i == '0) & (head_valid_o == '0) & fetch_quiet & (&quiet_i)));
    end
  end

endmodule
