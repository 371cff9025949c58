// Shares the AXI4 read channels between command fetch (port 0, ID 0, always first) and loads (port 1, ID 1).
//
// Fetch cannot starve loads: it stops when its buffer is full. The address leaves from a register, one burst a cycle
// while the memory is ready. Data is routed by its ID and is always taken.
module gw_axi_read_mux #(
  parameter int unsigned BUS_BYTES = 16 // a power of two, 4 to 256
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,

  // Port 0: command fetch
  input  logic                   f_ar_valid_i,
  output logic                   f_ar_ready_o,
  input  gw_isa_pkg::addr_t      f_ar_addr_i,
  input  gw_bus_pkg::len_t       f_ar_len_i,
  input  gw_bus_pkg::user_t      f_ar_user_i,
  output logic                   f_r_valid_o,
  output logic [8*BUS_BYTES-1:0] f_r_data_o,
  output gw_bus_pkg::resp_t      f_r_resp_o,
  output logic                   f_r_last_o,

  // Port 1: load engine
  input  logic                   l_ar_valid_i,
  output logic                   l_ar_ready_o,
  input  gw_isa_pkg::addr_t      l_ar_addr_i,
  input  gw_bus_pkg::len_t       l_ar_len_i,
  input  gw_bus_pkg::user_t      l_ar_user_i,
  output logic                   l_r_valid_o,
  output logic [8*BUS_BYTES-1:0] l_r_data_o,
  output gw_bus_pkg::resp_t      l_r_resp_o,
  output logic                   l_r_last_o,

  // AXI4 master, read channels
  output logic                   m_axi_arvalid_o,
  input  logic                   m_axi_arready_i,
  output logic [0:0]             m_axi_arid_o,
  output gw_isa_pkg::addr_t      m_axi_araddr_o,
  output gw_bus_pkg::len_t       m_axi_arlen_o,
  output gw_bus_pkg::size_t      m_axi_arsize_o,
  output gw_bus_pkg::burst_t     m_axi_arburst_o,
  output gw_bus_pkg::user_t      m_axi_aruser_o,
  input  logic                   m_axi_rvalid_i,
  output logic                   m_axi_rready_o,
  input  logic [0:0]             m_axi_rid_i,
  input  logic [8*BUS_BYTES-1:0] m_axi_rdata_i,
  input  gw_bus_pkg::resp_t      m_axi_rresp_i,
  input  logic                   m_axi_rlast_i
);

  // AXI4 ends at 128 bytes a beat. A wider bus is an extension: AxSIZE keeps its largest value, all beats are full.
  localparam int unsigned SIZE = ($clog2(BUS_BYTES) > 7) ? 7 : $clog2(BUS_BYTES);

  // --- Read address: fetch first --------------------------------------------------------------------------
  logic              valid_q, valid_d;
  logic              id_q, id_d;
  gw_isa_pkg::addr_t addr_q, addr_d;
  gw_bus_pkg::len_t  len_q, len_d;
  gw_bus_pkg::user_t user_q, user_d;
  logic              free;

  assign free             = !valid_q || m_axi_arready_i;
  assign f_ar_ready_o = free;
  assign l_ar_ready_o = free && !f_ar_valid_i;

  always_comb begin
    valid_d = valid_q;
    id_d    = id_q;
    addr_d  = addr_q;
    len_d   = len_q;
    user_d  = user_q;
    if (free) begin
      valid_d = f_ar_valid_i || l_ar_valid_i;
      id_d    = !f_ar_valid_i;
      addr_d  = f_ar_valid_i ? f_ar_addr_i : l_ar_addr_i;
      len_d   = f_ar_valid_i ? f_ar_len_i : l_ar_len_i;
      user_d  = f_ar_valid_i ? f_ar_user_i : l_ar_user_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      id_q    <= 1'b0;
      addr_q  <= '0;
      len_q   <= '0;
      user_q  <= '0;
    end else if (clear_i) begin
      valid_q <= 1'b0;
      id_q    <= 1'b0;
      addr_q  <= '0;
      len_q   <= '0;
      user_q  <= '0;
    end else begin
      valid_q <= valid_d;
      id_q    <= id_d;
      addr_q  <= addr_d;
      len_q   <= len_d;
      user_q  <= user_d;
    end
  end

  assign m_axi_arvalid_o = valid_q;
  assign m_axi_arid_o    = id_q;
  assign m_axi_araddr_o  = addr_q;
  assign m_axi_arlen_o   = len_q;
  assign m_axi_aruser_o  = user_q;
  assign m_axi_arsize_o  = 3'(SIZE);
  assign m_axi_arburst_o = 2'b01; // INCR

  // --- Read data ----------------------------------------------------------------------------------------
  assign m_axi_rready_o = 1'b1;
  assign f_r_valid_o    = m_axi_rvalid_i && !m_axi_rid_i[0];
  assign f_r_data_o     = m_axi_rdata_i;
  assign f_r_resp_o     = m_axi_rresp_i;
  assign f_r_last_o     = m_axi_rlast_i;
  assign l_r_valid_o    = m_axi_rvalid_i && m_axi_rid_i[0];
  assign l_r_data_o     = m_axi_rdata_i;
  assign l_r_resp_o     = m_axi_rresp_i;
  assign l_r_last_o     = m_axi_rlast_i;

  // --- Assertions ------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      a_burst_stays_in_its_page:
        assert (!valid_q || 32'(addr_q[11:0]) + (32'(len_q) + 32'd1) * BUS_BYTES <= 32'd4096);
      one_port_is_served_at_a_time: assert (!(f_ar_valid_i && l_ar_valid_i && l_ar_ready_o));
    end
  end
`endif

endmodule
