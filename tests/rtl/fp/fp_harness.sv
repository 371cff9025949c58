// LANES independent fused multiply-adds of gw_fp_pkg, decode included, fp32 additions, and roundings to bf16.
module fp_harness #(
  parameter int unsigned LANES = 256
) (
  input  logic                clk_i,
  input  logic [32*LANES-1:0] a_i, // bf16 in bits 15:0 of each word
  input  logic [32*LANES-1:0] b_i,
  input  logic [32*LANES-1:0] c_i, // fp32
  input  logic [32*LANES-1:0] d_i, // fp32
  output logic [32*LANES-1:0] mac_o,
  output logic [32*LANES-1:0] add_o,
  output logic [32*LANES-1:0] bf16_o
);

  task automatic compute;
    logic [31:0] i;
    for (i = 0; i < LANES; i = i + 1)
      mac_o[i*32+:32] <= gw_fp_pkg::mac(gw_fp_pkg::decode_bf16(a_i[i*32+:32]), gw_fp_pkg::decode_bf16(b_i[i*32+:32]),
                                     c_i[i*32+:32]);
    for (i = 0; i < LANES; i = i + 1) add_o[i*32+:32] <= gw_fp_pkg::add(c_i[i*32+:32], d_i[i*32+:32]);
    for (i = 0; i < LANES; i = i + 1) bf16_o[i*32+:32] <= gw_fp_pkg::round_bf16(c_i[i*32+:32]);
  endtask

  always_ff @(posedge clk_i) compute;

endmodule
