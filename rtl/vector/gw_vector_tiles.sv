// The nine slots of a vector unit: what TILE commands describe, and whether it is large enough for a command.
//
// A tile is kept as its command has it, without the slot: {same_step, same_element, by_col, fp32, columns, rows, first
// column, panel stride, rotation, row}.
module gw_vector_tiles (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,    // forgets all
  input  logic             load_i,     // takes the tiles of a TILE
  // verilator lint_off UNUSEDSIGNAL
  input  gw_isa_pkg::cmd_t cmd_i,
  // verilator lint_on UNUSEDSIGNAL
  input  gw_isa_pkg::dim_t elements_i, // of the VECTOR
  input  gw_isa_pkg::dim_t steps_i,
  input  logic             judge_i,    // of this VECTOR
  output logic [8:0]       fit_o,      // from the next cycle on, by slot: it is described, and has as many elements and steps
  output logic [4:0]       same_o,     // by operand slot: one element for all lanes
  input  logic             ask_i,      // 0: the operand is 0
  input  logic [2:0]       operand_i,
  output logic [99:0]      operand_o,
  input  logic             take_i,     // 0: the result is 0
  input  logic [1:0]       result_i,
  output logic [99:0]      result_o
);

  localparam int unsigned SLOTS    = gw_isa_pkg::SLOTS;
  localparam int unsigned OPERANDS = gw_isa_pkg::OPERAND_SLOTS;
  localparam int unsigned W        = 100;
  localparam int unsigned SHAPE    = 64; // bit of the rows
  localparam int unsigned FLAGS    = 96; // bit of fp32; by_col, same_element and same_step are above it
  localparam int unsigned APART    = gw_isa_pkg::T1_ROW_LSB - gw_isa_pkg::T0_ROW_LSB;

  logic [W*SLOTS-1:0] tiles_q;
  logic [SLOTS-1:0]   known_q;

  // --- Tiles of the command ------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= '0;
    else if (clear_i) known_q <= '0;
    else if (load_i) begin
      for (int unsigned s = 0; s < SLOTS; s = s + 1)
        for (int unsigned k = 0; k < 3; k = k + 1)
          if (cmd_i[gw_isa_pkg::T0_SLOT_LSB+APART*k+:4] == 4'(s)) known_q[s] <= 1'b1;
    end
  end

  // Of two tiles with one slot the last counts.
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      for (int unsigned s = 0; s < SLOTS; s = s + 1)
        for (int unsigned k = 0; k < 3; k = k + 1)
          if (cmd_i[gw_isa_pkg::T0_SLOT_LSB+APART*k+:4] == 4'(s))
            tiles_q[W*s+:W] <= {cmd_i[gw_isa_pkg::T0_FP32_LSB+APART*k+:4], cmd_i[gw_isa_pkg::T0_ROW_LSB+APART*k+:96]};
    end
  end

  // --- Size ----------------------------------------------------------------------------------------
  // A tile as large as the command. All that it reads is an argument.
  function automatic logic fits(input logic known, input logic [2:0] flags, input gw_isa_pkg::dim_t rows,
                                input gw_isa_pkg::dim_t cols, input gw_isa_pkg::dim_t elements,
                                input gw_isa_pkg::dim_t steps);
    logic by_col, same_element, same_step;
    by_col       = flags[0];
    same_element = flags[1];
    same_step    = flags[2];
    fits = known && (same_element || (by_col ? rows : cols) >= elements) && (same_step || (by_col ? cols : rows) >= steps);
  endfunction

  always_ff @(posedge clk_i) begin
    if (judge_i) begin
      for (int unsigned s = 0; s < SLOTS; s = s + 1)
        fit_o[s] <= fits(known_q[s], tiles_q[W*s+FLAGS+1+:3], tiles_q[W*s+SHAPE+:16], tiles_q[W*s+SHAPE+16+:16],
                         elements_i, steps_i);
    end
  end

  always_comb begin
    same_o = '0;
    for (int unsigned s = 0; s < OPERANDS; s = s + 1) same_o[s] = known_q[s] && tiles_q[W*s+FLAGS+2];
  end

  // --- Choice --------------------------------------------------------------------------------------
  always_comb begin
    operand_o = '0;
    if (ask_i) for (int unsigned s = 0; s < OPERANDS; s = s + 1) if ({29'd0, operand_i} == s) operand_o = tiles_q[W*s+:W];
  end

  always_comb begin
    result_o = '0;
    if (take_i)
      for (int unsigned s = OPERANDS; s < SLOTS; s = s + 1)
        if ({30'd0, result_i} == s - OPERANDS) result_o = tiles_q[W*s+:W];
  end

endmodule
