// Checks the fields of PROGRAM, TILE and VECTOR: what isa/check.cpp says of them. Combinational.
module gw_vector_cmd_check #(
  parameter int unsigned LANES    = 8,
  parameter int unsigned SPM_ROWS = 64
) (
  input  logic             en_i,        // 0: outputs are 0
  // verilator lint_off UNUSEDSIGNAL
  input  gw_isa_pkg::cmd_t cmd_i,       // one of the three
  // verilator lint_on UNUSEDSIGNAL
  output logic             bad_field_o,
  output logic             bad_range_o  // a tile ends beyond the scratchpad
);

  localparam int unsigned APART = gw_isa_pkg::T1_ROW_LSB - gw_isa_pkg::T0_ROW_LSB; // bits from a tile to the next
  localparam int unsigned WORDS = 6; // of a PROGRAM

  gw_isa_pkg::opcode_t opcode;
  logic                is_program, is_tile, is_vector;

  assign opcode     = cmd_i[gw_isa_pkg::OPCODE_LSB +: 8];
  assign is_program = en_i & (opcode == gw_isa_pkg::OP_PROGRAM);
  assign is_tile    = en_i & (opcode == gw_isa_pkg::OP_TILE);
  assign is_vector  = en_i & (opcode == gw_isa_pkg::OP_VECTOR);

  // --- PROGRAM -------------------------------------------------------------------------------------
  logic [2:0]  count;
  logic        bad_program;

  assign count = cmd_i[gw_isa_pkg::COUNT_LSB +: 3];

  always_comb begin
    bad_program = 1'b0;
    if (is_program) begin
      bad_program = (count == 3'd0) | (count == 3'd7) |
                    ({16'd0, cmd_i[gw_isa_pkg::AT_LSB +: 16]} + {29'd0, count} > gw_isa_pkg::PROGRAM_WORDS);
      for (int unsigned w = 0; w < WORDS; w = w + 1) begin
        if (w >= {29'd0, count} && cmd_i[gw_isa_pkg::W0_LO_LSB + 64*w +: 64] != 64'd0) bad_program = 1'b1;
      end
    end
  end

  // --- TILE ----------------------------------------------------------------------------------------
  logic [2:0] bad_tile, bad_extent, bad_end;

  for (genvar k = 0; k < 3; k = k + 1) begin : gen_tile
    logic [3:0]        slot;
    gw_isa_pkg::lane_t col;
    gw_isa_pkg::dim_t  rows, cols;
    logic [16:0]       end_col; // column behind the last
    logic              none;

    assign slot    = cmd_i[gw_isa_pkg::T0_SLOT_LSB + APART*k +: 4];
    assign col     = cmd_i[gw_isa_pkg::T0_COL_LSB + APART*k +: gw_isa_pkg::LANE_W];
    assign rows    = cmd_i[gw_isa_pkg::T0_ROWS_LSB + APART*k +: 16];
    assign cols    = cmd_i[gw_isa_pkg::T0_COLS_LSB + APART*k +: 16];
    assign end_col = 17'(col) + {1'b0, cols};
    assign none    = slot == gw_isa_pkg::NO_SLOT;

    always_comb begin
      bad_tile[k] = 1'b0;
      if (is_tile & none) begin
        bad_tile[k] = (cmd_i[gw_isa_pkg::T0_ROW_LSB + APART*k +: 96] != 96'd0) |
                      (cmd_i[gw_isa_pkg::T0_FP32_LSB + APART*k +: 4] != 4'd0);
      end else if (is_tile) begin
        bad_tile[k] = ({28'd0, slot} >= gw_isa_pkg::SLOTS) |
                      (({28'd0, slot} >= gw_isa_pkg::OPERAND_SLOTS) & cmd_i[gw_isa_pkg::T0_SAME_ELEMENT_LSB + APART*k]) |
                      (rows == 16'd0) | (cols == 16'd0) | (32'(col) >= LANES) | end_col[16];
      end
    end

    gw_tile_check #(.LANES(LANES), .SPM_ROWS(SPM_ROWS)) u_tile (
      .en_i        (is_tile & ~none),
      .fp32_i      (cmd_i[gw_isa_pkg::T0_FP32_LSB + APART*k]),
      .rows_i      (rows),
      .cols_i      (end_col[15:0]),
      .tile_i      (cmd_i[gw_isa_pkg::T0_ROW_LSB + APART*k +: gw_isa_pkg::TILE_W]),
      .bad_field_o (bad_extent[k]),
      .bad_range_o (bad_end[k])
    );
  end

  // --- VECTOR --------------------------------------------------------------------------------------
  logic bad_vector;

  assign bad_vector = is_vector & (({16'd0, cmd_i[gw_isa_pkg::FIRST_LSB +: 16]} >= gw_isa_pkg::PROGRAM_WORDS) |
                                   (cmd_i[gw_isa_pkg::ELEMENTS_LSB +: 16] == 16'd0) |
                                   (cmd_i[gw_isa_pkg::STEPS_LSB +: 16] == 16'd0));

  assign bad_field_o = bad_program | (bad_tile != 3'd0) | (bad_extent != 3'd0) | bad_vector;
  assign bad_range_o = bad_end != 3'd0;

endmodule
