// Load engine: moves 2-D tiles from memory into the scratchpad over AXI4 read channels.
//
// Bursts are offered one a cycle, at most OUTSTANDING unanswered. Data is never held back: a beat is written to the
// scratchpad in the cycle it is taken (not if its response is an error). A LOAD completes in the cycle after its last
// beat, at which its data can be read.
module gw_dma_load #(
  parameter int unsigned LANES       = 8,
  parameter int unsigned BUS_BYTES   = 16,
  parameter int unsigned OUTSTANDING = 64
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,
  input  logic                   run_i,          // 0: offer no further burst; data on its way is still taken

  // Commands: LOAD or SYNC, waits already taken
  input  logic                   start_valid_i,
  output logic                   start_ready_o,
  input  gw_isa_pkg::cmd_t       cmd_i,
  input  gw_isa_pkg::index_t     index_i,
  input  logic                   head_valid_i,   // the queue holds a command

  // Completion, in order
  output logic                   done_valid_o,
  output gw_isa_pkg::index_t     done_index_o,
  output gw_isa_pkg::posts_t     done_posts_o,

  // AXI4 read address, from registers
  output logic                   ar_valid_o,
  input  logic                   ar_ready_i,
  output gw_isa_pkg::addr_t      ar_addr_o,
  output gw_bus_pkg::len_t       ar_len_o,
  output gw_bus_pkg::user_t      ar_user_o,      // last and first wanted byte, counted from the address

  // AXI4 read data, taken whenever valid
  input  logic                   r_valid_i,
  input  logic [8*BUS_BYTES-1:0] r_data_i,
  input  gw_bus_pkg::resp_t      r_resp_i,
  input  logic                   r_last_i,

  // Scratchpad write: slots first .. first + count - 1 of the beat; the e-th goes to lane (lane + e) mod LANES of row
  // addr if e < split, else pstride rows further for each panel begun; fp32: of the pair of rows that begins there
  output logic                   ld_en_o,
  output logic                   ld_fp32_o,
  output gw_isa_pkg::row_t       ld_addr_o,
  output gw_isa_pkg::row_t       ld_pstride_o,
  output gw_isa_pkg::lanes_t     ld_split_o,
  output gw_isa_pkg::lane_t      ld_lane_o,
  output gw_bus_pkg::slot_t      ld_first_o,
  output gw_bus_pkg::slots_t     ld_count_o,
  output logic [8*BUS_BYTES-1:0] ld_data_o,

  // Errors: index of the command whose data it was
  output logic                   err_valid_o,
  output gw_isa_pkg::err_t       err_code_o,
  output gw_isa_pkg::index_t     err_index_o,

  // Status
  output logic                   busy_o,         // a command is in flight
  output logic                   quiet_o,        // no burst offered or unanswered
  output logic                   oldest_valid_o, // oldest command in flight
  output gw_isa_pkg::index_t     oldest_index_o,

  // Counters: exactly one of the four is 1
  output logic                   cnt_active_o,
  output logic                   cnt_dram_o,
  output logic                   cnt_sem_o,
  output logic                   cnt_empty_o,
  output gw_bus_pkg::bytes_t     bytes_o         // element bytes of the beat taken in this cycle
);

  localparam int unsigned COUNT_W = $clog2(OUTSTANDING + 1);

  // --- Commands, bursts, beats --------------------------------------------------------------------------
  logic                    burst_valid, issue, beat_valid, beat_last;
  gw_isa_pkg::addr_t       burst_addr;
  gw_bus_pkg::len_t        burst_len;
  gw_bus_pkg::user_t       burst_user;
  gw_bus_pkg::beat_bytes_t beat_bytes;
  gw_isa_pkg::index_t      transfer_index;

  gw_dma_front #(.LANES(LANES), .BUS_BYTES(BUS_BYTES)) u_front (
    .clk_i,
    .rst_ni,
    .clear_i,
    .start_valid_i,
    .start_ready_o,
    .cmd_i,
    .index_i,
    .burst_valid_o    (burst_valid),
    .burst_ready_i    (issue),
    .burst_addr_o     (burst_addr),
    .burst_len_o      (burst_len),
    .burst_user_o     (burst_user),
    // verilator lint_off PINCONNECTEMPTY
    .burst_last_o     (),
    // verilator lint_on PINCONNECTEMPTY
    .beat_valid_o     (beat_valid),
    .beat_ready_i     (r_valid_i),
    .beat_last_o      (beat_last),
    // verilator lint_off PINCONNECTEMPTY
    .beat_offset_o    (),
    // verilator lint_on PINCONNECTEMPTY
    .beat_bytes_o     (beat_bytes),
    .beat_fp32_o      (ld_fp32_o),
    .beat_first_o     (ld_first_o),
    .beat_count_o     (ld_count_o),
    .beat_lane_o      (ld_lane_o),
    .beat_addr_o      (ld_addr_o),
    .beat_pstride_o   (ld_pstride_o),
    .beat_split_o     (ld_split_o),
    .finish_i         (r_valid_i && beat_valid && beat_last),
    .transfer_index_o (transfer_index),
    .busy_o,
    .done_valid_o,
    .done_index_o,
    .done_posts_o
  );

  // --- Read address -----------------------------------------------------------------------------------
  logic               ar_valid_q, ar_valid_d;
  gw_isa_pkg::addr_t  ar_addr_q, ar_addr_d;
  gw_bus_pkg::len_t   ar_len_q, ar_len_d;
  gw_bus_pkg::user_t  ar_user_q, ar_user_d;
  logic [COUNT_W-1:0] outstanding_q, outstanding_d; // bursts offered and not yet answered to the last beat
  logic               answered;

  assign answered = r_valid_i && r_last_i;
  assign issue    = burst_valid && run_i && (outstanding_q != COUNT_W'(OUTSTANDING)) && (!ar_valid_q || ar_ready_i);

  always_comb begin
    ar_valid_d    = ar_valid_q && !ar_ready_i;
    ar_addr_d     = ar_addr_q;
    ar_len_d      = ar_len_q;
    ar_user_d   = ar_user_q;
    outstanding_d = outstanding_q;
    if (issue) begin
      ar_valid_d = 1'b1;
      ar_addr_d  = burst_addr;
      ar_len_d   = burst_len;
      ar_user_d = burst_user;
    end
    if (issue && !answered) outstanding_d = outstanding_q + 1'b1;
    if (answered && !issue) outstanding_d = outstanding_q - 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_valid_q    <= 1'b0;
      ar_addr_q     <= '0;
      ar_len_q      <= '0;
      ar_user_q <= '0;
      outstanding_q <= '0;
    end else if (clear_i) begin
      ar_valid_q    <= 1'b0;
      ar_addr_q     <= '0;
      ar_len_q      <= '0;
      ar_user_q <= '0;
      outstanding_q <= '0;
    end else begin
      ar_valid_q    <= ar_valid_d;
      ar_addr_q     <= ar_addr_d;
      ar_len_q      <= ar_len_d;
      ar_user_q <= ar_user_d;
      outstanding_q <= outstanding_d;
    end
  end

  assign ar_valid_o = ar_valid_q;
  assign ar_addr_o  = ar_addr_q;
  assign ar_len_o   = ar_len_q;
  assign ar_user_o  = ar_user_q;

  // --- Read data ----------------------------------------------------------------------------------------
  assign ld_en_o     = r_valid_i && beat_valid && !r_resp_i[1];
  assign ld_data_o   = r_data_i;
  assign err_valid_o = r_valid_i && r_resp_i[1];
  assign err_code_o  = r_resp_i[0] ? gw_isa_pkg::ERR_READ_DECERR : gw_isa_pkg::ERR_READ_SLVERR;
  assign err_index_o = transfer_index;

  // --- Status and counters ---------------------------------------------------------------------------------
  assign quiet_o        = outstanding_q == '0;
  assign oldest_valid_o = busy_o;
  assign oldest_index_o = done_index_o;
  assign cnt_active_o   = r_valid_i;
  assign cnt_dram_o     = !r_valid_i && busy_o;
  assign cnt_sem_o      = !r_valid_i && !busy_o && head_valid_i;
  assign cnt_empty_o    = !r_valid_i && !busy_o && !head_valid_i;
  assign bytes_o        = r_valid_i ? 16'(beat_bytes) : 16'd0;

  // --- Assertions ------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      every_beat_was_asked_for: assert (!r_valid_i || (beat_valid && outstanding_q != '0));
      an_answer_ends_with_its_tile: assert (!(r_valid_i && beat_last) || r_last_i);
      outstanding_bursts_stay_in_bound: assert (32'(outstanding_q) <= OUTSTANDING);
    end
  end
`endif

endmodule
