// vector_sequencer: every instruction of a run has its turns 0, 1, 2, 3, a cycle each and one behind the other; of a run of a section
// the instructions come in order, each once; and a run takes place for each place of the walk over sections, steps and strips
// (vector_sections_props), in its order. So of a program's loop the strips of every turn have each instruction once in each step,
// steps ascending: which is the order of a reduction. What the lanes are given stays for the four turns. Nothing stops a run that has
// begun; before it the sequencer waits for its lines and for room. A fault, and the program's end, are told once.
//
// The program is arbitrary, and may be a bad one; that the word in the lanes is the one of the instruction's place is proven of
// the memory's address.
//
// sources: vector/gw_vector_check.sv vector/gw_vector_sections.sv vector/gw_vector_sequencer.sv
module vector_sequencer_props #(
  parameter int unsigned G             = 1,
  parameter int unsigned PROGRAM_WORDS = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic        write_i,
  input  logic [15:0] write_at_i,
  input  logic [63:0] write_word_i,
  input  logic        start_i,
  input  logic [15:0] first_i,
  input  logic [15:0] strips_i,
  input  logic [15:0] steps_i,
  input  logic [8:0]  fit_i,
  input  logic        in_ready_i,
  input  logic        out_room_i,
  output logic        covered_o
);

  logic        start, write, done, masks_known, begins_out, ends_in, ends_out, stalled, working, issue, in_parity, out_parity;
  logic        busy_q;
  logic [3:0]  fault;
  logic [15:0] fault_at, base, step, strips_q, steps_q, first_q;
  logic [63:0] word;
  logic [1:0]  turn;

  (* keep *) logic [34:0] in_masks;
  (* keep *) logic [27:0] out_masks;
  (* keep *) logic [31:0] scalar_a, scalar_b, scalar_c;

  gw_vector_sequencer #(.G(G), .PROGRAM_WORDS(PROGRAM_WORDS)) dut (
    .clk_i, .rst_ni, .clear_i,
    .write_i       (write),
    .write_at_i, .write_word_i,
    .start_i       (start),
    .first_i,
    .strips_i      (strips_q),
    .steps_i       (steps_q),
    .fit_i,
    .done_o        (done),
    .fault_o       (fault),
    .fault_at_o    (fault_at),
    .masks_known_o (masks_known),
    .in_masks_o    (in_masks),
    .out_masks_o   (out_masks),
    .in_ready_i, .out_room_i,
    .begins_out_o  (begins_out),
    .ends_in_o     (ends_in),
    .ends_out_o    (ends_out),
    .stalled_o     (stalled),
    .working_o     (working),
    .issue_o       (issue),
    .word_o        (word),
    .turn_o        (turn),
    .base_o        (base),
    .step_o        (step),
    .in_parity_o   (in_parity),
    .out_parity_o  (out_parity),
    .scalar_a_o    (scalar_a),
    .scalar_b_o    (scalar_b),
    .scalar_c_o    (scalar_c)
  );

  (* hierconn *) wire [1:0]   \dut.state_q ;
  (* hierconn *) wire         \dut.fetch ;
  (* hierconn *) wire [15:0]  \dut.at_d ;
  (* hierconn *) wire [15:0]  \dut.index_q ;
  (* hierconn *) wire [55:0]  \dut.lens_q ;
  (* hierconn *) wire [2:0]   \dut.section ;
  (* hierconn *) wire         \dut.section_valid ;
  (* hierconn *) wire [62:0]  \dut.masks_q ;
  (* hierconn *) wire [15:0]  \dut.first_q ;
  (* hierconn *) wire         \dut.header_bad_q ;

  // --- Environment: a command begins when none is under way, and holds still; it has a strip and a step. The program is not written then
  reset_first u_reset (.clk_i, .rst_ni);
  assign start = start_i && !busy_q;
  assign write = write_i && !busy_q && !start;

  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) busy_q <= 1'b0;
    else if (start) busy_q <= 1'b1;
    else if (done) busy_q <= 1'b0;
    if (!busy_q) begin
      strips_q <= (strips_i == 16'd0) ? 16'd1 : strips_i;
      steps_q  <= (steps_i == 16'd0) ? 16'd1 : steps_i;
    end
    if (start) first_q <= first_i;
  end

  // --- Ghosts -----------------------------------------------------------------------------------------
  // The word that the memory gave last; where the run's next turn has to be, counted; the cycle before.
  logic [15:0] at_q, of_q, begins, len, step_q, base_q;
  logic [1:0]  next_turn_q, turn_q;
  logic        working_q, ends_q, last_turn, ends, parity_in_q, parity_out_q, reads_q, writes_q, faulty_q, stays;
  logic [2:0]  section_q;
  logic [63:0] word_q;
  logic        in_run, run_valid;

  assign run_valid = \dut.state_q == 2'd3 && \dut.section_valid ;
  assign len       = {8'd0, \dut.lens_q [8*\dut.section +: 8]};
  assign last_turn = working && turn == 2'd3;
  assign ends      = last_turn && of_q + 16'd1 == len;
  assign in_run    = of_q != 16'd0 || next_turn_q != 2'd0;

  // Words before the section: the sum of the lengths of those below it, header and masks.
  always @* begin : p_begins
    integer k;
    begins = 16'd2;
    for (k = 0; k < 7; k = k + 1) if (k < \dut.section ) begins = begins + {8'd0, \dut.lens_q [8*k +: 8]};
  end

  always @(posedge clk_i) begin
    if (\dut.fetch ) at_q <= \dut.at_d ;
    if (!run_valid || done || clear_i || !rst_ni) begin
      of_q        <= 16'd0;
      next_turn_q <= 2'd0;
    end else if (working) begin
      next_turn_q <= next_turn_q + 2'd1;
      if (last_turn) of_q <= ends ? 16'd0 : (of_q + 16'd1);
    end
    stays        <= rst_ni && !clear_i && run_valid && !done;
    working_q    <= working;
    turn_q       <= turn;
    ends_q       <= ends;
    section_q    <= \dut.section ;
    step_q       <= step;
    base_q       <= base;
    word_q       <= word;
    parity_in_q  <= in_parity;
    parity_out_q <= out_parity;
    reads_q      <= \dut.masks_q [9*\dut.section +: 5] != 5'd0;
    writes_q     <= \dut.masks_q [9*\dut.section + 5 +: 4] != 4'd0;
  end

  // --- Properties ---------------------------------------------------------------------------------------
  always @* begin
    if (rst_ni) begin
      turns_are_counted: assert (!run_valid || turn == next_turn_q);
      an_instruction_that_began_has_all_its_turns: assert (!(run_valid && in_run) || working || fault != 4'd0);
      only_its_first_turn_meets_a_fault: assert (!(run_valid && fault != 4'd0) || turn == 2'd0);
      what_the_lanes_are_given_stays_for_its_turns:
        assert (!(stays && working_q && turn_q != 2'd3) ||
                (working && word == word_q && step == step_q && base == base_q && \dut.section == section_q &&
                 in_parity == parity_in_q && out_parity == parity_out_q));
      instructions_of_a_run_are_in_order: assert (!run_valid || \dut.index_q == begins + of_q);
      a_run_has_no_more_than_its_section: assert (!run_valid || (of_q < len && len != 16'd0));
      the_word_is_that_of_the_place: assert (!run_valid || at_q == first_q + \dut.index_q );
      a_place_of_the_walk_is_left_when_its_run_ends:
        assert (!(stays && !ends_q) || (run_valid && \dut.section == section_q && step == step_q && base == base_q));
      a_run_ends_for_the_next_place: assert (!(stays && ends_q) || (run_valid && of_q == 16'd0 && turn == 2'd0));
      it_waits_only_before_a_run: assert (!stalled || (run_valid && !in_run && !working));
      it_waits_for_lines_or_room_alone: assert (!stalled || !in_ready_i || !out_room_i);
      what_it_asks_for_is_there:
        assert (!(working && !in_run) ||
                ((in_ready_i || \dut.masks_q [9*\dut.section +: 5] == 5'd0) &&
                 (out_room_i || \dut.masks_q [9*\dut.section + 5 +: 4] == 4'd0)));
      a_run_that_writes_begins_once: assert (begins_out == (working && !in_run && \dut.masks_q [9*\dut.section + 5 +: 4] != 4'd0));
      a_run_that_writes_ends_once: assert (ends_out == (ends && \dut.masks_q [9*\dut.section + 5 +: 4] != 4'd0));
      a_run_that_reads_ends_once: assert (ends_in == (ends && \dut.masks_q [9*\dut.section +: 5] != 5'd0));
      lines_read_change_sides_from_run_to_run: assert (!stays || in_parity == (parity_in_q ^ (ends_q && reads_q)));
      results_change_sides_from_run_to_run: assert (!stays || out_parity == (parity_out_q ^ (ends_q && writes_q)));
      only_runs_work: assert (!(working || issue) || run_valid);
      it_ends_with_a_run_or_a_fault: assert (!(done && fault == 4'd0) || ends);
      a_fault_has_no_turn: assert (!(done && fault != 4'd0) || !working);
      nothing_ends_that_is_not_under_way: assert (!done || busy_q);
      // What makes these inductive.
      it_is_busy_until_it_ends: assert ((\dut.state_q != 2'd0) == busy_q);
      the_command_holds_still: assert (\dut.state_q == 2'd0 || \dut.first_q == first_q);
      turns_begin_with_0: assert (\dut.state_q == 2'd0 || \dut.state_q == 2'd3 || turn == 2'd0);
      the_command_has_strips_and_steps: assert (!busy_q || (strips_q != 16'd0 && steps_q != 16'd0));
      only_a_program_walks: assert (!\dut.section_valid || \dut.state_q == 2'd3);
      a_program_that_runs_walks: assert (\dut.state_q != 2'd3 || \dut.section_valid );
      sections_are_there: assert (!\dut.section_valid || \dut.section != 3'd7);
      a_section_that_is_run_has_instructions: assert (!run_valid || \dut.lens_q [8*\dut.section +: 8] != 8'd0);
      nothing_is_under_way_between_programs: assert (run_valid || !in_run);
    end
  end

  // --- Reachable: a run of two instructions that waited, in a program of two sections, to its end --------------------------
  logic [2:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni || clear_i || start) seen_q <= 3'd0;
    else seen_q <= seen_q | {done && fault == 4'd0, stays && ends_q && \dut.section != section_q, stalled};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
