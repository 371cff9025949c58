// Walks the lines that a program reads, or writes: those of a run of a section (gw_vector_sections) one tile after the
// other, of a tile one strip of the group after the other, or the group's first one for all. Sections without a tile are passed over.
module gw_vector_line_walk #(
  parameter int unsigned G     = 4, // strips of a turn; a power of two
  parameter int unsigned TILES = 5
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  input  logic                                         clear_i,
  input  logic                                         start_i,
  input  logic [TILES*gw_vector_isa_pkg::SECTIONS-1:0] masks_i, // tiles of each section; constant, as the next three
  input  logic [TILES-1:0]                             same_i,  // tiles whose line is the same for all strips
  input  logic [15:0]                                  strips_i,
  input  logic [15:0]                                  steps_i,
  input  logic                                         next_i,
  output logic                                         valid_o,
  output logic [2:0]                                   tile_o,
  output logic [2:0]                                   section_o,
  output logic [15:0]                                  step_o,
  output logic [15:0]                                  strip_o,
  output logic [1:0]                                   turn_o,
  output logic [2:0]                                   g_o,      // which of the turn's lines
  output logic                                         parity_o, // changes from run to run
  output logic                                         run_ends_o // with next_i, the run of the section is done
);

  localparam int unsigned SECTIONS = gw_vector_isa_pkg::SECTIONS;
  localparam int unsigned GROUP    = 4 * G;
  localparam int unsigned G_W      = $clog2(G);

  logic [SECTIONS-1:0] has;
  logic [2:0]          section;
  logic [15:0]         base, step;
  logic                valid;

  always_comb begin
    has = '0;
    if (start_i || valid) for (int unsigned s = 0; s < SECTIONS; s = s + 1) has[s] = masks_i[s*TILES+:TILES] != '0;
  end

  // Where next_i leads is not asked for.
  // verilator lint_off PINCONNECTEMPTY
  gw_vector_sections #(.GROUP(GROUP)) u_sections (
    .clk_i, .rst_ni, .clear_i, .start_i,
    .has_i          (has),
    .strips_i, .steps_i,
    .next_i         (next_i && run_ends_o),
    .valid_o        (valid),
    .section_o      (section),
    .step_o         (step),
    .base_o         (base),
    .last_o         (),
    .next_section_o (),
    .next_step_o    ()
  );
  // verilator lint_on PINCONNECTEMPTY

  // --- Tiles of the run ------------------------------------------------------------------------
  logic [TILES-1:0] left_q, tiles, rest, first; // still to do; this one included; behind it; this one
  logic             fresh_q;             // at the run's first tile
  logic [4:0]       n_q;                 // strip of the group
  logic             tile_ends;

  assign tiles      = !valid ? '0 : fresh_q ? masks_i[section*TILES+:TILES] : left_q;
  assign rest       = tiles & (tiles - TILES'(1));
  assign first      = tiles & ~rest;
  assign tile_ends  = (n_q == 5'(GROUP - 1)) || ({1'b0, strip_o} + 17'd1 == {1'b0, strips_i}) || (same_i & first) != '0;
  assign run_ends_o = tile_ends && rest == '0;

  always_comb begin
    tile_o = 3'd0;
    if (valid) for (int unsigned k = 0; k < TILES; k = k + 1) if (tiles[TILES-1-k]) tile_o = 3'(TILES - 1 - k);
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      fresh_q  <= 1'b1;
      n_q      <= 5'd0;
      parity_o <= 1'b0;
    end else if (next_i) begin
      n_q <= tile_ends ? 5'd0 : (n_q + 5'd1);
      if (tile_ends) begin
        left_q  <= rest;
        fresh_q <= rest == '0;
      end
      if (run_ends_o) parity_o <= !parity_o;
    end
  end

  assign valid_o   = valid;
  assign section_o = section;
  assign step_o    = step;
  assign strip_o   = base + {11'd0, n_q};
  assign turn_o    = 2'(n_q >> G_W);
  assign g_o       = 3'(n_q & 5'(G - 1));

endmodule
