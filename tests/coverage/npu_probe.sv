// What functional coverage looks at, bound into the NPU of a coverage build: values as they stand at a rising edge, in
// registers that tests/coverage/verilated_probe.cpp reads after it. It drives nothing.
//
// Vectors over engines have the order of the ENGINE field; those over FIFOs that of functional.hpp.
// verilator coverage_off
module npu_probe #(
  parameter int unsigned ENGINES    = 3,
  parameter int unsigned CORES      = 1,
  parameter int unsigned SEMAPHORES = 64,
  parameter int unsigned LANES      = 8,
  parameter int unsigned SPM_ROWS   = 64,
  parameter int unsigned SPM_BANKS  = 1,
  parameter int unsigned BUS_BYTES  = 16,
  parameter int unsigned PORTS      = 1,
  parameter int unsigned VECTOR_GROUPS = 0,
  parameter int unsigned UNITS      = 1, // of vectors that are there without a vector unit, too
  parameter int unsigned FIFOS      = 10
) (
  input logic                     clk_i,
  input logic                     rst_ni,
  input logic [2:0]               state_i,         // of run_ctrl
  input logic                     err_valid_i,
  input logic [7:0]               err_code_i,
  input logic [31:0]              err_index_i,
  input logic                     checking_i,
  input logic                     moving_i,
  input logic [7:0]               error_i,
  input logic [511:0]             cmd_i,
  input logic [31:0]              index_i,
  input logic [ENGINES-1:0]       push_i,
  input logic [ENGINES-1:0]       room_i,
  input logic [ENGINES-1:0]       head_valid_i,
  input logic [32*ENGINES-1:0]    head_index_i,
  input logic [ENGINES-1:0]       asks_i,
  input logic [ENGINES-1:0]       can_start_i,
  input logic [ENGINES-1:0]       start_i,
  input logic [ENGINES-1:0]       done_i,
  input logic [32*ENGINES-1:0]    done_index_i,
  input logic [ENGINES-1:0]       oldest_valid_i,
  input logic [32*ENGINES-1:0]    oldest_index_i,
  input logic [3:0]               load_counters_i,
  input logic [3:0]               store_counters_i,
  input logic [3:0]               fetch_counters_i,
  input logic [7*CORES-1:0]       core_counters_i,
  input logic [7*UNITS-1:0]       vector_counters_i,
  input logic [31:0]              vector_error_i,  // ERR_WORD of the first vector unit
  input logic [16*SEMAPHORES-1:0] semaphores_i,
  input logic [FIFOS-1:0]         fifo_push_i,
  input logic [FIFOS-1:0]         fifo_room_i,
  input logic [FIFOS-1:0]         fifo_valid_i,
  input logic [FIFOS-1:0]         fifo_pop_i,
  input logic                     reads_full_i,    // as many LOAD bursts in flight as there may be
  // What the host does to a ring and its marks, in the order of functional.hpp; commands that there are, came and retired
  input logic [15:0]              host_i,
  input logic [31:0]              tail_i,          // what CMD_COUNT is, or would become by the write
  input logic [31:0]              count_i,
  input logic [31:0]              received_i,
  input logic [31:0]              retired_i,
  input logic [31:0]              ring_size_i,
  // Bursts of the bus; ports that are ahead of others, of each channel in the order of functional.hpp
  input logic                     ar_valid_i,
  input logic                     ar_ready_i,
  input logic                     ar_id_i,
  input logic [63:0]              ar_addr_i,
  input logic [7:0]               ar_len_i,
  input logic [23:0]              ar_user_i,
  input logic                     aw_valid_i,
  input logic                     aw_ready_i,
  input logic [63:0]              aw_addr_i,
  input logic [7:0]               aw_len_i,
  input logic [23:0]              aw_user_i,
  input logic [5*PORTS-1:0]       ahead_i
);

  logic [2:0]               state /* verilator public_flat_rd */;
  logic                     rst_n /* verilator public_flat_rd */;
  logic                     err_valid /* verilator public_flat_rd */;
  logic [7:0]               err_code /* verilator public_flat_rd */;
  logic [31:0]              err_index /* verilator public_flat_rd */;
  logic                     checking /* verilator public_flat_rd */;
  logic                     moving /* verilator public_flat_rd */;
  logic [7:0]               error /* verilator public_flat_rd */;
  logic [511:0]             cmd /* verilator public_flat_rd */;
  logic [31:0]              index /* verilator public_flat_rd */;
  logic [ENGINES-1:0]       push /* verilator public_flat_rd */;
  logic [ENGINES-1:0]       room /* verilator public_flat_rd */;
  logic [ENGINES-1:0]       head_valid /* verilator public_flat_rd */;
  logic [32*ENGINES-1:0]    head_index /* verilator public_flat_rd */;
  logic [ENGINES-1:0]       asks /* verilator public_flat_rd */;
  logic [ENGINES-1:0]       can_start /* verilator public_flat_rd */;
  logic [ENGINES-1:0]       start /* verilator public_flat_rd */;
  logic [ENGINES-1:0]       done /* verilator public_flat_rd */;
  logic [32*ENGINES-1:0]    done_index /* verilator public_flat_rd */;
  logic [ENGINES-1:0]       oldest_valid /* verilator public_flat_rd */;
  logic [32*ENGINES-1:0]    oldest_index /* verilator public_flat_rd */;
  logic [3:0]               load_counters /* verilator public_flat_rd */;
  logic [3:0]               store_counters /* verilator public_flat_rd */;
  logic [3:0]               fetch_counters /* verilator public_flat_rd */;
  logic [7*CORES-1:0]       core_counters /* verilator public_flat_rd */;
  logic [7*UNITS-1:0]       vector_counters /* verilator public_flat_rd */;
  logic [31:0]              vector_error /* verilator public_flat_rd */;
  logic [16*SEMAPHORES-1:0] semaphores /* verilator public_flat_rd */;
  logic [FIFOS-1:0]         fifo_push /* verilator public_flat_rd */;
  logic [FIFOS-1:0]         fifo_room /* verilator public_flat_rd */;
  logic [FIFOS-1:0]         fifo_valid /* verilator public_flat_rd */;
  logic [FIFOS-1:0]         fifo_pop /* verilator public_flat_rd */;
  logic                     reads_full /* verilator public_flat_rd */;
  logic [15:0]              host /* verilator public_flat_rd */;
  logic [31:0]              tail /* verilator public_flat_rd */;
  logic [31:0]              count /* verilator public_flat_rd */;
  logic [31:0]              received /* verilator public_flat_rd */;
  logic [31:0]              retired /* verilator public_flat_rd */;
  logic [31:0]              ring_size /* verilator public_flat_rd */;
  logic                     ar_valid /* verilator public_flat_rd */;
  logic                     ar_ready /* verilator public_flat_rd */;
  logic                     ar_id /* verilator public_flat_rd */;
  logic [63:0]              ar_addr /* verilator public_flat_rd */;
  logic [7:0]               ar_len /* verilator public_flat_rd */;
  logic [23:0]              ar_user /* verilator public_flat_rd */;
  logic                     aw_valid /* verilator public_flat_rd */;
  logic                     aw_ready /* verilator public_flat_rd */;
  logic [63:0]              aw_addr /* verilator public_flat_rd */;
  logic [7:0]               aw_len /* verilator public_flat_rd */;
  logic [23:0]              aw_user /* verilator public_flat_rd */;
  logic [5*PORTS-1:0]       ahead /* verilator public_flat_rd */;
  logic [31:0]              engines /* verilator public_flat_rd */;
  logic [31:0]              cores /* verilator public_flat_rd */;
  logic [31:0]              semaphore_num /* verilator public_flat_rd */;
  logic [31:0]              lanes /* verilator public_flat_rd */;
  logic [31:0]              spm_rows /* verilator public_flat_rd */;
  logic [31:0]              spm_banks /* verilator public_flat_rd */;
  logic [31:0]              bus_bytes /* verilator public_flat_rd */;
  logic [31:0]              ports /* verilator public_flat_rd */;
  logic [31:0]              vector_groups /* verilator public_flat_rd */;

  always_ff @(posedge clk_i) begin
    rst_n          <= rst_ni;
    state          <= state_i;
    err_valid      <= err_valid_i;
    err_code       <= err_code_i;
    err_index      <= err_index_i;
    checking       <= checking_i;
    moving         <= moving_i;
    error          <= error_i;
    index          <= index_i;
    push           <= push_i;
    room           <= room_i;
    head_valid     <= head_valid_i;
    head_index     <= head_index_i;
    asks           <= asks_i;
    can_start      <= can_start_i;
    start          <= start_i;
    done           <= done_i;
    done_index     <= done_index_i;
    oldest_valid   <= oldest_valid_i;
    oldest_index   <= oldest_index_i;
    load_counters  <= load_counters_i;
    store_counters <= store_counters_i;
    fetch_counters <= fetch_counters_i;
    core_counters  <= core_counters_i;
    vector_counters <= vector_counters_i;
    vector_error   <= vector_error_i;
    semaphores     <= semaphores_i;
    fifo_push      <= fifo_push_i;
    fifo_room      <= fifo_room_i;
    fifo_valid     <= fifo_valid_i;
    fifo_pop       <= fifo_pop_i;
    reads_full     <= reads_full_i;
    host           <= host_i;
    tail           <= tail_i;
    count          <= count_i;
    received       <= received_i;
    retired        <= retired_i;
    ring_size      <= ring_size_i;
    ar_valid       <= ar_valid_i;
    ar_ready       <= ar_ready_i;
    ar_id          <= ar_id_i;
    ar_addr        <= ar_addr_i;
    ar_len         <= ar_len_i;
    ar_user        <= ar_user_i;
    aw_valid       <= aw_valid_i;
    aw_ready       <= aw_ready_i;
    aw_addr        <= aw_addr_i;
    aw_len         <= aw_len_i;
    aw_user        <= aw_user_i;
    ahead          <= ahead_i;
    if (checking_i) cmd <= cmd_i;
    // Sizes never change; as registers they are found where all else is.
    engines        <= ENGINES;
    cores          <= CORES;
    semaphore_num  <= SEMAPHORES;
    lanes          <= LANES;
    spm_rows       <= SPM_ROWS;
    spm_banks      <= SPM_BANKS;
    bus_bytes      <= BUS_BYTES;
    ports          <= PORTS;
    vector_groups  <= VECTOR_GROUPS;
  end

