// vector_line_walk: of each run of a section (vector_sections_props has their order) the lines of its tiles in ascending order,
// of each tile one strip of the group after the other, none twice and none passed over, or the group's first one alone where the line
// is the same for all; with each line the turn and the place in it that the lanes have for its strip. The runs' ends are told, and
// parity changes with them.
//
// sources: vector/gw_vector_sections.sv vector/gw_vector_line_walk.sv
module vector_line_walk_props #(
  parameter int unsigned G     = 4,
  parameter int unsigned TILES = 5,
  localparam int unsigned MASKS_W = TILES * 7,
  localparam int unsigned GROUP   = 4 * G
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,
  input  logic               start_i,
  input  logic [MASKS_W-1:0] masks_i,
  input  logic [TILES-1:0]   same_i,
  input  logic [15:0]        strips_i,
  input  logic [15:0]        steps_i,
  input  logic               next_i,
  output logic               covered_o
);

  logic               start, next, valid, parity, run_ends;
  logic [MASKS_W-1:0] masks_q;
  logic [TILES-1:0]   same_q;
  logic [15:0]        strips_q, steps_q, step, strip;
  logic [2:0]         tile, section, g;
  logic [1:0]         turn;

  gw_vector_line_walk #(.G(G), .TILES(TILES)) dut (
    .clk_i, .rst_ni, .clear_i,
    .start_i    (start),
    .masks_i    (start ? masks_i : masks_q),
    .same_i     (start ? same_i : same_q),
    .strips_i   (start ? strips_i : strips_q),
    .steps_i    (start ? steps_i : steps_q),
    .next_i     (next),
    .valid_o    (valid),
    .tile_o     (tile),
    .section_o  (section),
    .step_o     (step),
    .strip_o    (strip),
    .turn_o     (turn),
    .g_o        (g),
    .parity_o   (parity),
    .run_ends_o (run_ends)
  );

  (* hierconn *) wire               \dut.fresh_q ;
  (* hierconn *) wire [TILES-1:0]   \dut.left_q ;
  (* hierconn *) wire [4:0]         \dut.n_q ;
  (* hierconn *) wire [15:0]        \dut.u_sections.base_q ;

  // --- Environment: a command holds still; it has a strip and a step, and asks for the next line of a walk that is under way ------
  reset_first u_reset (.clk_i, .rst_ni);
  assign start = start_i && !valid && strips_i != 16'd0 && steps_i != 16'd0;
  assign next  = next_i && valid;

  always @(posedge clk_i) begin
    if (start) begin
      masks_q  <= masks_i;
      same_q   <= same_i;
      strips_q <= strips_i;
      steps_q  <= steps_i;
    end
  end

  // --- The line before ------------------------------------------------------------------------------
  logic        moved_q, started_q, ends_q, parity_q;
  logic [2:0]  tile_q, section_q;
  logic [15:0] step_q, strip_q, base_q;

  always @(posedge clk_i) begin
    moved_q   <= rst_ni && !clear_i && next;
    started_q <= rst_ni && !clear_i && start;
    ends_q    <= run_ends;
    tile_q    <= tile;
    section_q <= section;
    step_q    <= step;
    strip_q   <= strip;
    parity_q  <= parity;
    base_q    <= \dut.u_sections.base_q ;
  end

  logic [TILES-1:0] mask, below, above_q, between;
  logic             on, last_strip_q, same_tile, next_tile, same_run;
  logic [15:0]      base;
  assign base         = \dut.u_sections.base_q ;
  assign mask         = masks_q[section*TILES+:TILES];
  assign below        = (TILES'(1) << tile) - TILES'(1);
  assign above_q      = ~(((TILES'(1) << tile_q) - TILES'(1)) | (TILES'(1) << tile_q));
  assign between      = mask & below & above_q;
  assign on           = moved_q && valid;
  assign last_strip_q = {1'b0, strip_q} + 17'd1 == {1'b0, strips_q} || strip_q - base_q == 16'(GROUP - 1);
  assign same_run     = on && !ends_q;
  assign same_tile    = same_run && tile == tile_q;
  assign next_tile    = same_run && tile != tile_q;

  // --- Properties -----------------------------------------------------------------------------------
  always @* begin
    if (rst_ni) begin
      a_line_is_of_a_tile_that_the_section_names: assert (!valid || (mask[tile] && {29'd0, tile} < TILES));
      its_strip_is_of_the_group: assert (!valid || (strip < strips_q && strip >= base && strip - base < 16'(GROUP)));
      turn_and_place_are_those_of_the_strip: assert (!valid || strip - base == 16'(turn) * 16'(G) + 16'(g));
      a_walk_begins_with_parity_0: assert (!started_q || !valid || (!parity && strip == 16'd0 && (mask & below) == '0));
      strips_follow_one_another: assert (!same_tile || (strip == strip_q + 16'd1 && base == base_q));
      a_line_for_all_strips_comes_once: assert (!valid || !same_q[tile] || (!same_tile && strip == base));
      a_tile_is_left_behind_its_last_strip: assert (!(next_tile || (on && ends_q)) || last_strip_q || same_q[tile_q]);
      the_next_tile_is_the_next_of_the_mask: assert (!next_tile || (tile > tile_q && between == '0 && strip == base));
      a_run_stays_in_its_section_and_step:
        assert (!same_run || (section == section_q && step == step_q && base == base_q && parity == parity_q));
      a_run_ends_behind_its_last_tile:
        assert (!(on && ends_q) || (masks_q[section_q*TILES+:TILES] & above_q) == '0);
      the_next_run_begins_with_its_first_tile_and_strip:
        assert (!(on && ends_q) || ((mask & below) == '0 && strip == base && parity != parity_q));
      a_walk_ends_with_a_run: assert (!(moved_q && !valid) || ends_q);
      // What makes these inductive.
      a_walk_has_strips_and_steps: assert (!valid || (strips_q != 16'd0 && steps_q != 16'd0 && base < strips_q));
      the_place_in_the_group_is_counted: assert (!valid || strip == base + {11'd0, \dut.n_q });
      what_is_left_is_the_rest_of_the_mask:
        assert (!valid || \dut.fresh_q || (\dut.left_q != '0 && \dut.left_q == (mask & ~below)));
      steps_are_those_of_loops: assert (!valid || (section != 3'd7 && (section[0] ? step < steps_q : step == 16'd0)));
    end
  end

  // --- Reachable: a run of two tiles of two strips, one of them for both, and the next run ----------------------
  logic [3:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni || clear_i || start) seen_q <= 4'd0;
    else seen_q <= seen_q | {on && ends_q && section != section_q, next_tile, same_tile, next_tile && !last_strip_q};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
