// The vector unit: a sequencer that runs a program over strips and steps, the lanes, and the lines that come and go.
//
// Lines are asked for at most two runs of a section ahead, each with the place that it has in the command (tile, section,
// strip, step): whoever answers knows from these where it lies. Answers come in the order of the questions. Results leave in the
// same way, line by line. Both keep going while a run is computed, so the longer of the three sets the pace.
module gw_vector_unit #(
  parameter int unsigned LANES         = 8,
  parameter int unsigned G             = 4,    // lines at once: 1, 2, 4 or 8
  parameter int unsigned PROGRAM_WORDS = 1024  // at most 32768
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  // Program memory; only while not busy
  input  logic                write_i,
  input  logic [15:0]         write_at_i,
  input  logic [63:0]         write_word_i,
  // Command; constant until done
  input  logic                start_i,
  input  logic [15:0]         first_i,
  input  logic [15:0]         strips_i,
  input  logic [15:0]         steps_i,
  input  logic [8:0]          fit_i,      // by tile, then result: it may be read, or written
  input  logic [4:0]          same_i,     // by tile: all strips read the same line
  output logic                busy_o,
  output logic                done_o,
  output logic [3:0]          fault_o,    // with done_o; 0: none
  output logic [15:0]         fault_at_o, // word of the program
  output logic                working_o,  // an instruction has a turn
  output logic                issue_o,    // in the lanes: it is no SET
  output logic                stalled_o,  // the next run waits for lines
  // Lines of tiles: a question that is answered some cycles after it is granted
  output logic                rd_req_o,
  output logic [2:0]          rd_tile_o,
  output logic [2:0]          rd_section_o,
  output logic [15:0]         rd_strip_o,
  output logic [15:0]         rd_step_o,
  input  logic                rd_gnt_i,
  input  logic                rd_valid_i,
  input  logic [32*LANES-1:0] rd_line_i,
  // Lines of results: each a cycle after its grant
  output logic                wr_req_o,
  output logic [1:0]          wr_tile_o,
  output logic [2:0]          wr_section_o,
  output logic [15:0]         wr_strip_o,
  output logic [15:0]         wr_step_o,
  input  logic                wr_gnt_i,
  output logic                wr_valid_o,
  output logic [32*LANES-1:0] wr_line_o
);

  localparam int unsigned IN_W  = gw_vector_isa_pkg::TILES * gw_vector_isa_pkg::SECTIONS;
  localparam int unsigned OUT_W = gw_vector_isa_pkg::OUTPUTS * gw_vector_isa_pkg::SECTIONS;

  // --- Sequencer -------------------------------------------------------------------------------
  logic             seq_done, begins_out, ends_in, ends_out, issue, masks_known, in_parity, out_parity;
  logic             in_ready, out_room, stop;
  logic [3:0]       seq_fault;
  logic [15:0]      seq_fault_at, base, step;
  logic [63:0]      word;
  logic [1:0]       turn;
  logic [31:0]      scalar_a, scalar_b, scalar_c;
  logic [IN_W-1:0]  in_masks;
  logic [OUT_W-1:0] out_masks;

  gw_vector_sequencer #(.G(G), .PROGRAM_WORDS(PROGRAM_WORDS)) u_sequencer (
    .clk_i, .rst_ni, .clear_i,
    .write_i, .write_at_i, .write_word_i,
    .start_i, .first_i, .strips_i, .steps_i, .fit_i,
    .done_o        (seq_done),
    .fault_o       (seq_fault),
    .fault_at_o    (seq_fault_at),
    .masks_known_o (masks_known),
    .in_masks_o    (in_masks),
    .out_masks_o   (out_masks),
    .in_ready_i    (in_ready),
    .out_room_i    (out_room),
    .begins_out_o  (begins_out),
    .ends_in_o     (ends_in),
    .ends_out_o    (ends_out),
    .stalled_o,
    .working_o,
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

  assign issue_o = issue;
  assign stop    = clear_i || (seq_done && seq_fault != 4'd0); // what a program with a fault began is dropped

  // --- Lines in: questions, answers, and how many runs of sections are between ---------------------------
  logic       ask_valid, ask_ends, fill_ends, fill_parity;
  logic [2:0] fill_tile, fill_g;
  logic [1:0] fill_turn;
  logic [1:0] asked_q, filled_q; // runs whose lines are all asked for, are there; not yet done

  // What only the other end of a question needs is not connected.
  // verilator lint_off PINCONNECTEMPTY
  gw_vector_line_walk #(.G(G), .TILES(gw_vector_isa_pkg::TILES)) u_ask (
    .clk_i, .rst_ni,
    .clear_i    (stop),
    .start_i    (masks_known),
    .masks_i    (in_masks),
    .same_i,
    .strips_i, .steps_i,
    .next_i     (rd_req_o && rd_gnt_i),
    .valid_o    (ask_valid),
    .tile_o     (rd_tile_o),
    .section_o  (rd_section_o),
    .step_o     (rd_step_o),
    .strip_o    (rd_strip_o),
    .turn_o     (),
    .g_o        (),
    .parity_o   (),
    .run_ends_o (ask_ends)
  );

  gw_vector_line_walk #(.G(G), .TILES(gw_vector_isa_pkg::TILES)) u_fill (
    .clk_i, .rst_ni,
    .clear_i    (stop),
    .start_i    (masks_known),
    .masks_i    (in_masks),
    .same_i,
    .strips_i, .steps_i,
    .next_i     (rd_valid_i),
    .valid_o    (),
    .tile_o     (fill_tile),
    .section_o  (),
    .step_o     (),
    .strip_o    (),
    .turn_o     (fill_turn),
    .g_o        (fill_g),
    .parity_o   (fill_parity),
    .run_ends_o (fill_ends)
  );
  // verilator lint_on PINCONNECTEMPTY

  assign rd_req_o = ask_valid && asked_q != 2'd2;
  assign in_ready = filled_q != 2'd0;

  // --- Lines out -------------------------------------------------------------------------------
  logic       drain_valid, drain_ends, drain_next, drain_parity;
  // verilator lint_off UNUSEDSIGNAL
  logic [2:0] drain_tile; // fewer results than tiles
  // verilator lint_on UNUSEDSIGNAL
  logic [2:0] drain_g;
  logic [1:0] drain_turn;
  logic [1:0] open_q, full_q; // runs whose results have a place, are there; not yet gone
  logic [2:0] ended_q;        // runs on their way through the lanes

  gw_vector_line_walk #(.G(G), .TILES(gw_vector_isa_pkg::OUTPUTS)) u_drain (
    .clk_i, .rst_ni,
    .clear_i    (stop),
    .start_i    (masks_known),
    .masks_i    (out_masks),
    .same_i     ({gw_vector_isa_pkg::OUTPUTS{1'b0}}), // '0 would make Yosys 0.23 derive this module twice
    .strips_i, .steps_i,
    .next_i     (drain_next),
    .valid_o    (drain_valid),
    .tile_o     (drain_tile),
    .section_o  (wr_section_o),
    .step_o     (wr_step_o),
    .strip_o    (wr_strip_o),
    .turn_o     (drain_turn),
    .g_o        (drain_g),
    .parity_o   (drain_parity),
    .run_ends_o (drain_ends)
  );

  assign wr_tile_o  = drain_tile[1:0];
  assign wr_req_o   = drain_valid && full_q != 2'd0;
  assign drain_next = wr_req_o && wr_gnt_i;
  assign out_room   = open_q != 2'd2;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {asked_q, filled_q, open_q, full_q} <= 8'd0;
      ended_q <= 3'd0;
    end else if (stop || masks_known) begin
      {asked_q, filled_q, open_q, full_q} <= 8'd0;
      ended_q <= 3'd0;
    end else begin
      asked_q  <= asked_q + 2'(rd_req_o && rd_gnt_i && ask_ends) - 2'(ends_in);
      filled_q <= filled_q + 2'(rd_valid_i && fill_ends) - 2'(ends_in);
      open_q   <= open_q + 2'(begins_out) - 2'(drain_next && drain_ends);
      full_q   <= full_q + 2'(ended_q[2]) - 2'(drain_next && drain_ends);
      ended_q  <= {ended_q[1:0], ends_out};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wr_valid_o <= 1'b0;
    else wr_valid_o <= drain_next && !clear_i; // what is granted comes, behind a fault too
  end

  // --- Lanes -----------------------------------------------------------------------------------
  logic lanes_busy;

  gw_vector_lanes #(.LANES(LANES), .G(G)) u_lanes (
    .clk_i, .rst_ni, .clear_i,
    .issue_i           (issue),
    .word_i            (word),
    .turn_i            (turn),
    .base_i            (base),
    .step_i            (step),
    .in_parity_i       (in_parity),
    .out_parity_i      (out_parity),
    .scalar_a_i        (scalar_a),
    .scalar_b_i        (scalar_b),
    .scalar_c_i        (scalar_c),
    .same_i,
    .in_we_i           (rd_valid_i),
    .in_tile_i         (fill_tile),
    .in_parity_line_i  (fill_parity),
    .in_turn_i         (fill_turn),
    .in_g_i            (fill_g),
    .in_line_i         (rd_line_i),
    .out_re_i          (drain_next),
    .out_tile_i        (drain_tile[1:0]),
    .out_parity_line_i (drain_parity),
    .out_turn_i        (drain_turn),
    .out_g_i           (drain_g),
    .out_line_o        (wr_line_o),
    .busy_o            (lanes_busy)
  );

  // --- The command's end: all is issued, computed and gone -----------------------------------------------
  logic       running_q, issued_q;
  logic [3:0] fault_q;
  logic [15:0] fault_at_q;

  logic [15:0] pending_q; // questions without their answer: behind a fault some may be left

  assign done_o = running_q && issued_q && !lanes_busy && !drain_valid && !wr_valid_o && pending_q == 16'd0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) pending_q <= 16'd0;
    else if (clear_i) pending_q <= 16'd0;
    else pending_q <= pending_q + 16'(rd_req_o && rd_gnt_i) - 16'(rd_valid_i);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {running_q, issued_q} <= 2'b00;
    else if (clear_i || done_o) {running_q, issued_q} <= 2'b00;
    else begin
      if (start_i) running_q <= 1'b1;
      if (seq_done) issued_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (seq_done) begin
      fault_q    <= seq_fault;
      fault_at_q <= seq_fault_at;
    end
  end

  assign fault_o    = fault_q;
  assign fault_at_o = fault_at_q;
  assign busy_o     = running_q;

  // --- Checks ----------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) if (!clear_i) begin
      StartsOnlyWhenIdle : assert (!start_i || !running_q);
      AsksAtMostTwoRunsAhead : assert (asked_q != 2'd3 && filled_q != 2'd3);
      ResultsHaveRoom : assert (open_q != 2'd3 && full_q != 2'd3);
      EndsOnlyWhatIsThere : assert (!ends_in || filled_q != 2'd0);
    end
  end
`endif

endmodule
