// semaphores, arithmetic: a count is what was posted less what was taken, never below 0 or above 65535; a post too many is
// lost, and it is an error of a command that posted; there are no other errors.
//
// Posts of all engines may meet in a cycle, and all three of a command in one semaphore.
//
// sources: cmd/gw_semaphores.sv
// sweep: yes
// helpers: legal_semaphores
module semaphores_count_props #(
  parameter int unsigned CORES      = 1,
  parameter int unsigned SEMAPHORES = 1,
  localparam int unsigned ENGINES   = CORES + 2
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,
  input  logic [ENGINES-1:0]    req_i,
  input  logic [3*ENGINES-1:0]  wait_i,
  input  logic [24*ENGINES-1:0] wait_sem_i,
  input  logic [24*ENGINES-1:0] wait_count_i,
  input  logic [ENGINES-1:0]    done_valid_i,
  input  logic [32*ENGINES-1:0] done_index_i,
  input  logic [3*ENGINES-1:0]  post_i,
  input  logic [24*ENGINES-1:0] post_sem_i,
  output logic                  covered_o
);

  logic [ENGINES-1:0]    grant;
  logic [48*ENGINES-1:0] waits;
  logic [24*ENGINES-1:0] posts;
  logic               err_valid;
  logic [31:0]        err_index;

  gw_semaphores #(.ENGINES(ENGINES), .SEMAPHORES(SEMAPHORES)) dut (
    .clk_i, .rst_ni, .clear_i, .req_i, .waits_i (waits), .grant_o (grant), .done_valid_i, .done_index_i, .done_posts_i (posts),
    .err_valid_o (err_valid), .err_index_o (err_index)
  );

  (* hierconn *) wire [16*SEMAPHORES-1:0] \dut.count_q ;

  // --- Environment -----------------------------------------------------------------------------
  reset_first u_reset (.clk_i, .rst_ni);
  legal_semaphores #(.ENGINES(ENGINES), .SEMAPHORES(SEMAPHORES)) u_legal (
    .wait_i, .wait_sem_i, .wait_count_i, .post_i, .post_sem_i, .waits_o (waits), .posts_o (posts)
  );

  // --- What the events of the cycle make of each count, one by one ---------------------------------------------------
  logic [16*SEMAPHORES-1:0]         balance_q; // what the counts must be now
  logic [SEMAPHORES-1:0]            exact, enough;
  logic [ENGINES*SEMAPHORES-1:0]    lost; // engine e posts to a full semaphore s

  for (genvar s = 0; s < SEMAPHORES; s++) begin : gen_semaphore
    logic [15:0] balance;
    logic        short;

    always @* begin
      balance = \dut.count_q [16*s +: 16];
      short   = 1'b0;
      for (int e = 0; e < ENGINES; e++) begin
        for (int w = 0; w < 3; w++) begin
          if (grant[e] && 32'(waits[48*e + 16*w +: 8]) == s) begin
            if (balance < 16'(waits[48*e + 16*w + 8 +: 8])) short = 1'b1;
            balance = balance - 16'(waits[48*e + 16*w + 8 +: 8]);
          end
        end
      end
      for (int e = 0; e < ENGINES; e++) begin
        lost[SEMAPHORES*e + s] = 1'b0;
        for (int p = 0; p < 3; p++) begin
          if (done_valid_i[e] && 32'(posts[24*e + 8*p +: 8]) == s) begin
            if (balance == 16'hffff) lost[SEMAPHORES*e + s] = 1'b1;
            else balance = balance + 16'd1;
          end
        end
      end
    end

    always @(posedge clk_i) begin
      if (!rst_ni || clear_i) balance_q[16*s +: 16] <= 16'd0;
      else balance_q[16*s +: 16] <= balance;
    end

    assign enough[s] = !short;
    assign exact[s]  = \dut.count_q [16*s +: 16] == balance_q[16*s +: 16];
  end

  logic names_a_culprit;
  always @* begin
    names_a_culprit = 1'b0;
    for (int e = 0; e < ENGINES; e++) begin
      if (lost[SEMAPHORES*e +: SEMAPHORES] != '0 && err_index == done_index_i[32*e +: 32]) names_a_culprit = 1'b1;
    end
  end

  always @* begin
    if (rst_ni) begin
      a_count_is_posts_less_waits: assert (&exact);
      no_more_is_taken_than_there_is: assert (&enough);
      a_lost_post_is_an_error_and_nothing_else_is: assert (err_valid == (lost != '0));
      the_error_names_a_command_that_posted: assert (!err_valid || names_a_culprit);
    end
  end

  // --- Reachable: all engines post all they can in a cycle, and then the last takes two -------------------------------
  logic [1:0] seen_q;
  always @(posedge clk_i) begin
    if (!rst_ni || clear_i) seen_q <= '0;
    else seen_q <= {seen_q[0] && grant[ENGINES-1] && waits[48*(ENGINES-1) +: 16] == 16'h0200,
                    seen_q[0] || (&done_valid_i && posts == '0)};
  end
  assign covered_o = rst_ni && (&seen_q);

endmodule
