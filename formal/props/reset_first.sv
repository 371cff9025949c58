// Environment of every proof: the first cycle is a reset, and later cycles may be.
module reset_first (
  input logic clk_i,
  input logic rst_ni
);
  logic first_q = 1'b1;

  always @(posedge clk_i) first_q <= 1'b0;
  always @* if (first_q) assume (!rst_ni);
endmodule
