// Executes ADD: reads a row of A, then the same row of CIN, adds them element by element and writes the sums.
//
// Rows are taken COLS columns at a time, two cycles each, back to back: the last sum is written four cycles after its
// row of A was read, and the command is done a cycle later. It has the array's read port for initial values (C) and its
// write port to itself, because it runs in an engine that is otherwise empty.
module gw_tile_adder #(
  parameter int unsigned COLS  = 8,
  parameter int unsigned LANES = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  // Command; its waits are taken
  input  logic                start_i, // only while not busy
  // The core decides by the opcode; field places are those of the command.
  // verilator lint_off UNUSEDSIGNAL
  input  gw_isa_pkg::cmd_t    cmd_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic                busy_o,
  output logic                done_valid_o,
  // Scratchpad: lines arrive two cycles after their read
  output logic                c_en_o,
  output gw_isa_pkg::line_t   c_at_o,
  // An array narrower than LANES uses the first elements of a line only.
  // verilator lint_off UNUSEDSIGNAL
  input  logic [32*LANES-1:0] c_line_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic                w_en_o,
  output logic                w_fp32_o,
  output gw_isa_pkg::line_t   w_at_o,
  output gw_isa_pkg::lanes_t  w_count_o,
  output logic [32*COLS-1:0]  w_line_o // fp32
);

  localparam int unsigned        LANES_W = gw_isa_pkg::LANES_W;
  localparam gw_isa_pkg::lanes_t N_LANES = LANES_W'(LANES);
  localparam gw_isa_pkg::lanes_t N_COLS  = LANES_W'(COLS);

  // --- Rows to read --------------------------------------------------------------------------------
  logic               reading_q, second_q, fp32_q;   // second: it is the turn of CIN
  gw_isa_pkg::dim_t   m_q, rows_left_q, cols_left_q; // this row and this chunk included
  gw_isa_pkg::lane_t  jj_q;                          // column of the chunk inside its panel
  logic               next_row, last_row, last_chunk, wrap;
  gw_isa_pkg::lanes_t next_jj;

  assign next_row   = reading_q && second_q;
  assign last_row   = rows_left_q == 16'd1;
  assign last_chunk = cols_left_q <= 16'(COLS);
  assign next_jj    = {1'b0, jj_q} + N_COLS;
  assign wrap       = next_jj >= N_LANES;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) reading_q <= 1'b0;
    else if (clear_i) reading_q <= 1'b0;
    else if (start_i) reading_q <= 1'b1;
    else if (next_row && last_row && last_chunk) reading_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      second_q    <= 1'b0;
      fp32_q      <= !cmd_i[gw_isa_pkg::OUT_BF16_LSB];
      m_q         <= cmd_i[gw_isa_pkg::M_LSB+:16];
      rows_left_q <= cmd_i[gw_isa_pkg::M_LSB+:16];
      cols_left_q <= cmd_i[gw_isa_pkg::N_LSB+:16];
      jj_q        <= '0;
    end else begin
      second_q <= reading_q && !second_q;
      if (next_row && last_row) begin
        rows_left_q <= m_q;
        cols_left_q <= cols_left_q - 16'(COLS);
        jj_q        <= gw_isa_pkg::LANE_W'(wrap ? (next_jj - N_LANES) : next_jj);
      end else if (next_row) begin
        rows_left_q <= rows_left_q - 16'd1;
      end
    end
  end

  gw_isa_pkg::row_t  a_addr0, a_addr1, cin_addr0, cin_addr1, cout_addr0, cout_addr1;
  gw_isa_pkg::lane_t a_rot, cin_rot, cout_rot;

  gw_tile_walker #(.COLS(COLS), .LANES(LANES)) u_a (
    .clk_i,
    .load_i    (start_i),
    .fp32_i    (1'b1),
    .tile_i    (cmd_i[gw_isa_pkg::A_ROW_LSB+:gw_isa_pkg::TILE_W]),
    .step_i    (next_row),
    .chunk_i   (last_row),
    .wrap_i    (wrap),
    .addr0_o   (a_addr0),
    .addr1_o   (a_addr1),
    .rot_o     (a_rot)
  );

  gw_tile_walker #(.COLS(COLS), .LANES(LANES)) u_cin (
    .clk_i,
    .load_i    (start_i),
    .fp32_i    (1'b1),
    .tile_i    (cmd_i[gw_isa_pkg::CIN_ROW_LSB+:gw_isa_pkg::TILE_W]),
    .step_i    (next_row),
    .chunk_i   (last_row),
    .wrap_i    (wrap),
    .addr0_o   (cin_addr0),
    .addr1_o   (cin_addr1),
    .rot_o     (cin_rot)
  );

  assign c_en_o    = reading_q;
  assign c_at_o    = second_q ? {cin_addr1, cin_addr0, cin_rot, jj_q} : {a_addr1, a_addr0, a_rot, jj_q};

  // --- Rows on their way ---------------------------------------------------------------------------
  // Stage 1: the lane memories have CIN's row, and the line port has A's. Stage 2: the line port has CIN's.
  // Stage 3: the sums.
  logic               v1_q, v2_q, v3_q, done_q;
  logic               last_row1_q, last_row2_q, last_row3_q, wrap1_q, wrap2_q, wrap3_q, end1_q, end2_q, end3_q;
  gw_isa_pkg::lane_t  jj1_q, jj2_q, jj3_q;
  gw_isa_pkg::lanes_t count, count1_q, count2_q, count3_q;

  assign count = last_chunk ? cols_left_q[LANES_W-1:0] : N_COLS;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {v1_q, v2_q, v3_q, done_q} <= 4'b0;
    else if (clear_i) {v1_q, v2_q, v3_q, done_q} <= 4'b0;
    else {v1_q, v2_q, v3_q, done_q} <= {next_row, v1_q, v2_q, v3_q && end3_q};
  end

  always_ff @(posedge clk_i) begin
    last_row1_q <= last_row;
    wrap1_q     <= wrap;
    end1_q      <= last_row && last_chunk;
    jj1_q       <= jj_q;
    count1_q    <= count;
    last_row2_q <= last_row1_q;
    wrap2_q     <= wrap1_q;
    end2_q      <= end1_q;
    jj2_q       <= jj1_q;
    count2_q    <= count1_q;
    last_row3_q <= last_row2_q;
    wrap3_q     <= wrap2_q;
    end3_q      <= end2_q;
    jj3_q       <= jj2_q;
    count3_q    <= count2_q;
  end

  // --- Sums ----------------------------------------------------------------------------------------
  logic [32*COLS-1:0] a_line_q, sum_q;

  task automatic keep_a;
    logic [31:0] i;
    for (i = 0; i < COLS; i = i + 1) a_line_q[i*32+:32] <= c_line_i[i*32+:32];
  endtask

  task automatic add_lines;
    logic [31:0] i;
    for (i = 0; i < COLS; i = i + 1) sum_q[i*32+:32] <= gw_fp_pkg::add(a_line_q[i*32+:32], c_line_i[i*32+:32]);
  endtask

  always_ff @(posedge clk_i) begin
    if (v1_q) keep_a;
    if (v2_q) add_lines;
  end

  // --- Rows to write -------------------------------------------------------------------------------
  gw_tile_walker #(.COLS(COLS), .LANES(LANES)) u_cout (
    .clk_i,
    .load_i    (start_i),
    .fp32_i    (!cmd_i[gw_isa_pkg::OUT_BF16_LSB]),
    .tile_i    (cmd_i[gw_isa_pkg::COUT_ROW_LSB+:gw_isa_pkg::TILE_W]),
    .step_i    (v3_q),
    .chunk_i   (last_row3_q),
    .wrap_i    (wrap3_q),
    .addr0_o   (cout_addr0),
    .addr1_o   (cout_addr1),
    .rot_o     (cout_rot)
  );

  assign w_en_o    = v3_q;
  assign w_fp32_o  = fp32_q;
  assign w_at_o    = {cout_addr1, cout_addr0, cout_rot, jj3_q};
  assign w_count_o = count3_q;
  assign w_line_o  = sum_q;

  assign done_valid_o = done_q;
  assign busy_o       = reading_q || v1_q || v2_q || v3_q || done_q;

  // --- Checks --------------------------------------------------------------------------------------
`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) if (!clear_i) begin
      StartsOnlyWhenIdle : assert (!start_i || !busy_o);
    end
  end
`endif

endmodule
