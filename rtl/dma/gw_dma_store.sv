// Store engine: moves 2-D tiles from the scratchpad to memory over AXI4 write channels.
//
// Bursts are offered one a cycle, at most OUTSTANDING unanswered. Only when a burst is offered is its data read from
// the scratchpad, one beat a cycle, so all data of offered bursts is delivered even after run_i falls. A small queue
// takes what the scratchpad is about to deliver when memory holds back. A STORE completes in the cycle after its last
// write response.
module gw_dma_store #(
  parameter int unsigned LANES       = 8,
  parameter int unsigned BUS_BYTES   = 16,
  parameter int unsigned OUTSTANDING = 64
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,
  input  logic                   run_i,          // 0: offer no further burst; data of those offered is still delivered

  // Commands: STORE or SYNC, waits already taken
  input  logic                   start_valid_i,
  output logic                   start_ready_o,
  input  gw_isa_pkg::cmd_t       cmd_i,
  input  gw_isa_pkg::index_t     index_i,
  input  logic                   head_valid_i,   // the queue holds a command

  // Completion, in order
  output logic                   done_valid_o,
  output gw_isa_pkg::index_t     done_index_o,
  output gw_isa_pkg::posts_t     done_posts_o,

  // AXI4 write address, from registers
  output logic                   aw_valid_o,
  input  logic                   aw_ready_i,
  output gw_isa_pkg::addr_t      aw_addr_o,
  output gw_bus_pkg::len_t       aw_len_o,
  output gw_bus_pkg::user_t      aw_user_o,      // last and first wanted byte, counted from the address

  // AXI4 write data, from registers
  output logic                   w_valid_o,
  input  logic                   w_ready_i,
  output logic [8*BUS_BYTES-1:0] w_data_o,
  output logic [BUS_BYTES-1:0]   w_strb_o,
  output logic                   w_last_o,

  // AXI4 write response, taken whenever valid
  input  logic                   b_valid_i,
  input  gw_bus_pkg::resp_t      b_resp_i,

  // Scratchpad read: as the write of dma_load; data in the cycle after st_en_o, slots outside are undefined
  output logic                   st_en_o,
  output logic                   st_fp32_o,
  output gw_isa_pkg::row_t       st_addr_o,
  output gw_isa_pkg::row_t       st_pstride_o,
  output gw_isa_pkg::lanes_t     st_split_o,
  output gw_isa_pkg::lane_t      st_lane_o,
  output gw_bus_pkg::slot_t      st_first_o,
  output gw_bus_pkg::slots_t     st_count_o,
  input  logic [8*BUS_BYTES-1:0] st_data_i,

  // Errors: index of the command whose response it was
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
  output gw_bus_pkg::bytes_t     bytes_o         // element bytes of the beat that leaves in this cycle
);

  localparam int unsigned OFFSET_W = $clog2(BUS_BYTES);

  // --- Commands, bursts, beats --------------------------------------------------------------------------
  logic                    burst_valid, burst_last, issue, beat_valid, beat_last, read, finish;
  gw_isa_pkg::addr_t       burst_addr;
  gw_bus_pkg::len_t        burst_len;
  gw_bus_pkg::user_t       burst_user;
  logic [OFFSET_W-1:0]     beat_offset;
  gw_bus_pkg::beat_bytes_t beat_bytes;

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
    .burst_last_o     (burst_last),
    .beat_valid_o     (beat_valid),
    .beat_ready_i     (read),
    .beat_last_o      (beat_last),
    .beat_offset_o    (beat_offset),
    .beat_bytes_o     (beat_bytes),
    .beat_fp32_o      (st_fp32_o),
    .beat_first_o     (st_first_o),
    .beat_count_o     (st_count_o),
    .beat_lane_o      (st_lane_o),
    .beat_addr_o      (st_addr_o),
    .beat_pstride_o   (st_pstride_o),
    .beat_split_o     (st_split_o),
    .finish_i         (finish),
    .transfer_index_o (err_index_o),
    .busy_o,
    .done_valid_o,
    .done_index_o,
    .done_posts_o
  );

  // --- Write address ------------------------------------------------------------------------------------
  logic              aw_valid_q, aw_valid_d;
  gw_isa_pkg::addr_t aw_addr_q, aw_addr_d;
  gw_bus_pkg::len_t  aw_len_q, aw_len_d;
  gw_bus_pkg::user_t aw_user_q, aw_user_d;
  logic              unanswered_ready;

  assign issue = burst_valid && run_i && unanswered_ready && (!aw_valid_q || aw_ready_i);

  always_comb begin
    aw_valid_d = aw_valid_q && !aw_ready_i;
    aw_addr_d  = aw_addr_q;
    aw_len_d   = aw_len_q;
    aw_user_d = aw_user_q;
    if (issue) begin
      aw_valid_d = 1'b1;
      aw_addr_d  = burst_addr;
      aw_len_d   = burst_len;
      aw_user_d = burst_user;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_valid_q <= 1'b0;
      aw_addr_q  <= '0;
      aw_len_q   <= '0;
      aw_user_q <= '0;
    end else if (clear_i) begin
      aw_valid_q <= 1'b0;
      aw_addr_q  <= '0;
      aw_len_q   <= '0;
      aw_user_q <= '0;
    end else begin
      aw_valid_q <= aw_valid_d;
      aw_addr_q  <= aw_addr_d;
      aw_len_q   <= aw_len_d;
      aw_user_q <= aw_user_d;
    end
  end

  assign aw_valid_o = aw_valid_q;
  assign aw_addr_o  = aw_addr_q;
  assign aw_len_o   = aw_len_q;
  assign aw_user_o  = aw_user_q;

  // --- Scratchpad read: beats of the bursts offered ---------------------------------------------------------
  localparam int unsigned DATA_DEPTH = 4; // at full rate three beats are on their way: read, delivered, leaving
  localparam int unsigned DATA_W     = $clog2(DATA_DEPTH + 1);

  logic                    unread_valid, unread_ready, read_last;
  gw_bus_pkg::len_t        unread_len;
  gw_bus_pkg::len_t        beat_q, beat_d; // beat of the burst to read next
  logic                    read_q;         // the scratchpad delivers in this cycle
  logic [BUS_BYTES-1:0]    read_strb_q, read_strb_d;
  gw_bus_pkg::beat_bytes_t read_bytes_q;
  logic                    read_last_q;
  logic [DATA_W-1:0]       data_count;

  gw_fifo #(.WIDTH(8), .DEPTH(OUTSTANDING)) u_unread (
    .clk_i,
    .rst_ni,
    .clear_i,
    .in_valid_i  (issue),
    .in_ready_o  (unread_ready),
    .in_data_i   (burst_len),
    .out_valid_o (unread_valid),
    .out_ready_i (read && read_last),
    .out_data_o  (unread_len),
    // verilator lint_off PINCONNECTEMPTY
    .count_o     ()
    // verilator lint_on PINCONNECTEMPTY
  );

  assign read        = unread_valid && beat_valid && (data_count + DATA_W'(read_q) < DATA_W'(DATA_DEPTH));
  assign read_last   = beat_q == unread_len;
  assign read_strb_d = ~({BUS_BYTES{1'b1}} << beat_bytes) << beat_offset;
  assign st_en_o     = read;

  always_comb begin
    beat_d = beat_q;
    if (read) beat_d = read_last ? 8'd0 : beat_q + 8'd1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q       <= 1'b0;
      beat_q       <= '0;
      read_strb_q  <= '0;
      read_bytes_q <= '0;
      read_last_q  <= 1'b0;
    end else if (clear_i) begin
      read_q       <= 1'b0;
      beat_q       <= '0;
      read_strb_q  <= '0;
      read_bytes_q <= '0;
      read_last_q  <= 1'b0;
    end else begin
      read_q       <= read;
      beat_q       <= beat_d;
      read_strb_q  <= read_strb_d;
      read_bytes_q <= beat_bytes;
      read_last_q  <= read_last;
    end
  end

  // --- Write data ---------------------------------------------------------------------------------------
  logic                    data_ready;
  gw_bus_pkg::beat_bytes_t w_bytes;

  gw_fifo #(.WIDTH(9 * BUS_BYTES + 13), .DEPTH(DATA_DEPTH)) u_data (
    .clk_i,
    .rst_ni,
    .clear_i,
    .in_valid_i  (read_q),
    .in_ready_o  (data_ready),
    .in_data_i   ({st_data_i, read_strb_q, read_bytes_q, read_last_q}),
    .out_valid_o (w_valid_o),
    .out_ready_i (w_ready_i),
    .out_data_o  ({w_data_o, w_strb_o, w_bytes, w_last_o}),
    .count_o     (data_count)
  );

  // --- Write response: bursts offered and unanswered, and which of them end a command -----------------------------
  logic unanswered_valid, unanswered_last;

  gw_fifo #(.WIDTH(1), .DEPTH(OUTSTANDING)) u_unanswered (
    .clk_i,
    .rst_ni,
    .clear_i,
    .in_valid_i  (issue),
    .in_ready_o  (unanswered_ready),
    .in_data_i   (burst_last),
    .out_valid_o (unanswered_valid),
    .out_ready_i (b_valid_i),
    .out_data_o  (unanswered_last),
    // verilator lint_off PINCONNECTEMPTY
    .count_o     ()
    // verilator lint_on PINCONNECTEMPTY
  );

  assign finish      = b_valid_i && unanswered_valid && unanswered_last;
  assign err_valid_o = b_valid_i && b_resp_i[1];
  assign err_code_o  = b_resp_i[0] ? gw_isa_pkg::ERR_WRITE_DECERR : gw_isa_pkg::ERR_WRITE_SLVERR;

  // --- Status and counters ---------------------------------------------------------------------------------
  assign quiet_o        = !unanswered_valid;
  assign oldest_valid_o = busy_o;
  assign oldest_index_o = done_index_o;
  assign cnt_active_o   = w_valid_o && w_ready_i;
  assign cnt_dram_o     = !cnt_active_o && busy_o;
  assign cnt_sem_o      = !cnt_active_o && !busy_o && head_valid_i;
  assign cnt_empty_o    = !cnt_active_o && !busy_o && !head_valid_i;
  assign bytes_o        = cnt_active_o ? 16'(w_bytes) : 16'd0;

  // --- Assertions ------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      every_response_was_asked_for: assert (!b_valid_i || unanswered_valid);
      every_burst_offered_is_remembered: assert (!issue || unread_ready);
      what_the_scratchpad_delivers_has_room: assert (!read_q || data_ready);
      a_tile_ends_with_a_burst: assert (!(read && beat_last) || read_last);
      data_leaves_only_for_a_command_in_flight: assert (!w_valid_o || busy_o);
    end
  end
`endif

endmodule
