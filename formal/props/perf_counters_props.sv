// perf_counters: each counted cycle adds one to CYCLES and to exactly one counter of each group, and nothing else changes them but
// a clear: so the counters of a group add up to CYCLES. Bytes add up.
//
// sources: cmd/gw_perf_counter.sv cmd/gw_perf_counters.sv
// trust: yes
// sweep: yes
module perf_counters_props #(
  parameter int unsigned CORES = 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,
  input  logic               count_i,
  input  logic [3:0]         load_i,
  input  logic [3:0]         store_i,
  input  logic [3:0]         fetch_i,
  input  logic [7*CORES-1:0] compute_i,
  input  logic [15:0]        read_bytes_i,
  output logic               covered_o
);

  logic [63:0] value;

  gw_perf_counters #(.CORES(CORES)) dut (
    .clk_i, .rst_ni, .clear_i, .count_i, .load_i, .store_i, .fetch_i, .compute_i, .vector_i (7'd0), .read_beat_i (1'b0), .write_beat_i (1'b0),
    .fetch_beat_i (1'b0), .read_bytes_i, .write_bytes_i (16'd0), .block_i ({CORES{1'b0}}), .index_i (8'd0), .value_o (value)
  );

  localparam int unsigned NUM = gw_isa_pkg::CNT_NUM + (CORES - 1) * gw_isa_pkg::CNT_CORE_NUM;
  localparam int unsigned COUNTED = gw_isa_pkg::CNT_READ_BYTES; // counters before this one count by one
  (* hierconn *) wire [64*NUM-1:0]  \dut.values ;
  (* hierconn *) wire               \dut.count_q ;
  (* hierconn *) wire [gw_isa_pkg::CNT_READ_BYTES-1:0] \dut.event_q ;

  // --- Environment: exactly one of a group, as the engines say ----------------------------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);

  function automatic logic one_hot(input logic [6:0] x);
    one_hot = x != 7'd0 && (x & (x - 7'd1)) == 7'd0;
  endfunction

  always @* begin
    assume (one_hot({3'd0, load_i}) && one_hot({3'd0, store_i}) && one_hot({3'd0, fetch_i}));
  end
  for (genvar c = 0; c < CORES; c++) begin : gen_core
    always @* assume (one_hot(compute_i[7*c +: 7]));
  end

  // --- A counted cycle adds one to CYCLES and to one counter of each group, and bytes to BYTES; nothing else changes one ----
  // What each counter must be now, from what it was; that the sums stay equal follows.
  logic [64*COUNTED-1:0] expected_q;
  logic [COUNTED-1:0]    right;

  for (genvar i = 0; i < COUNTED; i++) begin : gen_counter
    logic [63:0] now;
    assign now = \dut.values [64*i +: 64];
    always @(posedge clk_i) begin
      if (!rst_ni || clear_i) expected_q[64*i +: 64] <= 64'd0;
      else if (\dut.count_q ) expected_q[64*i +: 64] <= now + 64'(\dut.event_q [i]);
      else expected_q[64*i +: 64] <= now;
    end
    assign right[i] = now == expected_q[64*i +: 64];
  end

  logic [63:0] read_bytes_q;
  logic [15:0] late_q;
  always @(posedge clk_i) begin
    late_q <= rst_ni ? read_bytes_i : 16'd0;
    if (!rst_ni || clear_i) read_bytes_q <= 64'd0;
    else if (\dut.count_q ) read_bytes_q <= \dut.values [64*gw_isa_pkg::CNT_READ_BYTES +: 64] + 64'(late_q);
    else read_bytes_q <= \dut.values [64*gw_isa_pkg::CNT_READ_BYTES +: 64];
  end

  always @* begin
    if (rst_ni) begin
      every_counter_counts_its_event: assert (&right);
      bytes_add_up: assert (\dut.values [64*gw_isa_pkg::CNT_READ_BYTES +: 64] == read_bytes_q);
      events_are_one_of_each_group:
        assert (!\dut.count_q || (one_hot({3'd0, \dut.event_q [gw_isa_pkg::CNT_LOAD_ACTIVE +: 4]}) &&
                                  one_hot({3'd0, \dut.event_q [gw_isa_pkg::CNT_STORE_ACTIVE +: 4]}) &&
                                  one_hot({3'd0, \dut.event_q [gw_isa_pkg::CNT_FETCH_ACTIVE +: 4]}) &&
                                  one_hot(\dut.event_q [gw_isa_pkg::CNT_COMPUTE_ACTIVE +: 7]) &&
                                  \dut.event_q [gw_isa_pkg::CNT_CYCLES]));
    end
  end

  assign covered_o = rst_ni && \dut.values [63:0] == 64'd3 && read_bytes_q[1:0] == 2'b10;

endmodule
