# Rewrites the RTL line by line into what Icarus Verilog 11 reads; nothing else is done to it (docs/icarus.md).
# It knows no `int unsigned` parameters: the same 32 unsigned bits under another name.
s/\b(parameter|localparam) int unsigned\b/\1 logic [31:0]/
# It knows no labels of immediate assertions. The assertions stay, and fail on X too.
s/^( *(initial )?)[A-Za-z]\w* ?: ?(assert \(|$)/\1\3/
# Its always_comb wakes itself for ever when it reads what it has written.
s/\balways_comb\b/always @*/
# Of types from packages it wants plain names, of packages that the file imports.
s/\bgw_(isa|bus)_pkg::(\w+_t)\b/\2/g
s/^(module |package gw_lane_pkg)/import gw_isa_pkg::*;\nimport gw_bus_pkg::*;\n&/
