// A product whose factor moves: the sum goes on by the move times the other factor, from a factor and its product. So it is always
// (the sum of the moves) x times, as products_props has it, and nothing multiplies that sum.
module running_product #(
  parameter int unsigned WIDTH = 28
) (
  input  logic             clk_i,
  input  logic             set_i,          // to none
  input  logic             add_i,
  input  logic [WIDTH-1:0] from_moved_i,
  input  logic [WIDTH-1:0] from_product_i,
  input  logic [WIDTH-1:0] by_i,
  input  logic [WIDTH-1:0] times_i,
  output logic [WIDTH-1:0] moved_o,        // sum of the moves
  output logic [WIDTH-1:0] product_o
);
  always @(posedge clk_i) begin
    if (set_i) begin
      moved_o   <= '0;
      product_o <= '0;
    end else if (add_i) begin
      moved_o   <= from_moved_i + by_i;
      product_o <= from_product_i + by_i * times_i;
    end
  end
endmodule
