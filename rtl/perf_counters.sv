// The 64-bit counters of isa.toml. They count while count_i is 1 and are read one at a time.
//
// Inputs of a group have the order of the isa's counters, first in bit 0; in each counted cycle exactly one of a group
// is 1, so the counters of a group add up to CYCLES.
module perf_counters (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  logic        count_i,
  // Groups
  input  logic [3:0]  load_i,
  input  logic [3:0]  store_i,
  input  logic [3:0]  fetch_i,
  input  logic [5:0]  compute_i,
  // Amounts
  input  logic        read_beat_i,
  input  logic        write_beat_i,
  input  logic        fetch_beat_i,
  input  logic [15:0] read_bytes_i,
  input  logic [15:0] write_bytes_i,
  input  logic        block_i,
  // Read
  input  logic [7:0]  index_i,   // isa_pkg::CNT_*
  output logic [63:0] value_o
);

  // --- What each counter adds ------------------------------------------------------------------------
  logic [16*isa_pkg::CNT_NUM-1:0] add;

  always_comb begin
    add = '0;
    add[16*isa_pkg::CNT_CYCLES] = 1'b1;
    for (int unsigned i = 0; i < 4; i++) begin
      add[16*(isa_pkg::CNT_LOAD_ACTIVE + i)]  = load_i[i];
      add[16*(isa_pkg::CNT_STORE_ACTIVE + i)] = store_i[i];
      add[16*(isa_pkg::CNT_FETCH_ACTIVE + i)] = fetch_i[i];
    end
    for (int unsigned i = 0; i < 6; i++) add[16*(isa_pkg::CNT_COMPUTE_ACTIVE + i)] = compute_i[i];
    add[16*isa_pkg::CNT_READ_BEATS]         = read_beat_i;
    add[16*isa_pkg::CNT_WRITE_BEATS]        = write_beat_i;
    add[16*isa_pkg::CNT_FETCH_BEATS]        = fetch_beat_i;
    add[16*isa_pkg::CNT_READ_BYTES +: 16]   = read_bytes_i;
    add[16*isa_pkg::CNT_WRITE_BYTES +: 16]  = write_bytes_i;
    add[16*isa_pkg::CNT_BLOCKS]             = block_i;
  end

  // --- Counters ------------------------------------------------------------------------------------
  logic [64*isa_pkg::CNT_NUM-1:0] values;

  for (genvar c = 0; c < isa_pkg::CNT_NUM; c++) begin : gen_counter
    logic [63:0] value_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        value_q <= 64'd0;
      end else if (clear_i) begin
        value_q <= 64'd0;
      end else if (count_i && (add[16*c +: 16] != 16'd0)) begin
        value_q <= value_q + {48'd0, add[16*c +: 16]};
      end
    end

    assign values[64*c +: 64] = value_q;
  end

  assign value_o = ({24'd0, index_i} < isa_pkg::CNT_NUM) ? values[64*index_i +: 64] : 64'd0;

  // --- Assertions ----------------------------------------------------------------------------------
  function automatic logic one_hot(input logic [5:0] x);
    one_hot = (x != 6'd0) & ((x & (x - 6'd1)) == 6'd0);
  endfunction

  always_ff @(posedge clk_i) begin
    if (rst_ni && count_i) begin
      a_cycle_counts_in_one_load_counter:
        assert (one_hot({2'd0, load_i}));
      a_cycle_counts_in_one_store_counter:
        assert (one_hot({2'd0, store_i}));
      a_cycle_counts_in_one_fetch_counter:
        assert (one_hot({2'd0, fetch_i}));
      a_cycle_counts_in_one_compute_counter:
        assert (one_hot(compute_i));
    end
  end

endmodule
