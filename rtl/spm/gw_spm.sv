// Scratchpad: LANES lane memories of 32-bit words, each word holding a lane of rows 2p (low half) and 2p + 1 (high).
//
// Every port names one tile row, or one tile column, in the skewed panel layout: element e of the access lies in lane
// (rot + e) mod LANES, in row addr0 if e < LANES - jj, else addr1 (a row that crosses into the next panel), or, for a column
// access, in row addr0 + e. A beat of the load or store engine may cover several panels: its element e lies in row addr
// if e < split, else pstride rows further for each panel begun. fp32 accesses take whole words; their addresses are even.
//
// The array side has ports for each core, core 0 in the lowest bits. Its reads (a, b, c) take two cycles: lane memories,
// then the rotator that brings element 0 to the front; lines stay until the next read of their port. The store read (st)
// takes one. Writes (w: results, ld: loads) take effect at the clock edge, those of the cores in their order, then the
// load's; a read of the same word in that cycle gives the old value, and writes of different halves of a word both
// count. Which accesses may meet in a macro-bank is the business of operand_feed and of the port list
// (docs/microarchitecture.md); the address's upper part is the bank.
//
// Each vector unit has a read (v: lines of fp32, or of bf16 widened to it, by rows or columns, as the array's reads; same:
// all elements are the first) and a write (x), which counts behind those of the cores.
module gw_spm #(
  parameter int unsigned LANES     = 8,
  parameter int unsigned COLS      = 8,
  parameter int unsigned CORES     = 1,
  parameter int unsigned SPM_ROWS  = 64,
  parameter int unsigned BUS_BYTES = 16,
  parameter int unsigned VECTORS   = 0,
  localparam int unsigned UNITS    = (VECTORS == 0) ? 1 : VECTORS // of ports that are there without a unit, too
) (
  input  logic                                   clk_i,
  // Array side, reads
  input  logic [CORES-1:0]                       a_en_i,
  input  logic [CORES-1:0]                       a_col_i,
  input  logic [gw_isa_pkg::LINE_W*CORES-1:0]    a_at_i,   // line_t of each core
  output logic [32*LANES*CORES-1:0]              a_line_o, // bf16 in the low halves
  input  logic [CORES-1:0]                       b_en_i,
  input  logic [CORES-1:0]                       b_col_i,
  input  logic [gw_isa_pkg::LINE_W*CORES-1:0]    b_at_i,
  output logic [32*LANES*CORES-1:0]              b_line_o,
  input  logic [CORES-1:0]                       c_en_i,   // fp32 rows
  input  logic [gw_isa_pkg::LINE_W*CORES-1:0]    c_at_i,
  output logic [32*LANES*CORES-1:0]              c_line_o,
  // Array side, write
  input  logic [CORES-1:0]                       w_en_i,
  input  logic [CORES-1:0]                       w_fp32_i,
  input  logic [gw_isa_pkg::LINE_W*CORES-1:0]    w_at_i,
  input  logic [gw_isa_pkg::LANES_W*CORES-1:0]   w_count_i,
  input  logic [32*COLS*CORES-1:0]               w_line_i, // bf16 in the low halves
  // Vector units
  input  logic [UNITS-1:0]                       v_en_i,
  input  logic [UNITS-1:0]                       v_fp32_i,
  input  logic [UNITS-1:0]                       v_col_i,
  // verilator lint_off UNUSEDSIGNAL
  input  logic [UNITS-1:0]                       v_same_i,
  // verilator lint_on UNUSEDSIGNAL
  input  logic [gw_isa_pkg::LINE_W*UNITS-1:0]    v_at_i,
  output logic [32*LANES*UNITS-1:0]              v_line_o,
  input  logic [UNITS-1:0]                       x_en_i,
  input  logic [UNITS-1:0]                       x_fp32_i,
  input  logic [UNITS-1:0]                       x_col_i,
  input  logic [gw_isa_pkg::LINE_W*UNITS-1:0]    x_at_i,
  input  logic [gw_isa_pkg::LANES_W*UNITS-1:0]   x_count_i,
  input  logic [32*LANES*UNITS-1:0]              x_line_i, // bf16 in the low halves
  // Load write: beat slots first .. first + count - 1
  input  logic                                   ld_en_i,
  input  logic                                   ld_fp32_i,
  input  gw_isa_pkg::row_t                       ld_addr_i,
  input  gw_isa_pkg::row_t                       ld_pstride_i,
  input  gw_isa_pkg::lanes_t                     ld_split_i,
  input  gw_isa_pkg::lane_t                      ld_lane_i,
  input  gw_bus_pkg::slot_t                      ld_first_i,
  input  gw_bus_pkg::slots_t                     ld_count_i,
  input  logic [8*BUS_BYTES-1:0]                 ld_data_i,
  // Store read: into beat slots from first on; the others are undefined
  input  logic                                   st_en_i,
  input  logic                                   st_fp32_i,
  input  gw_isa_pkg::row_t                       st_addr_i,
  input  gw_isa_pkg::row_t                       st_pstride_i,
  input  gw_isa_pkg::lanes_t                     st_split_i,
  input  gw_isa_pkg::lane_t                      st_lane_i,
  input  gw_bus_pkg::slot_t                      st_first_i,
  input  gw_bus_pkg::slots_t                     st_count_i,
  output logic [8*BUS_BYTES-1:0]                 st_data_o
);

  localparam int unsigned WORDS   = SPM_ROWS / 2 * LANES;
  localparam int unsigned SLOTS   = BUS_BYTES / 2; // bf16 elements of a beat
  localparam int unsigned ROW_W   = gw_isa_pkg::ROW_W;
  localparam int unsigned LANE_W  = gw_isa_pkg::LANE_W;
  localparam int unsigned LANES_W = gw_isa_pkg::LANES_W;
  localparam int unsigned LINE_W  = gw_isa_pkg::LINE_W;
  // Lowest bits of a line_t's fields.
  localparam int unsigned ROT   = LANE_W;
  localparam int unsigned ADDR0 = 2 * LANE_W;
  localparam int unsigned ADDR1 = 2 * LANE_W + ROW_W;

  // Memories and lane registers are written in loops inside one clocked process.
  // verilator lint_off BLKSEQ
  logic [31:0]                            mem [0:WORDS-1];
  logic [31:0]                            a_q [0:LANES*CORES-1]; // lane memory outputs, of each core
  logic [31:0]                            b_q [0:LANES*CORES-1];
  logic [31:0]                            c_q [0:LANES*CORES-1];
  logic [31:0]                            v_q [0:LANES*UNITS-1];
  // verilator lint_off UNUSEDSIGNAL
  logic [32*LANES*UNITS-1:0]              v_line_q; // nobody's without a vector unit
  // verilator lint_on UNUSEDSIGNAL
  logic [UNITS-1:0]                       v_rotates, v_same; // of the lines that were read in the cycle before
  logic [LANE_W*UNITS-1:0]                v_rot;
  logic [CORES-1:0]                       a_en_q, b_en_q, c_en_q;
  logic [LANE_W*CORES-1:0]                a_rot_q, b_rot_q, c_rot_q;

  // Fields of the lines, of each core
  logic [ROW_W*CORES-1:0]  a_addr0, a_addr1, b_addr0, b_addr1, c_addr0, c_addr1, w_addr0, w_addr1;
  logic [LANE_W*CORES-1:0] a_rot, a_jj, b_rot, b_jj, c_rot, c_jj, w_rot, w_jj;
  for (genvar c = 0; c < CORES; c++) begin : gen_lines
    assign {a_addr1[ROW_W*c+:ROW_W], a_addr0[ROW_W*c+:ROW_W], a_rot[LANE_W*c+:LANE_W], a_jj[LANE_W*c+:LANE_W]} =
           a_at_i[LINE_W*c+:LINE_W];
    assign {b_addr1[ROW_W*c+:ROW_W], b_addr0[ROW_W*c+:ROW_W], b_rot[LANE_W*c+:LANE_W], b_jj[LANE_W*c+:LANE_W]} =
           b_at_i[LINE_W*c+:LINE_W];
    assign {c_addr1[ROW_W*c+:ROW_W], c_addr0[ROW_W*c+:ROW_W], c_rot[LANE_W*c+:LANE_W], c_jj[LANE_W*c+:LANE_W]} =
           c_at_i[LINE_W*c+:LINE_W];
    assign {w_addr1[ROW_W*c+:ROW_W], w_addr0[ROW_W*c+:ROW_W], w_rot[LANE_W*c+:LANE_W], w_jj[LANE_W*c+:LANE_W]} =
           w_at_i[LINE_W*c+:LINE_W];
  end

  // Elements of a line that begins in column jj of a panel up to that panel's end.
  function automatic gw_isa_pkg::lanes_t to_panel_end(input gw_isa_pkg::lane_t jj);
    to_panel_end = LANES_W'(LANES) - {1'b0, jj};
  endfunction

  // Lane l holds element (l - rot) mod LANES of the access; its row, and its word in the memory.
  function automatic logic [31:0] lane_row(input logic [31:0] l, input logic col, input gw_isa_pkg::row_t addr0,
                                           input gw_isa_pkg::row_t addr1, input gw_isa_pkg::lanes_t split,
                                           input gw_isa_pkg::lane_t rot);
    logic [31:0] e;
    e = l - 32'(rot);
    e = (e[31] == 1'b1) ? (e + LANES) : e;
    lane_row = col ? (32'(addr0) + e) : ((e < 32'(split)) ? 32'(addr0) : 32'(addr1));
  endfunction

  function automatic logic [31:0] word_of(input logic [31:0] row, input logic [31:0] lane);
    word_of = (row >> 1) * LANES + lane;
  endfunction

  // (x mod LANES) for x < 2 LANES
  function automatic logic [31:0] wrap(input logic [31:0] x);
    wrap = (x >= LANES) ? (x - LANES) : x;
  endfunction

  // --- Array side, core `c` ------------------------------------------------------------------------
  task automatic read_a(input logic [31:0] c);
    logic [31:0]        l, row, w;
    logic               col;
    gw_isa_pkg::row_t   addr0, addr1;
    gw_isa_pkg::lanes_t split;
    gw_isa_pkg::lane_t  rot;
    col   = a_col_i[c];
    addr0 = a_addr0[ROW_W*c+:ROW_W];
    addr1 = a_addr1[ROW_W*c+:ROW_W];
    split = to_panel_end(a_jj[LANE_W*c+:LANE_W]);
    rot   = a_rot[LANE_W*c+:LANE_W];
    for (l = 0; l < LANES; l = l + 1) begin
      row = lane_row(l, col, addr0, addr1, split, rot);
      w = mem[word_of(row, l)];
      a_q[LANES*c+l] = (row[0] == 1'b1) ? (w >> 16) : (w & 32'hffff);
    end
  endtask

  task automatic read_b(input logic [31:0] c);
    logic [31:0]        l, row, w;
    logic               col;
    gw_isa_pkg::row_t   addr0, addr1;
    gw_isa_pkg::lanes_t split;
    gw_isa_pkg::lane_t  rot;
    col   = b_col_i[c];
    addr0 = b_addr0[ROW_W*c+:ROW_W];
    addr1 = b_addr1[ROW_W*c+:ROW_W];
    split = to_panel_end(b_jj[LANE_W*c+:LANE_W]);
    rot   = b_rot[LANE_W*c+:LANE_W];
    for (l = 0; l < LANES; l = l + 1) begin
      row = lane_row(l, col, addr0, addr1, split, rot);
      w = mem[word_of(row, l)];
      b_q[LANES*c+l] = (row[0] == 1'b1) ? (w >> 16) : (w & 32'hffff);
    end
  endtask

  task automatic read_c(input logic [31:0] c);
    logic [31:0]        l, row;
    gw_isa_pkg::row_t   addr0, addr1;
    gw_isa_pkg::lanes_t split;
    gw_isa_pkg::lane_t  rot;
    addr0 = c_addr0[ROW_W*c+:ROW_W];
    addr1 = c_addr1[ROW_W*c+:ROW_W];
    split = to_panel_end(c_jj[LANE_W*c+:LANE_W]);
    rot   = c_rot[LANE_W*c+:LANE_W];
    for (l = 0; l < LANES; l = l + 1) begin
      row = lane_row(l, 1'b0, addr0, addr1, split, rot);
      c_q[LANES*c+l] = mem[word_of(row, l)];
    end
  endtask

  task automatic rotate_a(input logic [31:0] c);
    logic [31:0] e, rot;
    rot = 32'(a_rot_q[LANE_W*c+:LANE_W]);
    for (e = 0; e < LANES; e = e + 1) a_line_o[(LANES*c+e)*32+:32] <= a_q[LANES*c+wrap(rot+e)];
  endtask

  task automatic rotate_b(input logic [31:0] c);
    logic [31:0] e, rot;
    rot = 32'(b_rot_q[LANE_W*c+:LANE_W]);
    for (e = 0; e < LANES; e = e + 1) b_line_o[(LANES*c+e)*32+:32] <= b_q[LANES*c+wrap(rot+e)];
  endtask

  task automatic rotate_c(input logic [31:0] c);
    logic [31:0] e, rot;
    rot = 32'(c_rot_q[LANE_W*c+:LANE_W]);
    for (e = 0; e < LANES; e = e + 1) c_line_o[(LANES*c+e)*32+:32] <= c_q[LANES*c+wrap(rot+e)];
  endtask

  // Rotators first: they take what the lane memories delivered for the cycle before.
  task automatic array_reads;
    logic [31:0] c;
    for (c = 0; c < CORES; c = c + 1) begin
      if (a_en_q[c]) rotate_a(c);
      if (b_en_q[c]) rotate_b(c);
      if (c_en_q[c]) rotate_c(c);
      if (a_en_i[c]) read_a(c);
      if (b_en_i[c]) read_b(c);
      if (c_en_i[c]) read_c(c);
    end
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

  task automatic write_results(input logic [31:0] c);
    logic [31:0]        e, rot;
    logic               fp32;
    gw_isa_pkg::row_t   addr0, addr1;
    gw_isa_pkg::lanes_t split, count;
    fp32  = w_fp32_i[c];
    addr0 = w_addr0[ROW_W*c+:ROW_W];
    addr1 = w_addr1[ROW_W*c+:ROW_W];
    split = to_panel_end(w_jj[LANE_W*c+:LANE_W]);
    rot   = 32'(w_rot[LANE_W*c+:LANE_W]);
    count = w_count_i[LANES_W*c+:LANES_W];
    for (e = 0; e < COLS; e = e + 1) begin
      if (e < 32'(count)) begin
        put(fp32, (e < 32'(split)) ? 32'(addr0) : 32'(addr1), wrap(rot + e), w_line_i[(COLS*c+e)*32+:32]);
      end
    end
  endtask

  task automatic array_writes;
    logic [31:0] c;
    for (c = 0; c < CORES; c = c + 1) begin
      if (w_en_i[c]) write_results(c);
    end
  endtask

  // --- Vector unit `c` ------------------------------------------------------------------------------
  // Row of element e of a line.
  function automatic logic [31:0] element_row(input logic [31:0] e, input logic col, input logic fp32,
                                              input gw_isa_pkg::row_t addr0, input gw_isa_pkg::row_t addr1,
                                              input gw_isa_pkg::lanes_t split);
    element_row = col ? (32'(addr0) + (fp32 ? (e << 1) : e)) : ((e >= 32'(split)) ? 32'(addr1) : 32'(addr0));
  endfunction

  for (genvar c = 0; c < UNITS; c++) begin : gen_units
    if (VECTORS != 0) begin : gen_unit
      logic              en_q, same_q;
      gw_isa_pkg::lane_t rot_q;

      always_ff @(posedge clk_i) begin
        en_q <= v_en_i[c];
        if (v_en_i[c]) begin
          same_q <= v_same_i[c];
          rot_q  <= v_at_i[LINE_W*c+ROT+:LANE_W];
        end
      end

      assign v_rotates[c] = en_q;
      assign v_same[c]    = same_q;
      assign v_rot[LANE_W*c+:LANE_W] = rot_q;
      assign v_line_o[32*LANES*c+:32*LANES] = v_line_q[32*LANES*c+:32*LANES];
    end else begin : gen_no_unit
      assign v_rotates[c] = 1'b0;
      assign v_same[c]    = 1'b0;
      assign v_rot[LANE_W*c+:LANE_W] = '0;
      assign v_line_o[32*LANES*c+:32*LANES] = {LANES{32'd0}};
    end
  end

  task automatic read_v(input logic [31:0] c);
    logic [31:0]        l, e, row, w;
    logic               col, fp32;
    gw_isa_pkg::row_t   addr0, addr1;
    gw_isa_pkg::lanes_t split;
    gw_isa_pkg::lane_t  rot;
    col   = v_col_i[c];
    fp32  = v_fp32_i[c];
    addr1 = v_at_i[LINE_W*c+ADDR1+:ROW_W];
    addr0 = v_at_i[LINE_W*c+ADDR0+:ROW_W];
    rot   = v_at_i[LINE_W*c+ROT+:LANE_W];
    split = to_panel_end(v_at_i[LINE_W*c+:LANE_W]);
    for (l = 0; l < LANES; l = l + 1) begin
      e = l - 32'(rot);
      e = (e[31] == 1'b1) ? (e + LANES) : e;
      row = element_row(e, col, fp32, addr0, addr1, split);
      w = mem[word_of(row, l)];
      v_q[LANES*c+l] = fp32 ? w : ((row[0] == 1'b1) ? (w & 32'hffff_0000) : (w << 16));
    end
  endtask

  task automatic rotate_v(input logic [31:0] c);
    logic [31:0] e, rot;
    rot = 32'(v_rot[LANE_W*c+:LANE_W]);
    for (e = 0; e < LANES; e = e + 1)
      v_line_q[(LANES*c+e)*32+:32] <= v_q[LANES*c+(v_same[c] ? rot : wrap(rot+e))];
  endtask

  task automatic write_v(input logic [31:0] c);
    logic [31:0]        e, rot;
    logic               col, fp32;
    gw_isa_pkg::row_t   addr0, addr1;
    gw_isa_pkg::lanes_t split, count;
    col   = x_col_i[c];
    fp32  = x_fp32_i[c];
    addr1 = x_at_i[LINE_W*c+ADDR1+:ROW_W];
    addr0 = x_at_i[LINE_W*c+ADDR0+:ROW_W];
    rot   = 32'(x_at_i[LINE_W*c+ROT+:LANE_W]);
    split = to_panel_end(x_at_i[LINE_W*c+:LANE_W]);
    count = x_count_i[LANES_W*c+:LANES_W];
    for (e = 0; e < LANES; e = e + 1) begin
      if (e < 32'(count))
        put(fp32, element_row(e, col, fp32, addr0, addr1, split), wrap(rot + e), x_line_i[(LANES*c+e)*32+:32]);
    end
  endtask

  task automatic vector_reads;
    logic [31:0] c;
    for (c = 0; c != VECTORS; c = c + 1) begin
      if (v_rotates[c]) rotate_v(c);
      if (v_en_i[c]) read_v(c);
    end
  endtask

  task automatic vector_writes;
    logic [31:0] c;
    for (c = 0; c != VECTORS; c = c + 1) begin
      if (x_en_i[c]) write_v(c);
    end
  endtask

  // --- DMA side ------------------------------------------------------------------------------------
  // Element by element: the lane turns round at LANES, the row changes where a panel ends.
  task automatic write_load;
    logic [31:0] e, slot, row, lane, left;
    slot = {22'd0, ld_first_i};
    row  = 32'(ld_addr_i);
    lane = 32'(ld_lane_i);
    left = 32'(ld_split_i);
    for (e = 0; e < SLOTS; e = e + 1) begin
      if (e < {21'd0, ld_count_i}) begin
        if (ld_fp32_i) put(1'b1, row, lane, ld_data_i[slot*32+:32]);
        else put(1'b0, row, lane, {16'd0, ld_data_i[slot*16+:16]});
        slot = slot + 32'd1;
        lane = wrap(lane + 32'd1);
        row  = (left == 32'd1) ? (row + 32'(ld_pstride_i)) : row;
        left = (left == 32'd1) ? LANES : (left - 32'd1);
      end
    end
  endtask

  task automatic read_store;
    logic [31:0] e, slot, row, lane, left, w;
    slot = {22'd0, st_first_i};
    row  = 32'(st_addr_i);
    lane = 32'(st_lane_i);
    left = 32'(st_split_i);
    for (e = 0; e < SLOTS; e = e + 1) begin
      if (e < {21'd0, st_count_i}) begin
        w = mem[word_of(row, lane)];
        if (st_fp32_i) st_data_o[slot*32+:32] <= w;
        else st_data_o[slot*16+:16] <= (row[0] == 1'b1) ? w[31:16] : w[15:0];
        slot = slot + 32'd1;
        lane = wrap(lane + 32'd1);
        row  = (left == 32'd1) ? (row + 32'(st_pstride_i)) : row;
        left = (left == 32'd1) ? LANES : (left - 32'd1);
      end
    end
  endtask

  always_ff @(posedge clk_i) begin
    a_en_q <= a_en_i;
    b_en_q <= b_en_i;
    c_en_q <= c_en_i;
    if (a_en_i != '0) a_rot_q <= a_rot;
    if (b_en_i != '0) b_rot_q <= b_rot;
    if (c_en_i != '0) c_rot_q <= c_rot;
    array_reads;
    if (VECTORS != 0) vector_reads;
    if (st_en_i) read_store;
    // Writes last: reads of this cycle have the old data.
    array_writes;
    if (VECTORS != 0) vector_writes;
    if (ld_en_i) write_load;
  end
  // verilator lint_on BLKSEQ

endmodule
