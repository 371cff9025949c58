// All sums of one product with each number of a small format, by the multiply-add of gw_vector_fp_pkg with EXP_W, FRAC_W and
// GUARD_W changed. A number is a sign in bit 31 and EXP_W + FRAC_W bits; c counts them, the sign its highest bit.
module small_fma #(
  parameter int unsigned NUMBERS = 256 // of the format: 2^(1 + EXP_W + FRAC_W)
) (
  input  logic                  clk_i,
  input  logic [31:0]           a_i,
  input  logic [31:0]           b_i,
  output logic [32*NUMBERS-1:0] fma_o
);

  if (NUMBERS != 32'd2 << (gw_vector_fp_pkg::EXP_W + gw_vector_fp_pkg::FRAC_W)) begin : gen_wrong
    $error("the package has another format");
  end

  task automatic compute;
    logic [31:0] c, number, cls;
    logic [63:0] product;
    product = gw_vector_fp_pkg::product(a_i, b_i);
    cls     = gw_vector_fp_pkg::product_class(a_i, b_i);
    for (c = 0; c < NUMBERS; c = c + 1) begin
      number = (c & (NUMBERS / 2 - 1)) | ((c >= NUMBERS / 2) ? 32'h8000_0000 : 32'd0);
      fma_o[c*32+:32] <= gw_vector_fp_pkg::sum_rounded(product, cls, number);
    end
  endtask

  always_ff @(posedge clk_i) compute;

endmodule
