// The vector unit as an engine: takes its commands one at a time, keeps program and tiles, and gives the unit its
// lines from the scratchpad. docs/vector-unit.md has what each command does and how long it takes.
//
// The scratchpad has slots for this engine alone, so that every question is granted: a line is read and a line written
// in any cycle.
module gw_vector_engine #(
  parameter int unsigned LANES = 8,
  parameter int unsigned G     = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  input  logic                run_i,
  // Command
  input  logic                start_valid_i,
  output logic                start_ready_o,
  // verilator lint_off UNUSEDSIGNAL
  input  gw_isa_pkg::cmd_t    cmd_i,
  // verilator lint_on UNUSEDSIGNAL
  input  gw_isa_pkg::index_t  index_i,
  input  logic                head_valid_i,
  output logic                done_valid_o,
  output gw_isa_pkg::index_t  done_index_o,
  output gw_isa_pkg::posts_t  done_posts_o,
  output logic                err_valid_o, // instead of done_valid_o: a program's fault
  output logic [31:0]         err_word_o,  // from then on: its word and code, as ERR_WORD
  output logic                busy_o,
  // Counters, in the order of isa.toml
  output logic [6:0]          counters_o,
  // Scratchpad: a line read, there two cycles later, and one written
  output logic                r_en_o,
  output logic                r_fp32_o,
  output logic                r_col_o,
  output logic                r_same_o,
  output gw_isa_pkg::line_t   r_at_o,
  input  logic [32*LANES-1:0] r_line_i,
  output logic                w_en_o,
  output logic                w_fp32_o,
  output logic                w_col_o,
  output gw_isa_pkg::line_t   w_at_o,
  output gw_isa_pkg::lanes_t  w_count_o,
  output logic [32*LANES-1:0] w_line_o
);

  // --- Commands ------------------------------------------------------------------------------------
  gw_isa_pkg::opcode_t opcode;
  logic                accept, is_program, is_vector;
  gw_isa_pkg::index_t  index_q;
  gw_isa_pkg::posts_t  posts_q;
  logic                short_q;  // done in this cycle: a SYNC, a TILE
  logic [2:0]          words_left_q;
  logic [15:0]         at_q;
  logic [383:0]        words_q;
  gw_isa_pkg::dim_t    elements_q, steps_q, strips;
  logic [15:0]         first_q;  // word of the program memory
  logic                unit_busy, unit_done;
  logic [3:0]          fault;
  logic [15:0]         fault_at;

  assign opcode        = cmd_i[gw_isa_pkg::OPCODE_LSB+:8];
  assign is_program    = opcode == gw_isa_pkg::OP_PROGRAM;
  assign is_vector     = opcode == gw_isa_pkg::OP_VECTOR;
  assign busy_o        = short_q || words_left_q != 3'd0 || unit_busy;
  assign start_ready_o = run_i && !busy_o;
  assign accept        = start_valid_i && start_ready_o;
  assign strips        = (elements_q - 16'd1) / 16'(LANES) + 16'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      short_q      <= 1'b0;
      words_left_q <= 3'd0;
    end else if (clear_i) begin
      short_q      <= 1'b0;
      words_left_q <= 3'd0;
    end else begin
      short_q <= accept && !is_program && !is_vector;
      if (accept && is_program) words_left_q <= cmd_i[gw_isa_pkg::COUNT_LSB+:3];
      else if (words_left_q != 3'd0) words_left_q <= words_left_q - 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (accept) begin
      index_q <= index_i;
      posts_q <= cmd_i[gw_isa_pkg::POST0_LSB+:24];
    end
    if (accept && is_vector) begin
      elements_q <= cmd_i[gw_isa_pkg::ELEMENTS_LSB+:16];
      steps_q    <= cmd_i[gw_isa_pkg::STEPS_LSB+:16];
      first_q    <= cmd_i[gw_isa_pkg::FIRST_LSB+:16];
    end
    if (accept && is_program) begin
      at_q    <= cmd_i[gw_isa_pkg::AT_LSB+:16];
      words_q <= cmd_i[gw_isa_pkg::W0_LO_LSB+:384];
    end else if (words_left_q != 3'd0) begin
      at_q    <= at_q + 16'd1;
      words_q <= words_q >> 64;
    end
  end

  assign done_valid_o = short_q || words_left_q == 3'd1 || (unit_done && fault == 4'd0);
  assign done_index_o = index_q;
  assign done_posts_o = posts_q;

  // --- Faults --------------------------------------------------------------------------------------
  logic faulty_q;

  assign err_valid_o = unit_done && fault != 4'd0;
  assign err_word_o  = faulty_q ? {12'd0, fault, first_q + fault_at} : 32'd0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) faulty_q <= 1'b0;
    else if (clear_i) faulty_q <= 1'b0;
    else if (run_i && err_valid_o) faulty_q <= 1'b1;
  end

  // --- Tiles ---------------------------------------------------------------------------------------
  logic        judge_q, rd_req, wr_req;
  logic [8:0]  fit;
  logic [4:0]  same;
  logic [2:0]  rd_tile;
  logic [1:0]  wr_tile;
  logic [99:0] operand, result;

  // Judged in the cycle in which the unit reads the program's header: before it knows what the masks name.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) judge_q <= 1'b0;
    else judge_q <= accept && is_vector;
  end

  gw_vector_tiles u_tiles (
    .clk_i, .rst_ni, .clear_i,
    .load_i     (accept && opcode == gw_isa_pkg::OP_TILE),
    .cmd_i,
    .elements_i (elements_q),
    .steps_i    (steps_q),
    .judge_i    (judge_q),
    .fit_o      (fit),
    .same_o     (same),
    .ask_i      (rd_req),
    .operand_i  (rd_tile),
    .operand_o  (operand),
    .take_i     (wr_req),
    .result_i   (wr_tile),
    .result_o   (result)
  );

  // --- The unit ------------------------------------------------------------------------------------
  logic                working, stalled, rd_valid_q, wr_valid;
  gw_isa_pkg::dim_t    rd_strip, rd_step, wr_strip, wr_step;
  logic [32*LANES-1:0] wr_line;

  // Where a line lies does not depend on the section that asks for it.
  // verilator lint_off PINCONNECTEMPTY
  gw_vector_unit #(.LANES(LANES), .G(G), .PROGRAM_WORDS(gw_isa_pkg::PROGRAM_WORDS)) u_unit (
    .clk_i, .rst_ni, .clear_i,
    .write_i      (words_left_q != 3'd0),
    .write_at_i   (at_q),
    .write_word_i (words_q[63:0]),
    .start_i      (accept && is_vector),
    .first_i      (cmd_i[gw_isa_pkg::FIRST_LSB+:16]),
    .strips_i     (strips),
    .steps_i      (steps_q),
    .fit_i        (fit),
    .same_i       (same),
    .busy_o       (unit_busy),
    .done_o       (unit_done),
    .fault_o      (fault),
    .fault_at_o   (fault_at),
    .working_o    (working),
    .issue_o      (),
    .stalled_o    (stalled),
    .rd_req_o     (rd_req),
    .rd_tile_o    (rd_tile),
    .rd_section_o (),
    .rd_strip_o   (rd_strip),
    .rd_step_o    (rd_step),
    .rd_gnt_i     (1'b1),
    .rd_valid_i   (rd_valid_q),
    .rd_line_i    (r_line_i),
    .wr_req_o     (wr_req),
    .wr_tile_o    (wr_tile),
    .wr_section_o (),
    .wr_strip_o   (wr_strip),
    .wr_step_o    (wr_step),
    .wr_gnt_i     (1'b1),
    .wr_valid_o   (wr_valid),
    .wr_line_o    (wr_line)
  );
  // verilator lint_on PINCONNECTEMPTY

  // --- Lines read ----------------------------------------------------------------------------------
  logic r_en_q, r_read_q; // a line is asked for; it is in the scratchpad's registers

  // All lanes of a line are read; what lies beyond the command's elements reaches no result.
  // verilator lint_off PINCONNECTEMPTY
  gw_vector_place #(.LANES(LANES)) u_read (
    .clk_i,
    .take_i     (rd_req),
    .tile_i     (operand),
    .elements_i (elements_q),
    .strip_i    (rd_strip),
    .step_i     (rd_step),
    .fp32_o     (r_fp32_o),
    .col_o      (r_col_o),
    .same_o     (r_same_o),
    .at_o       (r_at_o),
    .count_o    ()
  );
  // verilator lint_on PINCONNECTEMPTY

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {r_en_q, r_read_q, rd_valid_q} <= 3'd0;
    else if (clear_i) {r_en_q, r_read_q, rd_valid_q} <= 3'd0;
    else {r_en_q, r_read_q, rd_valid_q} <= {rd_req, r_en_q, r_read_q};
  end

  assign r_en_o = r_en_q;

  // --- Lines written -------------------------------------------------------------------------------
  // Results repeat no element.
  // verilator lint_off PINCONNECTEMPTY
  gw_vector_place #(.LANES(LANES)) u_write (
    .clk_i,
    .take_i     (wr_req),
    .tile_i     (result),
    .elements_i (elements_q),
    .strip_i    (wr_strip),
    .step_i     (wr_step),
    .fp32_o     (w_fp32_o),
    .col_o      (w_col_o),
    .same_o     (),
    .at_o       (w_at_o),
    .count_o    (w_count_o)
  );
  // verilator lint_on PINCONNECTEMPTY

  // fp32, or rounded once to bf16. All that it reads is an argument: a process does not wake for what a task reads.
  task automatic round_line(input logic [32*LANES-1:0] line, input logic fp32);
    logic [31:0] i;
    for (i = 0; i < LANES; i = i + 1)
      w_line_o[i*32+:32] = fp32 ? line[i*32+:32] : gw_fp_pkg::round_bf16(line[i*32+:32]);
  endtask
  always_comb begin
    w_line_o = {LANES{32'd0}};
    if (wr_valid) round_line(wr_line, w_fp32_o);
  end

  assign w_en_o = wr_valid;

  // --- Counters ------------------------------------------------------------------------------------
  assign counters_o = {wr_req, rd_req, !busy_o && !head_valid_i, !busy_o && head_valid_i,
                       busy_o && !working && !stalled, stalled, working};

  // --- Checks --------------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) if (!clear_i) begin
      ReadsOnlyTilesThatFit : assert (!rd_req || fit[{1'b0, rd_tile}]);
      WritesOnlyTilesThatFit : assert (!wr_req || fit[4'd5 + {2'd0, wr_tile}]);
      ALineWrittenHasElements : assert (!w_en_o || (w_count_o != '0 && 32'(w_count_o) <= LANES));
      OneCommandAtATime : assert (!(short_q && unit_busy) && !(words_left_q != 3'd0 && (short_q || unit_busy)));
    end
  end
`endif

endmodule