endmodule

bind gw_npu npu_probe #(
  .ENGINES(ENGINES), .CORES(CORES), .SEMAPHORES(SEMAPHORES), .LANES(LANES), .SPM_ROWS(SPM_ROWS), .SPM_BANKS(SPM_BANKS),
  .BUS_BYTES(BUS_BYTES), .PORTS(PORTS), .VECTOR_GROUPS(VECTOR_GROUPS), .UNITS(UNITS)
) u_probe (
  .clk_i, .rst_ni,
  .state_i          (u_command_processor.u_run_ctrl.state_q),
  .err_valid_i      (u_command_processor.u_run_ctrl.err_valid),
  .err_code_i       (u_command_processor.u_run_ctrl.err_code),
  .err_index_i      (u_command_processor.u_run_ctrl.err_index),
  .checking_i       (u_command_processor.u_dispatch.checking),
  .moving_i         (|u_command_processor.u_dispatch.state_q),
  .error_i          (u_command_processor.u_dispatch.error),
  .cmd_i            (u_command_processor.fetch_cmd),
  .index_i          (u_command_processor.dispatch_index),
  .push_i           (u_command_processor.push),
  .room_i           (u_command_processor.room),
  .head_valid_i     (head_valid),
  .head_index_i     (head_index),
  .asks_i           (u_command_processor.u_semaphores.req_i),
  .can_start_i      (u_command_processor.u_semaphores.can_start),
  .start_i          (start),
  .done_i           (done_valid),
  .done_index_i     (done_index),
  .oldest_valid_i   (oldest_valid),
  .oldest_index_i   (oldest_index),
  .load_counters_i  (load_counters),
  .store_counters_i (store_counters),
  .fetch_counters_i (u_command_processor.fetch_counters),
  .core_counters_i  (core_counters),
  .vector_counters_i (vector_counters),
  .vector_error_i   (vector_err_word[31:0]),
  .semaphores_i     (u_command_processor.u_semaphores.count_q),
  .fifo_push_i      ({u_store.u_unanswered.in_valid_i, u_store.u_data.in_valid_i, u_store.u_unread.in_valid_i,
                      u_store.u_front.u_tiles.in_valid_i, u_store.u_front.u_order.u_transfers.in_valid_i,
                      u_store.u_front.u_order.u_commands.in_valid_i,
                      u_load.u_front.u_tiles.in_valid_i, u_load.u_front.u_order.u_transfers.in_valid_i,
                      u_load.u_front.u_order.u_commands.in_valid_i,
                      u_command_processor.u_fetch.u_buffer.in_valid_i}),
  .fifo_room_i      ({u_store.u_unanswered.in_ready_o, u_store.u_data.in_ready_o, u_store.u_unread.in_ready_o,
                      u_store.u_front.u_tiles.in_ready_o, u_store.u_front.u_order.u_transfers.in_ready_o,
                      u_store.u_front.u_order.u_commands.in_ready_o,
                      u_load.u_front.u_tiles.in_ready_o, u_load.u_front.u_order.u_transfers.in_ready_o,
                      u_load.u_front.u_order.u_commands.in_ready_o,
                      u_command_processor.u_fetch.u_buffer.in_ready_o}),
  .fifo_valid_i     ({u_store.u_unanswered.out_valid_o, u_store.u_data.out_valid_o, u_store.u_unread.out_valid_o,
                      u_store.u_front.u_tiles.out_valid_o, u_store.u_front.u_order.u_transfers.out_valid_o,
                      u_store.u_front.u_order.u_commands.out_valid_o,
                      u_load.u_front.u_tiles.out_valid_o, u_load.u_front.u_order.u_transfers.out_valid_o,
                      u_load.u_front.u_order.u_commands.out_valid_o,
                      u_command_processor.u_fetch.u_buffer.out_valid_o}),
  .fifo_pop_i       ({u_store.u_unanswered.out_ready_i, u_store.u_data.out_ready_i, u_store.u_unread.out_ready_i,
                      u_store.u_front.u_tiles.out_ready_i, u_store.u_front.u_order.u_transfers.out_ready_i,
                      u_store.u_front.u_order.u_commands.out_ready_i,
                      u_load.u_front.u_tiles.out_ready_i, u_load.u_front.u_order.u_transfers.out_ready_i,
                      u_load.u_front.u_order.u_commands.out_ready_i,
                      u_command_processor.u_fetch.u_buffer.out_ready_i}),
  .reads_full_i     (32'(u_load.outstanding_q) == OUTSTANDING),
  .host_i           ({u_command_processor.ended, irq_o, u_command_processor.mark_ready, u_command_processor.mark_valid,
                      u_command_processor.u_marks.completed,
                      u_command_processor.is_mark & ~u_command_processor.mark_ready,
                      u_command_processor.is_mark & start[1],
                      u_command_processor.u_fetch.issue & u_command_processor.u_fetch.is_ring &
                        (u_command_processor.u_fetch.req_next == u_command_processor.u_fetch.ring_end),
                      u_command_processor.u_csr.write & u_command_processor.u_csr.is_ctrl &
                        u_command_processor.u_csr.want_mark & ~u_command_processor.u_csr.ctrl_ok,
                      u_command_processor.mark_take,
                      u_command_processor.u_csr.write & u_command_processor.u_csr.is_ctrl &
                        u_command_processor.u_csr.want_close & ~u_command_processor.u_csr.ctrl_ok,
                      u_command_processor.close_ring,
                      u_command_processor.u_csr.write & u_command_processor.ring_open &
                        (u_command_processor.u_csr.aw_addr_q == gw_isa_pkg::CSR_CMD_COUNT) &
                        ~u_command_processor.u_csr.config_ok,
                      u_command_processor.u_csr.config_write & u_command_processor.ring_open,
                      u_command_processor.ring_open, u_command_processor.u_fetch.is_ring}),
  .tail_i           (u_command_processor.u_csr.tail),
  .count_i          (u_command_processor.cmd_count),
  .received_i       (u_command_processor.received),
  .retired_i        (u_command_processor.retired),
  .ring_size_i      (u_command_processor.ring_size),
  .ar_valid_i (ar_valid), .ar_ready_i (ar_ready), .ar_id_i (ar_id), .ar_addr_i (ar_addr), .ar_len_i (ar_len),
  .ar_user_i (ar_user), .aw_valid_i (aw_valid), .aw_ready_i (aw_ready), .aw_addr_i (aw_addr), .aw_len_i (aw_len),
  .aw_user_i (aw_user),
  // A port has what the bus still offers, or keeps what others have yet to bring.
  .ahead_i          ({~m_axi_bready_o, ~m_axi_rready_o, {PORTS{w_valid}} & ~m_axi_wvalid_o,
                      {PORTS{aw_valid}} & ~m_axi_awvalid_o, {PORTS{ar_valid}} & ~m_axi_arvalid_o})
);
