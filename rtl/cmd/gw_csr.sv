// Control and status registers of isa.toml behind an AXI4-Lite slave.
//
// One write and one read at a time. A write is refused (SLVERR, no effect) if it hits no writable register, if it
// changes the configuration or resets while a run is busy, or if it starts a run that is busy or stands in an error
// (unless the same write resets). While a ring is open CMD_COUNT, its tail, may rise, as far as the ring has room.
// Closing a ring that is not open and taking a mark where there is none are refused. Reads of registers that do not exist or are write-only answer SLVERR and 0. So do
// addresses that are no multiple of 4.
module gw_csr #(
  parameter int unsigned                        CORES = 1,
  parameter int unsigned                        VECTORS = 0,
  parameter logic [32*gw_isa_pkg::CFG_NUM-1:0] CFG   = '0 // registers from CSR_CFG on, the first lowest
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // AXI4-Lite
  input  logic                       s_axil_awvalid_i,
  output logic                       s_axil_awready_o,
  input  gw_isa_pkg::csr_addr_t      s_axil_awaddr_i,
  input  logic                       s_axil_wvalid_i,
  output logic                       s_axil_wready_o,
  input  gw_isa_pkg::csr_data_t      s_axil_wdata_i,
  input  logic [3:0]                 s_axil_wstrb_i,
  output logic                       s_axil_bvalid_o,
  input  logic                       s_axil_bready_i,
  output gw_bus_pkg::resp_t          s_axil_bresp_o,
  input  logic                       s_axil_arvalid_i,
  output logic                       s_axil_arready_o,
  input  gw_isa_pkg::csr_addr_t      s_axil_araddr_i,
  output logic                       s_axil_rvalid_o,
  input  logic                       s_axil_rready_i,
  output gw_isa_pkg::csr_data_t      s_axil_rdata_o,
  output gw_bus_pkg::resp_t          s_axil_rresp_o,
  // Configuration
  output gw_isa_pkg::addr_t          cmd_addr_o,
  output gw_isa_pkg::index_t         cmd_count_o,
  output gw_isa_pkg::index_t         ring_size_o,
  output gw_isa_pkg::addr_t          dram_base_o,
  output gw_isa_pkg::addr_t          dram_size_o,
  output logic [31:0]                watchdog_o,
  // Run control
  output logic                       start_o,
  output logic                       soft_reset_o,
  output logic                       irq_clear_o,
  output logic                       close_o,
  input  logic                       open_i,
  input  gw_isa_pkg::index_t         head_i,
  input  logic                       busy_i,
  input  logic                       done_i,
  input  logic                       error_i,
  input  logic                       irq_i,
  input  gw_isa_pkg::err_t           err_code_i,
  input  gw_isa_pkg::index_t         err_index_i,
  input  gw_isa_pkg::csr_data_t      err_word_i,
  input  gw_isa_pkg::index_t         retired_i,
  // Mark log
  output logic                       mark_take_o,
  input  logic                       mark_valid_i,
  input  gw_isa_pkg::tag_t           mark_tag_i,
  input  gw_isa_pkg::counter_t       mark_cycle_i,
  // Counters
  output gw_isa_pkg::counter_index_t counter_index_o,
  input  gw_isa_pkg::counter_t       counter_value_i
);

  localparam logic [1:0]  RESP_OKAY      = 2'b00;
  localparam logic [1:0]  RESP_SLVERR    = 2'b10;
  localparam logic [31:0] WATCHDOG_RESET = 32'd65536;
  localparam logic [11:0] CFG_END        = gw_isa_pkg::CSR_CFG + 12'(4 * gw_isa_pkg::CFG_NUM);
  localparam logic [11:0] COUNTERS_END   = gw_isa_pkg::CSR_COUNTERS + 12'(8 * (gw_isa_pkg::CNT_NUM +
                                           (CORES - 1) * gw_isa_pkg::CNT_CORE_NUM + VECTORS * gw_isa_pkg::CNT_VECTOR_NUM));

  // --- Write channel -------------------------------------------------------------------------------
  // Address and data are kept until both are here and the response before was taken.
  logic                  aw_held_q, w_held_q, b_valid_q;
  gw_isa_pkg::csr_addr_t aw_addr_q;
  gw_isa_pkg::csr_data_t w_data_q;
  logic [3:0]            w_strb_q;
  gw_bus_pkg::resp_t     b_resp_q;
  logic                  write, write_ok;

  assign s_axil_awready_o = ~aw_held_q;
  assign s_axil_wready_o  = ~w_held_q;
  assign s_axil_bvalid_o  = b_valid_q;
  assign s_axil_bresp_o   = b_resp_q;
  assign write            = aw_held_q & w_held_q & ~b_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_held_q <= 1'b0;
      aw_addr_q <= 12'd0;
      w_held_q  <= 1'b0;
      w_data_q  <= 32'd0;
      w_strb_q  <= 4'd0;
      b_valid_q <= 1'b0;
      b_resp_q  <= RESP_OKAY;
    end else begin
      if (write) begin
        aw_held_q <= 1'b0;
        w_held_q  <= 1'b0;
        b_valid_q <= 1'b1;
        b_resp_q  <= write_ok ? RESP_OKAY : RESP_SLVERR;
      end else if (s_axil_bready_i) begin
        b_valid_q <= 1'b0;
      end
      if (s_axil_awvalid_i && s_axil_awready_o) begin
        aw_held_q <= 1'b1;
        aw_addr_q <= s_axil_awaddr_i;
      end
      if (s_axil_wvalid_i && s_axil_wready_o) begin
        w_held_q <= 1'b1;
        w_data_q <= s_axil_wdata_i;
        w_strb_q <= s_axil_wstrb_i;
      end
    end
  end

  // --- Configuration registers ---------------------------------------------------------------------
  gw_isa_pkg::addr_t  cmd_addr_q, dram_base_q, dram_size_q;
  gw_isa_pkg::index_t cmd_count_q, ring_size_q, tail;
  logic [31:0]        watchdog_q;
  logic               is_config, config_ok, config_write, tail_fits;

  function automatic logic [31:0] merge(input logic [31:0] old, input logic [31:0] data, input logic [3:0] strb);
    logic [31:0] mask;
    mask  = {{8{strb[3]}}, {8{strb[2]}}, {8{strb[1]}}, {8{strb[0]}}};
    merge = (old & ~mask) | (data & mask);
  endfunction

  // What CMD_COUNT would become, if it is written
  assign tail         = merge(cmd_count_q, w_data_q, w_strb_q);
  assign tail_fits    = (tail >= cmd_count_q) & ((tail - head_i) <= ring_size_q);
  assign config_ok    = is_config & (~busy_i | (open_i & (aw_addr_q == gw_isa_pkg::CSR_CMD_COUNT) & tail_fits));
  assign config_write = write & config_ok;

  always_comb begin
    case (aw_addr_q)
      gw_isa_pkg::CSR_CMD_ADDR_LO, gw_isa_pkg::CSR_CMD_ADDR_HI, gw_isa_pkg::CSR_CMD_COUNT,
      gw_isa_pkg::CSR_RING_SIZE, gw_isa_pkg::CSR_DRAM_BASE_LO, gw_isa_pkg::CSR_DRAM_BASE_HI,
      gw_isa_pkg::CSR_DRAM_SIZE_LO, gw_isa_pkg::CSR_DRAM_SIZE_HI, gw_isa_pkg::CSR_WATCHDOG: is_config = 1'b1;
      default: is_config = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cmd_addr_q  <= 64'd0;
      cmd_count_q <= 32'd0;
      ring_size_q <= 32'd0;
      dram_base_q <= 64'd0;
      dram_size_q <= 64'd0;
      watchdog_q  <= WATCHDOG_RESET;
    end else if (config_write) begin
      case (aw_addr_q)
        gw_isa_pkg::CSR_CMD_ADDR_LO:  cmd_addr_q[31:0]   <= merge(cmd_addr_q[31:0], w_data_q, w_strb_q);
        gw_isa_pkg::CSR_CMD_ADDR_HI:  cmd_addr_q[63:32]  <= merge(cmd_addr_q[63:32], w_data_q, w_strb_q);
        gw_isa_pkg::CSR_CMD_COUNT:    cmd_count_q        <= tail;
        gw_isa_pkg::CSR_RING_SIZE:    ring_size_q        <= merge(ring_size_q, w_data_q, w_strb_q);
        gw_isa_pkg::CSR_DRAM_BASE_LO: dram_base_q[31:0]  <= merge(dram_base_q[31:0], w_data_q, w_strb_q);
        gw_isa_pkg::CSR_DRAM_BASE_HI: dram_base_q[63:32] <= merge(dram_base_q[63:32], w_data_q, w_strb_q);
        gw_isa_pkg::CSR_DRAM_SIZE_LO: dram_size_q[31:0]  <= merge(dram_size_q[31:0], w_data_q, w_strb_q);
        gw_isa_pkg::CSR_DRAM_SIZE_HI: dram_size_q[63:32] <= merge(dram_size_q[63:32], w_data_q, w_strb_q);
        default:                   watchdog_q         <= merge(watchdog_q, w_data_q, w_strb_q);
      endcase
    end
  end

  assign cmd_addr_o  = cmd_addr_q;
  assign cmd_count_o = cmd_count_q;
  assign ring_size_o = ring_size_q;
  assign dram_base_o = dram_base_q;
  assign dram_size_o = dram_size_q;
  assign watchdog_o  = watchdog_q;

  // --- Control register ----------------------------------------------------------------------------
  logic is_ctrl, want_start, want_reset, want_close, want_mark, ctrl_ok;

  assign is_ctrl    = aw_addr_q == gw_isa_pkg::CSR_CTRL;
  assign want_start = w_strb_q[0] & w_data_q[0];
  assign want_reset = w_strb_q[0] & w_data_q[1];
  assign want_close = w_strb_q[0] & w_data_q[3];
  assign want_mark  = w_strb_q[0] & w_data_q[4];
  assign ctrl_ok    = ~((want_start | want_reset) & busy_i) & ~(want_start & ~want_reset & error_i) &
                      ~(want_close & ~open_i) & ~(want_mark & ~mark_valid_i);

  // A start clears as much as a soft reset does.
  assign start_o      = write & is_ctrl & ctrl_ok & want_start;
  assign soft_reset_o = write & is_ctrl & ctrl_ok & want_reset & ~want_start;
  assign irq_clear_o  = write & is_ctrl & ctrl_ok & w_strb_q[0] & w_data_q[2];
  assign close_o      = write & is_ctrl & ctrl_ok & want_close;
  assign mark_take_o  = write & is_ctrl & ctrl_ok & want_mark;
  assign write_ok     = config_ok | (is_ctrl & ctrl_ok);

  // --- Read channel --------------------------------------------------------------------------------
  logic                  ar_held_q, r_valid_q;
  gw_isa_pkg::csr_addr_t ar_addr_q;
  gw_isa_pkg::csr_data_t r_data_q;
  gw_bus_pkg::resp_t     r_resp_q;
  logic                  read, read_ok;
  gw_isa_pkg::csr_data_t read_data;
  logic                  is_counter;

  assign s_axil_arready_o = ~ar_held_q;
  assign s_axil_rvalid_o  = r_valid_q;
  assign s_axil_rdata_o   = r_data_q;
  assign s_axil_rresp_o   = r_resp_q;
  assign read             = ar_held_q & ~r_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_held_q <= 1'b0;
      ar_addr_q <= 12'd0;
      r_valid_q <= 1'b0;
      r_data_q  <= 32'd0;
      r_resp_q  <= RESP_OKAY;
    end else begin
      if (read) begin
        ar_held_q <= 1'b0;
        r_valid_q <= 1'b1;
        r_data_q  <= read_data;
        r_resp_q  <= read_ok ? RESP_OKAY : RESP_SLVERR;
      end else if (s_axil_rready_i) begin
        r_valid_q <= 1'b0;
      end
      if (s_axil_arvalid_i && s_axil_arready_o) begin
        ar_held_q <= 1'b1;
        ar_addr_q <= s_axil_araddr_i;
      end
    end
  end

  assign is_counter      = (ar_addr_q >= gw_isa_pkg::CSR_COUNTERS) & (ar_addr_q < COUNTERS_END) &
                           (ar_addr_q[1:0] == 2'b00);
  assign counter_index_o = 8'((ar_addr_q - gw_isa_pkg::CSR_COUNTERS) >> 3);

  always_comb begin
    read_ok   = read;
    read_data = 32'd0;
    if (read && is_counter) begin
      read_data = ar_addr_q[2] ? counter_value_i[63:32] : counter_value_i[31:0];
    end else if (read && (ar_addr_q >= gw_isa_pkg::CSR_CFG) && (ar_addr_q < CFG_END) && (ar_addr_q[1:0] == 2'b00)) begin
      read_data = 32'(CFG >> {ar_addr_q - gw_isa_pkg::CSR_CFG, 3'b000});
    end else if (read) begin
      case (ar_addr_q)
        gw_isa_pkg::CSR_ID:           read_data = gw_isa_pkg::ID_VALUE;
        gw_isa_pkg::CSR_STATUS:       read_data = {28'd0, irq_i, error_i, done_i, busy_i};
        gw_isa_pkg::CSR_ERR_CODE:     read_data = {24'd0, err_code_i};
        gw_isa_pkg::CSR_ERR_INDEX:    read_data = err_index_i;
        gw_isa_pkg::CSR_ERR_WORD:     read_data = err_word_i;
        gw_isa_pkg::CSR_CMD_ADDR_LO:  read_data = cmd_addr_q[31:0];
        gw_isa_pkg::CSR_CMD_ADDR_HI:  read_data = cmd_addr_q[63:32];
        gw_isa_pkg::CSR_CMD_COUNT:    read_data = cmd_count_q;
        gw_isa_pkg::CSR_DRAM_BASE_LO: read_data = dram_base_q[31:0];
        gw_isa_pkg::CSR_DRAM_BASE_HI: read_data = dram_base_q[63:32];
        gw_isa_pkg::CSR_DRAM_SIZE_LO: read_data = dram_size_q[31:0];
        gw_isa_pkg::CSR_DRAM_SIZE_HI: read_data = dram_size_q[63:32];
        gw_isa_pkg::CSR_WATCHDOG:     read_data = watchdog_q;
        gw_isa_pkg::CSR_RETIRED:      read_data = retired_i;
        gw_isa_pkg::CSR_RING_SIZE:    read_data = ring_size_q;
        gw_isa_pkg::CSR_RING_HEAD:    read_data = head_i;
        gw_isa_pkg::CSR_MARK_TAG:     read_data = mark_valid_i ? {15'd0, 1'b1, mark_tag_i} : 32'd0;
        gw_isa_pkg::CSR_MARK_CYCLE_LO: read_data = mark_valid_i ? mark_cycle_i[31:0] : 32'd0;
        gw_isa_pkg::CSR_MARK_CYCLE_HI: read_data = mark_valid_i ? mark_cycle_i[63:32] : 32'd0;
        default:                      read_ok   = 1'b0;
      endcase
    end
  end

  // --- Assertions ----------------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      nothing_starts_or_resets_while_a_run_is_busy:
        assert (~(start_o | soft_reset_o) | ~busy_i);
      a_refused_write_changes_nothing:
        assert (write_ok | ~(config_write | start_o | soft_reset_o | irq_clear_o | close_o | mark_take_o));
    end
  end

endmodule
