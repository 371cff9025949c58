// A clock that stands still while nobody needs it: the clock gate of a cell library, as behaviour.
//
// Whether the clock's next pulse passes is settled while the clock is low, so en_i must be a function of registers, and a pulse
// that passes is a whole one. Edges of clk_o are those of clk_i: registers of both clocks see each other as if they had one.
module gw_clock_gate (
  input  logic clk_i,
  input  logic en_i,
  output logic clk_o
);

  logic open;

  always_latch if (!clk_i) open = en_i;

  assign clk_o = clk_i & open;

endmodule
