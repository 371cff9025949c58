// Whether an instruction is legal where it stands: isa/vector/program.cpp in hardware.
module gw_vector_check (
  input  logic        en_i,      // 0: outputs are 0
  input  logic [63:0] word_i,
  input  logic [8:0]  mask_i,    // of its section: tiles, then results
  input  logic [8:0]  used_i,    // what the section's instructions before it used
  input  logic        last_i,    // of its section
  // verilator lint_off UNUSEDSIGNAL
  input  logic [30:0] written_i, // registers and scalars, by operand code
  // verilator lint_on UNUSEDSIGNAL
  output logic [8:0]  uses_o,
  output logic [3:0]  fault_o    // 0: none
);

  logic [4:0]  op, d;
  logic [31:0] constant;
  logic        reads_a, reads_b, reads_c, number, sets, result_ok, const_read;
  logic [63:0] used_bits;
  logic [31:0] known;

  assign op        = word_i[gw_vector_isa_pkg::OP_LSB+:5];
  assign d         = word_i[gw_vector_isa_pkg::D_LSB+:5];
  assign constant  = word_i[gw_vector_isa_pkg::CONSTANT_LSB+:32];
  assign used_bits = en_i ? gw_vector_isa_pkg::used_bits(op) : 64'd0;
  assign reads_a   = used_bits[gw_vector_isa_pkg::A_LSB];
  assign reads_b   = used_bits[gw_vector_isa_pkg::B_LSB];
  assign reads_c   = used_bits[gw_vector_isa_pkg::C_LSB];
  assign sets      = op == gw_vector_isa_pkg::OP_SET;
  assign number    = en_i && (sets || gw_vector_isa_pkg::most(op) != 32'hffff_ffff);

  assign result_ok = sets ? (d >= gw_vector_isa_pkg::CODE_SCALAR && d < gw_vector_isa_pkg::CODE_CONSTANT)
                          : (d < gw_vector_isa_pkg::CODE_OUTPUT + 5'(gw_vector_isa_pkg::OUTPUTS));

  // --- Operands --------------------------------------------------------------------------------
  logic [14:0] code;
  logic [2:0]  reads, unwritten, is_constant;
  logic [4:0]  tiles;

  assign code  = {word_i[gw_vector_isa_pkg::C_LSB+:5], word_i[gw_vector_isa_pkg::B_LSB+:5],
                  word_i[gw_vector_isa_pkg::A_LSB+:5]};
  assign reads = {reads_c, reads_b, reads_a};
  assign known = {1'b1, written_i[30:21], 5'h1f, written_i[15:0]}; // tiles and the constant always are

  always_comb begin
    tiles       = 5'd0;
    unwritten   = 3'd0;
    is_constant = 3'd0;
    if (en_i) begin
      for (int unsigned k = 0; k < 3; k = k + 1) begin
        unwritten[k]   = reads[k] && !known[code[5*k+:5]];
        is_constant[k] = reads[k] && code[5*k+:5] == gw_vector_isa_pkg::CODE_CONSTANT;
        for (int unsigned t = 0; t < gw_vector_isa_pkg::TILES; t = t + 1)
          if (reads[k] && code[5*k+:5] == gw_vector_isa_pkg::CODE_TILE + 5'(t)) tiles[t] = 1'b1;
      end
    end
  end

  assign const_read  = is_constant != 3'd0;
  assign uses_o[4:0] = tiles;
  for (genvar o = 0; o < gw_vector_isa_pkg::OUTPUTS; o = o + 1) begin : g_outputs
    assign uses_o[5+o] = en_i && !sets && d == gw_vector_isa_pkg::CODE_OUTPUT + 5'(o);
  end

  // --- The first fault -------------------------------------------------------------------------
  always_comb begin
    if (!en_i) fault_o = 4'd0;
    else if (used_bits == 64'd0) fault_o = gw_vector_isa_pkg::FAULT_OPCODE;
    else if ((word_i & ~used_bits) != 64'd0 || (!const_read && !number && constant != 32'd0))
      fault_o = gw_vector_isa_pkg::FAULT_UNUSED;
    else if (!result_ok) fault_o = gw_vector_isa_pkg::FAULT_RESULT;
    else if (number && constant > gw_vector_isa_pkg::most(op)) fault_o = gw_vector_isa_pkg::FAULT_NUMBER;
    else if ((uses_o & ~mask_i) != 9'd0) fault_o = gw_vector_isa_pkg::FAULT_MASK;
    else if (unwritten != 3'd0) fault_o = gw_vector_isa_pkg::FAULT_UNWRITTEN;
    else if (last_i && (used_i | uses_o) != mask_i) fault_o = gw_vector_isa_pkg::FAULT_MASK;
    else fault_o = 4'd0;
  end

endmodule
