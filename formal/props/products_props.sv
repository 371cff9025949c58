// No block: the arithmetic behind running_product. A product with a sum is the sum of products: (x + y) z = x z + y z, cut to WIDTH bits.
//
// A product is made as it is defined, by shifting and adding: in a cycle the next bit of z, a free input, adds what x, y and x + y have
// become. So the induction goes over the bits of z, and the solver sees additions only.
//
// sources:
module products_props #(
  parameter int unsigned WIDTH = 28
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [WIDTH-1:0] x_i,
  input  logic [WIDTH-1:0] y_i,
  input  logic             z_bit_i,
  output logic             covered_o
);

  logic [WIDTH-1:0] x_q, y_q, sum_q;     // times a power of two
  logic [WIDTH-1:0] xz_q, yz_q, sum_z_q; // products with the bits of z that came
  reset_first u_reset (.clk_i, .rst_ni);
  always @(posedge clk_i) begin
    if (!rst_ni) begin
      {x_q, y_q, sum_q}     <= {x_i, y_i, x_i + y_i};
      {xz_q, yz_q, sum_z_q} <= '0;
    end else begin
      {x_q, y_q, sum_q} <= {x_q << 1, y_q << 1, sum_q << 1};
      if (z_bit_i) begin
        xz_q    <= xz_q + x_q;
        yz_q    <= yz_q + y_q;
        sum_z_q <= sum_z_q + sum_q;
      end
    end
  end

  always @* begin
    if (rst_ni) begin
      a_product_with_a_sum_is_the_sum_of_products: assert (sum_z_q == xz_q + yz_q);
      the_sum_is_shifted_as_its_parts: assert (sum_q == x_q + y_q);
    end
  end

  // --- Reachable: a product of two bits of z, whose parts carry into it -------------------------------------------------------------
  assign covered_o = rst_ni && xz_q[1:0] == 2'd3 && yz_q[1:0] == 2'd1;

endmodule
