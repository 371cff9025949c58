// Cuts a bus of BUS_BYTES into AXI4 ports of PORT_BYTES, at most 128, which is where AXI4 ends.
//
// Interleaving: of each beat of the bus, port p has bytes p * PORT_BYTES to (p + 1) * PORT_BYTES - 1. Each port has an
// address space of its own, in which its pieces lie one behind the other: byte `a` of the bus is byte
//
//     a / BUS_BYTES * PORT_BYTES + a mod PORT_BYTES   of port   a / PORT_BYTES mod PORTS
//
// So a burst is one of as many beats on each port, at its address divided by PORTS, and stays in a 4 KB page there if it
// does here. AxUSER goes to all ports as it is: the wanted bytes of the whole burst.
//
// Ports need not keep step. Addresses and write data wait for the last port that takes them, a beat of read data and a
// write response for the last port that brings them (gw_port_fork, gw_port_join); if all ports act in one cycle, so does
// the bus: then it is as if there was one port. An error on one port is an error of the beat or burst.
//
// IDs: ports see ID 0 only, so each has to answer in order, and the ports' beats belong together. Which burst has which
// ID on the bus is kept here. With one port there is nothing to do: all of its signals are those of the bus.
module gw_port_split #(
  parameter int unsigned BUS_BYTES  = 16, // powers of two, from 4
  parameter int unsigned PORT_BYTES = 8,  // at most BUS_BYTES and 128
  parameter int unsigned READS      = 67, // bursts under way; with more, addresses wait
  localparam int unsigned PORTS     = BUS_BYTES / PORT_BYTES
) (
  // One port has no state.
  // verilator lint_off UNUSEDSIGNAL
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                clear_i,
  // verilator lint_on UNUSEDSIGNAL

  // The bus; read data and write responses are always taken
  input  logic                                ar_valid_i,
  output logic                                ar_ready_o,
  input  logic                                ar_id_i,
  input  gw_isa_pkg::addr_t                   ar_addr_i,
  input  gw_bus_pkg::len_t                    ar_len_i,
  input  gw_bus_pkg::user_t                   ar_user_i,
  output logic                                r_valid_o,
  output logic                                r_id_o,
  output logic [8*BUS_BYTES-1:0]              r_data_o,
  output gw_bus_pkg::resp_t                   r_resp_o,
  output logic                                r_last_o,
  input  logic                                aw_valid_i,
  output logic                                aw_ready_o,
  input  gw_isa_pkg::addr_t                   aw_addr_i,
  input  gw_bus_pkg::len_t                    aw_len_i,
  input  gw_bus_pkg::user_t                   aw_user_i,
  input  logic                                w_valid_i,
  output logic                                w_ready_o,
  input  logic [8*BUS_BYTES-1:0]              w_data_i,
  input  logic [BUS_BYTES-1:0]                w_strb_i,
  input  logic                                w_last_i,
  output logic                                b_valid_o,
  output gw_bus_pkg::resp_t                   b_resp_o,

  // The ports: AXI4 masters, port 0 lowest
  output logic [PORTS-1:0]                    m_axi_arvalid_o,
  input  logic [PORTS-1:0]                    m_axi_arready_i,
  output logic [PORTS-1:0]                    m_axi_arid_o,
  output logic [gw_isa_pkg::ADDR_W*PORTS-1:0] m_axi_araddr_o,
  output logic [gw_bus_pkg::LEN_W*PORTS-1:0]  m_axi_arlen_o,
  output logic [gw_bus_pkg::SIZE_W*PORTS-1:0] m_axi_arsize_o,
  output logic [gw_bus_pkg::KIND_W*PORTS-1:0] m_axi_arburst_o,
  output logic [gw_bus_pkg::USER_W*PORTS-1:0] m_axi_aruser_o,
  input  logic [PORTS-1:0]                    m_axi_rvalid_i,
  output logic [PORTS-1:0]                    m_axi_rready_o,
  input  logic [PORTS-1:0]                    m_axi_rid_i,
  input  logic [8*BUS_BYTES-1:0]              m_axi_rdata_i,
  input  logic [gw_bus_pkg::RESP_W*PORTS-1:0] m_axi_rresp_i,
  input  logic [PORTS-1:0]                    m_axi_rlast_i,
  output logic [PORTS-1:0]                    m_axi_awvalid_o,
  input  logic [PORTS-1:0]                    m_axi_awready_i,
  output logic [PORTS-1:0]                    m_axi_awid_o,
  output logic [gw_isa_pkg::ADDR_W*PORTS-1:0] m_axi_awaddr_o,
  output logic [gw_bus_pkg::LEN_W*PORTS-1:0]  m_axi_awlen_o,
  output logic [gw_bus_pkg::SIZE_W*PORTS-1:0] m_axi_awsize_o,
  output logic [gw_bus_pkg::KIND_W*PORTS-1:0] m_axi_awburst_o,
  output logic [gw_bus_pkg::USER_W*PORTS-1:0] m_axi_awuser_o,
  output logic [PORTS-1:0]                    m_axi_wvalid_o,
  input  logic [PORTS-1:0]                    m_axi_wready_i,
  output logic [8*BUS_BYTES-1:0]              m_axi_wdata_o,
  output logic [BUS_BYTES-1:0]                m_axi_wstrb_o,
  output logic [PORTS-1:0]                    m_axi_wlast_o,
  input  logic [PORTS-1:0]                    m_axi_bvalid_i,
  output logic [PORTS-1:0]                    m_axi_bready_o,
  input  logic [gw_bus_pkg::RESP_W*PORTS-1:0] m_axi_bresp_i
);

  localparam gw_bus_pkg::size_t  SIZE = 3'($clog2(PORT_BYTES));
  localparam gw_bus_pkg::burst_t INCR = 2'b01;

  // --- What all ports have alike -------------------------------------------------------------------
  assign m_axi_araddr_o  = {PORTS{ar_addr_i >> $clog2(PORTS)}};
  assign m_axi_arlen_o   = {PORTS{ar_len_i}};
  assign m_axi_arsize_o  = {PORTS{SIZE}};
  assign m_axi_arburst_o = {PORTS{INCR}};
  assign m_axi_aruser_o  = {PORTS{ar_user_i}};
  assign m_axi_awid_o    = '0;
  assign m_axi_awaddr_o  = {PORTS{aw_addr_i >> $clog2(PORTS)}};
  assign m_axi_awlen_o   = {PORTS{aw_len_i}};
  assign m_axi_awsize_o  = {PORTS{SIZE}};
  assign m_axi_awburst_o = {PORTS{INCR}};
  assign m_axi_awuser_o  = {PORTS{aw_user_i}};
  assign m_axi_wdata_o   = w_data_i;
  assign m_axi_wstrb_o   = w_strb_i;
  assign m_axi_wlast_o   = {PORTS{w_last_i}};

  // OKAY 0, SLVERR 2, DECERR 3: the worst of them is their union.
  function automatic logic [1:0] worst(input logic [gw_bus_pkg::RESP_W*PORTS-1:0] of_ports);
    worst = 2'b00;
    for (int unsigned p = 0; p < PORTS; p++) worst = worst | of_ports[gw_bus_pkg::RESP_W*p +: gw_bus_pkg::RESP_W];
  endfunction

  if (PORTS == 1) begin : gen_one
    assign m_axi_arvalid_o = ar_valid_i;
    assign ar_ready_o      = m_axi_arready_i;
    assign m_axi_arid_o    = ar_id_i;
    assign r_valid_o       = m_axi_rvalid_i;
    assign m_axi_rready_o  = 1'b1;
    assign r_id_o          = m_axi_rid_i;
    assign r_data_o        = m_axi_rdata_i;
    assign r_resp_o        = m_axi_rresp_i;
    assign r_last_o        = m_axi_rlast_i;
    assign m_axi_awvalid_o = aw_valid_i;
    assign aw_ready_o      = m_axi_awready_i;
    assign m_axi_wvalid_o  = w_valid_i;
    assign w_ready_o       = m_axi_wready_i;
    assign b_valid_o       = m_axi_bvalid_i;
    assign m_axi_bready_o  = 1'b1;
    assign b_resp_o        = m_axi_bresp_i;
  end else begin : gen_several
    localparam int unsigned BEAT_W = 8 * PORT_BYTES + gw_bus_pkg::RESP_W + 1; // data, response, last

    // --- Read addresses, and the IDs of those under way ------------------------------------------------
    logic ids_room, ar_taken, ar_pushed, r_id_valid;

    assign ar_ready_o   = ar_taken && ids_room;
    assign ar_pushed    = ar_valid_i && ar_ready_o;
    assign m_axi_arid_o = '0;

    gw_port_fork #(.PORTS(PORTS)) u_read_address (
      .clk_i, .rst_ni, .clear_i, .valid_i (ar_valid_i && ids_room), .ready_o (ar_taken),
      .valid_o (m_axi_arvalid_o), .ready_i (m_axi_arready_i)
    );

    // verilator lint_off PINCONNECTEMPTY
    gw_fifo #(.WIDTH(1), .DEPTH(READS)) u_ids (
      .clk_i, .rst_ni, .clear_i, .in_valid_i (ar_pushed), .in_ready_o (ids_room), .in_data_i (ar_id_i),
      .out_valid_o (r_id_valid), .out_ready_i (r_valid_o && r_last_o), .out_data_o (r_id_o), .count_o ()
    );
    // verilator lint_on PINCONNECTEMPTY

    // --- Read data ---------------------------------------------------------------------------------
    logic [BEAT_W*PORTS-1:0]             beats, beat;
    logic [PORTS-1:0]                    lasts;
    logic [gw_bus_pkg::RESP_W*PORTS-1:0] resps;

    for (genvar p = 0; p < PORTS; p++) begin : gen_port
      assign beats[BEAT_W*p +: BEAT_W] =
        {m_axi_rlast_i[p], m_axi_rresp_i[gw_bus_pkg::RESP_W*p +: gw_bus_pkg::RESP_W], m_axi_rdata_i[8*PORT_BYTES*p +: 8*PORT_BYTES]};
      assign {lasts[p], resps[gw_bus_pkg::RESP_W*p +: gw_bus_pkg::RESP_W], r_data_o[8*PORT_BYTES*p +: 8*PORT_BYTES]} =
        beat[BEAT_W*p +: BEAT_W];
    end

    gw_port_join #(.PORTS(PORTS), .WIDTH(BEAT_W)) u_read_data (
      .clk_i, .rst_ni, .clear_i, .valid_i (m_axi_rvalid_i), .ready_o (m_axi_rready_o), .data_i (beats),
      .valid_o (r_valid_o), .data_o (beat)
    );

    assign r_last_o = &lasts;
    assign r_resp_o = worst(resps);

    // --- Writes --------------------------------------------------------------------------------------
    logic [gw_bus_pkg::RESP_W*PORTS-1:0] answers;

    gw_port_fork #(.PORTS(PORTS)) u_write_address (
      .clk_i, .rst_ni, .clear_i, .valid_i (aw_valid_i), .ready_o (aw_ready_o),
      .valid_o (m_axi_awvalid_o), .ready_i (m_axi_awready_i)
    );
    gw_port_fork #(.PORTS(PORTS)) u_write_data (
      .clk_i, .rst_ni, .clear_i, .valid_i (w_valid_i), .ready_o (w_ready_o),
      .valid_o (m_axi_wvalid_o), .ready_i (m_axi_wready_i)
    );
    gw_port_join #(.PORTS(PORTS), .WIDTH(gw_bus_pkg::RESP_W)) u_write_response (
      .clk_i, .rst_ni, .clear_i, .valid_i (m_axi_bvalid_i), .ready_o (m_axi_bready_o), .data_i (m_axi_bresp_i),
      .valid_o (b_valid_o), .data_o (answers)
    );

    assign b_resp_o = worst(answers);

    // --- Assertions ------------------------------------------------------------------------------
`ifndef SYNTHESIS
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (rst_ni) begin
        ports_end_a_burst_with_the_same_beat: assert (!r_valid_o || lasts == '0 || (&lasts));
        data_belongs_to_a_burst: assert (!r_valid_o || r_id_valid);
        ports_answer_with_the_id_that_they_see: assert ((m_axi_rvalid_i & m_axi_rid_i) == '0);
      end
    end
`endif
  end

endmodule
