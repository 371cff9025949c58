// Takes commands from the fetch buffer in order, checks each, and puts it into the queue of its engine.
//
// A command takes two cycles: one to check it, one to move it (more while its queue is full). The checker works only
// in the first. An illegal command goes nowhere; its error stands until the run is cleared.
module gw_cmd_dispatch #(
  parameter int unsigned LANES      = 8,
  parameter int unsigned SPM_ROWS   = 64,
  parameter int unsigned CORES      = 1,
  parameter int unsigned VECTORS    = 0,
  parameter int unsigned SEMAPHORES = 64,
  parameter int unsigned ENGINES    = 3
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               clear_i,
  input  logic               run_i,
  input  gw_isa_pkg::addr_t  dram_base_i,
  input  gw_isa_pkg::addr_t  dram_size_i,
  // Fetch buffer
  input  logic               cmd_valid_i,
  output logic               cmd_ready_o,
  input  gw_isa_pkg::cmd_t   cmd_i,
  // Queues: the command and its index go to all, push_o names the one that takes them
  output logic [ENGINES-1:0] push_o,
  input  logic [ENGINES-1:0] full_i,
  output gw_isa_pkg::index_t index_o, // of the command being checked or moved: the next to dispatch
  // Error of the command index_o
  output logic               err_valid_o,
  output gw_isa_pkg::err_t   err_code_o
);

  typedef enum logic {
    CHECK,
    MOVE
  } state_e;

  state_e      state_q, state_d;
  gw_isa_pkg::index_t index_q, index_d;
  gw_isa_pkg::err_t   error_q, error_d;

  // --- Check ---------------------------------------------------------------------------------------
  logic             checking;
  gw_isa_pkg::err_t error;

  assign checking = run_i & cmd_valid_i & (state_q == CHECK);

  gw_cmd_check #(.LANES(LANES), .SPM_ROWS(SPM_ROWS), .CORES(CORES), .VECTORS(VECTORS), .SEMAPHORES(SEMAPHORES)) u_check (
    .en_i        (checking),
    .cmd_i       (cmd_i),
    .dram_base_i (dram_base_i),
    .dram_size_i (dram_size_i),
    .error_o     (error)
  );

  // --- Move ----------------------------------------------------------------------------------------
  logic [ENGINES-1:0] target;
  logic               moved;

  always_comb begin
    target = '0;
    for (int unsigned e = 0; e < ENGINES; e++) begin
      target[e] = {24'd0, cmd_i[gw_isa_pkg::ENGINE_LSB +: 8]} ==
                  ((e < ENGINES - VECTORS) ? e : (32'(gw_isa_pkg::ENG_VECTOR0) + e - (ENGINES - VECTORS)));
    end
  end

  assign push_o      = (run_i && (state_q == MOVE) && (error_q == gw_isa_pkg::ERR_NONE)) ? (target & ~full_i) : '0;
  assign moved       = |push_o;
  assign cmd_ready_o = moved;
  assign index_o     = index_q;
  assign err_valid_o = run_i & (state_q == MOVE) & (error_q != gw_isa_pkg::ERR_NONE);
  assign err_code_o  = error_q;

  // --- State ---------------------------------------------------------------------------------------
  always_comb begin
    state_d = state_q;
    index_d = index_q;
    error_d = error_q;
    if (checking) begin
      state_d = MOVE;
      error_d = error;
    end else if (moved) begin
      state_d = CHECK;
      index_d = index_q + 32'd1;
    end
    if (clear_i) begin
      state_d = CHECK;
      index_d = 32'd0;
      error_d = gw_isa_pkg::ERR_NONE;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= CHECK;
      index_q <= 32'd0;
      error_q <= gw_isa_pkg::ERR_NONE;
    end else begin
      state_q <= state_d;
      index_q <= index_d;
      error_q <= error_d;
    end
  end

  // --- Assertions ----------------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      a_command_stays_until_it_is_moved:
        assert ((state_q == CHECK) | cmd_valid_i);
      a_command_goes_to_one_queue_only:
        assert ((push_o & (push_o - 1'b1)) == '0);
    end
  end

endmodule
