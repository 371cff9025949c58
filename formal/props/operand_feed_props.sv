// operand_feed (with its two line_walkers): no two reads of the array side meet in a macro-bank; the lines read are those of
// the block's taps, each once and in order, from where each tap begins; a pair waits for bounded time. A tap is followed by
// another whenever more_i says so, at any place.
//
// The bank rule is checked on rows, not on the claims that the block compares: an arbitrary bank (bank_i, constant) is touched
// by at most one of C, A and B in a cycle. A line's rows are what the scratchpad reads for its wanted elements.
//
// sources: core/gw_operand_feed.sv core/gw_line_walker.sv
module operand_feed_props #(
  parameter int unsigned LANES     = 8,
  parameter int unsigned BANK_ROWS = 16,
  parameter int unsigned ROWS      = 512
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic        start_i,
  input  logic        null_i,
  input  logic [15:0] k_i,
  input  logic        a_col_i,
  input  gw_isa_pkg::row_t   a_addr_i,
  input  gw_isa_pkg::row_t   a_pstride_i,
  input  gw_isa_pkg::lane_t  a_rot_i,
  input  gw_isa_pkg::lane_t  a_jj_i,
  input  gw_isa_pkg::lanes_t a_count_i,
  input  logic        b_col_i,
  input  gw_isa_pkg::row_t   b_addr_i,
  input  gw_isa_pkg::row_t   b_pstride_i,
  input  gw_isa_pkg::lane_t  b_rot_i,
  input  gw_isa_pkg::lane_t  b_jj_i,
  input  gw_isa_pkg::lanes_t b_count_i,
  input  logic        more_i,
  input  gw_isa_pkg::row_t   a_tap_i,
  input  gw_isa_pkg::row_t   b_tap_i,
  input  logic        c_en_i,
  input  gw_isa_pkg::row_t   c_bank_lo_i,
  input  gw_isa_pkg::row_t   c_bank_hi_i,
  input  gw_isa_pkg::row_t   bank_i,
  output logic        covered_o
);

  logic        ready, a_en, a_col, b_en, b_col, step, first, is_null, blocked, tap;
  gw_isa_pkg::row_t   a_addr0, a_addr1, b_addr0, b_addr1;
  gw_isa_pkg::lane_t  a_jj, a_rot, b_jj, b_rot;
  gw_isa_pkg::lanes_t a_count, b_count;

  gw_operand_feed #(.LANES(LANES), .BANK_ROWS(BANK_ROWS)) dut (
    .clk_i, .rst_ni, .clear_i, .start_i, .null_i, .ready_o (ready), .k_i,
    .a_col_i, .a_place_i ({a_jj_i, a_pstride_i, a_rot_i, a_addr_i}), .a_count_i,
    .b_col_i, .b_place_i ({b_jj_i, b_pstride_i, b_rot_i, b_addr_i}), .b_count_i,
    .more_i, .a_tap_i ({a_jj_i, a_pstride_i, a_rot_i, a_tap_i}), .b_tap_i ({b_jj_i, b_pstride_i, b_rot_i, b_tap_i}),
    .tap_o (tap),
    .c_en_i, .c_bank_lo_i, .c_bank_hi_i,
    .a_en_o (a_en), .a_col_o (a_col), .a_at_o ({a_addr1, a_addr0, a_rot, a_jj}),
    .a_count_o (a_count), .b_en_o (b_en), .b_col_o (b_col), .b_at_o ({b_addr1, b_addr0, b_rot, b_jj}), .b_count_o (b_count),
    .step_o (step), .first_o (first), .null_o (is_null), .blocked_o (blocked)
  );

  (* hierconn *) wire        \dut.active_q ;
  (* hierconn *) wire        \dut.a_got_q ;
  (* hierconn *) wire        \dut.b_got_q ;
  (* hierconn *) wire [15:0] \dut.left_q ;
  (* hierconn *) wire [15:0] \dut.k_q ;
  (* hierconn *) wire [gw_isa_pkg::LANE_W-1:0] \dut.u_a.jj_q ;
  (* hierconn *) wire [gw_isa_pkg::LANE_W-1:0] \dut.u_b.jj_q ;

  // --- Environment: gemm_core and block_walker -----------------------------------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);
  always @* begin
    assume (!start_i || ready);
    assume (!start_i || null_i || (k_i != 16'd0 && a_count_i != '0 && b_count_i != '0));
    assume (32'(a_count_i) <= LANES && 32'(b_count_i) <= LANES);
    assume (32'(a_jj_i) < LANES && 32'(b_jj_i) < LANES && 32'(a_rot_i) < LANES && 32'(b_rot_i) < LANES);
    // Initial values come in rows: one bank, or one in each of two panels.
  end

  // --- Rows of a line in the bank; tiles lie in a scratchpad of ROWS rows ------------------------------------------------
  function automatic logic touches(input logic col, input gw_isa_pkg::row_t addr0, input gw_isa_pkg::row_t addr1,
                                   input gw_isa_pkg::lane_t jj, input gw_isa_pkg::lanes_t count);
    logic [31:0] low, high; // rows of the bank
    low  = 32'(bank_i) * BANK_ROWS;
    high = low + BANK_ROWS - 1;
    touches = col ? (32'(addr0) <= high && 32'(addr0) + 32'(count) - 1 >= low)
                  : ((32'(addr0) >= low && 32'(addr0) <= high) || (32'(count) > LANES - 32'(jj) && 32'(addr1) >= low && 32'(addr1) <= high));
  endfunction

  logic a_in, b_in, c_in;
  assign a_in = a_en && touches(a_col, a_addr0, a_addr1, a_jj, a_count);
  assign b_in = b_en && touches(b_col, b_addr0, b_addr1, b_jj, b_count);
  assign c_in = c_en_i && (bank_i == c_bank_lo_i || bank_i == c_bank_hi_i);
  always @* begin
    assume (32'(a_addr0) < ROWS && 32'(a_addr1) < ROWS && 32'(b_addr0) < ROWS && 32'(b_addr1) < ROWS);
    assume (32'(bank_i) < ROWS / BANK_ROWS);
  end

  // --- The block, and how far its lines have come ----------------------------------------------------------------
  logic        open_q, null_q, tapped_q; // tapped: not the block's first tap
  logic        place_q;                  // the lines of a tap begin in this cycle, there:
  gw_isa_pkg::row_t a_begin_q, b_begin_q;
  logic [15:0] k_q, line_q;
  logic        a_read_q, b_read_q; // the line has been read
  logic        waited_q, waited2_q;

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      open_q    <= 1'b0;
      waited_q  <= 1'b0;
      waited2_q <= 1'b0;
      place_q   <= 1'b0;
    end else begin
      waited_q  <= open_q && !step && !c_en_i;
      waited2_q <= open_q && !step && !c_en_i && waited_q;
      place_q   <= (start_i && !null_i) || (step && line_q + 16'd1 == k_q && !null_q && more_i);
      a_begin_q <= start_i ? a_addr_i : a_tap_i;
      b_begin_q <= start_i ? b_addr_i : b_tap_i;
      if (start_i) begin
        tapped_q <= 1'b0;
        open_q   <= 1'b1;
        null_q   <= null_i;
        k_q      <= null_i ? 16'd1 : k_i;
        line_q   <= 16'd0;
        a_read_q <= 1'b0;
        b_read_q <= 1'b0;
      end else if (step && line_q + 16'd1 == k_q && !null_q && more_i) begin
        line_q   <= 16'd0;
        tapped_q <= 1'b1;
        a_read_q <= 1'b0;
        b_read_q <= 1'b0;
      end else if (step) begin
        open_q   <= line_q + 16'd1 != k_q;
        line_q   <= line_q + 16'd1;
        a_read_q <= 1'b0;
        b_read_q <= 1'b0;
      end else begin
        a_read_q <= a_read_q || a_en;
        b_read_q <= b_read_q || b_en;
      end
    end
  end

  always @* begin
    if (rst_ni && !clear_i) begin
      one_read_per_bank: assert (!(a_in && b_in) && !(a_in && c_in) && !(b_in && c_in));
      no_line_is_read_twice: assert (!(a_en && a_read_q) && !(b_en && b_read_q));
      a_step_has_both_lines: assert (!step || null_q || ((a_en || a_read_q) && (b_en || b_read_q)));
      a_bubble_reads_nothing: assert (!(open_q && !null_q) ? !a_en && !b_en : 1'b1);
      steps_only_of_a_block: assert (!step || open_q);
      a_block_has_as_many_steps_as_lines: assert (!step || ready == (line_q + 16'd1 == k_q && (null_q || !more_i)));
      a_tap_ends_with_its_lines: assert (tap == (step && line_q + 16'd1 == k_q && !null_q && more_i));
      a_tap_begins_where_it_should: assert (!place_q || (a_addr0 == a_begin_q && b_addr0 == b_begin_q));
      the_first_step_is_marked: assert (!step || (first == (line_q == 16'd0 && !tapped_q) && is_null == null_q));
      a_pair_waits_two_cycles_at_most_but_for_initial_values: assert (!(waited2_q && open_q && !c_en_i));
      a_wait_is_reported: assert (blocked == (open_q && !step));
      // Invariants
      the_block_stands_where_the_ghost_stands:
        assert (\dut.active_q == open_q && (!open_q || (\dut.left_q == k_q - line_q && line_q < k_q &&
                \dut.a_got_q == a_read_q && \dut.b_got_q == b_read_q && is_null == null_q && first == (line_q == 16'd0 && !tapped_q) && (null_q || \dut.k_q == k_q))));
    end
  end

  // Lines of a block with operands: inside their panel, no longer than it.
  always @* begin
    if (rst_ni && !clear_i && open_q && !null_q) begin
      lines_have_elements_and_fit: assert (a_count != '0 && b_count != '0 && 32'(a_count) <= LANES && 32'(b_count) <= LANES);
      lines_begin_in_a_panel: assert (32'(\dut.u_a.jj_q ) < LANES && 32'(\dut.u_b.jj_q ) < LANES);
    end
  end

  // --- Reachable: all three want the bank; lines of rows and of columns ------------------------------------------------
  logic [2:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni) seen_q <= '0;
    else seen_q <= seen_q | {c_in && blocked && a_col, a_in && !b_en && !b_read_q && !null_q, step && !a_col && a_in};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
