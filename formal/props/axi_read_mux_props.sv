// axi_read_mux: AR keeps what it offers until it is taken; a burst that a port hands over leaves once, as it came, with the
// port's ID; fetch first, and a load that waits behind nothing else is taken in the first free cycle; data goes to the port
// of its ID and to no other.
//
// sources: bus/gw_axi_read_mux.sv
module axi_read_mux_props #(
  parameter int unsigned BUS_BYTES = 16
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,
  input  logic                   f_ar_valid_i,
  input  logic [63:0]            f_ar_addr_i,
  input  logic [7:0]             f_ar_len_i,
  input  logic [23:0]            f_ar_user_i,
  input  logic                   l_ar_valid_i,
  input  logic [63:0]            l_ar_addr_i,
  input  logic [7:0]             l_ar_len_i,
  input  logic [23:0]            l_ar_user_i,
  input  logic                   arready_i,
  input  logic                   rvalid_i,
  input  logic                   rid_i,
  input  logic [8*BUS_BYTES-1:0] rdata_i,
  input  logic [1:0]             rresp_i,
  input  logic                   rlast_i,
  output logic                   covered_o
);

  logic                   f_ready, l_ready, f_r_valid, l_r_valid, f_r_last, l_r_last, arvalid, arid;
  logic [8*BUS_BYTES-1:0] f_r_data, l_r_data;
  logic [1:0]             f_r_resp, l_r_resp;
  logic [63:0]            araddr;
  logic [7:0]             arlen;
  logic [23:0]            aruser;

  gw_axi_read_mux #(.BUS_BYTES(BUS_BYTES)) dut (
    .clk_i, .rst_ni, .clear_i,
    .f_ar_valid_i, .f_ar_ready_o (f_ready), .f_ar_addr_i, .f_ar_len_i, .f_ar_user_i,
    .f_r_valid_o (f_r_valid), .f_r_data_o (f_r_data), .f_r_resp_o (f_r_resp), .f_r_last_o (f_r_last),
    .l_ar_valid_i, .l_ar_ready_o (l_ready), .l_ar_addr_i, .l_ar_len_i, .l_ar_user_i,
    .l_r_valid_o (l_r_valid), .l_r_data_o (l_r_data), .l_r_resp_o (l_r_resp), .l_r_last_o (l_r_last),
    .ar_valid_o (arvalid), .ar_ready_i (arready_i), .ar_id_o (arid), .ar_addr_o (araddr),
    .ar_len_o (arlen), .ar_user_o (aruser),
    .r_valid_i (rvalid_i), .r_id_i (rid_i), .r_data_i (rdata_i), .r_resp_i (rresp_i), .r_last_i (rlast_i)
  );

  // --- Environment: the ports' bursts stay in their page, as burst_gen and cmd_fetch are proven to cut them ----------
  reset_first u_reset (.clk_i, .rst_ni);

  function automatic logic in_page(input logic [63:0] addr, input logic [7:0] len);
    in_page = 32'(addr[11:0]) + (32'(len) + 32'd1) * BUS_BYTES <= 32'd4096;
  endfunction

  always @* begin
    assume (!f_ar_valid_i || in_page(f_ar_addr_i, f_ar_len_i));
    assume (!l_ar_valid_i || in_page(l_ar_addr_i, l_ar_len_i));
  end

  // --- What is on its way, and what was offered in the cycle before -----------------------------------------
  logic        f_taken, l_taken, owed_q, owed_id_q, stalled_q;
  logic [63:0] owed_addr_q;
  logic [7:0]  owed_len_q;
  logic [23:0] owed_user_q;
  logic [96:0] offer, offer_q;

  assign f_taken = f_ar_valid_i && f_ready;
  assign l_taken = l_ar_valid_i && l_ready;
  assign offer   = {arid, araddr, arlen, aruser};

  always @(posedge clk_i) begin
    stalled_q <= rst_ni && !clear_i && arvalid && !arready_i;
    offer_q   <= offer;
    if (!rst_ni || clear_i) begin
      owed_q <= 1'b0;
    end else if (f_taken || l_taken) begin
      owed_q      <= 1'b1;
      owed_id_q   <= l_taken;
      owed_addr_q <= l_taken ? l_ar_addr_i : f_ar_addr_i;
      owed_len_q  <= l_taken ? l_ar_len_i : f_ar_len_i;
      owed_user_q <= l_taken ? l_ar_user_i : f_ar_user_i;
    end else if (arready_i) begin
      owed_q <= 1'b0;
    end
  end

  always @* begin
    if (rst_ni) begin
      an_address_stays_until_taken: assert (!stalled_q || (arvalid && offer == offer_q));
      a_burst_leaves_once_for_each_taken: assert (arvalid == owed_q);
      it_leaves_as_it_came: assert (!owed_q || offer == {owed_id_q, owed_addr_q, owed_len_q, owed_user_q});
      one_port_a_cycle: assert (!(f_taken && l_taken));
      fetch_first: assert (!(f_ar_valid_i && l_taken));
      no_free_cycle_is_lost: assert (!(!arvalid || arready_i) || (f_taken || l_taken) == (f_ar_valid_i || l_ar_valid_i));
      a_load_waits_for_nothing_but_fetch: assert (!(l_ar_valid_i && !f_ar_valid_i && (!arvalid || arready_i)) || l_taken);
      data_goes_to_one_port: assert (f_r_valid == (rvalid_i && !rid_i) && l_r_valid == (rvalid_i && rid_i));
      data_is_unchanged:
        assert ({f_r_data, f_r_resp, f_r_last} == {rdata_i, rresp_i, rlast_i} &&
                {l_r_data, l_r_resp, l_r_last} == {rdata_i, rresp_i, rlast_i});
    end
  end

  // --- Reachable: either port behind a stall, both at once, and a clear of a waiting burst -------------------------
  logic [2:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni) seen_q <= '0;
    else seen_q <= seen_q | {stalled_q && l_taken, stalled_q && f_taken && l_ar_valid_i, arvalid && clear_i};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
