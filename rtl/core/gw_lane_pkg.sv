// Lane arithmetic of the skewed panel layout.
package gw_lane_pkg;

  // (x + y) mod lanes, for x < lanes and y <= lanes
  function automatic gw_isa_pkg::lane_t add_mod(input gw_isa_pkg::lane_t x, input gw_isa_pkg::lanes_t y,
                                                input gw_isa_pkg::lanes_t lanes);
    gw_isa_pkg::lanes_t s;
    s = {1'b0, x} + y;
    s = (s >= lanes) ? (s - lanes) : s;
    add_mod = s[gw_isa_pkg::LANE_W-1:0];
  endfunction

endpackage
