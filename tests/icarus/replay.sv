// Replays a recording of the Verilated NPU (recording_npu.hpp) on Icarus Verilog: the same inputs in every cycle, and
// every output compared in every cycle, four-valued. Before the recording begins all registers and inputs are X, reset
// included; payloads of channels that are not valid stay X. An X in an output that anyone looks at is a difference.
//
//   vvp NAME.vvp +recording=FILE [+dump=FILE.fst]      (vvp -fst for the waveform)
//
// Ends with status 0 if all cycles are equal, 1 at the first that is not.
`timescale 1ns / 1ps

`define CHECK(port) \
  if ((port ==? want_``port) !== 1'b1) begin \
    $display("replay: cycle %0d: %s is %b, recorded is %b", cycle, `"port`", port, want_``port); \
    different = 1'b1; \
  end

module replay;
  parameter ROWS        = 8;
  parameter COLS        = 8;
  parameter CORES       = 1;
  parameter SPM_ROWS    = 512;
  parameter SPM_BANKS   = 4;
  parameter BUS_BYTES   = 16;
  parameter PORT_BYTES  = 16;
  parameter QUEUE_DEPTH = 8;
  parameter SEMAPHORES  = 64;
  parameter OUTSTANDING = 64;
  parameter VECTOR_GROUPS = 0;
  localparam ENGINES    = 2 + CORES + ((VECTOR_GROUPS == 0) ? 0 : CORES);
  localparam PORTS      = BUS_BYTES / PORT_BYTES;
  localparam BUS        = 8 * BUS_BYTES;
  localparam ADDRESS    = (1 + 64 + 8 + 3 + 2 + 24) * PORTS;
  localparam INPUTS     = 1 + 13 + 37 + 1 + 13 + 1 + (3 + 5 + 4) * PORTS + BUS;
  localparam OUTPUTS    = 1 + 5 + 36 + 2 * (PORTS + ADDRESS) + 4 * PORTS + BUS_BYTES + BUS + 2 + 32 + 2 * 33 * ENGINES;

  // --- The NPU --------------------------------------------------------------------------------
  reg                 clk = 1'b0;
  reg  [INPUTS-1:0]   in = {INPUTS{1'bx}};
  wire                rst_n, awvalid, wvalid, bready, arvalid, rready;
  wire [11:0]         awaddr, araddr;
  wire [31:0]         wdata;
  wire [3:0]          wstrb;
  // Of the memory's ports, each field of all ports together, port 0 lowest
  wire [PORTS-1:0]    m_arready, m_awready, m_wready, m_rvalid, m_rid, m_rlast, m_bvalid, m_bid;
  wire [2*PORTS-1:0]  m_rresp, m_bresp;
  wire [BUS-1:0]      m_rdata;
  assign {rst_n, awvalid, awaddr, wvalid, wdata, wstrb, bready, arvalid, araddr, rready, m_arready, m_awready, m_wready,
          m_rvalid, m_rid, m_rresp, m_rlast, m_rdata, m_bvalid, m_bid, m_bresp} = in;

  wire                  irq, awready, wready, bvalid, arready, rvalid;
  wire [1:0]            bresp, rresp;
  wire [31:0]           rdata;
  wire [PORTS-1:0]      m_arvalid, m_awvalid, m_wvalid, m_wlast, m_rready, m_bready, m_arid, m_awid;
  wire [64*PORTS-1:0]   m_araddr, m_awaddr;
  wire [8*PORTS-1:0]    m_arlen, m_awlen;
  wire [3*PORTS-1:0]    m_arsize, m_awsize;
  wire [2*PORTS-1:0]    m_arburst, m_awburst;
  wire [24*PORTS-1:0]   m_aruser, m_awuser;
  wire [ADDRESS-1:0]    m_ar = {m_arid, m_araddr, m_arlen, m_arsize, m_arburst, m_aruser};
  wire [ADDRESS-1:0]    m_aw = {m_awid, m_awaddr, m_awlen, m_awsize, m_awburst, m_awuser};
  wire [BUS_BYTES-1:0]  m_wstrb;
  wire [BUS-1:0]        m_wdata;
  wire                  running, issued;
  wire [31:0]           issue_index;
  wire [ENGINES-1:0]    started, done;
  wire [32*ENGINES-1:0] start_index, done_index;

  gw_npu #(
    .ROWS(ROWS), .COLS(COLS), .CORES(CORES), .SPM_ROWS(SPM_ROWS), .SPM_BANKS(SPM_BANKS), .BUS_BYTES(BUS_BYTES),
    .PORT_BYTES(PORT_BYTES), .QUEUE_DEPTH(QUEUE_DEPTH), .SEMAPHORES(SEMAPHORES), .OUTSTANDING(OUTSTANDING),
    .VECTOR_GROUPS(VECTOR_GROUPS)
  ) dut (
    .clk_i(clk), .rst_ni(rst_n), .irq_o(irq),
    .s_axil_awvalid_i(awvalid), .s_axil_awready_o(awready), .s_axil_awaddr_i(awaddr),
    .s_axil_wvalid_i(wvalid), .s_axil_wready_o(wready), .s_axil_wdata_i(wdata), .s_axil_wstrb_i(wstrb),
    .s_axil_bvalid_o(bvalid), .s_axil_bready_i(bready), .s_axil_bresp_o(bresp),
    .s_axil_arvalid_i(arvalid), .s_axil_arready_o(arready), .s_axil_araddr_i(araddr),
    .s_axil_rvalid_o(rvalid), .s_axil_rready_i(rready), .s_axil_rdata_o(rdata), .s_axil_rresp_o(rresp),
    .m_axi_arvalid_o(m_arvalid), .m_axi_arready_i(m_arready), .m_axi_arid_o(m_arid), .m_axi_araddr_o(m_araddr),
    .m_axi_arlen_o(m_arlen), .m_axi_arsize_o(m_arsize), .m_axi_arburst_o(m_arburst),
    .m_axi_aruser_o(m_aruser),
    .m_axi_rvalid_i(m_rvalid), .m_axi_rready_o(m_rready), .m_axi_rid_i(m_rid), .m_axi_rdata_i(m_rdata),
    .m_axi_rresp_i(m_rresp), .m_axi_rlast_i(m_rlast),
    .m_axi_awvalid_o(m_awvalid), .m_axi_awready_i(m_awready), .m_axi_awid_o(m_awid), .m_axi_awaddr_o(m_awaddr),
    .m_axi_awlen_o(m_awlen), .m_axi_awsize_o(m_awsize), .m_axi_awburst_o(m_awburst),
    .m_axi_awuser_o(m_awuser),
    .m_axi_wvalid_o(m_wvalid), .m_axi_wready_i(m_wready), .m_axi_wdata_o(m_wdata), .m_axi_wstrb_o(m_wstrb),
    .m_axi_wlast_o(m_wlast),
    .m_axi_bvalid_i(m_bvalid), .m_axi_bready_o(m_bready), .m_axi_bid_i(m_bid), .m_axi_bresp_i(m_bresp),
    .evt_run_o(running), .evt_issue_o(issued), .evt_issue_index_o(issue_index), .evt_start_o(started),
    .evt_start_index_o(start_index), .evt_done_o(done), .evt_done_index_o(done_index)
  );

  // --- What the recording says of the outputs; z: not looked at --------------------------------
  reg  [OUTPUTS-1:0]    want;
  wire                  want_irq, want_awready, want_wready, want_bvalid, want_arready, want_rvalid;
  wire [1:0]            want_bresp, want_rresp;
  wire [31:0]           want_rdata;
  wire [PORTS-1:0]      want_m_arvalid, want_m_awvalid, want_m_wvalid, want_m_wlast, want_m_rready, want_m_bready;
  wire [ADDRESS-1:0]    want_m_ar, want_m_aw;
  wire [BUS_BYTES-1:0]  want_m_wstrb;
  wire [BUS-1:0]        want_m_wdata;
  wire                  want_running, want_issued;
  wire [31:0]           want_issue_index;
  wire [ENGINES-1:0]    want_started, want_done;
  wire [32*ENGINES-1:0] want_start_index, want_done_index;
  assign {want_irq, want_awready, want_wready, want_bvalid, want_bresp, want_arready, want_rvalid, want_rresp,
          want_rdata, want_m_arvalid, want_m_ar, want_m_awvalid, want_m_aw, want_m_wvalid, want_m_wlast, want_m_wstrb,
          want_m_wdata, want_m_rready, want_m_bready, want_running, want_issued, want_issue_index, want_started,
          want_start_index, want_done, want_done_index} = want;

  integer cycle = 0;
  reg     different = 1'b0;

  task compare;
    begin
      `CHECK(irq)
      `CHECK(awready)
      `CHECK(wready)
      `CHECK(bvalid)
      `CHECK(bresp)
      `CHECK(arready)
      `CHECK(rvalid)
      `CHECK(rresp)
      `CHECK(rdata)
      `CHECK(m_arvalid)
      `CHECK(m_ar)
      `CHECK(m_awvalid)
      `CHECK(m_aw)
      `CHECK(m_wvalid)
      `CHECK(m_wlast)
      `CHECK(m_wstrb)
      `CHECK(m_wdata)
      `CHECK(m_rready)
      `CHECK(m_bready)
      `CHECK(running)
      `CHECK(issued)
      `CHECK(issue_index)
      `CHECK(started)
      `CHECK(start_index)
      `CHECK(done)
      `CHECK(done_index)
    end
  endtask

  // --- Run ------------------------------------------------------------------------------------
  reg [8*1024-1:0] recording, dump;
  integer          file, fields;

  task finish_with(input integer status);
    begin
      $fclose(file);
      $finish_and_return(status);
    end
  endtask

  initial begin
    if (!$value$plusargs("recording=%s", recording)) begin
      $display("replay: no recording; give +recording=FILE");
      $finish_and_return(2);
    end
    if ($value$plusargs("dump=%s", dump)) begin
      $dumpfile(dump);
      $dumpvars(0, replay);
    end
    file = $fopen(recording, "r");
    if (file == 0) begin
      $display("replay: %0s cannot be read", recording);
      $finish_and_return(2);
    end
    repeat (3) begin // all X
      #5 clk = 1'b1;
      #5 clk = 1'b0;
    end
    fields = $fscanf(file, "%b %b\n", in, want);
    while (fields == 2) begin
      cycle = cycle + 1;
      #5 clk = 1'b1;
      #4 compare;
      #1 clk = 1'b0;
      if (different) finish_with(1);
      fields = $fscanf(file, "%b %b\n", in, want);
    end
    if (cycle == 0 || fields > 0) begin
      $display("replay: %0s is no recording, or ends within a cycle", recording);
      finish_with(2);
    end
    $display("replay: %0d cycles, all outputs equal", cycle);
    finish_with(0);
  end
endmodule
