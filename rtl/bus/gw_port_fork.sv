// Hands each transfer of one valid/ready channel to every port, each of which takes it when it will.
//
// The transfer is over when the last port takes it, in that very cycle; a port that took it before is offered nothing
// until then. The payload needs no place here, since it stays as long as valid_i waits for ready_o.
module gw_port_fork #(
  parameter int unsigned PORTS = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,

  input  logic             valid_i,
  output logic             ready_o,
  output logic [PORTS-1:0] valid_o,
  input  logic [PORTS-1:0] ready_i
);

  logic [PORTS-1:0] taken_q, taken_d, taken; // ports that have this transfer: before, in the end, with this cycle

  assign valid_o = {PORTS{valid_i}} & ~taken_q;
  assign taken   = taken_q | ready_i;
  assign ready_o = &taken;
  assign taken_d = (valid_i && !ready_o) ? taken : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) taken_q <= '0;
    else if (clear_i) taken_q <= '0;
    else taken_q <= taken_d;
  end

  // --- Assertions ------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      a_transfer_that_a_port_has_is_still_offered: assert (taken_q == '0 || valid_i);
    end
  end
`endif

endmodule
