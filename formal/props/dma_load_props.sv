// dma_load, its bus side: AR keeps what it offers until it is taken; a burst is offered once; never more than OUTSTANDING bursts
// are unanswered; none is offered after a stop; quiet means that all are answered; beats with an error are not written.
//
// The tile's bursts and beats are arbitrary here (cut), see dma_store_props.
//
// sources: common/gw_fifo.sv dma/gw_dma_order.sv dma/gw_burst_gen.sv dma/gw_beat_gen.sv dma/gw_dma_front.sv dma/gw_dma_load.sv
// trust: yes
// cut: dut.burst_valid dut.burst_len dut.burst_addr dut.burst_user dut.beat_valid dut.beat_last
module dma_load_props #(
  parameter int unsigned LANES       = 4,
  parameter int unsigned BUS_BYTES   = 4,
  parameter int unsigned OUTSTANDING = 3
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,
  input  logic                   run_i,
  input  logic                   ar_ready_i,
  input  logic                   r_valid_i,
  input  logic [8*BUS_BYTES-1:0] r_data_i,
  input  logic [1:0]             r_resp_i,
  input  logic                   r_last_i,
  output logic                   covered_o
);

  logic                   ar_valid, ld_en, err_valid, quiet;
  logic [63:0]            ar_addr;
  logic [7:0]             ar_len;
  logic [23:0]            ar_user;
  logic [8*BUS_BYTES-1:0] ld_data;

  gw_dma_load #(.LANES(LANES), .BUS_BYTES(BUS_BYTES), .OUTSTANDING(OUTSTANDING)) dut (
    .clk_i, .rst_ni, .clear_i, .run_i,
    .start_valid_i (1'b0), .cmd_i (512'd0), .index_i (32'd0), .head_valid_i (1'b0),
    .ar_valid_o (ar_valid), .ar_ready_i, .ar_addr_o (ar_addr), .ar_len_o (ar_len), .ar_user_o (ar_user),
    .r_valid_i, .r_data_i, .r_resp_i, .r_last_i, .ld_en_o (ld_en), .ld_data_o (ld_data), .err_valid_o (err_valid),
    .quiet_o (quiet)
  );

  (* hierconn *) wire        \dut.issue ;
  (* hierconn *) wire [63:0] \dut.burst_addr ;
  (* hierconn *) wire [7:0]  \dut.burst_len ;
  (* hierconn *) wire [23:0] \dut.burst_user ;

  // --- Environment: data only of bursts whose address has been taken --------------------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);

  logic [31:0] open_q; // bursts offered and not answered to the last beat
  logic        owed_q; // the newest of them waits for its address to be taken
  logic [95:0] owed_burst_q;
  always @* assume (!r_valid_i || open_q > 32'(owed_q));

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      open_q <= 32'd0;
      owed_q <= 1'b0;
    end else begin
      open_q <= open_q + 32'(\dut.issue ) - 32'(r_valid_i && r_last_i);
      owed_q <= \dut.issue || (owed_q && !ar_ready_i);
    end
    if (\dut.issue ) owed_burst_q <= {\dut.burst_addr , \dut.burst_len , \dut.burst_user };
  end

  logic [95:0] offer, offer_q;
  logic        stalled_q;
  assign offer = {ar_addr, ar_len, ar_user};
  always @(posedge clk_i) begin
    stalled_q <= rst_ni && !clear_i && ar_valid && !ar_ready_i;
    offer_q   <= offer;
  end

  (* hierconn *) wire [$clog2(OUTSTANDING+1)-1:0] \dut.outstanding_q ;

  always @* begin
    if (rst_ni) begin
      an_address_stays_until_taken: assert (!stalled_q || (ar_valid && offer == offer_q));
      a_burst_is_offered_once_and_as_it_is: assert (ar_valid == owed_q && (!owed_q || offer == owed_burst_q));
      a_burst_waits_for_the_one_before: assert (!(\dut.issue && owed_q && !ar_ready_i));
      outstanding_bursts_stay_in_bound: assert (open_q <= OUTSTANDING);
      quiet_means_all_answered: assert (quiet == (open_q == 32'd0));
      nothing_is_offered_after_a_stop: assert (run_i || !\dut.issue );
      errors_are_reported_and_not_written: assert (err_valid == (r_valid_i && r_resp_i[1]) && !(ld_en && err_valid));
      data_is_written_as_it_comes: assert (ld_data == r_data_i);
      // Invariants
      the_block_counts_as_the_ghost: assert (32'(\dut.outstanding_q ) == open_q && open_q >= 32'(owed_q));
    end
  end

  // --- Reachable: as many bursts as there may be, one of them stalled; and all answered again -----------------------------
  logic [1:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) seen_q <= '0;
    else seen_q <= seen_q | {open_q == OUTSTANDING, stalled_q};
  end
  assign covered_o = rst_ni && (&seen_q) && quiet;

endmodule
