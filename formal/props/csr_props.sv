// csr: B and R stay until they are taken, one for each write and read, none without; a write is refused as documented and then
// changes nothing; a byte of a configuration register holds what was last written to it, for outputs and reads; starts, resets
// and counters as documented. While a ring is open its tail rises, never falls, and stays within a ring's length of the head;
// a ring is closed when it is open, a mark taken when there is one.
//
// Which register and byte are followed is a free choice. Addresses and answers are those of isa.toml; what is read of the
// other registers is a matter for tests.
//
// sources: cmd/gw_csr.sv
module csr_props #(
  parameter int unsigned CORES = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        aw_valid_i,
  input  logic [11:0] aw_addr_i,
  input  logic        w_valid_i,
  input  logic [31:0] w_data_i,
  input  logic [3:0]  w_strb_i,
  input  logic        b_ready_i,
  input  logic        ar_valid_i,
  input  logic [11:0] ar_addr_i,
  input  logic        r_ready_i,
  input  logic        busy_i,
  input  logic        done_i,
  input  logic        error_i,
  input  logic        irq_i,
  input  logic        open_i,
  input  logic [31:0] head_i,
  input  logic        mark_valid_i,
  input  logic [15:0] mark_tag_i,
  input  logic [63:0] mark_cycle_i,
  input  logic [7:0]  err_code_i,
  input  logic [31:0] err_index_i,
  input  logic [31:0] err_word_i,
  input  logic [31:0] retired_i,
  input  logic [63:0] counter_value_i,
  input  logic [3:0]  register_i, // the byte that is followed
  input  logic [1:0]  byte_i,
  output logic        covered_o
);

  logic        aw_ready, w_ready, b_valid, ar_ready, r_valid, start, soft_reset, irq_clear, close_ring, mark_take;
  logic [1:0]  b_resp, r_resp;
  logic [31:0] r_data, cmd_count, ring_size, watchdog;
  logic [63:0] cmd_addr, dram_base, dram_size;
  logic [7:0]  counter_index;

  gw_csr #(.CORES(CORES)) dut (
    .clk_i, .rst_ni,
    .s_axil_awvalid_i (aw_valid_i), .s_axil_awready_o (aw_ready), .s_axil_awaddr_i (aw_addr_i),
    .s_axil_wvalid_i (w_valid_i), .s_axil_wready_o (w_ready), .s_axil_wdata_i (w_data_i), .s_axil_wstrb_i (w_strb_i),
    .s_axil_bvalid_o (b_valid), .s_axil_bready_i (b_ready_i), .s_axil_bresp_o (b_resp),
    .s_axil_arvalid_i (ar_valid_i), .s_axil_arready_o (ar_ready), .s_axil_araddr_i (ar_addr_i),
    .s_axil_rvalid_o (r_valid), .s_axil_rready_i (r_ready_i), .s_axil_rdata_o (r_data), .s_axil_rresp_o (r_resp),
    .cmd_addr_o (cmd_addr), .cmd_count_o (cmd_count), .ring_size_o (ring_size), .dram_base_o (dram_base), .dram_size_o (dram_size),
    .watchdog_o (watchdog), .start_o (start), .soft_reset_o (soft_reset), .irq_clear_o (irq_clear),
    .close_o (close_ring), .open_i, .head_i, .mark_take_o (mark_take), .mark_valid_i, .mark_tag_i, .mark_cycle_i,
    .busy_i, .done_i, .error_i, .irq_i, .err_code_i, .err_index_i, .err_word_i, .retired_i,
    .counter_index_o (counter_index), .counter_value_i
  );

  // Environment: a ring is open in a run only; its head follows the tail.
  reset_first u_reset (.clk_i, .rst_ni);
  always @* assume (!open_i || (busy_i && cmd_count - head_i <= ring_size && head_i <= cmd_count));

  localparam logic [1:0] OKAY = 2'b00, SLVERR = 2'b10;

  // The configuration registers, the first in the lowest bits, and the number of the one at an address; 15: none.
  wire [287:0] config_now = {ring_size, watchdog, dram_size, dram_base, cmd_count, cmd_addr};
  function automatic logic [3:0] config_of(input logic [11:0] addr);
    case (addr)
      gw_isa_pkg::CSR_CMD_ADDR_LO:  config_of = 4'd0;
      gw_isa_pkg::CSR_CMD_ADDR_HI:  config_of = 4'd1;
      gw_isa_pkg::CSR_CMD_COUNT:    config_of = 4'd2;
      gw_isa_pkg::CSR_DRAM_BASE_LO: config_of = 4'd3;
      gw_isa_pkg::CSR_DRAM_BASE_HI: config_of = 4'd4;
      gw_isa_pkg::CSR_DRAM_SIZE_LO: config_of = 4'd5;
      gw_isa_pkg::CSR_DRAM_SIZE_HI: config_of = 4'd6;
      gw_isa_pkg::CSR_WATCHDOG:     config_of = 4'd7;
      gw_isa_pkg::CSR_RING_SIZE:    config_of = 4'd8;
      default:                   config_of = 4'd15;
    endcase
  endfunction

  // --- Writes: what has been taken and waits for its other half, or for the answer before to leave ---------------------------
  logic        has_addr_q, has_data_q, write, accepted, written_q, accepted_q;
  logic [11:0] addr_q;
  logic [31:0] data_q;
  logic [3:0]  strb_q;
  logic        ctrl_ok, tail_ok;
  logic [31:0] tail;
  assign write    = has_addr_q && has_data_q && !b_valid;
  assign ctrl_ok  = addr_q == gw_isa_pkg::CSR_CTRL && !(strb_q[0] && data_q[1:0] != 2'b00 && busy_i) &&
                    !(strb_q[0] && data_q[1:0] == 2'b01 && error_i) &&
                    !(strb_q[0] && data_q[3] && !open_i) && !(strb_q[0] && data_q[4] && !mark_valid_i);
  assign tail     = {strb_q[3] ? data_q[31:24] : cmd_count[31:24], strb_q[2] ? data_q[23:16] : cmd_count[23:16],
                     strb_q[1] ? data_q[15:8] : cmd_count[15:8], strb_q[0] ? data_q[7:0] : cmd_count[7:0]};
  assign tail_ok  = open_i && addr_q == gw_isa_pkg::CSR_CMD_COUNT && tail >= cmd_count && tail - head_i <= ring_size;
  assign accepted = ctrl_ok || (config_of(addr_q) != 4'd15 && (!busy_i || tail_ok));

  // The byte that is followed is chosen in reset; WATCHDOG resets to 65536.
  logic [3:0] register_q;
  logic [1:0] byte_q;
  logic [7:0] value_q;
  always @(posedge clk_i) begin
    if (!rst_ni) begin
      register_q <= (register_i > 4'd8) ? 4'd2 : register_i;
      byte_q     <= byte_i;
      value_q    <= (register_i == 4'd7 && byte_i == 2'd2) ? 8'd1 : 8'd0;
    end else if (write && (!busy_i || tail_ok) && config_of(addr_q) == register_q && strb_q[byte_q]) begin
      value_q <= data_q[8*byte_q +: 8];
    end
  end

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      has_addr_q <= 1'b0;
      has_data_q <= 1'b0;
      written_q  <= 1'b0;
    end else begin
      has_addr_q <= (has_addr_q && !write) || (aw_valid_i && aw_ready);
      has_data_q <= (has_data_q && !write) || (w_valid_i && w_ready);
      written_q  <= write;
    end
    accepted_q <= accepted;
    if (aw_valid_i && aw_ready) addr_q <= aw_addr_i;
    if (w_valid_i && w_ready) {data_q, strb_q} <= {w_data_i, w_strb_i};
  end

  // --- Reads --------------------------------------------------------------------------------------------------------------
  localparam logic [11:0] COUNTERS_END =
      gw_isa_pkg::CSR_COUNTERS + 12'(8 * (gw_isa_pkg::CNT_NUM + (CORES - 1) * gw_isa_pkg::CNT_CORE_NUM));
  logic        has_read_q, read, is_counter, read_q, counter_q, followed_q;
  logic [11:0] read_addr_q, answered_q; // of the read that waits, of the one answered
  logic [31:0] counter_half_q;
  logic [7:0]  value_then_q;
  assign read       = has_read_q && !r_valid;
  assign is_counter = read_addr_q >= gw_isa_pkg::CSR_COUNTERS && read_addr_q < COUNTERS_END && read_addr_q[1:0] == 2'b00;

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      has_read_q <= 1'b0;
      read_q     <= 1'b0;
    end else begin
      has_read_q <= (has_read_q && !read) || (ar_valid_i && ar_ready);
      read_q     <= read;
    end
    if (ar_valid_i && ar_ready) read_addr_q <= ar_addr_i;
    answered_q     <= read_addr_q;
    counter_q      <= is_counter;
    followed_q     <= config_of(read_addr_q) == register_q;
    counter_half_q <= read_addr_q[2] ? counter_value_i[63:32] : counter_value_i[31:0];
    value_then_q   <= value_q;
  end

  (* hierconn *) wire [11:0] \dut.aw_addr_q ;
  (* hierconn *) wire [31:0] \dut.w_data_q ;
  (* hierconn *) wire [3:0]  \dut.w_strb_q ;
  (* hierconn *) wire [11:0] \dut.ar_addr_q ;

  logic        open_was_q;
  logic [31:0] tail_was_q, head_was_q;
  always @(posedge clk_i) begin
    open_was_q <= rst_ni && open_i;
    tail_was_q <= cmd_count;
    head_was_q <= head_i;
  end

  logic       b_stalled_q, r_stalled_q;
  logic [1:0] b_was_q;
  logic [33:0] r_was_q;
  always @(posedge clk_i) begin
    b_stalled_q <= rst_ni && b_valid && !b_ready_i;
    r_stalled_q <= rst_ni && r_valid && !r_ready_i;
    b_was_q     <= b_resp;
    r_was_q     <= {r_data, r_resp};
  end

  always @* begin
    if (rst_ni) begin
      an_answer_to_a_write_stays_until_taken: assert (!b_stalled_q || (b_valid && b_resp == b_was_q));
      each_write_is_answered_once: assert (b_valid == (written_q || b_stalled_q));
      it_says_whether_the_write_was_accepted: assert (!written_q || b_resp == (accepted_q ? OKAY : SLVERR));
      one_write_is_taken_at_a_time: assert (aw_ready == !has_addr_q && w_ready == !has_data_q);
      a_byte_holds_what_was_written: assert (config_now[32*register_q + 8*byte_q +: 8] == value_q);
      a_run_starts_when_asked_and_allowed:
        assert (start == (write && ctrl_ok && strb_q[0] && data_q[0]));
      a_soft_reset_comes_when_asked_and_allowed:
        assert (soft_reset == (write && ctrl_ok && strb_q[0] && data_q[1:0] == 2'b10));
      the_interrupt_is_cleared_when_asked: assert (irq_clear == (write && ctrl_ok && strb_q[0] && data_q[2]));
      a_ring_is_closed_when_asked_and_open: assert (close_ring == (write && ctrl_ok && strb_q[0] && data_q[3]) &&
                                                    (!close_ring || open_i));
      a_mark_is_taken_when_asked_and_there: assert (mark_take == (write && ctrl_ok && strb_q[0] && data_q[4]) &&
                                                    (!mark_take || mark_valid_i));
      an_open_rings_tail_never_falls: assert (!open_was_q || !busy_i || cmd_count >= tail_was_q);
      and_stays_within_a_ring_of_the_head: assert (!open_was_q || cmd_count - head_was_q <= ring_size);
      an_answer_to_a_read_stays_until_taken: assert (!r_stalled_q || (r_valid && {r_data, r_resp} == r_was_q));
      each_read_is_answered_once: assert (r_valid == (read_q || r_stalled_q) && ar_ready == !has_read_q);
      a_register_reads_as_it_was_written:
        assert (!(read_q && followed_q) || (r_resp == OKAY && r_data[8*byte_q +: 8] == value_then_q));
      a_counter_is_read_by_halves:
        assert (!(read && is_counter) ||
                32'(counter_index) == (32'(read_addr_q) - 32'(gw_isa_pkg::CSR_COUNTERS)) / 8);
      as_it_is_in_that_cycle: assert (!(read_q && counter_q) || (r_resp == OKAY && r_data == counter_half_q));
      what_does_not_exist_is_refused:
        assert (!(read_q && (answered_q[1:0] != 2'b00 || answered_q == gw_isa_pkg::CSR_CTRL || answered_q >= COUNTERS_END)) ||
                (r_resp == SLVERR && r_data == 32'd0));
      // Invariants
      the_followed_register_exists: assert (register_q <= 4'd8);
      what_waits_is_what_was_taken:
        assert ((!has_addr_q || \dut.aw_addr_q == addr_q) &&
                (!has_data_q || {\dut.w_data_q , \dut.w_strb_q } == {data_q, strb_q}) &&
                (!has_read_q || \dut.ar_addr_q == read_addr_q));
    end
  end

  // --- Reachable: the followed byte is written, a stalled answer leaves, it is read; a run starts ---------------------------
  logic [4:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni) seen_q <= '0;
    else seen_q <= seen_q | {open_was_q && cmd_count != tail_was_q, start, read_q && followed_q && value_then_q == 8'h5a,
                             r_stalled_q && r_ready_i, b_stalled_q && b_ready_i};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
