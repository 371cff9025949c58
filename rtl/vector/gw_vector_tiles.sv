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
  output logic [8:0]       fit_o,      // by slot: it is described, and has as many elements and steps
  input  logic [2:0]       operand_i,
  output logic [99:0]      operand_o,
  input  logic [1:0]       result_i,
  output logic [99:0]      result_o
);

  localparam int unsigned SLOTS    = gw_isa_pkg::SLOTS;
  localparam int unsigned OPERANDS = gw_isa_pkg::OPERAND_SLOTS;
  localparam int unsigned W        = 100;
  localparam int unsigned SHAPE    = 64; // bit of the rows
  localparam int unsigned FLAGS    = 96; // bit of fp32
  localparam int unsigned APART    = gw_isa_pkg::T1_ROW_LSB - gw_isa_pkg::T0_ROW_LSB;

  logic [W*SLOTS-1:0] tiles_q;
  logic [SLOTS-1:0]   known_q;

  // --- Tiles of the command ------------------------------------------------------------------------
  logic [3*W-1:0] tile;
  logic [11:0]    slot;

  for (genvar k = 0; k < 3; k = k + 1) begin : g_tile
    assign tile[W*k+:W] = {cmd_i[gw_isa_pkg::T0_FP32_LSB+APART*k+:4], cmd_i[gw_isa_pkg::T0_ROW_LSB+APART*k+:96]};
    assign slot[4*k+:4] = cmd_i[gw_isa_pkg::T0_SLOT_LSB+APART*k+:4];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= '0;
    else if (clear_i) known_q <= '0;
    else if (load_i) begin
      for (int unsigned s = 0; s < SLOTS; s = s + 1)
        for (int unsigned k = 0; k < 3; k = k + 1)
          if (slot[4*k+:4] == 4'(s)) known_q[s] <= 1'b1;
    end
  end

  // Of two tiles with one slot the last counts.
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      for (int unsigned s = 0; s < SLOTS; s = s + 1)
        for (int unsigned k = 0; k < 3; k = k + 1)
          if (slot[4*k+:4] == 4'(s)) tiles_q[W*s+:W] <= tile[W*k+:W];
    end
  end

  // --- Size ----------------------------------------------------------------------------------------
  for (genvar s = 0; s < SLOTS; s = s + 1) begin : g_fit
    gw_isa_pkg::dim_t rows, cols;
    logic             by_col, same_element, same_step;

    assign rows         = tiles_q[W*s+SHAPE+:16];
    assign cols         = tiles_q[W*s+SHAPE+16+:16];
    assign by_col       = tiles_q[W*s+FLAGS+1];
    assign same_element = tiles_q[W*s+FLAGS+2];
    assign same_step    = tiles_q[W*s+FLAGS+3];
    assign fit_o[s]     = known_q[s] && (same_element || (by_col ? rows : cols) >= elements_i) &&
                          (same_step || (by_col ? cols : rows) >= steps_i);
  end

  // --- Choice --------------------------------------------------------------------------------------
  always_comb begin
    operand_o = '0;
    result_o  = '0;
    for (int unsigned s = 0; s < SLOTS; s = s + 1) begin
      if (s < OPERANDS && {29'd0, operand_i} == s) operand_o = tiles_q[W*s+:W];
      if (s >= OPERANDS && {30'd0, result_i} == s - OPERANDS) result_o = tiles_q[W*s+:W];
    end
  end

endmodule
