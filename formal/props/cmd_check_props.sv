// cmd_check: a command that passes is one that the other proofs assume: sizes are not zero, semaphores exist or are none, the
// waits of a command name different ones, rotations are lanes, elements are aligned, panels do not overlap, tiles end inside the
// scratchpad. (That they end inside the DRAM's window is left to the tests.)
//
// sources: cmd/gw_tile_check.sv cmd/gw_image_check.sv cmd/gw_cmd_check.sv
module cmd_check_props #(
  parameter int unsigned LANES      = 8,
  parameter int unsigned SPM_ROWS   = 64,
  parameter int unsigned CORES      = 2,
  parameter int unsigned SEMAPHORES = 16
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [511:0] cmd_i,
  input  logic [63:0]  dram_base_i,
  input  logic [63:0]  dram_size_i,
  output logic         covered_o
);

  logic [7:0] error;

  gw_cmd_check #(.LANES(LANES), .SPM_ROWS(SPM_ROWS), .CORES(CORES), .SEMAPHORES(SEMAPHORES)) dut (
    .en_i (1'b1), .cmd_i, .dram_base_i, .dram_size_i, .error_o (error)
  );

  // --- Fields ----------------------------------------------------------------------------------------------------
  localparam logic [7:0] NONE = 8'd255;
  logic        transfer, fp32, ok;
  logic [7:0]  opcode, engine, s0, s1, s2, p0, p1, p2;
  logic [15:0] rows, cols;
  gw_isa_pkg::row_t  spm_row, pstride;
  gw_isa_pkg::lane_t rot;
  logic [31:0] pitch;
  logic [63:0] addr;

  assign ok       = error == gw_isa_pkg::ERR_NONE;
  assign opcode   = cmd_i[gw_isa_pkg::OPCODE_LSB +: gw_isa_pkg::OPCODE_W];
  assign engine   = cmd_i[gw_isa_pkg::ENGINE_LSB +: 8];
  assign transfer = opcode == gw_isa_pkg::OP_LOAD || opcode == gw_isa_pkg::OP_STORE;
  assign fp32     = cmd_i[gw_isa_pkg::FP32_LSB];
  assign s0       = cmd_i[gw_isa_pkg::WAIT0_SEM_LSB +: 8];
  assign s1       = cmd_i[gw_isa_pkg::WAIT1_SEM_LSB +: 8];
  assign s2       = cmd_i[gw_isa_pkg::WAIT2_SEM_LSB +: 8];
  assign p0       = cmd_i[gw_isa_pkg::POST0_LSB +: 8];
  assign p1       = cmd_i[gw_isa_pkg::POST1_LSB +: 8];
  assign p2       = cmd_i[gw_isa_pkg::POST2_LSB +: 8];
  assign rows     = cmd_i[gw_isa_pkg::ROWS_LSB +: gw_isa_pkg::ROWS_W];
  assign cols     = cmd_i[gw_isa_pkg::COLS_LSB +: gw_isa_pkg::COLS_W];
  assign spm_row  = cmd_i[gw_isa_pkg::SPM_ROW_LSB +: gw_isa_pkg::SPM_ROW_W];
  assign rot      = cmd_i[gw_isa_pkg::SPM_ROT_LSB +: gw_isa_pkg::SPM_ROT_W];
  assign pstride  = cmd_i[gw_isa_pkg::SPM_PSTRIDE_LSB +: gw_isa_pkg::SPM_PSTRIDE_W];
  assign pitch    = cmd_i[gw_isa_pkg::PITCH_LSB +: gw_isa_pkg::PITCH_W];
  assign addr     = {cmd_i[gw_isa_pkg::DRAM_ADDR_HI_LSB +: 32], cmd_i[gw_isa_pkg::DRAM_ADDR_LO_LSB +: 32]};

  function automatic logic exists(input logic [7:0] s);
    exists = 32'(s) < SEMAPHORES || s == NONE;
  endfunction

  // The tiles of a command, chosen as the block chooses them, so that the products are of the same operands and the solver need
  // not multiply. No sum here is cut short.
  logic        gemm, add, a_col, b_col, tiles_fit;
  logic [15:0] m, n, k;

  assign gemm  = opcode == gw_isa_pkg::OP_GEMM;
  assign add   = opcode == gw_isa_pkg::OP_ADD;
  assign a_col = cmd_i[gw_isa_pkg::A_COL_LSB];
  assign b_col = cmd_i[gw_isa_pkg::B_COL_LSB];
  assign m     = cmd_i[gw_isa_pkg::M_LSB +: gw_isa_pkg::M_W];
  assign n     = cmd_i[gw_isa_pkg::N_LSB +: gw_isa_pkg::N_W];
  assign k     = cmd_i[gw_isa_pkg::K_LSB +: gw_isa_pkg::K_W];

  function automatic logic fits(input logic two, input logic [15:0] r, input logic [15:0] c, input gw_isa_pkg::row_t first,
                                input gw_isa_pkg::row_t stride);
    logic [15:0] last_panel;
    logic [40:0] end_row;
    last_panel = (c - 16'd1) / 16'(LANES);
    end_row    = 41'(first) + (41'(last_panel) * 41'(stride)) + {24'd0, two ? {r, 1'b0} : {1'b0, r}};
    fits       = end_row <= 41'(SPM_ROWS);
  endfunction

  assign tiles_fit =
    (fits(add || (transfer && fp32), transfer ? rows : (add | a_col) ? m : k, transfer ? cols : add ? n : a_col ? k : m,
          transfer ? spm_row : cmd_i[gw_isa_pkg::A_ROW_LSB +: gw_isa_pkg::ROW_W], transfer ? pstride : cmd_i[gw_isa_pkg::A_PSTRIDE_LSB +: gw_isa_pkg::ROW_W]) ||
     !(transfer || gemm || add)) &&
    (fits(1'b0, b_col ? n : k, b_col ? k : n, cmd_i[gw_isa_pkg::B_ROW_LSB +: gw_isa_pkg::ROW_W], cmd_i[gw_isa_pkg::B_PSTRIDE_LSB +: gw_isa_pkg::ROW_W]) || !gemm) &&
    (fits(1'b1, m, n, cmd_i[gw_isa_pkg::CIN_ROW_LSB +: gw_isa_pkg::ROW_W], cmd_i[gw_isa_pkg::CIN_PSTRIDE_LSB +: gw_isa_pkg::ROW_W]) ||
     !(add || (gemm && cmd_i[gw_isa_pkg::ACC_LSB]))) &&
    (fits(!cmd_i[gw_isa_pkg::OUT_BF16_LSB], m, n, cmd_i[gw_isa_pkg::COUT_ROW_LSB +: gw_isa_pkg::ROW_W], cmd_i[gw_isa_pkg::COUT_PSTRIDE_LSB +: gw_isa_pkg::ROW_W]) ||
     !(gemm || add));

  always @* begin
    tiles_end_inside_the_scratchpad: assert (!ok || tiles_fit);
    semaphores_exist: assert (!ok || (exists(s0) && exists(s1) && exists(s2) && exists(p0) && exists(p1) && exists(p2)));
    waits_name_different_semaphores:
      assert (!ok || ((s0 != s1 || s0 == NONE) && (s0 != s2 || s0 == NONE) && (s1 != s2 || s1 == NONE)));
    the_engine_exists: assert (!ok || 32'(engine) < 2 + CORES);
    loads_go_to_load_and_stores_to_store:
      assert (!ok || !transfer || engine == ((opcode == gw_isa_pkg::OP_LOAD) ? gw_isa_pkg::ENG_LOAD : gw_isa_pkg::ENG_STORE));
    a_tile_has_rows_columns_and_a_lane: assert (!ok || !transfer || (rows != 16'd0 && cols != 16'd0 && 32'(rot) < LANES));
    elements_are_aligned:
      assert (!ok || !transfer || (({addr[1:0]} & (fp32 ? 2'b11 : 2'b01)) == 2'b00 &&
                                   (rows == 16'd1 || ({pitch[1:0]} & (fp32 ? 2'b11 : 2'b01)) == 2'b00)));
    panels_do_not_overlap: assert (!ok || !transfer || 32'(cols) <= LANES || 32'(pstride) >= 32'(rows) * (fp32 ? 2 : 1));
  end

  // --- Reachable: a legal transfer of several panels and rows, with a wait; and an error ---------------------------------
  logic [1:0] seen_q;
  reset_first u_reset (.clk_i, .rst_ni);
  always @(posedge clk_i) begin
    if (!rst_ni) seen_q <= '0;
    else seen_q <= seen_q | {!ok, ok && transfer && 32'(cols) > LANES && rows == 16'd2 && s0 != NONE};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
