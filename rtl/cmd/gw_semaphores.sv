// Semaphore counters, and the arbiter that lets the heads of the queues start.
//
// Each cycle one engine whose head command could start (req_i) and whose waits can all be taken is granted: STORE
// before LOAD before the cores, and among these in turns: the search begins at the core after the one granted last, so
// a core that could start waits for at most one start of each other core. The grant takes the counts; posts of all engines are added in the same cycle
// and are there to be taken from the next cycle on. A counter that a post would raise above 65535 stays there and is
// an error.
module gw_semaphores #(
  parameter int unsigned ENGINES    = 3,
  parameter int unsigned SEMAPHORES = 64
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  input  logic                                   clear_i,
  // Start: waits of engine e are {count2, sem2, count1, sem1, count0, sem0} at 48 e
  input  logic [ENGINES-1:0]                     req_i,
  input  logic [48*ENGINES-1:0]                  waits_i,
  output logic [ENGINES-1:0]                     grant_o,
  // Completion: posts of engine e are {post2, post1, post0} at 24 e
  input  logic [ENGINES-1:0]                     done_valid_i,
  input  logic [gw_isa_pkg::INDEX_W*ENGINES-1:0] done_index_i,
  input  logic [gw_isa_pkg::POSTS_W*ENGINES-1:0] done_posts_i,
  // Overflow; of several in a cycle, that of the first engine
  output logic                                   err_valid_o,
  output gw_isa_pkg::index_t                     err_index_o
);

  localparam int unsigned SEM_W   = (SEMAPHORES > 1) ? $clog2(SEMAPHORES) : 1;
  localparam int unsigned COUNT_W = 16;
  localparam int unsigned LOAD    = 32'(gw_isa_pkg::ENG_LOAD);
  localparam int unsigned STORE   = 32'(gw_isa_pkg::ENG_STORE);
  localparam int unsigned CORE0   = 32'(gw_isa_pkg::ENG_COMPUTE0);
  localparam int unsigned CORES   = ENGINES - CORE0;

  logic [COUNT_W*SEMAPHORES-1:0] count_q, count_d;

  // --- Grant ---------------------------------------------------------------------------------------
  logic [ENGINES-1:0] can_start;

  always_comb begin : p_can_start
    gw_isa_pkg::sem_t        sem;
    gw_isa_pkg::wait_count_t need;
    can_start = req_i;
    sem       = 8'd0;
    need      = 8'd0;
    for (int unsigned e = 0; e < ENGINES; e++) begin
      if (req_i[e]) begin
        for (int unsigned w = 0; w < 3; w++) begin
          sem  = waits_i[48*e + 16*w +: 8];
          need = waits_i[48*e + 16*w + 8 +: 8];
          if ((sem != gw_isa_pkg::NO_SEM) && (count_q[COUNT_W*sem[SEM_W-1:0] +: COUNT_W] < {8'd0, need})) begin
            can_start[e] = 1'b0;
          end
        end
      end
    end
  end

  logic [CORES-1:0] turn_q, turn_d; // the core at which the search begins, and all behind it; none: at the first
  logic [CORES-1:0] ready, ready_now, core_grant;

  assign ready      = can_start[ENGINES-1:CORE0];
  assign ready_now  = ((ready & turn_q) != '0) ? (ready & turn_q) : ready;
  assign core_grant = ready_now & (~ready_now + 1'b1); // the lowest

  always_comb begin
    grant_o = '0;
    turn_d  = turn_q;
    if (can_start[STORE]) begin
      grant_o[STORE] = 1'b1;
    end else if (can_start[LOAD]) begin
      grant_o[LOAD] = 1'b1;
    end else begin
      grant_o[ENGINES-1:CORE0] = core_grant;
      if (ready != '0) turn_d = ~((core_grant << 1) - 1'b1);
    end
    if (clear_i) turn_d = '0;
  end

  // --- Take and post -------------------------------------------------------------------------------
  always_comb begin : p_count
    gw_isa_pkg::sem_t   sem;
    logic [COUNT_W-1:0] held;
    count_d     = count_q;
    err_valid_o = 1'b0;
    err_index_o = 32'd0;
    sem         = 8'd0;
    held      = '0;
    for (int unsigned e = 0; e < ENGINES; e++) begin
      if (grant_o[e]) begin
        for (int unsigned w = 0; w < 3; w++) begin
          sem = waits_i[48*e + 16*w +: 8];
          if (sem != gw_isa_pkg::NO_SEM) begin
            held = count_d[COUNT_W*sem[SEM_W-1:0] +: COUNT_W];
            count_d[COUNT_W*sem[SEM_W-1:0] +: COUNT_W] = held - {8'd0, waits_i[48*e + 16*w + 8 +: 8]};
          end
        end
      end
    end
    for (int unsigned e = 0; e < ENGINES; e++) begin
      if (done_valid_i[e]) begin
        for (int unsigned p = 0; p < 3; p++) begin
          sem = done_posts_i[24*e + 8*p +: 8];
          if (sem != gw_isa_pkg::NO_SEM) begin
            held = count_d[COUNT_W*sem[SEM_W-1:0] +: COUNT_W];
            if (held != '1) begin
              count_d[COUNT_W*sem[SEM_W-1:0] +: COUNT_W] = held + 1'b1;
            end else if (!err_valid_o) begin
              err_valid_o = 1'b1;
              err_index_o = done_index_i[32*e +: 32];
            end
          end
        end
      end
    end
    if (clear_i) count_d = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      turn_q  <= '0;
    end else begin
      count_q <= count_d;
      turn_q  <= turn_d;
    end
  end

  // --- Assertions ----------------------------------------------------------------------------------
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      one_engine_starts_at_most:
        assert ((grant_o & (grant_o - 1'b1)) == '0);
      only_an_engine_that_asks_starts:
        assert ((grant_o & ~req_i) == '0);
      a_cycle_in_which_an_engine_can_start_is_not_lost:
        assert ((grant_o != '0) == (can_start != '0));
    end
  end

endmodule
