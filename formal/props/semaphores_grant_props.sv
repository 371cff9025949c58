// semaphores, arbiter: one engine at most starts in a cycle, only one that asks and whose waits are there; STORE before LOAD
// before the cores; a core that could start sees every other core start at most once before it.
//
// The counts are arbitrary in every cycle (cut), so nothing rests on how they came about.
//
// sources: cmd/gw_semaphores.sv
// sweep: yes
// helpers: legal_semaphores
// cut: dut.count_q
module semaphores_grant_props #(
  parameter int unsigned CORES      = 1,
  parameter int unsigned SEMAPHORES = 4,
  localparam int unsigned ENGINES   = CORES + 2
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,
  input  logic [ENGINES-1:0]    req_i,
  input  logic [3*ENGINES-1:0]  wait_i,
  input  logic [24*ENGINES-1:0] wait_sem_i,
  input  logic [24*ENGINES-1:0] wait_count_i,
  output logic                  covered_o
);

  localparam int unsigned LOAD  = 0;
  localparam int unsigned STORE = 1;

  logic [ENGINES-1:0]    grant;
  logic [48*ENGINES-1:0] waits;
  logic [24*ENGINES-1:0] posts;

  gw_semaphores #(.ENGINES(ENGINES), .SEMAPHORES(SEMAPHORES)) dut (
    .clk_i, .rst_ni, .clear_i, .req_i, .waits_i (waits), .grant_o (grant), .done_valid_i ({ENGINES{1'b0}}), .done_index_i ({32*ENGINES{1'b0}}),
    .done_posts_i (posts)
  );

  (* hierconn *) wire [16*SEMAPHORES-1:0] \dut.count_q ;
  (* hierconn *) wire [CORES-1:0]         \dut.turn_q ;

  // --- Environment -----------------------------------------------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);
  legal_semaphores #(.ENGINES(ENGINES), .SEMAPHORES(SEMAPHORES)) u_legal (
    .wait_i, .wait_sem_i, .wait_count_i, .post_i ({3*ENGINES{1'b0}}), .post_sem_i ({24*ENGINES{1'b0}}), .waits_o (waits), .posts_o (posts)
  );

  // --- Who could start -----------------------------------------------------------------------------------------
  logic [ENGINES-1:0] can;

  for (genvar e = 0; e < ENGINES; e++) begin : gen_can
    always @* begin
      can[e] = req_i[e];
      for (int s = 0; s < SEMAPHORES; s++) begin
        for (int w = 0; w < 3; w++) begin
          if (32'(waits[48*e + 16*w +: 8]) == s && 16'(waits[48*e + 16*w + 8 +: 8]) > \dut.count_q [16*s +: 16]) begin
            can[e] = 1'b0;
          end
        end
      end
    end
  end

  // --- Fairness among cores: how many others started since a core could ---------------------------------------------
  // Searches begin at `turn`; as many as lie between it and the core may still come before it.
  logic [4:0]       turn;
  logic [CORES-1:0] fair, closer;

  always @* begin
    turn = 5'd0;
    for (int c = CORES - 1; c >= 0; c--) begin
      if (\dut.turn_q [c]) turn = 5'(c);
    end
  end

  for (genvar c = 0; c < CORES; c++) begin : gen_core
    logic [4:0] passed_q, distance;
    assign distance = (c >= 32'(turn)) ? 5'(c) - turn : 5'(c + CORES) - turn;

    always @(posedge clk_i) begin
      if (!rst_ni || clear_i || !can[2+c] || grant[2+c]) passed_q <= 5'd0;
      else if (grant[ENGINES-1:2] != '0) passed_q <= passed_q + 5'd1;
    end

    assign fair[c]   = 32'(passed_q) < CORES;
    assign closer[c] = passed_q == 5'd0 || 32'(passed_q) + 32'(distance) < CORES;
  end

  always @* begin
    if (rst_ni) begin
      one_engine_starts_at_most: assert ((grant & (grant - 1'b1)) == '0);
      only_one_that_asks_and_whose_waits_are_there: assert ((grant & ~can) == '0);
      a_cycle_is_not_lost: assert ((grant != '0) == (can != '0));
      store_first: assert (grant[STORE] == can[STORE]);
      load_before_cores: assert (grant[LOAD] == (can[LOAD] && !can[STORE]));
      each_other_core_starts_at_most_once_before: assert (&fair);
      // Invariants that make fairness inductive.
      and_the_search_comes_closer: assert (&closer);
      the_turn_is_a_core_and_all_behind: assert (\dut.turn_q == '0 || \dut.turn_q == ({CORES{1'b1}} << turn));
    end
  end

  // --- Reachable: every engine starts; the first core waits for the last, and then starts ------------------------------
  logic [ENGINES-1:0] started_q;
  logic               passed_q;
  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      started_q <= '0;
      passed_q  <= 1'b0;
    end else begin
      started_q <= started_q | grant;
      passed_q  <= passed_q || CORES == 1 || (can[2] && grant[ENGINES-1]);
    end
  end
  assign covered_o = rst_ni && (&started_q) && passed_q;

endmodule
