// LANES x G lanes and their registers: reads operands, multiplies, adds, writes back, a stage each. Every lane does the
// same, cycle after cycle, whatever its values are.
//
// A turn's registers of all lanes are one word of a memory. Lines of tiles lie in buffers of the same kind, two runs
// deep; so do results until they leave. Arithmetic stands in loops over arrays that are indexed by the lane alone, and
// copies to and from the memories apart from it, so that a simulator keeps loops and a compiler makes vectors of them
// (docs/simulation-speed.md).
module gw_vector_lanes #(
  parameter int unsigned LANES = 8,
  parameter int unsigned G     = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  // An instruction's turn
  input  logic                issue_i,
  input  logic [63:0]         word_i,
  input  logic [1:0]          turn_i,
  input  logic [15:0]         base_i,
  input  logic [15:0]         step_i,
  input  logic                in_parity_i,
  input  logic                out_parity_i,
  input  logic [31:0]         scalar_a_i,
  input  logic [31:0]         scalar_b_i,
  input  logic [31:0]         scalar_c_i,
  // A line of a tile; those that are the same for all strips come with the first turn and are read in each
  input  logic [4:0]          same_i,
  input  logic                in_we_i,
  input  logic [2:0]          in_tile_i,
  input  logic                in_parity_line_i,
  input  logic [1:0]          in_turn_i,
  input  logic [2:0]          in_g_i,
  input  logic [32*LANES-1:0] in_line_i,
  // A line of results, a cycle after it is asked for
  input  logic                out_re_i,
  input  logic [1:0]          out_tile_i,
  input  logic                out_parity_line_i,
  input  logic [1:0]          out_turn_i,
  input  logic [2:0]          out_g_i,
  output logic [32*LANES-1:0] out_line_o,
  output logic                busy_o  // an instruction is on its way
);

  localparam int unsigned N = LANES * G;

  // State arrays are written in loops inside one clocked process.
  // verilator lint_off BLKSEQ
  // --- Memories: a word has all lanes ----------------------------------------------------------------
  logic [32*N-1:0] registers [0:63]; // by register and turn
  logic [32*N-1:0] in_lines  [0:63]; // by tile, parity and turn
  logic [32*N-1:0] out_lines [0:31];
  // Words on their way to and from the arrays.
  logic [32*N-1:0] a_word, b_word, c_word, r_word;

  // --- Pipeline --------------------------------------------------------------------------------
  logic [31:0] a    [0:N-1]; // operands
  logic [31:0] b    [0:N-1];
  logic [31:0] c    [0:N-1];
  logic [63:0] pman [0:N-1]; // products
  logic [31:0] pcls [0:N-1];
  logic [31:0] addend [0:N-1];
  logic [31:0] early [0:N-1]; // results that are no sum
  logic [31:0] r    [0:N-1]; // results

  logic        v1_q, v2_q, v3_q;
  logic [4:0]  op1_q, d1_q, d2_q, d3_q, by1_q;
  logic        fma1_q, fma2_q;
  logic [1:0]  turn1_q, turn2_q, turn3_q;
  logic        parity1_q, parity2_q, parity3_q;

  logic [4:0]  op, a_code, b_code, c_code;
  logic        add, mul, fused;

  assign op     = word_i[gw_vector_isa_pkg::OP_LSB+:5];
  assign a_code = word_i[gw_vector_isa_pkg::A_LSB+:5];
  assign b_code = word_i[gw_vector_isa_pkg::B_LSB+:5];
  assign c_code = word_i[gw_vector_isa_pkg::C_LSB+:5];
  assign add    = op == gw_vector_isa_pkg::OP_ADD;
  assign mul    = op == gw_vector_isa_pkg::OP_MUL;
  assign fused  = add || mul || op == gw_vector_isa_pkg::OP_FMA;

  logic [7:0] same; // by the low bits of a tile's code
  assign same = {3'd0, same_i};

  // What reading an operand does to its sign: bits to keep, bits to flip.
  logic [31:0] a_keep, a_flip, b_keep, b_flip, c_keep, c_flip;
  assign a_keep = {!word_i[gw_vector_isa_pkg::A_ABS_LSB], 31'h7fff_ffff};
  assign a_flip = {word_i[gw_vector_isa_pkg::A_NEG_LSB], 31'd0};
  assign b_keep = {!word_i[gw_vector_isa_pkg::B_ABS_LSB], 31'h7fff_ffff};
  assign b_flip = {word_i[gw_vector_isa_pkg::B_NEG_LSB], 31'd0};
  assign c_keep = {!word_i[gw_vector_isa_pkg::C_ABS_LSB], 31'h7fff_ffff};
  assign c_flip = {word_i[gw_vector_isa_pkg::C_NEG_LSB], 31'd0};

  // --- Write back ------------------------------------------------------------------------------
  task automatic write_back;
    logic [31:0] i;
    for (i = 0; i < N; i = i + 1) r_word[i*32+:32] = r[i];
    if (d3_q >= gw_vector_isa_pkg::CODE_OUTPUT) out_lines[{d3_q[1:0], parity3_q, turn3_q}] = r_word;
    else registers[{d3_q[3:0], turn3_q}] = r_word;
  endtask

  // --- Add, or pass on -------------------------------------------------------------------------
  task automatic sum;
    logic [31:0] i;
    if (fma2_q) begin
      for (i = 0; i < N; i = i + 1) r[i] = gw_vector_fp_pkg::sum_rounded(pman[i], pcls[i], addend[i]);
    end else begin
      for (i = 0; i < N; i = i + 1) r[i] = early[i];
    end
  endtask

  // --- Multiply, or what takes one stage -----------------------------------------------------------
  task automatic multiply;
    logic [31:0] i;
    for (i = 0; i < N; i = i + 1) begin
      pman[i] = gw_vector_fp_pkg::product(a[i], b[i]);
      pcls[i] = gw_vector_fp_pkg::product_class(a[i], b[i]);
      addend[i] = c[i];
    end
  endtask

  task automatic compute;
    logic [31:0] i;
    logic [4:0]  by;
    by = by1_q;
    case (op1_q)
      gw_vector_isa_pkg::OP_MIN: for (i = 0; i < N; i = i + 1) early[i] = gw_vector_fp_pkg::min(a[i], b[i]);
      gw_vector_isa_pkg::OP_MAX: for (i = 0; i < N; i = i + 1) early[i] = gw_vector_fp_pkg::max(a[i], b[i]);
      gw_vector_isa_pkg::OP_LT: for (i = 0; i < N; i = i + 1) early[i] = gw_vector_fp_pkg::lt(a[i], b[i]);
      gw_vector_isa_pkg::OP_LE: for (i = 0; i < N; i = i + 1) early[i] = gw_vector_fp_pkg::le(a[i], b[i]);
      gw_vector_isa_pkg::OP_EQ: for (i = 0; i < N; i = i + 1) early[i] = gw_vector_fp_pkg::eq(a[i], b[i]);
      gw_vector_isa_pkg::OP_SELECT:
        for (i = 0; i < N; i = i + 1) early[i] = (a[i][31] == 1'b1) ? b[i] : c[i];
      gw_vector_isa_pkg::OP_IADD: for (i = 0; i < N; i = i + 1) early[i] = a[i] + b[i];
      gw_vector_isa_pkg::OP_ISUB: for (i = 0; i < N; i = i + 1) early[i] = a[i] - b[i];
      gw_vector_isa_pkg::OP_AND: for (i = 0; i < N; i = i + 1) early[i] = a[i] & b[i];
      gw_vector_isa_pkg::OP_OR: for (i = 0; i < N; i = i + 1) early[i] = a[i] | b[i];
      gw_vector_isa_pkg::OP_XOR: for (i = 0; i < N; i = i + 1) early[i] = a[i] ^ b[i];
      gw_vector_isa_pkg::OP_SHL: for (i = 0; i < N; i = i + 1) early[i] = a[i] << by;
      gw_vector_isa_pkg::OP_SHR: for (i = 0; i < N; i = i + 1) early[i] = a[i] >> by;
      gw_vector_isa_pkg::OP_SRA: for (i = 0; i < N; i = i + 1) early[i] = gw_vector_fp_pkg::sra(a[i], by);
      gw_vector_isa_pkg::OP_TO_BF16: for (i = 0; i < N; i = i + 1) early[i] = gw_fp_pkg::round_bf16(a[i]) << 16;
      default: for (i = 0; i < N; i = i + 1) early[i] = a[i]; // INDEX
    endcase
  endtask

  // --- Read operands ---------------------------------------------------------------------------
  // An ADD is 1 a + b, a MUL a b - 0 (N18). What is the same for all lanes is a task's own variable before its loop.
  task automatic read_a;
    logic [31:0] i, j;
    logic [31:0] keep, flip, value;
    keep  = a_keep;
    flip  = a_flip;
    value = (scalar_a_i & keep) ^ flip;
    if (op == gw_vector_isa_pkg::OP_INDEX) begin
      for (j = 0; j < G; j = j + 1)
        for (i = 0; i < LANES; i = i + 1)
          a_word[(j*LANES+i)*32+:32] = (word_i[gw_vector_isa_pkg::CONSTANT_LSB+:2] == 2'd0) ? i
            : (word_i[gw_vector_isa_pkg::CONSTANT_LSB+:2] == 2'd1) ? ({16'd0, base_i} + {30'd0, turn_i} * G + j)
            : {16'd0, step_i};
      for (i = 0; i < N; i = i + 1) a[i] = a_word[i*32+:32];
    end else if (a_code >= gw_vector_isa_pkg::CODE_SCALAR) begin
      for (i = 0; i < N; i = i + 1) a[i] = value;
    end else begin
      if (a_code >= gw_vector_isa_pkg::CODE_TILE)
        a_word = in_lines[{a_code[2:0], in_parity_i, same[a_code[2:0]] ? 2'd0 : turn_i}];
      else a_word = registers[{a_code[3:0], turn_i}];
      for (i = 0; i < N; i = i + 1) a[i] = (a_word[i*32+:32] & keep) ^ flip;
    end
  endtask

  task automatic read_b;
    logic [31:0] i;
    logic [31:0] keep, flip, value;
    keep  = b_keep;
    flip  = b_flip;
    value = (scalar_b_i & keep) ^ flip;
    if (add) begin
      for (i = 0; i < N; i = i + 1) b[i] = gw_vector_fp_pkg::ONE;
    end else if (b_code >= gw_vector_isa_pkg::CODE_SCALAR) begin
      for (i = 0; i < N; i = i + 1) b[i] = value;
    end else begin
      if (b_code >= gw_vector_isa_pkg::CODE_TILE)
        b_word = in_lines[{b_code[2:0], in_parity_i, same[b_code[2:0]] ? 2'd0 : turn_i}];
      else b_word = registers[{b_code[3:0], turn_i}];
      for (i = 0; i < N; i = i + 1) b[i] = (b_word[i*32+:32] & keep) ^ flip;
    end
  endtask

  logic [4:0]  addend_code;
  logic [31:0] addend_keep, addend_flip, addend_scalar;
  assign addend_code   = add ? b_code : c_code;
  assign addend_keep   = add ? b_keep : c_keep;
  assign addend_flip   = add ? b_flip : c_flip;
  assign addend_scalar = add ? scalar_b_i : scalar_c_i;

  task automatic read_c;
    logic [31:0] i;
    logic [31:0] keep, flip, value;
    keep  = addend_keep;
    flip  = addend_flip;
    value = (addend_scalar & keep) ^ flip;
    if (mul) begin
      for (i = 0; i < N; i = i + 1) c[i] = gw_vector_fp_pkg::MINUS_0;
    end else if (addend_code >= gw_vector_isa_pkg::CODE_SCALAR) begin
      for (i = 0; i < N; i = i + 1) c[i] = value;
    end else begin
      if (addend_code >= gw_vector_isa_pkg::CODE_TILE)
        c_word = in_lines[{addend_code[2:0], in_parity_i, same[addend_code[2:0]] ? 2'd0 : turn_i}];
      else c_word = registers[{addend_code[3:0], turn_i}];
      for (i = 0; i < N; i = i + 1) c[i] = (c_word[i*32+:32] & keep) ^ flip;
    end
  endtask

  // --- Lines in --------------------------------------------------------------------------------
  task automatic take_line;
    logic [31:0] g;
    for (g = 0; g < G; g = g + 1)
      if (g[2:0] == in_g_i || same[in_tile_i])
        in_lines[{in_tile_i, in_parity_line_i, in_turn_i}][g*32*LANES+:32*LANES] = in_line_i;
  endtask

  // Stages from the last to the first, so that each sees what the one before it left in the cycle before.
  always_ff @(posedge clk_i) begin
    if (v3_q) write_back;
    if (v2_q) sum;
    if (v1_q && fma1_q) multiply;
    if (v1_q && !fma1_q) compute;
    if (issue_i) begin
      read_a;
      read_b;
      if (fused || op == gw_vector_isa_pkg::OP_SELECT) read_c;
    end
    if (in_we_i) take_line;
  end
  // verilator lint_on BLKSEQ

  // --- Lines out -------------------------------------------------------------------------------
  always_ff @(posedge clk_i) begin
    if (out_re_i)
      out_line_o <= out_lines[{out_tile_i, out_parity_line_i, out_turn_i}][out_g_i*32*LANES+:32*LANES];
  end

  // --- Control ---------------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {v1_q, v2_q, v3_q} <= 3'b0;
    else if (clear_i) {v1_q, v2_q, v3_q} <= 3'b0;
    else {v1_q, v2_q, v3_q} <= {issue_i, v1_q, v2_q};
  end

  always_ff @(posedge clk_i) begin
    op1_q     <= op;
    fma1_q    <= fused;
    by1_q     <= word_i[gw_vector_isa_pkg::CONSTANT_LSB+:5];
    d1_q      <= word_i[gw_vector_isa_pkg::D_LSB+:5];
    turn1_q   <= turn_i;
    parity1_q <= out_parity_i;
    fma2_q    <= fma1_q;
    d2_q      <= d1_q;
    turn2_q   <= turn1_q;
    parity2_q <= parity1_q;
    d3_q      <= d2_q;
    turn3_q   <= turn2_q;
    parity3_q <= parity2_q;
  end

  assign busy_o = v1_q || v2_q || v3_q;

endmodule
