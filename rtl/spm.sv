// Scratchpad: LANES lane memories of 32-bit words, each word holding a lane of rows 2p (low half) and 2p + 1 (high).
//
// Every port names one tile row, or one tile column, in the skewed panel layout: element e of the access lies in lane
// (rot + e) mod LANES, in row addr0 if e < split, else addr1 (a row that crosses into the next panel), or, for a column
// access, in row addr0 + e. fp32 accesses take whole words; their addresses are even.
//
// Reads of the array side (a, b, c) take two cycles: lane memories, then the rotator that brings element 0 to the front;
// lines stay until the next read of their port. The store read (st) takes one. Writes (w: results, ld: loads) take effect at the clock
// edge; a read of the same word in that cycle gives the old value. Which accesses may meet in a macro-bank is the
// business of operand_feed and of the port list (docs/microarchitecture.md); the address's upper part is the bank.
module spm #(
  parameter int unsigned LANES     = 8,
  parameter int unsigned COLS      = 8,
  parameter int unsigned SPM_ROWS  = 64,
  parameter int unsigned BUS_BYTES = 16
) (
  input  logic                   clk_i,
  // Array side, reads
  input  logic                   a_en_i,
  input  logic                   a_col_i,
  input  logic [23:0]            a_addr0_i,
  input  logic [23:0]            a_addr1_i,
  input  logic [7:0]             a_split_i,
  input  logic [7:0]             a_rot_i,
  output logic [32*LANES-1:0]    a_line_o,   // bf16 in the low halves
  input  logic                   b_en_i,
  input  logic                   b_col_i,
  input  logic [23:0]            b_addr0_i,
  input  logic [23:0]            b_addr1_i,
  input  logic [7:0]             b_split_i,
  input  logic [7:0]             b_rot_i,
  output logic [32*LANES-1:0]    b_line_o,
  input  logic                   c_en_i,     // fp32 rows
  input  logic [23:0]            c_addr0_i,
  input  logic [23:0]            c_addr1_i,
  input  logic [7:0]             c_split_i,
  input  logic [7:0]             c_rot_i,
  output logic [32*LANES-1:0]    c_line_o,
  // Array side, write
  input  logic                   w_en_i,
  input  logic                   w_fp32_i,
  input  logic [23:0]            w_addr0_i,
  input  logic [23:0]            w_addr1_i,
  input  logic [7:0]             w_split_i,
  input  logic [7:0]             w_rot_i,
  input  logic [7:0]             w_count_i,
  input  logic [32*COLS-1:0]     w_line_i,   // bf16 in the low halves
  // Load write: beat slots first .. first + count - 1
  input  logic                   ld_en_i,
  input  logic                   ld_fp32_i,
  input  logic [23:0]            ld_addr0_i,
  input  logic [23:0]            ld_addr1_i,
  input  logic [15:0]            ld_split_i,
  input  logic [7:0]             ld_lane_i,
  input  logic [7:0]             ld_first_i,
  input  logic [8:0]             ld_count_i,
  input  logic [8*BUS_BYTES-1:0] ld_data_i,
  // Store read: into beat slots from first on; slots below are undefined
  input  logic                   st_en_i,
  input  logic                   st_fp32_i,
  input  logic [23:0]            st_addr0_i,
  input  logic [23:0]            st_addr1_i,
  input  logic [15:0]            st_split_i,
  input  logic [7:0]             st_lane_i,
  input  logic [7:0]             st_first_i,
  input  logic [8:0]             st_count_i,
  output logic [8*BUS_BYTES-1:0] st_data_o
);

  localparam int unsigned WORDS   = SPM_ROWS / 2 * LANES;
  localparam int unsigned SLOTS16 = BUS_BYTES / 2;
  localparam int unsigned SLOTS32 = BUS_BYTES / 4;

  // Memories and lane registers are written in loops inside one clocked process.
  // verilator lint_off BLKSEQ
  logic [31:0] mem [0:WORDS-1];
  logic [31:0] a_q [0:LANES-1]; // lane memory outputs
  logic [31:0] b_q [0:LANES-1];
  logic [31:0] c_q [0:LANES-1];
  logic        a_en_q, b_en_q, c_en_q;
  logic [7:0]  a_rot_q, b_rot_q, c_rot_q;

  // Lane l holds element (l - rot) mod LANES of the access; its row, and its word in the memory.
  function automatic logic [31:0] lane_row(input logic [31:0] l, input logic col, input logic [23:0] addr0,
                                           input logic [23:0] addr1, input logic [7:0] split, input logic [7:0] rot);
    logic [31:0] e;
    e = l - {24'd0, rot};
    e = (e[31] == 1'b1) ? (e + LANES) : e;
    lane_row = col ? ({8'd0, addr0} + e) : ((e < {24'd0, split}) ? {8'd0, addr0} : {8'd0, addr1});
  endfunction

  function automatic logic [31:0] word_of(input logic [31:0] row, input logic [31:0] lane);
    word_of = (row >> 1) * LANES + lane;
  endfunction

  // (x mod LANES) for x < 2 LANES
  function automatic logic [31:0] wrap(input logic [31:0] x);
    wrap = (x >= LANES) ? (x - LANES) : x;
  endfunction

  task automatic read_a;
    logic [31:0] l, row, w;
    for (l = 0; l < LANES; l = l + 1) begin
      row = lane_row(l, a_col_i, a_addr0_i, a_addr1_i, a_split_i, a_rot_i);
      w = mem[word_of(row, l)];
      a_q[l] = (row[0] == 1'b1) ? (w >> 16) : (w & 32'hffff);
    end
  endtask

  task automatic read_b;
    logic [31:0] l, row, w;
    for (l = 0; l < LANES; l = l + 1) begin
      row = lane_row(l, b_col_i, b_addr0_i, b_addr1_i, b_split_i, b_rot_i);
      w = mem[word_of(row, l)];
      b_q[l] = (row[0] == 1'b1) ? (w >> 16) : (w & 32'hffff);
    end
  endtask

  task automatic read_c;
    logic [31:0] l, row;
    for (l = 0; l < LANES; l = l + 1) begin
      row = lane_row(l, 1'b0, c_addr0_i, c_addr1_i, c_split_i, c_rot_i);
      c_q[l] = mem[word_of(row, l)];
    end
  endtask

  task automatic rotate_a;
    logic [31:0] e;
    for (e = 0; e < LANES; e = e + 1) a_line_o[e*32+:32] <= a_q[wrap({24'd0, a_rot_q} + e)];
  endtask

  task automatic rotate_b;
    logic [31:0] e;
    for (e = 0; e < LANES; e = e + 1) b_line_o[e*32+:32] <= b_q[wrap({24'd0, b_rot_q} + e)];
  endtask

  task automatic rotate_c;
    logic [31:0] e;
    for (e = 0; e < LANES; e = e + 1) c_line_o[e*32+:32] <= c_q[wrap({24'd0, c_rot_q} + e)];
  endtask

  // Writes one element: a whole word, or the half that the row selects.
  task automatic put(input logic fp32, input logic [31:0] row, input logic [31:0] lane, input logic [31:0] value);
    // verilator lint_off UNUSEDSIGNAL
    logic [31:0] i; // as wide as its arithmetic; the memory is smaller
    // verilator lint_on UNUSEDSIGNAL
    logic [31:0] w;
    i = word_of(row, lane);
    w = mem[i];
    mem[i] = fp32 ? value : ((row[0] == 1'b1) ? ((w & 32'h0000_ffff) | (value << 16))
                                              : ((w & 32'hffff_0000) | (value & 32'hffff)));
  endtask

  task automatic write_results;
    logic [31:0] e;
    for (e = 0; e < COLS; e = e + 1) begin
      if (e < {24'd0, w_count_i}) begin
        put(w_fp32_i, {8'd0, (e < {24'd0, w_split_i}) ? w_addr0_i : w_addr1_i}, wrap({24'd0, w_rot_i} + e),
            w_line_i[e*32+:32]);
      end
    end
  endtask

  task automatic write_load;
    logic [31:0] s, e;
    if (ld_fp32_i) begin
      for (s = 0; s < SLOTS32; s = s + 1) begin
        e = s - {24'd0, ld_first_i};
        if (e < {23'd0, ld_count_i}) begin
          put(1'b1, {8'd0, (e < {16'd0, ld_split_i}) ? ld_addr0_i : ld_addr1_i}, wrap({24'd0, ld_lane_i} + e),
              ld_data_i[s*32+:32]);
        end
      end
    end else begin
      for (s = 0; s < SLOTS16; s = s + 1) begin
        e = s - {24'd0, ld_first_i};
        if (e < {23'd0, ld_count_i}) begin
          put(1'b0, {8'd0, (e < {16'd0, ld_split_i}) ? ld_addr0_i : ld_addr1_i}, wrap({24'd0, ld_lane_i} + e),
              {16'd0, ld_data_i[s*16+:16]});
        end
      end
    end
  endtask

  task automatic read_store;
    logic [31:0] s, e, row, w;
    if (st_fp32_i) begin
      for (s = 0; s < SLOTS32; s = s + 1) begin
        e = s - {24'd0, st_first_i};
        if (e < {23'd0, st_count_i}) begin
          row = {8'd0, (e < {16'd0, st_split_i}) ? st_addr0_i : st_addr1_i};
          st_data_o[s*32+:32] <= mem[word_of(row, wrap({24'd0, st_lane_i} + e))];
        end
      end
    end else begin
      for (s = 0; s < SLOTS16; s = s + 1) begin
        e = s - {24'd0, st_first_i};
        if (e < {23'd0, st_count_i}) begin
          row = {8'd0, (e < {16'd0, st_split_i}) ? st_addr0_i : st_addr1_i};
          w = mem[word_of(row, wrap({24'd0, st_lane_i} + e))];
          st_data_o[s*16+:16] <= (row[0] == 1'b1) ? w[31:16] : w[15:0];
        end
      end
    end
  endtask

  always_ff @(posedge clk_i) begin
    a_en_q <= a_en_i;
    b_en_q <= b_en_i;
    c_en_q <= c_en_i;
    // Rotators first: they take what the lane memories delivered for the cycle before.
    if (a_en_q) rotate_a;
    if (b_en_q) rotate_b;
    if (c_en_q) rotate_c;
    if (a_en_i) begin
      a_rot_q <= a_rot_i;
      read_a;
    end
    if (b_en_i) begin
      b_rot_q <= b_rot_i;
      read_b;
    end
    if (c_en_i) begin
      c_rot_q <= c_rot_i;
      read_c;
    end
    if (st_en_i) read_store;
    // Writes last: reads of this cycle have the old data.
    if (w_en_i) write_results;
    if (ld_en_i) write_load;
  end
  // verilator lint_on BLKSEQ

endmodule
