// Synchronous first-in first-out queue of DEPTH words (any number from 1) with valid/ready on both sides.
//
// A word written in one cycle can be read in the next; neither side's outputs depend on the other side's inputs of the
// same cycle. A full queue takes no word even if one leaves, so in_ready_o is a function of registers only.
module gw_fifo #(
  parameter int unsigned WIDTH = 8,
  parameter int unsigned DEPTH = 4,
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,     // synchronous: empties the queue

  input  logic               in_valid_i,
  output logic               in_ready_o,
  input  logic [WIDTH-1:0]   in_data_i,

  output logic               out_valid_o,
  input  logic               out_ready_i,
  output logic [WIDTH-1:0]   out_data_o,

  output logic [COUNT_W-1:0] count_o      // words held
);

  localparam int unsigned PTR_W = (DEPTH > 1) ? $clog2(DEPTH) : 1;

  // --- State ---------------------------------------------------------------------------------
  logic [WIDTH-1:0]   mem [0:DEPTH-1];
  logic [PTR_W-1:0]   write_q, write_d;
  logic [PTR_W-1:0]   read_q, read_d;
  logic [COUNT_W-1:0] count_q, count_d;

  // --- Handshakes ----------------------------------------------------------------------------
  logic push, pop;

  assign in_ready_o  = count_q != COUNT_W'(DEPTH);
  assign out_valid_o = count_q != '0;
  assign out_data_o  = mem[read_q];
  assign count_o     = count_q;
  assign push        = in_valid_i && in_ready_o;
  assign pop         = out_valid_o && out_ready_i;

  // --- Pointers wrap at DEPTH, which need not be a power of two ---------------------------------
  always_comb begin
    write_d = write_q;
    read_d  = read_q;
    count_d = count_q;
    if (push) write_d = (write_q == PTR_W'(DEPTH - 1)) ? '0 : write_q + 1'b1;
    if (pop) read_d = (read_q == PTR_W'(DEPTH - 1)) ? '0 : read_q + 1'b1;
    if (push && !pop) count_d = count_q + 1'b1;
    if (pop && !push) count_d = count_q - 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
    end else if (clear_i) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
    end else begin
      write_q <= write_d;
      read_q  <= read_d;
      count_q <= count_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) mem[write_q] <= in_data_i;
  end

  // --- Assertions ------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      queue_never_holds_more_than_depth: assert (32'(count_q) <= DEPTH);
    end
  end
`endif

endmodule
