// Makes one transfer of one from every port. It leaves in the cycle in which the last port's is there, and is always
// taken.
//
// A port that is ahead has its transfer kept here and offers its next one in vain until the others have caught up: a
// place a port, enough for a transfer a cycle whatever the distance between the ports. ready_o depends on registers only.
module gw_port_join #(
  parameter int unsigned PORTS = 2,
  parameter int unsigned WIDTH = 8  // of a port's transfer
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,

  input  logic [PORTS-1:0]       valid_i,
  output logic [PORTS-1:0]       ready_o,
  input  logic [WIDTH*PORTS-1:0] data_i,  // port 0 lowest
  output logic                   valid_o,
  output logic [WIDTH*PORTS-1:0] data_o
);

  logic [PORTS-1:0]       kept_q, kept_d;
  logic [WIDTH*PORTS-1:0] data_q;

  assign ready_o = ~kept_q;
  assign valid_o = &(kept_q | valid_i);
  assign kept_d  = valid_o ? '0 : kept_q | valid_i;

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    assign data_o[WIDTH*p +: WIDTH] = kept_q[p] ? data_q[WIDTH*p +: WIDTH] : data_i[WIDTH*p +: WIDTH];

    always_ff @(posedge clk_i) begin
      if (kept_d[p] && !kept_q[p]) data_q[WIDTH*p +: WIDTH] <= data_i[WIDTH*p +: WIDTH];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) kept_q <= '0;
    else if (clear_i) kept_q <= '0;
    else kept_q <= kept_d;
  end

endmodule
