// The 64-bit counters of isa.toml. They count the cycles in which count_i is 1, and are read one at a time.
//
// Inputs of a group have the order of isa.toml, first in bit 0; in each counted cycle exactly one of a group is 1,
// so the counters of a group add up to CYCLES. Each core has a compute group and blocks of its own: core 0's are in the
// list of isa.toml, those of the other cores follow it, then those of the vector units. Values are complete two cycles after the last counted one.
module gw_perf_counters #(
  parameter int unsigned CORES   = 1,
  parameter int unsigned VECTORS = 0,
  localparam int unsigned UNITS  = (VECTORS == 0) ? 1 : VECTORS
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       clear_i,
  input  logic                       count_i,
  // Groups
  input  logic [3:0]                 load_i,
  input  logic [3:0]                 store_i,
  input  logic [3:0]                 fetch_i,
  input  logic [7*CORES-1:0]         compute_i,
  // verilator lint_off UNUSEDSIGNAL
  input  logic [7*UNITS-1:0]         vector_i, // five of a group, then lines read and written
  // verilator lint_on UNUSEDSIGNAL
  // Amounts
  input  logic                       read_beat_i,
  input  logic                       write_beat_i,
  input  logic                       fetch_beat_i,
  input  gw_bus_pkg::bytes_t         read_bytes_i,
  input  gw_bus_pkg::bytes_t         write_bytes_i,
  input  logic [CORES-1:0]           block_i,
  // Read
  input  gw_isa_pkg::counter_index_t index_i, // gw_isa_pkg::CNT_*
  output gw_isa_pkg::counter_t       value_o
);

  // --- Events, a cycle late ------------------------------------------------------------------------
  // Counting from registers keeps the adders out of the paths that the events come from.
  localparam int unsigned EVENTS = gw_isa_pkg::CNT_READ_BYTES; // counters before this one count by one
  localparam int unsigned CORE_NUM = gw_isa_pkg::CNT_NUM + (CORES - 1) * gw_isa_pkg::CNT_CORE_NUM;
  localparam int unsigned NUM    = CORE_NUM + VECTORS * gw_isa_pkg::CNT_VECTOR_NUM;
  localparam int unsigned GROUP  = gw_isa_pkg::CNT_CORE_NUM - 1; // counters of a compute group; the last per core is BLOCKS

  logic                   count_q;
  logic [EVENTS-1:0]      event_q;
  logic [GROUP*CORES-1:0] compute_q;
  logic [CORES-1:0]       block_q;
  gw_bus_pkg::bytes_t     read_bytes_q, write_bytes_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q       <= 1'b0;
      event_q       <= '0;
      compute_q     <= '0;
      block_q       <= '0;
      read_bytes_q  <= 16'd0;
      write_bytes_q <= 16'd0;
    end else begin
      count_q       <= count_i & ~clear_i;
      event_q       <= {fetch_beat_i, write_beat_i, read_beat_i, compute_i[GROUP-1:0], fetch_i, store_i, load_i, 1'b1};
      compute_q     <= compute_i;
      block_q       <= block_i;
      read_bytes_q  <= read_bytes_i;
      write_bytes_q <= write_bytes_i;
    end
  end

  function automatic logic one_hot(input logic [6:0] x);
    one_hot = (x != 7'd0) & ((x & (x - 7'd1)) == 7'd0);
  endfunction

  // --- Counters ------------------------------------------------------------------------------------
  logic [64*NUM-1:0] values;

  for (genvar c = 0; c < gw_isa_pkg::CNT_NUM; c++) begin : gen_counter
    gw_bus_pkg::bytes_t add;

    if (c < EVENTS) begin : gen_event
      assign add = {15'd0, event_q[c]};
    end else if (c == gw_isa_pkg::CNT_READ_BYTES) begin : gen_read_bytes
      assign add = read_bytes_q;
    end else if (c == gw_isa_pkg::CNT_WRITE_BYTES) begin : gen_write_bytes
      assign add = write_bytes_q;
    end else begin : gen_blocks
      assign add = {15'd0, block_q[0]};
    end

    gw_perf_counter u_counter (.clk_i, .rst_ni, .clear_i, .count_i (count_q), .add_i (add), .value_o (values[64*c +: 64]));
  end

  for (genvar core = 1; core < CORES; core++) begin : gen_core
    logic [GROUP:0] events; // of the compute group, and a block

    assign events = {block_q[core], compute_q[GROUP*core +: GROUP]};

    for (genvar k = 0; k < gw_isa_pkg::CNT_CORE_NUM; k++) begin : gen_counter
      localparam int unsigned PLACE = gw_isa_pkg::CNT_NUM + (core - 1) * gw_isa_pkg::CNT_CORE_NUM + k;

      gw_perf_counter u_counter (
        .clk_i, .rst_ni, .clear_i, .count_i (count_q), .add_i ({15'd0, events[k]}), .value_o (values[64*PLACE +: 64])
      );
    end
  end

  for (genvar unit = 0; unit < VECTORS; unit++) begin : gen_vector
    logic [gw_isa_pkg::CNT_VECTOR_NUM-1:0] vector_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) vector_q <= '0;
      else vector_q <= vector_i[gw_isa_pkg::CNT_VECTOR_NUM*unit +: gw_isa_pkg::CNT_VECTOR_NUM];
    end

    for (genvar k = 0; k < gw_isa_pkg::CNT_VECTOR_NUM; k++) begin : gen_counter
      localparam int unsigned PLACE = CORE_NUM + unit * gw_isa_pkg::CNT_VECTOR_NUM + k;

      gw_perf_counter u_counter (
        .clk_i, .rst_ni, .clear_i, .count_i (count_q), .add_i ({15'd0, vector_q[k]}), .value_o (values[64*PLACE +: 64])
      );
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (rst_ni) if (count_q) begin
        a_cycle_counts_in_one_counter_of_the_vector_unit: assert (one_hot({2'd0, vector_q[4:0]}));
      end
    end
  end

  assign value_o = ({24'd0, index_i} < NUM) ? values[64*index_i +: 64] : 64'd0;

  // --- Assertions ----------------------------------------------------------------------------------
  logic [CORES-1:0] one_of_group;
  for (genvar core = 0; core < CORES; core++) begin : gen_one_of_group
    assign one_of_group[core] = one_hot(compute_q[GROUP*core +: GROUP]);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) if (count_q) begin
      a_cycle_counts_in_one_load_counter:
        assert (one_hot({3'd0, event_q[gw_isa_pkg::CNT_LOAD_ACTIVE +: 4]}));
      a_cycle_counts_in_one_store_counter:
        assert (one_hot({3'd0, event_q[gw_isa_pkg::CNT_STORE_ACTIVE +: 4]}));
      a_cycle_counts_in_one_fetch_counter:
        assert (one_hot({3'd0, event_q[gw_isa_pkg::CNT_FETCH_ACTIVE +: 4]}));
      a_cycle_counts_in_one_compute_counter_of_each_core:
        assert (&one_of_group);
    end
  end

endmodule
