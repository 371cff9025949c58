// Shares the read channels of the bus between command fetch (port 0, ID 0, always first) and loads (port 1, ID 1).
//
// Fetch cannot starve loads: it stops when its buffer is full. The address leaves from a register, one burst a cycle
// while the memory is ready. Data is routed by its ID and is always taken.
module gw_axi_read_mux #(
  parameter int unsigned BUS_BYTES = 16 // a power of two, 4 to 2048
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

  // The bus
  output logic                   ar_valid_o,
  input  logic                   ar_ready_i,
  output logic                   ar_id_o,
  output gw_isa_pkg::addr_t      ar_addr_o,
  output gw_bus_pkg::len_t       ar_len_o,
  output gw_bus_pkg::user_t      ar_user_o,
  input  logic                   r_valid_i,
  input  logic                   r_id_i,
  input  logic [8*BUS_BYTES-1:0] r_data_i,
  input  gw_bus_pkg::resp_t      r_resp_i,
  input  logic                   r_last_i
);

  // --- Read address: fetch first --------------------------------------------------------------------------
  logic              valid_q, valid_d;
  logic              id_q, id_d;
  gw_isa_pkg::addr_t addr_q, addr_d;
  gw_bus_pkg::len_t  len_q, len_d;
  gw_bus_pkg::user_t user_q, user_d;
  logic              free;

  assign free         = !valid_q || ar_ready_i;
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

  assign ar_valid_o = valid_q;
  assign ar_id_o    = id_q;
  assign ar_addr_o  = addr_q;
  assign ar_len_o   = len_q;
  assign ar_user_o  = user_q;

  // --- Read data ----------------------------------------------------------------------------------------
  assign f_r_valid_o = r_valid_i && !r_id_i;
  assign f_r_data_o  = r_data_i;
  assign f_r_resp_o  = r_resp_i;
  assign f_r_last_o  = r_last_i;
  assign l_r_valid_o = r_valid_i && r_id_i;
  assign l_r_data_o  = r_data_i;
  assign l_r_resp_o  = r_resp_i;
  assign l_r_last_o  = r_last_i;

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
