// Widths of the AXI4 bus and of what crosses it. Plain numbers: Icarus Verilog 11 takes nothing else in types of packages.
package gw_bus_pkg;

  // Of a field, for vectors that have one of each port
  // verilator lint_off UNUSEDPARAM
  localparam int unsigned LEN_W  = 8;
  localparam int unsigned SIZE_W = 3;
  localparam int unsigned KIND_W = 2; // burst_t
  localparam int unsigned RESP_W = 2;
  localparam int unsigned USER_W = 24;
  // verilator lint_on UNUSEDPARAM

  typedef logic [7:0]  len_t;        // beats of a burst, less one
  typedef logic [2:0]  size_t;       // bytes of a beat, as a power of two
  typedef logic [1:0]  burst_t;
  typedef logic [1:0]  resp_t;
  typedef logic [23:0] user_t;       // a burst's wanted bytes from its address on: last above first
  typedef logic [11:0] beat_bytes_t; // bytes of a beat, or a place among them
  typedef logic [15:0] bytes_t;      // bytes of a cycle, for the counters
  typedef logic [9:0]  slot_t;       // an element's place in a beat
  typedef logic [10:0] slots_t;      // elements of a beat

endpackage
