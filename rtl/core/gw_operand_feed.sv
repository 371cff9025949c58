// Reads the line pairs (A, B) of a block from the scratchpad, one pair a cycle unless macro-banks collide.
//
// Per macro-bank and cycle the array side has one read: initial values (C) first, then A, then B. A line that has to
// wait is read later; the pair is complete, and step_o rises, when both are. A null block is a single bubble: no reads.
// A block may have several taps, each of them k_i pairs from a place of its own (tap_walker).
module gw_operand_feed #(
  parameter int unsigned LANES     = 8,
  parameter int unsigned BANK_ROWS = 64
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,
  // Block
  input  logic               start_i,  // only while ready_o
  input  logic               null_i,   // with start_i: a bubble
  output logic               ready_o,  // the last pair of the block, if any, is complete in this cycle
  input  gw_isa_pkg::dim_t   k_i,      // pairs of a tap
  input  logic               a_col_i,
  input  gw_isa_pkg::place_t a_place_i,
  input  gw_isa_pkg::lanes_t a_count_i,
  input  logic               b_col_i,
  input  gw_isa_pkg::place_t b_place_i,
  input  gw_isa_pkg::lanes_t b_count_i,
  // Taps
  input  logic               more_i,   // of the current block: another follows
  input  gw_isa_pkg::place_t a_tap_i,  // where that begins
  input  gw_isa_pkg::place_t b_tap_i,
  output logic               tap_o,    // the last pair of a tap is complete, and another tap follows
  // Bank claims of the read of initial values
  input  logic               c_en_i,
  input  gw_isa_pkg::row_t   c_bank_lo_i,
  input  gw_isa_pkg::row_t   c_bank_hi_i,
  // Scratchpad reads
  output logic               a_en_o,
  output logic               a_col_o,
  output gw_isa_pkg::line_t  a_at_o,
  output gw_isa_pkg::lanes_t a_count_o,
  output logic               b_en_o,
  output logic               b_col_o,
  output gw_isa_pkg::line_t  b_at_o,
  output gw_isa_pkg::lanes_t b_count_o,
  // Pair complete in this cycle
  output logic               step_o,
  output logic               first_o,  // the block's first
  output logic               null_o,   // it is a bubble
  output logic               blocked_o // a pair is wanted but not complete
);

  // --- State -----------------------------------------------------------------------------------
  logic             active_q, null_q, first_q, a_got_q, b_got_q;
  gw_isa_pkg::dim_t left_q, k_q; // pairs of the tap to go, this one included; of all its pairs
  gw_isa_pkg::row_t a_bank_lo, a_bank_hi, b_bank_lo, b_bank_hi;

  // Whether a line claims a bank: those of its first and its last row, of a column also those between.
  function automatic logic claims(input logic col, input gw_isa_pkg::row_t lo, input gw_isa_pkg::row_t hi,
                                  input gw_isa_pkg::row_t bank);
    claims = col ? (bank >= lo && bank <= hi) : (bank == lo || bank == hi);
  endfunction

  function automatic logic collide(input logic x_col, input gw_isa_pkg::row_t x_lo, input gw_isa_pkg::row_t x_hi,
                                   input logic y_col, input gw_isa_pkg::row_t y_lo, input gw_isa_pkg::row_t y_hi);
    collide = claims(x_col, x_lo, x_hi, y_lo) || claims(x_col, x_lo, x_hi, y_hi) ||
              claims(y_col, y_lo, y_hi, x_lo) || claims(y_col, y_lo, y_hi, x_hi);
  endfunction

  logic wanted;
  assign wanted = active_q && !null_q;
  assign a_en_o = wanted && !a_got_q && !(c_en_i && collide(a_col_o, a_bank_lo, a_bank_hi, 1'b0, c_bank_lo_i, c_bank_hi_i));
  assign b_en_o = wanted && !b_got_q && !(c_en_i && collide(b_col_o, b_bank_lo, b_bank_hi, 1'b0, c_bank_lo_i, c_bank_hi_i))
                         && !(a_en_o && collide(a_col_o, a_bank_lo, a_bank_hi, b_col_o, b_bank_lo, b_bank_hi));

  assign step_o    = active_q && (null_q || ((a_got_q || a_en_o) && (b_got_q || b_en_o)));
  assign first_o   = first_q;
  assign null_o    = null_q;
  assign blocked_o = active_q && !step_o;
  assign ready_o   = !active_q || (step_o && left_q == 16'd1 && (null_q || !more_i));
  assign tap_o     = step_o && left_q == 16'd1 && !null_q && more_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      null_q   <= 1'b0;
      first_q  <= 1'b0;
      a_got_q  <= 1'b0;
      b_got_q  <= 1'b0;
      left_q   <= 16'd0;
    end else if (clear_i) begin
      active_q <= 1'b0;
      a_got_q  <= 1'b0;
      b_got_q  <= 1'b0;
    end else if (start_i) begin
      active_q <= 1'b1;
      null_q   <= null_i;
      first_q  <= 1'b1;
      a_got_q  <= 1'b0;
      b_got_q  <= 1'b0;
      left_q   <= null_i ? 16'd1 : k_i;
    end else if (step_o) begin
      active_q <= left_q != 16'd1 || tap_o;
      first_q  <= 1'b0;
      a_got_q  <= 1'b0;
      b_got_q  <= 1'b0;
      left_q   <= tap_o ? k_q : (left_q - 16'd1);
    end else begin
      a_got_q <= a_got_q || a_en_o;
      b_got_q <= b_got_q || b_en_o;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) k_q <= k_i;
  end

  logic walk; // lines of a new block, else of its next tap
  assign walk = start_i && !null_i;

  gw_line_walker #(.LANES(LANES), .BANK_ROWS(BANK_ROWS)) u_a (
    .clk_i,
    .load_i    (walk || tap_o),
    .col_i     (walk ? a_col_i : a_col_o),
    .place_i   (walk ? a_place_i : a_tap_i),
    .count_i   (walk ? a_count_i : a_count_o),
    .step_i    (step_o),
    .col_o     (a_col_o),
    .at_o      (a_at_o),
    .count_o   (a_count_o),
    .bank_lo_o (a_bank_lo),
    .bank_hi_o (a_bank_hi)
  );

  gw_line_walker #(.LANES(LANES), .BANK_ROWS(BANK_ROWS)) u_b (
    .clk_i,
    .load_i    (walk || tap_o),
    .col_i     (walk ? b_col_i : b_col_o),
    .place_i   (walk ? b_place_i : b_tap_i),
    .count_i   (walk ? b_count_i : b_count_o),
    .step_i    (step_o),
    .col_o     (b_col_o),
    .at_o      (b_at_o),
    .count_o   (b_count_o),
    .bank_lo_o (b_bank_lo),
    .bank_hi_o (b_bank_hi)
  );

  // --- Checks ----------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) if (!clear_i) begin
      StartsOnlyWhenReady : assert (!start_i || ready_o);
      OneReadPerBank : assert (!(a_en_o && b_en_o && collide(a_col_o, a_bank_lo, a_bank_hi, b_col_o, b_bank_lo, b_bank_hi)));
    end
  end
`endif

endmodule
