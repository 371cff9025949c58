// Runs programs: one instruction after the other, each for four turns, a cycle each, in which the lanes work on the
// turn's strips. A result is there four cycles after its instruction's issue, which is when the next one of its turn
// may read it: there are no hazards, and the lanes' latency costs nothing.
//
// A run of a section begins when the lines that it reads are there and its results have room; then nothing stops it.
// So cycles depend on lengths, strips and steps alone, not on values.
module gw_vector_sequencer #(
  parameter int unsigned G             = 4,
  parameter int unsigned PROGRAM_WORDS = 1024
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  // Program memory
  input  logic        write_i,
  // verilator lint_off UNUSEDSIGNAL
  input  logic [15:0] write_at_i, // 16 bits, whatever the memory's size
  // verilator lint_on UNUSEDSIGNAL
  input  logic [63:0] write_word_i,
  // Command
  input  logic        start_i,    // only while not busy
  input  logic [15:0] first_i,    // the program's first word
  input  logic [15:0] strips_i,   // constant until done, as steps_i; both at least 1
  input  logic [15:0] steps_i,
  input  logic [8:0]  fit_i,      // what masks may name; constant when they are known
  output logic        done_o,     // for a cycle; all is issued, or there is a fault
  output logic [3:0]  fault_o,    // with done_o; 0: none
  output logic [15:0] fault_at_o, // word of the program
  // Masks of the sections, and a pulse when they are known
  output logic        masks_known_o,
  output logic [gw_vector_isa_pkg::TILES*gw_vector_isa_pkg::SECTIONS-1:0]   in_masks_o,
  output logic [gw_vector_isa_pkg::OUTPUTS*gw_vector_isa_pkg::SECTIONS-1:0] out_masks_o,
  // Lines
  input  logic        in_ready_i, // those of the next run that reads are there
  input  logic        out_room_i, // for those of the next run that writes
  output logic        begins_out_o,
  output logic        ends_in_o,
  output logic        ends_out_o,
  output logic        stalled_o,
  output logic        working_o,
  // Lanes
  output logic        issue_o,
  output logic [63:0] word_o,
  output logic [1:0]  turn_o,
  output logic [15:0] base_o,
  output logic [15:0] step_o,
  output logic        in_parity_o,
  output logic        out_parity_o,
  output logic [31:0] scalar_a_o, // of an operand that is a scalar or the constant
  output logic [31:0] scalar_b_o,
  output logic [31:0] scalar_c_o
);

  localparam int unsigned SECTIONS = gw_vector_isa_pkg::SECTIONS;
  localparam int unsigned LEN_W    = gw_vector_isa_pkg::SECTION_BITS;
  localparam int unsigned MASK_W   = gw_vector_isa_pkg::TILES + gw_vector_isa_pkg::OUTPUTS;
  localparam int unsigned AT_W     = $clog2(PROGRAM_WORDS);
  localparam logic [1:0] IDLE = 2'd0, HEADER = 2'd1, MASKS = 2'd2, RUN = 2'd3;

  // --- Program memory --------------------------------------------------------------------------
  logic [63:0] mem [0:PROGRAM_WORDS-1];
  logic [63:0] word_q;
  // verilator lint_off UNUSEDSIGNAL
  logic [15:0] at_d;
  // verilator lint_on UNUSEDSIGNAL
  logic        fetch;

  always_ff @(posedge clk_i) begin
    if (write_i) mem[write_at_i[AT_W-1:0]] <= write_word_i;
    if (fetch) word_q <= mem[at_d[AT_W-1:0]];
  end

  // --- Header ----------------------------------------------------------------------------------
  logic [1:0]                 state_q;
  logic [15:0]                first_q;
  logic [LEN_W*SECTIONS-1:0]  lens_q;
  logic [MASK_W*SECTIONS-1:0] masks_q, masks;
  logic                       header_bad_q;
  logic [SECTIONS-1:0]        has;
  logic [16*SECTIONS+15:0]    begins; // words before each section; all
  logic [3:0]                 header_fault;
  logic [15:0]                header_fault_at;

  assign masks     = (state_q == MASKS) ? word_q[MASK_W*SECTIONS-1:0] : masks_q;
  for (genvar s = 0; s < SECTIONS; s = s + 1) begin : g_sections
    assign has[s]          = lens_q[s*LEN_W+:LEN_W] != '0;
    assign in_masks_o[s*gw_vector_isa_pkg::TILES+:gw_vector_isa_pkg::TILES] =
      masks[s*MASK_W+:gw_vector_isa_pkg::TILES];
    assign out_masks_o[s*gw_vector_isa_pkg::OUTPUTS+:gw_vector_isa_pkg::OUTPUTS] =
      masks[s*MASK_W+gw_vector_isa_pkg::TILES+:gw_vector_isa_pkg::OUTPUTS];
  end

  logic [15:0] sum;
  always_comb begin
    sum    = 16'd2;
    begins = '0;
    if (state_q != IDLE) begin // a unit at rest costs a simulator nothing
      for (int unsigned k = 0; k < SECTIONS; k = k + 1) begin
        begins[16*k+:16] = sum;
        sum              = sum + {8'd0, lens_q[k*LEN_W+:LEN_W]};
      end
      begins[16*SECTIONS+:16] = sum;
    end
  end

  logic [MASK_W-1:0] named;        // by some section
  logic              empty_masked; // a section without instructions names some
  always_comb begin
    named        = '0;
    empty_masked = 1'b0;
    if (state_q == MASKS) begin
      for (int unsigned k = 0; k < SECTIONS; k = k + 1) begin
        named        = named | masks[k*MASK_W+:MASK_W];
        empty_masked = empty_masked | (!has[k] && masks[k*MASK_W+:MASK_W] != '0);
      end
    end
  end

  always_comb begin
    header_fault    = 4'd0;
    header_fault_at = 16'd0;
    if (state_q != MASKS) header_fault = 4'd0;
    else if (header_bad_q || has == '0) header_fault = gw_vector_isa_pkg::FAULT_HEADER;
    else if ({1'b0, first_q} + {1'b0, begins[16*SECTIONS+:16]} > 17'(PROGRAM_WORDS))
      header_fault = gw_vector_isa_pkg::FAULT_LENGTH;
    else if (word_q[63:MASK_W*SECTIONS] != '0) begin
      header_fault    = gw_vector_isa_pkg::FAULT_HEADER;
      header_fault_at = 16'd1;
    end else if (empty_masked) begin
      header_fault    = gw_vector_isa_pkg::FAULT_MASK;
      header_fault_at = 16'd1;
    end else if ((named & ~fit_i) != '0) begin
      header_fault    = gw_vector_isa_pkg::FAULT_TILE;
      header_fault_at = 16'd1;
    end
  end

  // --- Where it is -----------------------------------------------------------------------------
  logic        begin_run, section_valid, section_last, section_next;
  logic [2:0]  section, next_section;
  logic [15:0] index_q, next_index;
  logic [1:0]  turn_q;
  logic        run_begins, run_ends, advance, finished;
  logic [MASK_W-1:0] mask;

  // The next step is no business of the fetch.
  // verilator lint_off PINCONNECTEMPTY
  gw_vector_sections #(.GROUP(4 * G)) u_sections (
    .clk_i, .rst_ni,
    .clear_i        (clear_i || done_o),
    .start_i        (begin_run),
    .has_i          (has),
    .strips_i, .steps_i,
    .next_i         (section_next),
    .valid_o        (section_valid),
    .section_o      (section),
    .step_o,
    .base_o,
    .last_o         (section_last),
    .next_section_o (next_section),
    .next_step_o    ()
  );
  // verilator lint_on PINCONNECTEMPTY

  logic [2:0] first_section, behind;
  assign behind = section + 3'd1;
  always_comb begin
    first_section = 3'd0;
    if (state_q == MASKS) for (int unsigned k = 0; k < SECTIONS; k = k + 1) if (has[SECTIONS-1-k]) first_section = 3'(SECTIONS - 1 - k);
  end

  assign mask       = masks_q[section*MASK_W+:MASK_W];
  assign run_begins = index_q == begins[16*section+:16];
  assign run_ends   = index_q + 16'd1 == begins[16*behind+:16];
  assign next_index = run_ends ? begins[16*next_section+:16] : (index_q + 16'd1);

  // --- Issue -----------------------------------------------------------------------------------
  logic        waits, going, sets;
  logic [3:0]  fault;
  logic [MASK_W-1:0] used_q, uses;
  logic [30:0] written_q;
  logic [4:0]  d;

  assign d       = word_q[gw_vector_isa_pkg::D_LSB+:5];
  assign sets    = word_q[gw_vector_isa_pkg::OP_LSB+:5] == gw_vector_isa_pkg::OP_SET;
  assign waits   = run_begins && turn_q == 2'd0 &&
                   ((mask[4:0] != 5'd0 && !in_ready_i) || (mask[8:5] != 4'd0 && !out_room_i));
  assign going   = state_q == RUN && section_valid && fault == 4'd0 && !waits;
  assign advance = going && turn_q == 2'd3;
  assign section_next = advance && run_ends;
  assign finished     = section_next && section_last;

  gw_vector_check u_check (
    .en_i      (state_q == RUN && section_valid),
    .word_i    (word_q),
    .mask_i    (mask),
    .used_i    (run_begins ? 9'd0 : used_q),
    .last_i    (run_ends),
    .written_i (written_q),
    .uses_o    (uses),
    .fault_o   (fault)
  );

  assign begin_run     = state_q == MASKS && header_fault == 4'd0;
  assign masks_known_o = begin_run;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= IDLE;
    else if (clear_i || done_o) state_q <= IDLE;
    else if (state_q == IDLE && start_i) state_q <= HEADER;
    else if (state_q == HEADER) state_q <= MASKS;
    else if (state_q == MASKS) state_q <= RUN;
  end

  always_ff @(posedge clk_i) begin
    if (state_q == IDLE) begin
      first_q      <= first_i;
      in_parity_o  <= 1'b0;
      out_parity_o <= 1'b0;
      written_q    <= 31'd0;
      turn_q       <= 2'd0;
    end
    if (state_q == HEADER) begin
      lens_q       <= word_q[8+:LEN_W*SECTIONS];
      header_bad_q <= word_q[7:0] != {3'd0, gw_vector_isa_pkg::OP_PROGRAM};
    end
    if (state_q == MASKS) begin
      masks_q <= word_q[MASK_W*SECTIONS-1:0];
      index_q <= begins[16*first_section+:16];
    end
    if (going) turn_q <= turn_q + 2'd1;
    if (advance) begin
      index_q <= next_index;
      used_q  <= (run_begins ? 9'd0 : used_q) | uses;
      if (sets || d < gw_vector_isa_pkg::CODE_OUTPUT) written_q[d] <= 1'b1;
    end
    if (ends_in_o) in_parity_o <= !in_parity_o;
    if (ends_out_o) out_parity_o <= !out_parity_o;
  end

  // The word of the next cycle: it stays until its four turns are done.
  assign fetch = state_q != RUN || advance;
  always_comb begin
    if (state_q == IDLE) at_d = first_i;
    else if (state_q == HEADER) at_d = first_q + 16'd1;
    else if (state_q == MASKS) at_d = first_q + begins[16*first_section+:16];
    else at_d = first_q + next_index;
  end

  // --- Scalars ---------------------------------------------------------------------------------
  logic [31:0] scalars [0:15]; // by the low bits of their operand codes, 21 to 30; 15: none
  logic [31:0] constant;

  assign constant = word_q[gw_vector_isa_pkg::CONSTANT_LSB+:32];
  always_ff @(posedge clk_i) if (advance && sets) scalars[d[3:0]] <= constant;

  assign scalar_a_o = (word_q[gw_vector_isa_pkg::A_LSB+:5] == gw_vector_isa_pkg::CODE_CONSTANT)
                      ? constant : scalars[word_q[gw_vector_isa_pkg::A_LSB+:4]];
  assign scalar_b_o = (word_q[gw_vector_isa_pkg::B_LSB+:5] == gw_vector_isa_pkg::CODE_CONSTANT)
                      ? constant : scalars[word_q[gw_vector_isa_pkg::B_LSB+:4]];
  assign scalar_c_o = (word_q[gw_vector_isa_pkg::C_LSB+:5] == gw_vector_isa_pkg::CODE_CONSTANT)
                      ? constant : scalars[word_q[gw_vector_isa_pkg::C_LSB+:4]];

  // --- What the others see ---------------------------------------------------------------------
  logic faulty;
  assign faulty       = (state_q == MASKS && header_fault != 4'd0) ||
                        (state_q == RUN && section_valid && fault != 4'd0);
  assign done_o       = finished || faulty;
  assign fault_o      = !faulty ? 4'd0 : (state_q == MASKS) ? header_fault : fault;
  assign fault_at_o   = (state_q == MASKS) ? header_fault_at : index_q;
  assign stalled_o    = state_q == RUN && section_valid && fault == 4'd0 && waits;
  assign working_o    = going;
  assign issue_o      = going && !sets;
  assign word_o       = word_q;
  assign turn_o       = turn_q;
  assign begins_out_o = going && run_begins && turn_q == 2'd0 && mask[8:5] != 4'd0;
  assign ends_in_o    = section_next && mask[4:0] != 5'd0;
  assign ends_out_o   = section_next && mask[8:5] != 4'd0;

endmodule
