// Environment of tap_walker: gemm_core, whose feed asks for a tap if there is one, and cmd_check. Commands as they come, that of the next
// block and that of the current one.
module tap_commands (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                load_i,
  input  gw_isa_pkg::cmd_t    cmd_i,
  input  logic                start_i,
  input  logic                last_i,    // block of its command
  input  logic                tap_i,
  input  logic                more_i,    // another tap follows
  // What the walker is asked
  output logic                load_o,
  output logic                start_o,
  output logic                tap_o,
  output logic                here_o,    // a block of the next command is still to begin
  output logic                any_o,     // a block has begun
  output tap_walk_pkg::walk_t f_o,       // of cmd_i
  output tap_walk_pkg::walk_t next_o,
  output tap_walk_pkg::walk_t current_o
);

  logic [7:0] opcode;
  assign opcode = cmd_i[gw_isa_pkg::OPCODE_LSB+:gw_isa_pkg::OPCODE_W];
  always @* begin
    f_o.conv    = opcode == gw_isa_pkg::OP_CONV;
    f_o.wgrad   = opcode == gw_isa_pkg::OP_WGRAD;
    f_o.grid_w  = cmd_i[gw_isa_pkg::GRID_W_LSB+:gw_isa_pkg::GRID_W_W];
    f_o.plane   = cmd_i[gw_isa_pkg::PLANE_LSB+:gw_isa_pkg::PLANE_W];
    f_o.in_line = cmd_i[gw_isa_pkg::PACKED_LSB];
    f_o.stride  = f_o.conv ? cmd_i[gw_isa_pkg::STRIDE_LSB+:gw_isa_pkg::STRIDE_W] : 2'd1;
    f_o.taps_y  = cmd_i[gw_isa_pkg::TAPS_Y_LSB+:gw_isa_pkg::TAPS_Y_W];
    f_o.taps_x  = cmd_i[gw_isa_pkg::TAPS_X_LSB+:gw_isa_pkg::TAPS_X_W];
    f_o.b_tap   = cmd_i[gw_isa_pkg::B_TAP_LSB+:gw_isa_pkg::B_TAP_W];
    f_o.off_y   = cmd_i[gw_isa_pkg::OFF_Y_LSB+:gw_isa_pkg::OFF_Y_W];
    f_o.off_x   = cmd_i[gw_isa_pkg::OFF_X_LSB+:gw_isa_pkg::OFF_X_W];
    f_o.step_y  = cmd_i[gw_isa_pkg::STEP_Y_LSB+:gw_isa_pkg::STEP_Y_W];
    f_o.step_x  = cmd_i[gw_isa_pkg::STEP_X_LSB+:gw_isa_pkg::STEP_X_W];
    f_o.img_h   = cmd_i[gw_isa_pkg::IMG_H_LSB+:gw_isa_pkg::IMG_H_W];
    f_o.img_w   = cmd_i[gw_isa_pkg::IMG_W_LSB+:gw_isa_pkg::IMG_W_W];
  end

  assign load_o  = load_i && !here_o && rst_ni;
  assign start_o = start_i && here_o && rst_ni;
  assign tap_o   = tap_i && any_o && more_i && !start_o;
  always @* begin
    assume (!load_o || !(f_o.conv || f_o.wgrad) || f_o.stride != 2'd0);
    assume (!load_o || !f_o.conv || (f_o.taps_y != 4'd0 && f_o.taps_x != 4'd0));
  end

  always @(posedge clk_i) begin
    if (!rst_ni) {here_o, any_o} <= 2'd0;
    else begin
      here_o <= load_o || (here_o && !(start_o && last_i));
      any_o  <= any_o || start_o;
    end
    if (load_o) next_o <= f_o;
    if (start_o) current_o <= next_o;
  end
endmodule
