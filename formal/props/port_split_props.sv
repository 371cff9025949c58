// port_split: interleaving loses, doubles and reorders nothing, whatever the ports do. Each port is offered each burst and each
// write beat once, in order, as an AXI4 master offers it, and a burst stays in its page there; what the bus gets is for each port
// the next one of its beats and responses, unchanged, with the ID of the next burst of the bus; the worst response counts. If
// all ports act in a cycle, so does the bus.
//
// How far a port is ahead of the bus is counted from the interface alone. The n-th beat of every port and the n-th
// response, n arbitrary modulo 8 (`which_i` in reset), are noted when the port hands them over and compared when they leave.
//
// sources: common/gw_fifo.sv bus/gw_port_fork.sv bus/gw_port_join.sv bus/gw_port_split.sv
// memory: ids dut.gen_several.u_ids.mem READS
module port_split_props #(
  parameter int unsigned PORTS      = 2,
  parameter int unsigned PORT_BYTES = 4,
  parameter int unsigned READS      = 3,
  localparam int unsigned BUS_BYTES = PORTS * PORT_BYTES,
  localparam int unsigned DATA      = 8 * PORT_BYTES
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,
  input  logic                   ar_valid_i,
  input  logic                   ar_id_i,
  input  logic [63:0]            ar_addr_i,
  input  logic [7:0]             ar_len_i,
  input  logic [23:0]            ar_user_i,
  input  logic                   aw_valid_i,
  input  logic [63:0]            aw_addr_i,
  input  logic [7:0]             aw_len_i,
  input  logic [23:0]            aw_user_i,
  input  logic                   w_valid_i,
  input  logic [8*BUS_BYTES-1:0] w_data_i,
  input  logic [BUS_BYTES-1:0]   w_strb_i,
  input  logic                   w_last_i,
  input  logic [PORTS-1:0]       arready_i,
  input  logic [PORTS-1:0]       rvalid_i,
  input  logic [8*BUS_BYTES-1:0] rdata_i,
  input  logic [2*PORTS-1:0]     rresp_i,
  input  logic [PORTS-1:0]       rlast_i,
  input  logic [PORTS-1:0]       awready_i,
  input  logic [PORTS-1:0]       wready_i,
  input  logic [PORTS-1:0]       bvalid_i,
  input  logic [2*PORTS-1:0]     bresp_i,
  input  logic [2:0]             which_i,
  input  logic                   watch_i,
  output logic                   covered_o
);

  logic                   ar_ready, r_valid, r_id, r_last, aw_ready, w_ready, b_valid;
  logic [8*BUS_BYTES-1:0] r_data, wdata;
  logic [1:0]             r_resp, b_resp;
  logic [BUS_BYTES-1:0]   wstrb;
  logic [PORTS-1:0]       arvalid, arid, rready, awvalid, awid, wvalid, wlast, bready;
  logic [64*PORTS-1:0]    araddr, awaddr;
  logic [8*PORTS-1:0]     arlen, awlen;
  logic [3*PORTS-1:0]     arsize, awsize;
  logic [2*PORTS-1:0]     arburst, awburst;
  logic [24*PORTS-1:0]    aruser, awuser;

  gw_port_split #(.BUS_BYTES(BUS_BYTES), .PORT_BYTES(PORT_BYTES), .READS(READS)) dut (
    .clk_i, .rst_ni, .clear_i,
    .ar_valid_i, .ar_ready_o (ar_ready), .ar_id_i, .ar_addr_i, .ar_len_i, .ar_user_i,
    .r_valid_o (r_valid), .r_id_o (r_id), .r_data_o (r_data), .r_resp_o (r_resp), .r_last_o (r_last),
    .aw_valid_i, .aw_ready_o (aw_ready), .aw_addr_i, .aw_len_i, .aw_user_i,
    .w_valid_i, .w_ready_o (w_ready), .w_data_i, .w_strb_i, .w_last_i,
    .b_valid_o (b_valid), .b_resp_o (b_resp),
    .m_axi_arvalid_o (arvalid), .m_axi_arready_i (arready_i), .m_axi_arid_o (arid), .m_axi_araddr_o (araddr),
    .m_axi_arlen_o (arlen), .m_axi_arsize_o (arsize), .m_axi_arburst_o (arburst), .m_axi_aruser_o (aruser),
    .m_axi_rvalid_i (rvalid_i), .m_axi_rready_o (rready), .m_axi_rid_i ({PORTS{1'b0}}), .m_axi_rdata_i (rdata_i),
    .m_axi_rresp_i (rresp_i), .m_axi_rlast_i (rlast_i),
    .m_axi_awvalid_o (awvalid), .m_axi_awready_i (awready_i), .m_axi_awid_o (awid), .m_axi_awaddr_o (awaddr),
    .m_axi_awlen_o (awlen), .m_axi_awsize_o (awsize), .m_axi_awburst_o (awburst), .m_axi_awuser_o (awuser),
    .m_axi_wvalid_o (wvalid), .m_axi_wready_i (wready_i), .m_axi_wdata_o (wdata), .m_axi_wstrb_o (wstrb),
    .m_axi_wlast_o (wlast),
    .m_axi_bvalid_i (bvalid_i), .m_axi_bready_o (bready), .m_axi_bresp_i (bresp_i)
  );

  // --- Environment: the bus offers as its blocks are proven to; clear comes when nothing is offered. A port answers what it
  // --- was asked, a burst of the bus ends with the same beat on all ports (the memory's part of AXI4) ---------------------------
  reset_first u_reset (.clk_i, .rst_ni);

  logic         ar_waits_q, aw_waits_q, w_waits_q;
  logic [96:0]  ar_q;
  logic [95:0]  aw_q;
  logic [9*BUS_BYTES:0] w_q;
  logic [3:0]   under_way_q; // reads taken from the bus and not answered
  logic [2:0]   which_q;

  always @(posedge clk_i) begin
    ar_waits_q <= rst_ni && !clear_i && ar_valid_i && !ar_ready;
    aw_waits_q <= rst_ni && !clear_i && aw_valid_i && !aw_ready;
    w_waits_q  <= rst_ni && !clear_i && w_valid_i && !w_ready;
    ar_q       <= {ar_id_i, ar_addr_i, ar_len_i, ar_user_i};
    aw_q       <= {aw_addr_i, aw_len_i, aw_user_i};
    w_q        <= {w_last_i, w_strb_i, w_data_i};
    if (!rst_ni) which_q <= which_i;
  end

  function automatic logic in_page(input logic [63:0] addr, input logic [7:0] len, input logic [31:0] beat);
    in_page = 32'(addr[11:0]) + (32'(len) + 32'd1) * beat <= 32'd4096;
  endfunction
  function automatic logic whole_beats(input logic [63:0] addr);
    whole_beats = (addr & 64'(BUS_BYTES - 1)) == 64'd0;
  endfunction

  always @* begin
    assume (!ar_waits_q || (ar_valid_i && ar_q == {ar_id_i, ar_addr_i, ar_len_i, ar_user_i}));
    assume (!aw_waits_q || (aw_valid_i && aw_q == {aw_addr_i, aw_len_i, aw_user_i}));
    assume (!w_waits_q || (w_valid_i && w_q == {w_last_i, w_strb_i, w_data_i}));
    assume (!ar_valid_i || (in_page(ar_addr_i, ar_len_i, BUS_BYTES) && whole_beats(ar_addr_i)));
    assume (!aw_valid_i || (in_page(aw_addr_i, aw_len_i, BUS_BYTES) && whole_beats(aw_addr_i)));
    assume (!r_valid || under_way_q != 4'd0);
  end

  // --- Ghosts: which ports are a transfer ahead of the bus ----------------------------------------------------------------
  logic [PORTS-1:0] ar_ahead_q, aw_ahead_q, w_ahead_q, r_ahead_q, b_ahead_q;
  logic [PORTS-1:0] ar_taken, aw_taken, w_taken, r_given, b_given;
  logic             ar_done, aw_done, w_done;
  assign ar_taken = arvalid & arready_i;
  assign aw_taken = awvalid & awready_i;
  assign w_taken  = wvalid & wready_i;
  assign r_given  = rvalid_i & rready;
  assign b_given  = bvalid_i & bready;
  assign ar_done  = ar_valid_i && ar_ready;
  assign aw_done  = aw_valid_i && aw_ready;
  assign w_done   = w_valid_i && w_ready;

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      {ar_ahead_q, aw_ahead_q, w_ahead_q, r_ahead_q, b_ahead_q} <= '0;
    end else begin // each is one ahead at most, as asserted below
      ar_ahead_q <= ar_ahead_q ^ ar_taken ^ {PORTS{ar_done}};
      aw_ahead_q <= aw_ahead_q ^ aw_taken ^ {PORTS{aw_done}};
      w_ahead_q  <= w_ahead_q ^ w_taken ^ {PORTS{w_done}};
      r_ahead_q  <= r_ahead_q ^ r_given ^ {PORTS{r_valid}};
      b_ahead_q  <= b_ahead_q ^ b_given ^ {PORTS{b_valid}};
    end
  end

  // --- Ghosts: what each port brought as its beat and response `which`; IDs -------------------------------------------------
  logic [2:0]             r_number_q, b_number_q; // of the next one of the bus
  logic [8*BUS_BYTES-1:0] noted_data_q;
  logic [2*PORTS-1:0]     noted_resp_q, noted_b_q;
  logic                   watched_q, id_q;
  logic [3:0]             before_q;               // bursts to be answered before the watched one

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      {r_number_q, b_number_q} <= '0;
      under_way_q              <= '0;
      watched_q                <= 1'b0;
    end else begin
      r_number_q  <= r_number_q + 3'(r_valid);
      b_number_q  <= b_number_q + 3'(b_valid);
      under_way_q <= under_way_q + 4'(ar_done) - 4'(r_valid && r_last);
      if (!watched_q && ar_done && watch_i) begin
        watched_q <= 1'b1;
        id_q      <= ar_id_i;
        before_q  <= under_way_q - 4'(r_valid && r_last);
      end else if (watched_q && r_valid && r_last) begin
        watched_q <= before_q != 4'd0;
        before_q  <= before_q - 4'd1;
      end
    end
  end
  for (genvar p = 0; p < PORTS; p++) begin : gen_note
    always @(posedge clk_i) begin
      if (r_given[p] && r_number_q + 3'(r_ahead_q[p]) == which_q) begin
        noted_data_q[DATA*p +: DATA] <= rdata_i[DATA*p +: DATA];
        noted_resp_q[2*p +: 2]       <= rresp_i[2*p +: 2];
      end
      if (b_given[p] && b_number_q + 3'(b_ahead_q[p]) == which_q) noted_b_q[2*p +: 2] <= bresp_i[2*p +: 2];
    end
  end

  // A port's part of what leaves now: noted before, or given in this cycle.
  logic [8*BUS_BYTES-1:0] due_data;
  logic [2*PORTS-1:0]     due_resp, due_b;
  for (genvar p = 0; p < PORTS; p++) begin : gen_due
    assign due_data[DATA*p +: DATA] = r_ahead_q[p] ? noted_data_q[DATA*p +: DATA] : rdata_i[DATA*p +: DATA];
    assign due_resp[2*p +: 2]       = r_ahead_q[p] ? noted_resp_q[2*p +: 2] : rresp_i[2*p +: 2];
    assign due_b[2*p +: 2]          = b_ahead_q[p] ? noted_b_q[2*p +: 2] : bresp_i[2*p +: 2];
  end

  // Responses are OKAY, SLVERR or DECERR: no port's is EXOKAY, as no access is exclusive.
  function automatic logic [1:0] worst(input logic [2*PORTS-1:0] resps);
    worst = 2'b00;
    for (int unsigned p = 0; p < PORTS; p++) if (resps[2*p +: 2] > worst) worst = resps[2*p +: 2];
  endfunction
  function automatic logic no_exokay(input logic [2*PORTS-1:0] resps);
    no_exokay = 1'b1;
    for (int unsigned p = 0; p < PORTS; p++) if (resps[2*p +: 2] == 2'b01) no_exokay = 1'b0;
  endfunction
  always @* assume (no_exokay(rresp_i) && no_exokay(bresp_i));
  // All ports' beats of a burst of the bus are its last, or none is; so for those that are given before others.
  logic [PORTS-1:0] kept_last_q, due_last;
  assign due_last = (r_ahead_q & kept_last_q) | (~r_ahead_q & rlast_i);
  always @(posedge clk_i) kept_last_q <= (r_ahead_q & kept_last_q) | (~r_ahead_q & rlast_i);
  always @* assume (!r_valid || due_last == '0 || (&due_last));

  // --- What a port sees -----------------------------------------------------------------------------
  logic [PORTS-1:0] ar_stalled_q, aw_stalled_q, w_stalled_q;
  always @(posedge clk_i) begin
    ar_stalled_q <= {PORTS{rst_ni && !clear_i}} & arvalid & ~arready_i;
    aw_stalled_q <= {PORTS{rst_ni && !clear_i}} & awvalid & ~awready_i;
    w_stalled_q  <= {PORTS{rst_ni && !clear_i}} & wvalid & ~wready_i;
  end

  // Of each port: its read, its write, its data, its page, its constants are right.
  logic [PORTS-1:0] read_ok, write_ok, data_ok, page_ok, constants_ok;
  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    assign read_ok[p]  = araddr[64*p +: 64] == ar_addr_i / PORTS && arlen[8*p +: 8] == ar_len_i &&
                         aruser[24*p +: 24] == ar_user_i && !arid[p];
    assign write_ok[p] = awaddr[64*p +: 64] == aw_addr_i / PORTS && awlen[8*p +: 8] == aw_len_i &&
                         awuser[24*p +: 24] == aw_user_i && !awid[p];
    assign data_ok[p]  = wdata[DATA*p +: DATA] == w_data_i[DATA*p +: DATA] && wlast[p] == w_last_i &&
                         wstrb[PORT_BYTES*p +: PORT_BYTES] == w_strb_i[PORT_BYTES*p +: PORT_BYTES];
    assign page_ok[p]  = (!arvalid[p] || in_page(araddr[64*p +: 64], arlen[8*p +: 8], PORT_BYTES)) &&
                         (!awvalid[p] || in_page(awaddr[64*p +: 64], awlen[8*p +: 8], PORT_BYTES));
    assign constants_ok[p] = arburst[2*p +: 2] == 2'b01 && awburst[2*p +: 2] == 2'b01 &&
                             (32'd1 << arsize[3*p +: 3]) == PORT_BYTES && (32'd1 << awsize[3*p +: 3]) == PORT_BYTES;
  end

  always @* begin
    if (rst_ni) begin
      an_offer_stays: assert ((ar_stalled_q & ~arvalid) == '0 && (aw_stalled_q & ~awvalid) == '0 && (w_stalled_q & ~wvalid) == '0);
      nothing_is_offered_twice:
        assert ((arvalid & ar_ahead_q) == '0 && (awvalid & aw_ahead_q) == '0 && (wvalid & w_ahead_q) == '0);
      nothing_is_offered_unasked:
        assert ((arvalid == '0 || ar_valid_i) && (awvalid == '0 || aw_valid_i) && (wvalid == '0 || w_valid_i));
      nothing_is_lost: assert ((!ar_done || (&(ar_ahead_q | ar_taken))) && (!aw_done || (&(aw_ahead_q | aw_taken))) &&
                               (!w_done || (&(w_ahead_q | w_taken))));
      a_port_is_one_ahead_at_most: assert ((r_ahead_q & r_given) == '0 && (b_ahead_q & b_given) == '0);
      a_read_is_that_of_the_bus: assert ((arvalid & ~read_ok) == '0);
      a_write_is_that_of_the_bus: assert ((awvalid & ~write_ok) == '0);
      data_is_that_of_the_bus: assert ((wvalid & ~data_ok) == '0);
      bursts_stay_in_their_page: assert (&page_ok);
      increments_of_full_beats: assert (&constants_ok);
    end
  end

  // --- What the bus sees ----------------------------------------------------------------------------
  always @* begin
    if (rst_ni) begin
      a_beat_is_one_of_each_port: assert (r_valid == (&(r_ahead_q | rvalid_i)));
      a_response_is_one_of_each_port: assert (b_valid == (&(b_ahead_q | bvalid_i)));
      beat_which_is_as_the_ports_brought_it:
        assert (!(r_valid && r_number_q == which_q) || (r_data == due_data && r_resp == worst(due_resp)));
      response_which_is_the_worst_of_the_ports: assert (!(b_valid && b_number_q == which_q) || b_resp == worst(due_b));
      a_burst_ends_with_its_ports: assert (!r_valid || r_last == due_last[0]);
      the_id_is_that_of_the_burst: assert (!(r_valid && watched_q && before_q == 4'd0) || r_id == id_q);
      ports_in_step_cost_nothing:
        assert ((!(&arready_i) || ar_ahead_q != '0 || under_way_q == READS || ar_ready) && (!(&awready_i) || aw_ready) &&
                (!(&wready_i) || w_ready) && (!(&rvalid_i) || r_valid) && (!(&bvalid_i) || b_valid));
      reads_have_a_limit: assert (under_way_q <= READS);
    end
  end

  // --- Invariants that make them inductive ------------------------------------------------------------
  localparam int unsigned PTR_W = (READS > 1) ? $clog2(READS) : 1;
  localparam int unsigned BEAT  = DATA + 3; // data, response, last
  (* hierconn *) wire [PORTS-1:0]      \dut.gen_several.u_read_address.taken_q ;
  (* hierconn *) wire [PORTS-1:0]      \dut.gen_several.u_write_address.taken_q ;
  (* hierconn *) wire [PORTS-1:0]      \dut.gen_several.u_write_data.taken_q ;
  (* hierconn *) wire [PORTS-1:0]      \dut.gen_several.u_read_data.kept_q ;
  (* hierconn *) wire [PORTS-1:0]      \dut.gen_several.u_write_response.kept_q ;
  (* hierconn *) wire [BEAT*PORTS-1:0] \dut.gen_several.u_read_data.data_q ;
  (* hierconn *) wire [2*PORTS-1:0]    \dut.gen_several.u_write_response.data_q ;
  (* hierconn *) wire [PTR_W-1:0]      \dut.gen_several.u_ids.read_q ;
  (* hierconn *) wire [PTR_W-1:0]      \dut.gen_several.u_ids.write_q ;
  (* hierconn *) wire [$clog2(READS+1)-1:0] \dut.gen_several.u_ids.count_q ;
  wire  [READS-1:0] ids; // connected by the script
  logic [31:0]      sum, place;
  assign sum   = 32'(\dut.gen_several.u_ids.read_q ) + 32'(before_q);
  assign place = (sum >= READS) ? sum - READS : sum;

  always @* begin
    if (rst_ni) begin
      ports_ahead_are_those_that_the_block_knows:
        assert (\dut.gen_several.u_read_address.taken_q == ar_ahead_q && \dut.gen_several.u_write_address.taken_q == aw_ahead_q &&
                \dut.gen_several.u_write_data.taken_q == w_ahead_q && \dut.gen_several.u_read_data.kept_q == r_ahead_q &&
                \dut.gen_several.u_write_response.kept_q == b_ahead_q);
      not_all_are_ahead: assert (!(&ar_ahead_q) && !(&aw_ahead_q) && !(&w_ahead_q) && !(&r_ahead_q) && !(&b_ahead_q));
      who_is_ahead_has_an_offer: assert ((ar_ahead_q == '0 || ar_waits_q) && (aw_ahead_q == '0 || aw_waits_q) &&
                                         (w_ahead_q == '0 || w_waits_q));
      the_queue_of_ids_has_the_reads:
        assert (32'(\dut.gen_several.u_ids.count_q ) == 32'(under_way_q) && 32'(\dut.gen_several.u_ids.read_q ) < READS &&
                32'(\dut.gen_several.u_ids.write_q ) ==
                  ((32'(\dut.gen_several.u_ids.read_q ) + 32'(under_way_q) >= READS)
                     ? 32'(\dut.gen_several.u_ids.read_q ) + 32'(under_way_q) - READS
                     : 32'(\dut.gen_several.u_ids.read_q ) + 32'(under_way_q)));
      an_address_that_is_partly_taken_has_room: assert (ar_ahead_q == '0 || under_way_q < READS);
      the_watched_burst_is_under_way: assert (!watched_q || before_q < under_way_q);
      its_id_lies_in_its_place: assert (!watched_q || ids[place] == id_q);
    end
  end
  logic [PORTS-1:0] kept_ok;
  for (genvar p = 0; p < PORTS; p++) begin : gen_kept
    assign kept_ok[p] =
      (!r_ahead_q[p] || (\dut.gen_several.u_read_data.data_q [BEAT*p + BEAT-1] == kept_last_q[p] &&
                         \dut.gen_several.u_read_data.data_q [BEAT*p + DATA +: 2] != 2'b01)) &&
      (!b_ahead_q[p] || \dut.gen_several.u_write_response.data_q [2*p +: 2] != 2'b01) &&
      (!(r_ahead_q[p] && r_number_q == which_q) ||
       \dut.gen_several.u_read_data.data_q [BEAT*p +: BEAT-1] == {noted_resp_q[2*p +: 2], noted_data_q[DATA*p +: DATA]}) &&
      (!(b_ahead_q[p] && b_number_q == which_q) ||
       \dut.gen_several.u_write_response.data_q [2*p +: 2] == noted_b_q[2*p +: 2]);
  end
  always @* begin
    if (rst_ni) begin
      what_is_kept_is_what_was_noted: assert (&kept_ok);
    end
  end

  // --- Reachable: each port ahead of the other on every channel, the queue of IDs full, two bursts with different IDs ----------
  logic [6:0] seen_q;
  logic       last_id_q;
  always @(posedge clk_i) begin
    if (r_valid && r_last) last_id_q <= r_id;
    if (!rst_ni) seen_q <= '0;
    else
      seen_q <= seen_q | {ar_ahead_q[0] && ar_done, aw_ahead_q[PORTS-1] && aw_done, w_ahead_q[0] && w_done,
                          r_ahead_q[PORTS-1] && r_valid, b_ahead_q[0] && b_valid, under_way_q == READS,
                          r_valid && r_last && r_id && !last_id_q};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
