// Environment of the semaphores: waits and posts as cmd_check lets them through (cmd_check_props). Each names a semaphore
// that exists, or none; the waits of a command name different ones. Inputs are free.
module legal_semaphores #(
  parameter int unsigned ENGINES    = 3,
  parameter int unsigned SEMAPHORES = 2, // a power of two
  localparam int unsigned SEM_W     = (SEMAPHORES > 1) ? $clog2(SEMAPHORES) : 0
) (
  input  logic [3*ENGINES-1:0]  wait_i,      // there is a wait
  input  logic [24*ENGINES-1:0] wait_sem_i,
  input  logic [24*ENGINES-1:0] wait_count_i,
  input  logic [3*ENGINES-1:0]  post_i,
  input  logic [24*ENGINES-1:0] post_sem_i,
  output logic [48*ENGINES-1:0] waits_o,
  output logic [24*ENGINES-1:0] posts_o
);
  localparam logic [7:0] NONE = 8'd255;
  localparam logic [7:0] MASK = 8'((1 << SEM_W) - 1);

  for (genvar i = 0; i < 3 * ENGINES; i++) begin : gen_place
    assign waits_o[16*i +: 16] = {wait_count_i[8*i +: 8], wait_i[i] ? (wait_sem_i[8*i +: 8] & MASK) : NONE};
    assign posts_o[8*i +: 8]   = post_i[i] ? (post_sem_i[8*i +: 8] & MASK) : NONE;
  end

  for (genvar e = 0; e < ENGINES; e++) begin : gen_engine
    logic [7:0] s0, s1, s2;
    assign s0 = waits_o[48*e +: 8];
    assign s1 = waits_o[48*e + 16 +: 8];
    assign s2 = waits_o[48*e + 32 +: 8];
    always @* assume ((s0 != s1 || s0 == NONE) && (s0 != s2 || s0 == NONE) && (s1 != s2 || s1 == NONE));
  end
endmodule
