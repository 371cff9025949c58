// Lane arithmetic of the skewed panel layout.
package gw_lane_pkg;

  // (x + y) mod lanes, for x < lanes and y <= lanes
  function automatic logic [7:0] add_mod(input logic [7:0] x, input logic [7:0] y, input logic [8:0] lanes);
    logic [8:0] s;
    s = {1'b0, x} + {1'b0, y};
    s = (s >= lanes) ? (s - lanes) : s;
    add_mod = s[7:0];
  endfunction

endpackage
