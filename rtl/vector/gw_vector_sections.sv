// Walks a program's sections as they are run: in groups of strips, in a group the sections in order, those of odd
// numbers once a step, the others once. Sections that has_i lacks are passed over.
module gw_vector_sections #(
  parameter int unsigned GROUP = 16 // strips that are worked on together
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  input  logic                                   clear_i,
  input  logic                                   start_i,
  // Constant from start_i until the walk is done
  input  logic [gw_vector_isa_pkg::SECTIONS-1:0] has_i,
  input  logic [15:0]                            strips_i, // at least 1
  input  logic [15:0]                            steps_i,  // at least 1
  // Where it is
  input  logic                                   next_i,
  output logic                                   valid_o,
  output logic [2:0]                             section_o,
  output logic [15:0]                            step_o,
  output logic [15:0]                            base_o,   // first strip of the group
  // Where next_i leads
  output logic                                   last_o,
  output logic [2:0]                             next_section_o,
  output logic [15:0]                            next_step_o
);

  logic        valid_q;
  logic [2:0]  section_q;
  logic [15:0] step_q, base_q;

  // --- The section behind this one, if there is one -------------------------------------------------
  logic       later, again, group_ends;
  logic [2:0] first, after;
  logic [16:0] next_base;

  always_comb begin
    first = 3'd0;
    after = 3'd0;
    later = 1'b0;
    if (start_i || valid_q) begin // a unit at rest costs a simulator nothing
      for (int unsigned k = 0; k < gw_vector_isa_pkg::SECTIONS; k = k + 1) begin
        if (has_i[gw_vector_isa_pkg::SECTIONS-1-k]) begin
          first = 3'(gw_vector_isa_pkg::SECTIONS - 1 - k);
          if (3'(gw_vector_isa_pkg::SECTIONS - 1 - k) > section_q) begin
            after = 3'(gw_vector_isa_pkg::SECTIONS - 1 - k);
            later = 1'b1;
          end
        end
      end
    end
  end

  assign again      = section_q[0] && (step_q != steps_i - 16'd1);
  assign group_ends = !again && !later;
  assign next_base  = {1'b0, base_q} + 17'(GROUP);

  assign last_o         = group_ends && next_base >= {1'b0, strips_i};
  assign next_section_o = again ? section_q : later ? after : first;
  assign next_step_o    = again ? (step_q + 16'd1) : 16'd0;

  // --- State -----------------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (clear_i) valid_q <= 1'b0;
    else if (start_i) valid_q <= has_i != '0;
    else if (next_i && last_o) valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      section_q <= first;
      step_q    <= 16'd0;
      base_q    <= 16'd0;
    end else if (next_i) begin
      section_q <= next_section_o;
      step_q    <= next_step_o;
      if (group_ends) base_q <= next_base[15:0];
    end
  end

  assign valid_o   = valid_q;
  assign section_o = section_q;
  assign step_o    = step_q;
  assign base_o    = base_q;

endmodule
