// cmd_dispatch: a command goes once into the queue of its engine, the only one that takes it, never into a full one and not
// before it has been checked; one with an error goes nowhere; indices count the commands moved. A command takes two cycles at
// least, so fetch never asks for more than a command every other cycle.
//
// sources: cmd/gw_tile_check.sv cmd/gw_image_check.sv cmd/gw_cmd_check.sv cmd/gw_cmd_dispatch.sv
// trust: yes
// cut: dut.error
module cmd_dispatch_props #(
  parameter int unsigned ENGINES = 4
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,
  input  logic               run_i,
  input  logic               cmd_valid_i,
  input  logic [511:0]       cmd_i,
  input  logic [ENGINES-1:0] full_i,
  output logic               covered_o
);

  logic               cmd_ready, err_valid;
  logic [ENGINES-1:0] push;
  logic [31:0]        index;
  logic [7:0]         err_code;

  gw_cmd_dispatch #(.CORES(ENGINES - 2), .ENGINES(ENGINES)) dut (
    .clk_i, .rst_ni, .clear_i, .run_i, .dram_base_i (64'd0), .dram_size_i (64'd0), .cmd_valid_i, .cmd_ready_o (cmd_ready),
    .cmd_i, .push_o (push), .full_i, .index_o (index), .err_valid_o (err_valid), .err_code_o (err_code)
  );

  (* hierconn *) wire [7:0] \dut.error ;
  (* hierconn *) wire       \dut.state_q ;

  // --- Environment: an offered command stays; one that passes the check has an engine (cmd_check_props) --------------------
  reset_first u_reset (.clk_i, .rst_ni);
  logic         offered_q;
  logic [511:0] cmd_q;
  logic [7:0]   engine;
  assign engine = cmd_i[gw_isa_pkg::ENGINE_LSB +: 8];
  always @* begin
    assume (!offered_q || (cmd_valid_i && cmd_i == cmd_q));
    assume (\dut.error != gw_isa_pkg::ERR_NONE || 32'(engine) < ENGINES);
  end

  logic        checked_q, moved_q;   // the offered command has been checked; the cycle before moved one
  logic [7:0]  verdict_q;
  logic [31:0] moved_count_q;
  logic        moved;
  assign moved = push != '0;
  always @(posedge clk_i) begin
    offered_q <= rst_ni && !clear_i && cmd_valid_i && !cmd_ready;
    cmd_q     <= cmd_i;
    moved_q   <= rst_ni && moved;
    if (!rst_ni || clear_i) begin
      checked_q     <= 1'b0;
      moved_count_q <= 32'd0;
    end else if (moved) begin
      checked_q     <= 1'b0;
      moved_count_q <= moved_count_q + 32'd1;
    end else if (run_i && cmd_valid_i && !checked_q) begin
      checked_q <= 1'b1;
      verdict_q <= \dut.error ;
    end
  end

  always @* begin
    if (rst_ni) begin
      a_command_goes_to_the_queue_of_its_engine: assert (!moved || push == ({{(ENGINES-1){1'b0}}, 1'b1} << engine));
      never_to_a_full_one: assert ((push & full_i) == '0);
      it_goes_once: assert (moved == cmd_ready && (!cmd_ready || cmd_valid_i));
      only_after_a_check_without_error: assert (!moved || (checked_q && verdict_q == gw_isa_pkg::ERR_NONE));
      a_legal_command_waits_for_its_queue_only:
        assert (!(run_i && checked_q && verdict_q == gw_isa_pkg::ERR_NONE && !full_i[engine[$clog2(ENGINES)-1:0]]) || moved);
      errors_are_those_of_the_check:
        assert (err_valid == (run_i && checked_q && verdict_q != gw_isa_pkg::ERR_NONE) && (!err_valid || err_code == verdict_q));
      the_index_counts_commands_moved: assert (index == moved_count_q);
      a_command_takes_two_cycles: assert (!(moved_q && moved));
      nothing_moves_after_a_stop: assert (run_i || !moved);
      // Invariants
      the_block_knows_what_is_checked: assert (\dut.state_q == checked_q && (!checked_q || err_code == verdict_q));
      a_checked_command_is_still_there: assert (!checked_q || (cmd_valid_i && (verdict_q != gw_isa_pkg::ERR_NONE || 32'(engine) < ENGINES)));
    end
  end

  // --- Reachable: three commands, one of them waited for its queue; then an error ------------------------------------------
  logic waited_q;
  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) waited_q <= 1'b0;
    else waited_q <= waited_q || (run_i && checked_q && verdict_q == gw_isa_pkg::ERR_NONE && !moved);
  end
  assign covered_o = rst_ni && waited_q && err_valid && index == 32'd3;

endmodule
