// spm: every element lies where the skewed panel layout puts it, for every port, and nowhere else: what a port writes is what any
// port reads there later, until it is written again. Reads of a cycle see the state before its writes; of several writes the
// last in the order of the ports stays.
//
// A cell (16 bits: row ROW and lane LANE) is followed by a ghost that knows the layout and not the memory's words; there is a
// proof for each kind of cell. The mapping is one to one: what other cells are written to does not change it. Addresses and columns
// have the width of the small scratchpad; data, rotations and the rest their real one.
//
// sources: spm/gw_spm.sv
// memory: words dut.mem WORDS
// sweep: yes
module spm_props #(
  parameter int unsigned LANES     = 3,
  parameter int unsigned COLS      = 3,
  parameter int unsigned CORES     = 1,
  parameter int unsigned SPM_ROWS  = 4,  // a power of two
  parameter int unsigned BUS_BYTES = 8,
  parameter int unsigned WORDS     = 6,  // SPM_ROWS / 2 * LANES
  parameter int unsigned ROW       = 0,  // the cell that is followed
  parameter int unsigned LANE      = 0,
  parameter int unsigned VECTORS   = 0,  // 0 or 1
  parameter int unsigned OTHERS    = 1,  // 0: nobody else reads or writes
  localparam int unsigned ROW_W    = $clog2(SPM_ROWS),
  localparam int unsigned ADDR_W   = gw_isa_pkg::ROW_W,
  localparam int unsigned LANE_W   = gw_isa_pkg::LANE_W,
  localparam int unsigned COLUMN_W = $clog2(LANES), // of a column within its panel
  localparam int unsigned LANES_W  = gw_isa_pkg::LANES_W,
  localparam int unsigned LINE_W   = gw_isa_pkg::LINE_W,
  localparam int unsigned SLOTS    = BUS_BYTES / 2
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic [CORES-1:0]             a_asks_i,
  input  logic [CORES-1:0]             a_col_i,
  input  logic [CORES-1:0]             b_asks_i,
  input  logic [CORES-1:0]             b_col_i,
  input  logic [CORES-1:0]             c_asks_i,
  input  logic [CORES-1:0]             w_asks_i,
  input  logic [CORES-1:0]             w_fp32_i,
  input  logic [ROW_W*CORES-1:0]       a_row0_i,
  input  logic [ROW_W*CORES-1:0]       a_row1_i,
  input  logic [ROW_W*CORES-1:0]       b_row0_i,
  input  logic [ROW_W*CORES-1:0]       b_row1_i,
  input  logic [ROW_W*CORES-1:0]       c_row0_i,
  input  logic [ROW_W*CORES-1:0]       c_row1_i,
  input  logic [ROW_W*CORES-1:0]       w_row0_i,
  input  logic [ROW_W*CORES-1:0]       w_row1_i,
  input  logic [COLUMN_W*CORES-1:0]    a_jj_i,
  input  logic [LANE_W*CORES-1:0]      a_rot_i,
  input  logic [COLUMN_W*CORES-1:0]    b_jj_i,
  input  logic [LANE_W*CORES-1:0]      b_rot_i,
  input  logic [COLUMN_W*CORES-1:0]    c_jj_i,
  input  logic [LANE_W*CORES-1:0]      c_rot_i,
  input  logic [COLUMN_W*CORES-1:0]    w_jj_i,
  input  logic [LANE_W*CORES-1:0]      w_rot_i,
  input  logic [LANES_W*CORES-1:0]     w_count_i,
  input  logic [32*COLS*CORES-1:0] w_line_i,
  input  logic                         ld_asks_i,
  input  logic                         ld_fp32_i,
  input  logic                         st_asks_i,
  input  logic                         st_fp32_i,
  input  logic [ROW_W-1:0]             ld_row_i,
  input  logic [ROW_W-1:0]             ld_pstride_i,
  input  logic [ROW_W-1:0]             st_row_i,
  input  logic [ROW_W-1:0]             st_pstride_i,
  input  logic [LANES_W-1:0]           ld_split_i,
  input  logic [LANE_W-1:0]            ld_lane_i,
  input  logic [LANES_W-1:0]           st_split_i,
  input  logic [LANE_W-1:0]            st_lane_i,
  input  logic [9:0]                   ld_first_i,
  input  logic [9:0]                   st_first_i,
  input  logic [10:0]                  ld_count_i,
  input  logic [10:0]                  st_count_i,
  input  logic [8*BUS_BYTES-1:0]   ld_data_i,
  // A vector unit's line read, and line written
  input  logic                         v_en_i,
  input  logic                         v_fp32_i,
  input  logic                         v_col_i,
  input  logic                         v_same_i,
  input  logic [ROW_W-1:0]             v_row0_i,
  input  logic [ROW_W-1:0]             v_row1_i,
  input  logic [COLUMN_W-1:0]          v_jj_i,
  input  logic [LANE_W-1:0]            v_rot_i,
  input  logic                         x_en_i,
  input  logic                         x_fp32_i,
  input  logic                         x_col_i,
  input  logic [ROW_W-1:0]             x_row0_i,
  input  logic [ROW_W-1:0]             x_row1_i,
  input  logic [COLUMN_W-1:0]          x_jj_i,
  input  logic [LANE_W-1:0]            x_rot_i,
  input  logic [LANES_W-1:0]           x_count_i,
  input  logic [32*LANES-1:0]          x_line_i,
  output logic                     covered_o
);

  logic [ADDR_W*CORES-1:0]   a_addr0, a_addr1, b_addr0, b_addr1, c_addr0, c_addr1, w_addr0, w_addr1;
  logic [LINE_W*CORES-1:0]   a_at, b_at, c_at, w_at;
  logic [32*LANES*CORES-1:0] a_line, b_line, c_line;
  logic [8*BUS_BYTES-1:0]    st_data;

  for (genvar c = 0; c < CORES; c++) begin : gen_addresses
    assign a_addr0[ADDR_W*c +: ADDR_W] = {{(ADDR_W-ROW_W){1'b0}}, a_row0_i[ROW_W*c +: ROW_W]};
    assign a_addr1[ADDR_W*c +: ADDR_W] = {{(ADDR_W-ROW_W){1'b0}}, a_row1_i[ROW_W*c +: ROW_W]};
    assign b_addr0[ADDR_W*c +: ADDR_W] = {{(ADDR_W-ROW_W){1'b0}}, b_row0_i[ROW_W*c +: ROW_W]};
    assign b_addr1[ADDR_W*c +: ADDR_W] = {{(ADDR_W-ROW_W){1'b0}}, b_row1_i[ROW_W*c +: ROW_W]};
    assign c_addr0[ADDR_W*c +: ADDR_W] = {{(ADDR_W-ROW_W){1'b0}}, c_row0_i[ROW_W*c +: ROW_W]} & {{(ADDR_W-1){1'b1}}, 1'b0};
    assign c_addr1[ADDR_W*c +: ADDR_W] = {{(ADDR_W-ROW_W){1'b0}}, c_row1_i[ROW_W*c +: ROW_W]} & {{(ADDR_W-1){1'b1}}, 1'b0};
    assign w_addr0[ADDR_W*c +: ADDR_W] = {{(ADDR_W-ROW_W){1'b0}}, w_row0_i[ROW_W*c +: ROW_W]} & {{(ADDR_W-1){1'b1}}, !w_fp32_i[c]};
    assign w_addr1[ADDR_W*c +: ADDR_W] = {{(ADDR_W-ROW_W){1'b0}}, w_row1_i[ROW_W*c +: ROW_W]} & {{(ADDR_W-1){1'b1}}, !w_fp32_i[c]};
    assign a_at[LINE_W*c +: LINE_W] = {a_addr1[ADDR_W*c +: ADDR_W], a_addr0[ADDR_W*c +: ADDR_W], a_rot_i[LANE_W*c +: LANE_W], LANE_W'(a_jj_i[COLUMN_W*c +: COLUMN_W])};
    assign b_at[LINE_W*c +: LINE_W] = {b_addr1[ADDR_W*c +: ADDR_W], b_addr0[ADDR_W*c +: ADDR_W], b_rot_i[LANE_W*c +: LANE_W], LANE_W'(b_jj_i[COLUMN_W*c +: COLUMN_W])};
    assign c_at[LINE_W*c +: LINE_W] = {c_addr1[ADDR_W*c +: ADDR_W], c_addr0[ADDR_W*c +: ADDR_W], c_rot_i[LANE_W*c +: LANE_W], LANE_W'(c_jj_i[COLUMN_W*c +: COLUMN_W])};
    assign w_at[LINE_W*c +: LINE_W] = {w_addr1[ADDR_W*c +: ADDR_W], w_addr0[ADDR_W*c +: ADDR_W], w_rot_i[LANE_W*c +: LANE_W], LANE_W'(w_jj_i[COLUMN_W*c +: COLUMN_W])};
  end
  logic [ADDR_W-1:0] ld_addr, ld_pstride, st_addr, st_pstride;
  assign ld_addr    = {{(ADDR_W-ROW_W){1'b0}}, ld_row_i} & {{(ADDR_W-1){1'b1}}, !ld_fp32_i};
  assign ld_pstride = {{(ADDR_W-ROW_W){1'b0}}, ld_pstride_i} & {{(ADDR_W-1){1'b1}}, !ld_fp32_i};
  assign st_addr    = {{(ADDR_W-ROW_W){1'b0}}, st_row_i} & {{(ADDR_W-1){1'b1}}, !st_fp32_i};
  assign st_pstride = {{(ADDR_W-ROW_W){1'b0}}, st_pstride_i} & {{(ADDR_W-1){1'b1}}, !st_fp32_i};

  logic [CORES-1:0] a_en, b_en, c_en, w_en;
  logic             ld_en, st_en;
  assign {a_en, b_en, c_en, w_en} = (OTHERS != 0) ? {a_asks_i, b_asks_i, c_asks_i, w_asks_i} : '0;
  assign {ld_en, st_en}           = (OTHERS != 0) ? {ld_asks_i, st_asks_i} : '0;

  logic                v_en, x_en;
  logic [ADDR_W-1:0]         v_addr0, v_addr1, x_addr0, x_addr1;
  logic [32*LANES-1:0] v_line;
  assign v_en    = v_en_i && VECTORS != 0;
  assign x_en    = x_en_i && VECTORS != 0;
  assign v_addr0 = {{(ADDR_W-ROW_W){1'b0}}, v_row0_i} & {{(ADDR_W-1){1'b1}}, !v_fp32_i};
  assign v_addr1 = {{(ADDR_W-ROW_W){1'b0}}, v_row1_i} & {{(ADDR_W-1){1'b1}}, !v_fp32_i};
  assign x_addr0 = {{(ADDR_W-ROW_W){1'b0}}, x_row0_i} & {{(ADDR_W-1){1'b1}}, !x_fp32_i};
  assign x_addr1 = {{(ADDR_W-ROW_W){1'b0}}, x_row1_i} & {{(ADDR_W-1){1'b1}}, !x_fp32_i};

  gw_spm #(
    .LANES(LANES), .COLS(COLS), .CORES(CORES), .SPM_ROWS(SPM_ROWS), .BUS_BYTES(BUS_BYTES), .VECTORS(VECTORS)
  ) dut (
    .clk_i,
    .a_en_i (a_en), .a_col_i, .a_at_i (a_at), .a_line_o (a_line),
    .b_en_i (b_en), .b_col_i, .b_at_i (b_at), .b_line_o (b_line),
    .c_en_i (c_en), .c_at_i (c_at), .c_line_o (c_line),
    .w_en_i (w_en), .w_fp32_i, .w_at_i (w_at), .w_count_i, .w_line_i,
    .v_en_i (v_en), .v_fp32_i, .v_col_i, .v_same_i, .v_at_i ({v_addr1, v_addr0, v_rot_i, LANE_W'(v_jj_i)}), .v_line_o (v_line),
    .x_en_i (x_en), .x_fp32_i, .x_col_i, .x_at_i ({x_addr1, x_addr0, x_rot_i, LANE_W'(x_jj_i)}), .x_count_i, .x_line_i,
    .ld_en_i (ld_en), .ld_fp32_i, .ld_addr_i (ld_addr), .ld_pstride_i (ld_pstride), .ld_split_i, .ld_lane_i, .ld_first_i,
    .ld_count_i, .ld_data_i,
    .st_en_i (st_en), .st_fp32_i, .st_addr_i (st_addr), .st_pstride_i (st_pstride), .st_split_i, .st_lane_i, .st_first_i,
    .st_count_i, .st_data_o (st_data)
  );

  wire [32*WORDS-1:0] words;

  // --- Environment: what the engines are proven to ask for --------------------------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);
  for (genvar c = 0; c < CORES; c++) begin : gen_legal
    always @* begin
      assume (32'(a_rot_i[LANE_W*c +: LANE_W]) < LANES && 32'(b_rot_i[LANE_W*c +: LANE_W]) < LANES && 32'(c_rot_i[LANE_W*c +: LANE_W]) < LANES);
      assume (32'(w_rot_i[LANE_W*c +: LANE_W]) < LANES && 32'(w_count_i[LANES_W*c +: LANES_W]) <= COLS);
    end
  end
  always @* begin
    assume (32'(ld_lane_i) < LANES && ld_split_i != '0 && 32'(ld_split_i) <= LANES);
    assume (32'(st_lane_i) < LANES && st_split_i != '0 && 32'(st_split_i) <= LANES);
    assume (32'(ld_first_i) + 32'(ld_count_i) <= (ld_fp32_i ? SLOTS / 2 : SLOTS));
    assume (32'(st_first_i) + 32'(st_count_i) <= (st_fp32_i ? SLOTS / 2 : SLOTS));
  end

  // Columns that are written lie in the scratchpad.
  always @* begin
    assume (32'(v_rot_i) < LANES && 32'(x_rot_i) < LANES && 32'(x_count_i) <= LANES);
    assume (!x_en || !x_col_i || x_count_i == '0 || line_row(1'b1, x_fp32_i, x_addr0, x_addr1, x_jj_i, 32'(x_count_i) - 32'd1) < SPM_ROWS);
  end

  // Row of element e of a vector unit's line.
  function automatic logic [31:0] line_row(input logic col, input logic fp32, input logic [ADDR_W-1:0] addr0, input logic [ADDR_W-1:0] addr1,
                                           input logic [COLUMN_W-1:0] jj, input int unsigned e);
    if (col) line_row = 32'(addr0) + (fp32 ? 2 * e : e);
    else line_row = 32'((e + 32'(jj) < LANES) ? addr0 : addr1);
  endfunction

  // --- The cell and its ghost ---------------------------------------------------------------------------------------
  logic        known_q, known_d; // it has been written
  logic [15:0] cell_q, cell_d;
  always @(posedge clk_i) begin
    known_q <= rst_ni && known_d;
    cell_q  <= cell_d;
  end

  // Element e of an access whose element 0 lies in lane x.
  function automatic logic in_lane(input logic [LANE_W-1:0] x, input int unsigned e);
    in_lane = 32'(x) + e == LANE || 32'(x) + e == LANE + LANES || 32'(x) + e == LANE + 2 * LANES;
  endfunction

  function automatic logic [15:0] half(input logic [31:0] word);
    half = ROW % 2 == 1 ? word[31:16] : word[15:0];
  endfunction

  function automatic logic same_row(input logic fp32, input logic [31:0] row);
    same_row = fp32 ? (row >> 1) == ROW / 2 : row == ROW;
  endfunction

  // Row of element e of a beat: PSTRIDE further for each panel begun.
  function automatic logic [31:0] beat_row(input logic [ADDR_W-1:0] addr, input logic [ADDR_W-1:0] pstride, input logic [LANES_W-1:0] split,
                                           input int unsigned e);
    beat_row = 32'(addr);
    for (int p = 0; p * LANES <= SLOTS; p++) begin
      if (e >= 32'(split) + p * LANES) beat_row = beat_row + 32'(pstride);
    end
  endfunction

  // Beats lie in the scratchpad.
  always @* begin
    assume (!ld_en || ld_count_i == 11'd0 || beat_row(ld_addr, ld_pstride, ld_split_i, 32'(ld_count_i) - 32'd1) < SPM_ROWS);
  end

  always @* begin
    known_d = known_q;
    cell_d  = cell_q;
    for (int c = 0; c < CORES; c++) begin
      for (int e = 0; e < COLS; e++) begin
        if (w_en[c] && e < 32'(w_count_i[LANES_W*c +: LANES_W]) && in_lane(w_rot_i[LANE_W*c +: LANE_W], e) &&
            same_row(w_fp32_i[c], 32'((e + 32'(w_jj_i[COLUMN_W*c +: COLUMN_W]) < LANES) ? w_addr0[ADDR_W*c +: ADDR_W] : w_addr1[ADDR_W*c +: ADDR_W]))) begin
          known_d = 1'b1;
          cell_d  = w_fp32_i[c] ? half(w_line_i[32*(COLS*c + e) +: 32]) : w_line_i[32*(COLS*c + e) +: 16];
        end
      end
    end
    for (int e = 0; e < LANES; e++) begin
      if (x_en && e < 32'(x_count_i) && in_lane(x_rot_i, e) &&
          same_row(x_fp32_i, line_row(x_col_i, x_fp32_i, x_addr0, x_addr1, x_jj_i, e))) begin
        known_d = 1'b1;
        cell_d  = x_fp32_i ? half(x_line_i[32*e +: 32]) : x_line_i[32*e +: 16];
      end
    end
    for (int e = 0; e < SLOTS; e++) begin
      if (ld_en && e < 32'(ld_count_i) && in_lane(ld_lane_i, e) &&
          same_row(ld_fp32_i, beat_row(ld_addr, ld_pstride, ld_split_i, e))) begin
        known_d = 1'b1;
        cell_d  = ld_fp32_i ? half(ld_data_i[32*(32'(ld_first_i) + e) +: 32]) : ld_data_i[16*(32'(ld_first_i) + e) +: 16];
      end
    end
  end

  // --- Reads: whether element e is the cell; the array side delivers two cycles later, the store side one ----------------
  logic [LANES*CORES-1:0] a_hit, b_hit, c_hit, a_hit1_q, b_hit1_q, c_hit1_q, a_hit2_q, b_hit2_q, c_hit2_q;
  logic [SLOTS-1:0]       st_hit, st_hit_q;
  logic [9:0]             st_first_q;
  logic                   st_fp32_q;
  logic [15:0]            cell1_q, cell2_q;

  for (genvar c = 0; c < CORES; c++) begin : gen_reads
    for (genvar e = 0; e < LANES; e++) begin : gen_element
      assign a_hit[LANES*c + e] = known_q && a_en[c] && in_lane(a_rot_i[LANE_W*c +: LANE_W], e) &&
          ROW == (a_col_i[c] ? 32'(a_addr0[ADDR_W*c +: ADDR_W]) + e
                                    : 32'((e + 32'(a_jj_i[COLUMN_W*c +: COLUMN_W]) < LANES) ? a_addr0[ADDR_W*c +: ADDR_W] : a_addr1[ADDR_W*c +: ADDR_W]));
      assign b_hit[LANES*c + e] = known_q && b_en[c] && in_lane(b_rot_i[LANE_W*c +: LANE_W], e) &&
          ROW == (b_col_i[c] ? 32'(b_addr0[ADDR_W*c +: ADDR_W]) + e
                                    : 32'((e + 32'(b_jj_i[COLUMN_W*c +: COLUMN_W]) < LANES) ? b_addr0[ADDR_W*c +: ADDR_W] : b_addr1[ADDR_W*c +: ADDR_W]));
      assign c_hit[LANES*c + e] = known_q && c_en[c] && in_lane(c_rot_i[LANE_W*c +: LANE_W], e) &&
          same_row(1'b1, 32'((e + 32'(c_jj_i[COLUMN_W*c +: COLUMN_W]) < LANES) ? c_addr0[ADDR_W*c +: ADDR_W] : c_addr1[ADDR_W*c +: ADDR_W]));
    end
  end
  // A vector unit's line: the element that is the cell, in the lane of each that repeats it. bf16 comes in the high half.
  logic [LANES-1:0] v_hit, v_hit1_q, v_hit2_q;
  logic             v_fp32_1q, v_fp32_2q;
  for (genvar e = 0; e < LANES; e++) begin : gen_vector
    assign v_hit[e] = known_q && v_en && in_lane(v_rot_i, v_same_i ? 0 : e) &&
                      same_row(v_fp32_i, line_row(v_col_i, v_fp32_i, v_addr0, v_addr1, v_jj_i, v_same_i ? 0 : e));
  end
  always @(posedge clk_i) begin
    v_hit1_q  <= rst_ni ? v_hit : '0;
    v_hit2_q  <= rst_ni ? v_hit1_q : '0;
    v_fp32_1q <= v_fp32_i;
    v_fp32_2q <= v_fp32_1q;
  end
  logic v_right;
  always @* begin
    v_right = 1'b1;
    for (int e = 0; e < LANES; e++) begin
      if (v_hit2_q[e] && v_fp32_2q && half(v_line[32*e +: 32]) != cell2_q) v_right = 1'b0;
      if (v_hit2_q[e] && !v_fp32_2q && v_line[32*e +: 32] != {cell2_q, 16'd0}) v_right = 1'b0;
    end
  end

  for (genvar e = 0; e < SLOTS; e++) begin : gen_store
    assign st_hit[e] = known_q && st_en && e < 32'(st_count_i) && in_lane(st_lane_i, e) &&
                       same_row(st_fp32_i, beat_row(st_addr, st_pstride, st_split_i, e));
  end

  always @(posedge clk_i) begin
    a_hit1_q   <= rst_ni ? a_hit : '0;
    b_hit1_q   <= rst_ni ? b_hit : '0;
    c_hit1_q   <= rst_ni ? c_hit : '0;
    st_hit_q   <= rst_ni ? st_hit : '0;
    a_hit2_q   <= rst_ni ? a_hit1_q : '0;
    b_hit2_q   <= rst_ni ? b_hit1_q : '0;
    c_hit2_q   <= rst_ni ? c_hit1_q : '0;
    st_first_q <= st_first_i;
    st_fp32_q  <= st_fp32_i;
    cell1_q    <= cell_q;
    cell2_q    <= cell1_q;
  end

  logic a_right, b_right, c_right, st_right;
  always @* begin
    a_right  = 1'b1;
    b_right  = 1'b1;
    c_right  = 1'b1;
    st_right = 1'b1;
    for (int i = 0; i < LANES * CORES; i++) begin
      if (a_hit2_q[i] && a_line[32*i +: 16] != cell2_q) a_right = 1'b0;
      if (b_hit2_q[i] && b_line[32*i +: 16] != cell2_q) b_right = 1'b0;
      if (c_hit2_q[i] && half(c_line[32*i +: 32]) != cell2_q) c_right = 1'b0;
    end
    for (int e = 0; e < SLOTS; e++) begin
      if (st_hit_q[e] && !st_fp32_q && st_data[16*(32'(st_first_q) + e) +: 16] != cell1_q) st_right = 1'b0;
      if (st_hit_q[e] && st_fp32_q && half(st_data[32*(32'(st_first_q) + e) +: 32]) != cell1_q) st_right = 1'b0;
    end
  end

  always @* begin
    if (rst_ni) begin
      a_lines_have_what_was_written: assert (a_right);
      b_lines_have_what_was_written: assert (b_right);
      initial_values_are_what_was_written: assert (c_right);
      stores_take_what_was_written: assert (st_right);
      lines_of_a_vector_unit_have_what_was_written: assert (v_right);
      // Invariant
      the_cell_has_its_place: assert (!known_q || half(words[32*(ROW / 2 * LANES + LANE) +: 32]) == cell_q);
    end
  end

  // --- Reachable: the cell is written by a load and by results, and read by every port; a vector unit's by columns of fp32 ------------------------------------
  logic [6:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni) seen_q <= '0;
    else seen_q <= seen_q | {VECTORS == 0 || v_hit2_q != '0, VECTORS == 0 || (x_en && (OTHERS == 0 || ld_en)),
                             OTHERS == 0 ? {3'b111, x_en && x_col_i && x_fp32_i && 32'(x_count_i) == LANES, v_hit[1] && v_col_i && v_fp32_i && !v_same_i} :
                             {a_hit2_q != '0, b_hit2_q != '0, c_hit2_q != '0, st_hit_q != '0, ld_en && w_en != '0}};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
