// One 64-bit counter of perf_counters.
module gw_perf_counter (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  input  logic                 count_i,
  input  gw_bus_pkg::bytes_t   add_i,
  output gw_isa_pkg::counter_t value_o
);

  gw_isa_pkg::counter_t value_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      value_q <= 64'd0;
    end else if (clear_i) begin
      value_q <= 64'd0;
    end else if (count_i) begin
      value_q <= value_q + {48'd0, add_i};
    end
  end

  assign value_o = value_q;

endmodule
