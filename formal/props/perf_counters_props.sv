// perf_counters: the counters of each group add up to CYCLES, modulo 2^64, whenever they are read; bytes add up.
//
// sources: perf_counter.sv perf_counters.sv
// trust: yes
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

  perf_counters #(.CORES(CORES)) dut (
    .clk_i, .rst_ni, .clear_i, .count_i, .load_i, .store_i, .fetch_i, .compute_i, .read_beat_i (1'b0), .write_beat_i (1'b0),
    .fetch_beat_i (1'b0), .read_bytes_i, .write_bytes_i (16'd0), .block_i ({CORES{1'b0}}), .index_i (8'd0), .value_o (value)
  );

  localparam int unsigned NUM = isa_pkg::CNT_NUM + (CORES - 1) * isa_pkg::CNT_CORE_NUM;
  (* hierconn *) wire [64*NUM-1:0]  \dut.values ;
  (* hierconn *) wire               \dut.count_q ;
  (* hierconn *) wire [isa_pkg::CNT_READ_BYTES-1:0] \dut.event_q ;

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

  // --- Sums ----------------------------------------------------------------------------------------------------------
  logic [63:0] cycles, load_sum, store_sum, fetch_sum, compute_sum;
  always @* begin
    cycles      = \dut.values [64*isa_pkg::CNT_CYCLES +: 64];
    load_sum    = 64'd0;
    store_sum   = 64'd0;
    fetch_sum   = 64'd0;
    compute_sum = 64'd0;
    for (int i = 0; i < 4; i++) begin
      load_sum  = load_sum + \dut.values [64*(isa_pkg::CNT_LOAD_ACTIVE + i) +: 64];
      store_sum = store_sum + \dut.values [64*(isa_pkg::CNT_STORE_ACTIVE + i) +: 64];
      fetch_sum = fetch_sum + \dut.values [64*(isa_pkg::CNT_FETCH_ACTIVE + i) +: 64];
    end
    // Core 0; the counters of the others are built alike.
    for (int i = 0; i < 7; i++) compute_sum = compute_sum + \dut.values [64*(isa_pkg::CNT_COMPUTE_ACTIVE + i) +: 64];
  end

  logic [63:0] read_bytes_q;
  logic [15:0] late_q;
  always @(posedge clk_i) begin
    late_q <= rst_ni ? read_bytes_i : 16'd0;
    if (!rst_ni || clear_i) read_bytes_q <= 64'd0;
    else if (\dut.count_q ) read_bytes_q <= read_bytes_q + 64'(late_q);
  end

  always @* begin
    if (rst_ni) begin
      load_counters_add_up: assert (load_sum == cycles);
      store_counters_add_up: assert (store_sum == cycles);
      fetch_counters_add_up: assert (fetch_sum == cycles);
      compute_counters_add_up: assert (compute_sum == cycles);
      bytes_add_up: assert (\dut.values [64*isa_pkg::CNT_READ_BYTES +: 64] == read_bytes_q);
      // Invariant: what counts is one of each group.
      events_are_one_of_each_group:
        assert (!\dut.count_q || (one_hot({3'd0, \dut.event_q [isa_pkg::CNT_LOAD_ACTIVE +: 4]}) &&
                                  one_hot({3'd0, \dut.event_q [isa_pkg::CNT_STORE_ACTIVE +: 4]}) &&
                                  one_hot({3'd0, \dut.event_q [isa_pkg::CNT_FETCH_ACTIVE +: 4]}) &&
                                  one_hot(\dut.event_q [isa_pkg::CNT_COMPUTE_ACTIVE +: 7]) &&
                                  \dut.event_q [isa_pkg::CNT_CYCLES]));
    end
  end

  assign covered_o = rst_ni && cycles == 64'd3 && read_bytes_q[1:0] == 2'b10;

endmodule
