// fifo: words leave in the order in which they entered, each once and unchanged; nothing enters a full queue or leaves
// an empty one.
//
// A word is watched from the moment it enters, an arbitrary one (watch_i is free): `ahead` counts the words that must leave
// before it. Words of other values are indistinguishable from it, so what holds for it holds for each.
//
// sources: common/gw_fifo.sv
// memory: words dut.mem DEPTH
module fifo_props #(
  parameter int unsigned WIDTH = 2,
  parameter int unsigned DEPTH = 4,
  localparam int unsigned COUNT_W = $clog2(DEPTH + 1)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,
  input  logic             in_valid_i,
  input  logic [WIDTH-1:0] in_data_i,
  input  logic             out_ready_i,
  input  logic             watch_i,
  output logic             covered_o
);

  logic               in_ready, out_valid;
  logic [WIDTH-1:0]   out_data;
  logic [COUNT_W-1:0] count;

  gw_fifo #(.WIDTH(WIDTH), .DEPTH(DEPTH)) dut (
    .clk_i, .rst_ni, .clear_i, .in_valid_i, .in_ready_o (in_ready), .in_data_i,
    .out_valid_o (out_valid), .out_ready_i, .out_data_o (out_data), .count_o (count)
  );

  // --- Environment -----------------------------------------------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);

  // --- The watched word --------------------------------------------------------------------------
  logic push, pop, watched_q;
  logic [WIDTH-1:0] word_q;
  int unsigned      held_q, ahead_q; // words in the queue; those ahead of the watched one

  assign push = in_valid_i && in_ready;
  assign pop  = out_valid && out_ready_i;

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      watched_q <= 1'b0;
      held_q    <= 0;
      ahead_q   <= 0;
    end else begin
      held_q <= held_q + 32'(push) - 32'(pop);
      if (!watched_q && push && watch_i) begin
        watched_q <= 1'b1;
        word_q    <= in_data_i;
        ahead_q   <= held_q - 32'(pop);
      end else if (watched_q && pop) begin
        watched_q <= ahead_q != 0;
        ahead_q   <= ahead_q - 1;
      end
    end
  end

  // --- Properties ----------------------------------------------------------------------------------
  logic               stalled_q; // a word was offered and not taken
  logic [WIDTH-1:0]   stalled_word_q;

  always @(posedge clk_i) begin
    stalled_q      <= rst_ni && !clear_i && out_valid && !out_ready_i;
    stalled_word_q <= out_data;
  end

  always @* begin
    if (rst_ni) begin
      the_count_is_the_words_held: assert (32'(count) == held_q);
      never_more_than_depth: assert (held_q <= DEPTH);
      an_empty_queue_offers_nothing: assert (out_valid == (held_q != 0));
      only_a_full_queue_refuses: assert (in_ready == (held_q != DEPTH));
      the_watched_word_is_not_lost: assert (!watched_q || ahead_q < held_q);
      the_watched_word_leaves_in_its_turn_unchanged: assert (!(watched_q && ahead_q == 0) || out_data == word_q);
      an_offered_word_stays: assert (!stalled_q || (out_valid && out_data == stalled_word_q));
    end
  end

  // --- Invariants that make them inductive: where the watched word lies -----------------------------------
  // Connected by name to what is inside the block.
  localparam int unsigned PTR_W = (DEPTH > 1) ? $clog2(DEPTH) : 1;
  (* hierconn *) wire [PTR_W-1:0] \dut.write_q ;
  (* hierconn *) wire [PTR_W-1:0] \dut.read_q ;
  wire  [WIDTH*DEPTH-1:0] words;  // all of the memory, connected by the script
  logic [31:0]            sum, place;

  assign sum   = 32'(\dut.read_q ) + ahead_q;
  assign place = (sum >= DEPTH) ? sum - DEPTH : sum;

  always @* begin
    if (rst_ni) begin
      pointers_stay_inside: assert (32'(\dut.write_q ) < DEPTH && 32'(\dut.read_q ) < DEPTH);
      pointers_are_count_apart:
        assert (32'(\dut.write_q ) == ((32'(\dut.read_q ) + held_q >= DEPTH) ? 32'(\dut.read_q ) + held_q - DEPTH
                                                                          : 32'(\dut.read_q ) + held_q));
      the_watched_word_lies_in_its_place: assert (!watched_q || words[WIDTH*place +: WIDTH] == word_q);
    end
  end

  // --- Reachable: the queue was full, the watched word left it, the queue was cleared while it held words ------------
  logic [2:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni) seen_q <= '0;
    else seen_q <= seen_q | {held_q == DEPTH, watched_q && ahead_q == 0 && pop && word_q == '1, held_q != 0 && clear_i};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
