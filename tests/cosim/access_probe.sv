// Counts what an NPU accesses, by its signals: lanes at the ports of the scratchpad, operands that the array multiplies,
// sums of ADDs, beats and bursts of the bus. Bound into a test NPU (access_counts.cpp has the numbers); it drives
// nothing, and shares nothing with counters, timing model and compiler.
package access_probe_pkg;
  // As access_counts.cpp has them.
  localparam int MACS = 0, IDLE_MACS = 1, ADDS = 2, OPERAND_READS = 3, SUM_READS = 4, RESULT_WRITES = 5, LOAD_WRITES = 6,
                 STORE_READS = 7, BEATS = 8, VECTOR_READS = 9, VECTOR_WRITES = 10;
  import "DPI-C" function void gradweave_count_access(input int what, input int amount);
  import "DPI-C" function void gradweave_count_burst(input int write, input int first, input int last);
endpackage

// The scratchpad's ports, in bytes, and the bus.
module access_probe #(
  parameter int unsigned LANES = 8,
  parameter int unsigned CORES = 1,
  parameter int unsigned UNITS = 1
) (
  input logic                                 clk_i,
  input logic                                 rst_ni,
  input logic [CORES-1:0]                     a_en_i,
  input logic [CORES-1:0]                     b_en_i,
  input logic [CORES-1:0]                     c_en_i,
  input logic [CORES-1:0]                     w_en_i,
  input logic [CORES-1:0]                     w_fp32_i,
  input logic [gw_isa_pkg::LANES_W*CORES-1:0] w_count_i,
  input logic [UNITS-1:0]                     v_en_i,
  input logic [UNITS-1:0]                     v_fp32_i,
  input logic [UNITS-1:0]                     x_en_i,
  input logic [UNITS-1:0]                     x_fp32_i,
  input logic [gw_isa_pkg::LANES_W*UNITS-1:0] x_count_i,
  input logic                                 ld_en_i,
  input logic                                 ld_fp32_i,
  input logic [10:0]                          ld_count_i,
  input logic                                 st_en_i,
  input logic                                 st_fp32_i,
  input logic [10:0]                          st_count_i,
  input logic                                 r_beat_i,
  input logic                                 w_beat_i,
  input logic                                 ar_take_i,
  input logic [23:0]                          ar_user_i,
  input logic                                 aw_take_i,
  input logic [23:0]                          aw_user_i
);
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      for (int unsigned c = 0; c < CORES; c++) begin
        if (a_en_i[c]) access_probe_pkg::gradweave_count_access(access_probe_pkg::OPERAND_READS, int'(2 * LANES));
        if (b_en_i[c]) access_probe_pkg::gradweave_count_access(access_probe_pkg::OPERAND_READS, int'(2 * LANES));
        if (c_en_i[c]) access_probe_pkg::gradweave_count_access(access_probe_pkg::SUM_READS, int'(4 * LANES));
        if (w_en_i[c])
          access_probe_pkg::gradweave_count_access(
            access_probe_pkg::RESULT_WRITES,
            int'(w_count_i[gw_isa_pkg::LANES_W*c+:gw_isa_pkg::LANES_W]) * (w_fp32_i[c] ? 4 : 2));
      end
      for (int unsigned u = 0; u < UNITS; u++) begin
        if (v_en_i[u])
          access_probe_pkg::gradweave_count_access(access_probe_pkg::VECTOR_READS, int'((v_fp32_i[u] ? 4 : 2) * LANES));
        if (x_en_i[u])
          access_probe_pkg::gradweave_count_access(
            access_probe_pkg::VECTOR_WRITES,
            int'(x_count_i[gw_isa_pkg::LANES_W*u+:gw_isa_pkg::LANES_W]) * (x_fp32_i[u] ? 4 : 2));
      end
      if (ld_en_i)
        access_probe_pkg::gradweave_count_access(access_probe_pkg::LOAD_WRITES,
                                                 int'({21'd0, ld_count_i}) * (ld_fp32_i ? 4 : 2));
      if (st_en_i)
        access_probe_pkg::gradweave_count_access(access_probe_pkg::STORE_READS,
                                                 int'({21'd0, st_count_i}) * (st_fp32_i ? 4 : 2));
      if (r_beat_i) access_probe_pkg::gradweave_count_access(access_probe_pkg::BEATS, 1);
      if (w_beat_i) access_probe_pkg::gradweave_count_access(access_probe_pkg::BEATS, 1);
      if (ar_take_i)
        access_probe_pkg::gradweave_count_burst(0, int'({20'd0, ar_user_i[11:0]}), int'({20'd0, ar_user_i[23:12]}));
      if (aw_take_i)
        access_probe_pkg::gradweave_count_burst(1, int'({20'd0, aw_user_i[11:0]}), int'({20'd0, aw_user_i[23:12]}));
    end
  end
endmodule

// Line pairs where they become the array's operands.
module array_probe #(
  parameter int unsigned ROWS = 8,
  parameter int unsigned COLS = 8
) (
  input logic               clk_i,
  input logic               pair_i, // a line pair of a block, no bubble between blocks
  input logic               idle_i, // the walk of a WGRAD passes over it
  input gw_isa_pkg::lanes_t a_count_i,
  input gw_isa_pkg::lanes_t b_count_i
);
  int macs;
  assign macs = idle_i ? 0 : int'(a_count_i) * int'(b_count_i);
  always_ff @(posedge clk_i) begin
    if (pair_i) begin
      access_probe_pkg::gradweave_count_access(access_probe_pkg::MACS, macs);
      access_probe_pkg::gradweave_count_access(access_probe_pkg::IDLE_MACS, int'(ROWS * COLS) - macs);
    end
  end
endmodule

// Rows of sums of an ADD.
module adder_probe (
  input logic               clk_i,
  input logic               w_en_i,
  input gw_isa_pkg::lanes_t w_count_i
);
  always_ff @(posedge clk_i) begin
    if (w_en_i) access_probe_pkg::gradweave_count_access(access_probe_pkg::ADDS, int'(w_count_i));
  end
endmodule

bind gw_npu access_probe #(.LANES(LANES), .CORES(CORES), .UNITS(UNITS)) u_access_probe (
  .clk_i, .rst_ni,
  .a_en_i (a_en), .b_en_i (b_en), .c_en_i (c_en), .w_en_i (w_en), .w_fp32_i (w_fp32), .w_count_i (w_count),
  .v_en_i (v_en), .v_fp32_i (v_fp32), .x_en_i (x_en), .x_fp32_i (x_fp32), .x_count_i (x_count),
  .ld_en_i (ld_en), .ld_fp32_i (ld_fp32), .ld_count_i (11'(ld_count)),
  .st_en_i (st_en), .st_fp32_i (st_fp32), .st_count_i (11'(st_count)),
  .r_beat_i (f_r_valid || l_r_valid), .w_beat_i (w_valid && w_ready),
  .ar_take_i (ar_valid && ar_ready), .ar_user_i (ar_user), .aw_take_i (aw_valid && aw_ready), .aw_user_i (aw_user)
);
bind gw_operand_lines array_probe #(.ROWS(ROWS), .COLS(COLS)) u_array_probe (
  .clk_i, .pair_i (v2_q && !null2_q), .idle_i, .a_count_i (a_count2_q), .b_count_i (b_count2_q)
);
bind gw_tile_adder adder_probe u_adder_probe (.clk_i, .w_en_i (w_en_o), .w_count_i (w_count_o));
