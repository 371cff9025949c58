// Starts and ends runs: counts retired commands, keeps the first error, guards against standstill, raises the
// interrupt.
//
//   IDLE/DONE/ERROR --start--> PREPARE -> RUN --all commands retired--> DONE
//                                          \--error--> STOP --bus quiet--> ERROR
//
// PREPARE and RESET last a cycle in which clear_o returns everything in the run path to its reset state. In STOP
// nothing new starts (run_o is 0) while bursts on the bus complete; after WATCHDOG cycles the wait ends anyway.
//
// A run with a ring of commands is open until the host closes it: it does not end before, and while all that there is
// has retired, or a MARK waits for the host to make room, standing still is no error.
module gw_run_ctrl #(
  parameter int unsigned ENGINES = 3
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  // From the registers. The pulses come only when they are allowed.
  input  logic                                   start_i,
  input  logic                                   soft_reset_i,
  input  logic                                   irq_clear_i,
  input  gw_isa_pkg::index_t                     cmd_count_i,
  input  logic                                   ring_i,           // the commands lie in a ring
  input  logic                                   close_i,
  input  logic [31:0]                            watchdog_i,
  // To the registers
  output logic                                   busy_o,
  output logic                                   done_o,
  output logic                                   error_o,
  output logic                                   irq_o,
  output logic                                   open_o,           // commands may follow
  output gw_isa_pkg::err_t                       err_code_o,
  output gw_isa_pkg::index_t                     err_index_o,
  output gw_isa_pkg::index_t                     retired_o,
  // To the run path
  output logic                                   run_o,
  output logic                                   clear_o,
  // Progress
  input  logic [ENGINES-1:0]                     done_i,
  input  logic                                   progress_i,       // anything but a completed command
  input  logic                                   quiet_i,          // no burst on the bus
  input  logic                                   mark_blocked_i,   // a MARK waits for room in the log
  // Errors, the first in this list wins
  input  logic                                   fetch_err_valid_i,
  input  gw_isa_pkg::err_t                       fetch_err_code_i,
  input  gw_isa_pkg::index_t                     fetch_err_index_i,
  input  logic                                   dispatch_err_valid_i,
  input  gw_isa_pkg::err_t                       dispatch_err_code_i,
  input  logic                                   load_err_valid_i,
  input  gw_isa_pkg::err_t                       load_err_code_i,
  input  gw_isa_pkg::index_t                     load_err_index_i,
  input  logic                                   store_err_valid_i,
  input  gw_isa_pkg::err_t                       store_err_code_i,
  input  gw_isa_pkg::index_t                     store_err_index_i,
  input  logic                                   vector_err_valid_i,
  input  gw_isa_pkg::index_t                     vector_err_index_i,
  input  logic                                   sem_err_valid_i,
  input  gw_isa_pkg::index_t                     sem_err_index_i,
  // Where everybody stands, for the watchdog's index
  input  gw_isa_pkg::index_t                     dispatch_index_i, // of the next command to dispatch
  input  logic [ENGINES-1:0]                     head_valid_i,
  input  logic [gw_isa_pkg::INDEX_W*ENGINES-1:0] head_index_i,
  input  logic [ENGINES-1:0]                     oldest_valid_i,
  input  logic [gw_isa_pkg::INDEX_W*ENGINES-1:0] oldest_index_i
);

  typedef enum logic [2:0] {
    IDLE,
    RESET,
    PREPARE,
    RUN,
    STOP,
    DONE,
    ERROR
  } state_e;

  state_e      state_q, state_d;
  gw_isa_pkg::index_t retired_q, retired_d;
  logic [31:0]        still_q, still_d; // RUN: cycles since the last progress; STOP: cycles since its begin
  gw_isa_pkg::err_t   err_code_q, err_code_d;
  gw_isa_pkg::index_t err_index_q, err_index_d;
  logic               irq_q, irq_d;
  logic               open_q, open_d;

  assign busy_o      = (state_q == PREPARE) | (state_q == RUN) | (state_q == STOP);
  assign done_o      = state_q == DONE;
  assign error_o     = state_q == ERROR;
  assign irq_o       = irq_q;
  assign open_o      = run_o & open_q;
  assign err_code_o  = err_code_q;
  assign err_index_o = err_index_q;
  assign retired_o   = retired_q;
  assign run_o       = state_q == RUN;
  assign clear_o     = (state_q == PREPARE) | (state_q == RESET);

  // --- Watchdog ------------------------------------------------------------------------------------
  logic               expired, any_progress, host_is_next, watchdog_err;
  gw_isa_pkg::index_t oldest_index;

  assign any_progress = progress_i | (|done_i);
  assign expired      = (watchdog_i != 32'd0) & (still_q >= watchdog_i - 32'd1);
  assign host_is_next = (open_q & (retired_q == cmd_count_i)) | mark_blocked_i;
  assign watchdog_err = expired & ~any_progress & ~host_is_next;

  // The lowest index in an engine or a queue; if all are empty, the command that dispatch waits for.
  always_comb begin
    oldest_index = dispatch_index_i;
    if (watchdog_err) begin
      for (int unsigned e = 0; e < ENGINES; e++) begin
        if (head_valid_i[e] && (head_index_i[32*e +: 32] < oldest_index)) oldest_index = head_index_i[32*e +: 32];
        if (oldest_valid_i[e] && (oldest_index_i[32*e +: 32] < oldest_index)) oldest_index = oldest_index_i[32*e +: 32];
      end
    end
  end

  // --- First error ---------------------------------------------------------------------------------
  logic               err_valid;
  gw_isa_pkg::err_t   err_code;
  gw_isa_pkg::index_t err_index;

  always_comb begin
    err_valid = 1'b1;
    err_code  = gw_isa_pkg::ERR_NONE;
    err_index = 32'd0;
    if (fetch_err_valid_i) begin
      err_code  = fetch_err_code_i;
      err_index = fetch_err_index_i;
    end else if (dispatch_err_valid_i) begin
      err_code  = dispatch_err_code_i;
      err_index = dispatch_index_i;
    end else if (load_err_valid_i) begin
      err_code  = load_err_code_i;
      err_index = load_err_index_i;
    end else if (store_err_valid_i) begin
      err_code  = store_err_code_i;
      err_index = store_err_index_i;
    end else if (vector_err_valid_i) begin
      err_code  = gw_isa_pkg::ERR_VECTOR_FAULT;
      err_index = vector_err_index_i;
    end else if (sem_err_valid_i) begin
      err_code  = gw_isa_pkg::ERR_SEM_OVERFLOW;
      err_index = sem_err_index_i;
    end else if (watchdog_err) begin
      err_code  = gw_isa_pkg::ERR_WATCHDOG;
      err_index = oldest_index;
    end else begin
      err_valid = 1'b0;
    end
  end

  // --- Retired commands ----------------------------------------------------------------------------
  logic [31:0] retiring;

  always_comb begin
    retiring = 32'd0;
    for (int unsigned e = 0; e < ENGINES; e++) retiring = retiring + {31'd0, done_i[e]};
  end

  // --- State ---------------------------------------------------------------------------------------
  always_comb begin
    state_d     = state_q;
    retired_d   = retired_q;
    still_d     = 32'd0;
    err_code_d  = err_code_q;
    err_index_d = err_index_q;
    irq_d       = irq_q & ~(irq_clear_i | start_i | soft_reset_i);
    open_d      = open_q & ~close_i;
    case (state_q)
      RESET: state_d = IDLE;
      PREPARE: begin
        state_d = RUN;
        open_d  = ring_i;
      end
      RUN: begin
        retired_d = retired_q + retiring;
        still_d   = (any_progress | host_is_next) ? 32'd0 : (still_q + 32'd1);
        if (err_valid) begin
          state_d     = STOP;
          still_d     = 32'd0;
          err_code_d  = err_code;
          err_index_d = err_index;
        end else if ((retired_d == cmd_count_i) && !open_q) begin
          state_d = DONE;
          irq_d   = 1'b1;
        end
      end
      STOP: begin
        still_d = still_q + 32'd1;
        if (quiet_i || expired) begin
          state_d = ERROR;
          irq_d   = 1'b1;
        end
      end
      default: begin // IDLE, DONE, ERROR
        if (start_i) state_d = PREPARE;
        else if (soft_reset_i) state_d = RESET;
      end
    endcase
    if (clear_o) begin
      retired_d   = 32'd0;
      err_code_d  = gw_isa_pkg::ERR_NONE;
      err_index_d = 32'd0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= IDLE;
      retired_q   <= 32'd0;
      still_q     <= 32'd0;
      err_code_q  <= gw_isa_pkg::ERR_NONE;
      err_index_q <= 32'd0;
      irq_q       <= 1'b0;
      open_q      <= 1'b0;
    end else begin
      state_q     <= state_d;
      retired_q   <= retired_d;
      still_q     <= still_d;
      err_code_q  <= err_code_d;
      err_index_q <= err_index_d;
      irq_q       <= irq_d;
      open_q      <= open_d;
    end
  end

  // --- Assertions ----------------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      a_run_starts_only_when_there_is_none:
        assert (~(start_i | soft_reset_i) | (state_q == IDLE) | (state_q == DONE) | (state_q == ERROR));
      an_error_state_has_a_code:
        assert ((state_q != ERROR) | (err_code_q != gw_isa_pkg::ERR_NONE));
      only_an_open_ring_is_closed:
        assert (~close_i | open_o);
      no_more_commands_retire_than_there_are:
        assert ((state_q != RUN) | err_valid | (retired_q <= cmd_count_i));
    end
  end

endmodule
