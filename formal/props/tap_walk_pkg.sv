// What tap_walker keeps of a command, in its order: fields for A and for its walk.
package tap_walk_pkg;
  typedef struct packed {
    logic        conv, wgrad;
    logic [10:0] grid_w;
    logic [19:0] plane;
    logic        in_line;        // PACKED
    logic [1:0]  stride;
    logic [3:0]  taps_y, taps_x;
    logic [15:0] b_tap;
    logic [7:0]  off_y, off_x, step_y, step_x;
    logic [9:0]  img_h;
    logic [10:0] img_w;
  } walk_t;
endpackage
