// vector_sections: a program's sections are run in the order that it has them, those of odd numbers once a step in ascending
// order, the others once; then the same for the next group of strips, until no strip is left. Sections without instructions are
// passed over.
//
// What comes next is told a second time here, by counting: the walk's place as one number that only grows.
//
// sources: vector/gw_vector_sections.sv
module vector_sections_props #(
  parameter int unsigned GROUP = 16
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic        start_i,
  input  logic [6:0]  has_i,
  input  logic [15:0] strips_i,
  input  logic [15:0] steps_i,
  input  logic        next_i,
  output logic        covered_o
);

  logic        valid, last;
  logic [2:0]  section, next_section;
  logic [15:0] step, base, next_step;
  logic [6:0]  has_q;
  logic [15:0] strips_q, steps_q;
  logic        start, next;

  gw_vector_sections #(.GROUP(GROUP)) dut (
    .clk_i, .rst_ni, .clear_i,
    .start_i        (start),
    .has_i          (start ? has_i : has_q),
    .strips_i       (start ? strips_i : strips_q),
    .steps_i        (start ? steps_i : steps_q),
    .next_i         (next),
    .valid_o        (valid),
    .section_o      (section),
    .step_o         (step),
    .base_o         (base),
    .last_o         (last),
    .next_section_o (next_section),
    .next_step_o    (next_step)
  );

  // --- Environment: a command holds still; it has a strip and a step, and asks for the next place of a walk that is under way ------
  reset_first u_reset (.clk_i, .rst_ni);
  assign start = start_i && !valid && strips_i != 16'd0 && steps_i != 16'd0;
  assign next  = next_i && valid;

  always @(posedge clk_i) begin
    if (start) begin
      has_q    <= has_i;
      strips_q <= strips_i;
      steps_q  <= steps_i;
    end
  end

  // --- The place before -----------------------------------------------------------------------------
  logic        moved_q, started_q, ended_q;
  logic [2:0]  section_q, promised_section_q;
  logic [15:0] step_q, base_q, promised_step_q;

  always @(posedge clk_i) begin
    moved_q            <= rst_ni && !clear_i && next && !last;
    ended_q            <= rst_ni && !clear_i && next && last;
    started_q          <= rst_ni && !clear_i && start && has_i != 7'd0;
    section_q          <= section;
    step_q             <= step;
    base_q             <= base;
    promised_section_q <= next_section;
    promised_step_q    <= next_step;
  end

  // Sections that have instructions and lie between two.
  logic [6:0] below, above_q, between, below_q;
  assign below   = (7'd1 << section) - 7'd1;               // less than this one
  assign below_q = (7'd1 << section_q) - 7'd1;
  assign above_q = ~(below_q | (7'd1 << section_q));       // more than the one before
  assign between = has_q & below & above_q;

  logic same, forward, wrapped;
  assign same    = moved_q && section == section_q && base == base_q;
  assign forward = moved_q && base == base_q && section > section_q;
  assign wrapped = moved_q && base != base_q;

  // --- Properties ----------------------------------------------------------------------------------
  always @* begin
    if (rst_ni) begin
      a_walk_begins_at_the_first_section_and_strip:
        assert (!started_q || (valid && base == 16'd0 && step == 16'd0 && (has_q & below) == 7'd0));
      a_walk_has_strips_and_steps: assert (!valid || (strips_q != 16'd0 && steps_q != 16'd0));
      it_is_at_a_section_that_has_instructions: assert (!valid || has_q[section]);
      sections_are_there: assert (!valid || section != 3'd7);
      only_loops_have_steps: assert (!valid || (section[0] ? step < steps_q : step == 16'd0));
      strips_are_left: assert (!valid || base < strips_q);
      it_moves_to_the_next_step_or_on: assert (!moved_q || (valid && (same || forward || wrapped)));
      a_section_is_run_again_only_for_its_next_step:
        assert (!same || (section[0] && step == step_q + 16'd1));
      a_section_is_left_after_its_last_step:
        assert (!(forward || wrapped) || !section_q[0] || step_q + 16'd1 == steps_q);
      no_section_is_passed_over: assert (!forward || between == 7'd0);
      a_section_begins_at_its_first_step: assert (!(forward || wrapped) || step == 16'd0);
      a_group_ends_behind_its_last_section: assert (!wrapped || (has_q & above_q) == 7'd0);
      the_next_group_begins_at_the_first_section: assert (!wrapped || (has_q & below) == 7'd0);
      the_next_group_is_that_of_the_next_strips: assert (!wrapped || base == base_q + 16'(GROUP));
      it_ends_behind_the_last_section_of_the_last_group:
        assert (!ended_q || (!valid && (has_q & above_q) == 7'd0 &&
                             {1'b0, base_q} + 17'(GROUP) >= {1'b0, strips_q} &&
                             (!section_q[0] || step_q + 16'd1 == steps_q)));
      what_comes_next_is_told_before:
        assert (!moved_q || (section == promised_section_q && step == promised_step_q));
    end
  end

  // --- Reachable: a walk of two groups with an empty section, a loop of two steps, to its end --------------------
  logic [3:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni || clear_i || start) seen_q <= 4'd0;
    else seen_q <= seen_q | {ended_q, wrapped, same, forward && section > section_q + 3'd1};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
