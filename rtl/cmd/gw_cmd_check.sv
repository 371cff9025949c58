// Decides whether a command is legal, and if not, why: the first failing check of docs/microarchitecture.md, "Checks
// of dispatch", in the order given there. Combinational. isa/check.cpp is the same function in C++.
module gw_cmd_check #(
  parameter int unsigned LANES      = 8,
  parameter int unsigned SPM_ROWS   = 64,
  parameter int unsigned CORES      = 1,
  parameter int unsigned VECTORS    = 0, // vector units
  parameter int unsigned SEMAPHORES = 64
) (
  input  logic              en_i, // 0: error_o is ERR_NONE
  input  gw_isa_pkg::cmd_t  cmd_i,
  input  gw_isa_pkg::addr_t dram_base_i,
  input  gw_isa_pkg::addr_t dram_size_i,
  output gw_isa_pkg::err_t  error_o
);

  // --- Fields --------------------------------------------------------------------------------------
  gw_isa_pkg::opcode_t opcode;
  gw_isa_pkg::engine_t engine;
  logic                is_load, is_store, is_dma, is_gemm, is_add, is_sync, is_mark, is_conv, is_wgrad, is_product, acc;
  gw_isa_pkg::dim_t    m, n, k;

  assign opcode   = cmd_i[gw_isa_pkg::OPCODE_LSB +: 8];
  assign engine   = cmd_i[gw_isa_pkg::ENGINE_LSB +: 8];
  assign is_load  = opcode == gw_isa_pkg::OP_LOAD;
  assign is_store = opcode == gw_isa_pkg::OP_STORE;
  assign is_gemm  = opcode == gw_isa_pkg::OP_GEMM;
  assign is_add   = opcode == gw_isa_pkg::OP_ADD;
  assign is_sync  = opcode == gw_isa_pkg::OP_SYNC;
  assign is_mark  = opcode == gw_isa_pkg::OP_MARK;
  assign is_conv  = opcode == gw_isa_pkg::OP_CONV;
  assign is_wgrad = opcode == gw_isa_pkg::OP_WGRAD;
  assign is_dma   = is_load | is_store;
  assign is_product = is_gemm | is_conv | is_wgrad;
  assign acc      = cmd_i[gw_isa_pkg::ACC_LSB];
  assign m        = cmd_i[gw_isa_pkg::M_LSB +: 16];
  assign n        = cmd_i[gw_isa_pkg::N_LSB +: 16];
  assign k        = cmd_i[gw_isa_pkg::K_LSB +: 16];

  // What only an NPU with vector units has
  logic is_program, is_tile, is_vector, is_for_unit, is_unit;

  assign is_program  = (VECTORS != 0) & (opcode == gw_isa_pkg::OP_PROGRAM);
  assign is_tile     = (VECTORS != 0) & (opcode == gw_isa_pkg::OP_TILE);
  assign is_vector   = (VECTORS != 0) & (opcode == gw_isa_pkg::OP_VECTOR);
  assign is_for_unit = is_program | is_tile | is_vector;
  assign is_unit     = (VECTORS != 0) & (engine >= gw_isa_pkg::ENG_VECTOR0) &
                       ({24'd0, engine} < 32'(gw_isa_pkg::ENG_VECTOR0) + VECTORS);

  // --- Reserved bits and engine --------------------------------------------------------------------
  logic bad_reserved, bad_engine, no_engine;

  assign no_engine = {24'd0, engine} >= 32'd2 + CORES;

  always_comb begin
    bad_reserved = 1'b0;
    bad_engine   = 1'b0;
    if (en_i) begin
      case (opcode)
        gw_isa_pkg::OP_LOAD: begin
          bad_reserved = (cmd_i & ~gw_isa_pkg::LOAD_USED) != 512'd0;
          bad_engine   = engine != gw_isa_pkg::ENG_LOAD;
        end
        gw_isa_pkg::OP_STORE: begin
          bad_reserved = (cmd_i & ~gw_isa_pkg::STORE_USED) != 512'd0;
          bad_engine   = engine != gw_isa_pkg::ENG_STORE;
        end
        gw_isa_pkg::OP_MARK: begin
          bad_reserved = (cmd_i & ~gw_isa_pkg::MARK_USED) != 512'd0;
          bad_engine   = engine != gw_isa_pkg::ENG_STORE;
        end
        gw_isa_pkg::OP_GEMM: begin
          bad_reserved = (cmd_i & ~gw_isa_pkg::GEMM_USED) != 512'd0;
          bad_engine   = no_engine | (engine < gw_isa_pkg::ENG_COMPUTE0);
        end
        gw_isa_pkg::OP_ADD: begin
          bad_reserved = (cmd_i & ~gw_isa_pkg::ADD_USED) != 512'd0;
          bad_engine   = no_engine | (engine < gw_isa_pkg::ENG_COMPUTE0);
        end
        gw_isa_pkg::OP_CONV: begin
          bad_reserved = (cmd_i & ~gw_isa_pkg::CONV_USED) != 512'd0;
          bad_engine   = no_engine | (engine < gw_isa_pkg::ENG_COMPUTE0);
        end
        gw_isa_pkg::OP_WGRAD: begin
          bad_reserved = (cmd_i & ~gw_isa_pkg::WGRAD_USED) != 512'd0;
          bad_engine   = no_engine | (engine < gw_isa_pkg::ENG_COMPUTE0);
        end
        default: begin
          bad_reserved = (cmd_i & ~gw_isa_pkg::SYNC_USED) != 512'd0;
          bad_engine   = no_engine & ~is_unit;
        end
      endcase
      if (is_for_unit) begin
        bad_reserved = (cmd_i & ~(is_program ? gw_isa_pkg::PROGRAM_USED :
                                  is_tile ? gw_isa_pkg::TILE_USED : gw_isa_pkg::VECTOR_USED)) != 512'd0;
        bad_engine   = ~is_unit;
      end
    end
  end

  // --- Posts and waits -----------------------------------------------------------------------------
  gw_isa_pkg::sem_t        post0, post1, post2, sem0, sem1, sem2;
  gw_isa_pkg::wait_count_t count0, count1, count2;
  logic                    bad_sync;

  assign post0  = cmd_i[gw_isa_pkg::POST0_LSB +: 8];
  assign post1  = cmd_i[gw_isa_pkg::POST1_LSB +: 8];
  assign post2  = cmd_i[gw_isa_pkg::POST2_LSB +: 8];
  assign sem0   = cmd_i[gw_isa_pkg::WAIT0_SEM_LSB +: 8];
  assign sem1   = cmd_i[gw_isa_pkg::WAIT1_SEM_LSB +: 8];
  assign sem2   = cmd_i[gw_isa_pkg::WAIT2_SEM_LSB +: 8];
  assign count0 = cmd_i[gw_isa_pkg::WAIT0_COUNT_LSB +: 8];
  assign count1 = cmd_i[gw_isa_pkg::WAIT1_COUNT_LSB +: 8];
  assign count2 = cmd_i[gw_isa_pkg::WAIT2_COUNT_LSB +: 8];

  function automatic logic bad_sem(input gw_isa_pkg::sem_t sem);
    bad_sem = ({24'd0, sem} >= SEMAPHORES) & (sem != gw_isa_pkg::NO_SEM);
  endfunction

  function automatic logic bad_wait(input gw_isa_pkg::sem_t sem, input gw_isa_pkg::wait_count_t count);
    bad_wait = bad_sem(sem) | ((sem == gw_isa_pkg::NO_SEM) != (count == 8'd0));
  endfunction

  function automatic logic same_sem(input gw_isa_pkg::sem_t x, input gw_isa_pkg::sem_t y);
    same_sem = (x == y) & (x != gw_isa_pkg::NO_SEM);
  endfunction

  always_comb begin
    bad_sync = 1'b0;
    if (en_i) begin
      bad_sync = bad_sem(post0) | bad_sem(post1) | bad_sem(post2) |
                 bad_wait(sem0, count0) | bad_wait(sem1, count1) | bad_wait(sem2, count2) |
                 same_sem(sem0, sem1) | same_sem(sem0, sem2) | same_sem(sem1, sem2);
    end
  end

  // --- Tiles ---------------------------------------------------------------------------------------
  // The first checker serves the tile of a LOAD or STORE, or A of a product or ADD. An image's extent is image_check's.
  logic              first_fp32, a_col, b_col;
  gw_isa_pkg::dim_t  first_rows, first_cols, b_rows;
  logic              image_field, image_range;
  gw_isa_pkg::tile_t first;
  logic              first_field, b_field, cin_field, cout_field;
  logic              first_range, b_range, cin_range, cout_range;

  assign a_col         = cmd_i[gw_isa_pkg::A_COL_LSB] | is_conv;
  assign b_col         = cmd_i[gw_isa_pkg::B_COL_LSB];
  assign first_fp32    = is_add | (is_dma & cmd_i[gw_isa_pkg::FP32_LSB]);
  assign first_rows    = is_dma ? cmd_i[gw_isa_pkg::ROWS_LSB +: 16] : (is_add | a_col) ? m : k;
  assign first_cols    = is_dma ? cmd_i[gw_isa_pkg::COLS_LSB +: 16] : is_add ? n : a_col ? k : m;
  assign first         = is_dma ? cmd_i[gw_isa_pkg::SPM_ROW_LSB +: gw_isa_pkg::TILE_W]
                                : cmd_i[gw_isa_pkg::A_ROW_LSB +: gw_isa_pkg::TILE_W];

  gw_tile_check #(.LANES(LANES), .SPM_ROWS(SPM_ROWS)) u_first (
    .en_i        (en_i & (is_dma | is_product | is_add)),
    .fp32_i      (first_fp32),
    .rows_i      (first_rows),
    .cols_i      (first_cols),
    .tile_i      (first),
    .bad_field_o (first_field),
    .bad_range_o (first_range)
  );

  gw_tile_check #(.LANES(LANES), .SPM_ROWS(SPM_ROWS)) u_b (
    .en_i        (en_i & is_product),
    .fp32_i      (1'b0),
    .rows_i      (b_rows),
    .cols_i      (b_col ? k : n),
    .tile_i      (cmd_i[gw_isa_pkg::B_ROW_LSB +: gw_isa_pkg::TILE_W]),
    .bad_field_o (b_field),
    .bad_range_o (b_range)
  );

  gw_tile_check #(.LANES(LANES), .SPM_ROWS(SPM_ROWS)) u_cin (
    .en_i        (en_i & ((is_product & acc) | is_add)),
    .fp32_i      (1'b1),
    .rows_i      (m),
    .cols_i      (n),
    .tile_i      (cmd_i[gw_isa_pkg::CIN_ROW_LSB +: gw_isa_pkg::TILE_W]),
    .bad_field_o (cin_field),
    .bad_range_o (cin_range)
  );

  gw_tile_check #(.LANES(LANES), .SPM_ROWS(SPM_ROWS)) u_cout (
    .en_i        (en_i & (is_product | is_add)),
    .fp32_i      (~cmd_i[gw_isa_pkg::OUT_BF16_LSB]),
    .rows_i      (m),
    .cols_i      (n),
    .tile_i      (cmd_i[gw_isa_pkg::COUT_ROW_LSB +: gw_isa_pkg::TILE_W]),
    .bad_field_o (cout_field),
    .bad_range_o (cout_range)
  );

  gw_image_check #(.LANES(LANES), .SPM_ROWS(SPM_ROWS)) u_image (
    .en_i        (en_i & (is_conv | is_wgrad)),
    .cmd_i       (cmd_i),
    .wgrad_i     (is_wgrad),
    .rows_i      (first_rows),
    .cols_i      (first_cols),
    .b_rows_i    (b_col ? n : k),
    .bad_field_o (image_field),
    .bad_range_o (image_range),
    .b_rows_o    (b_rows)
  );

  logic vector_field, vector_range;

  if (VECTORS != 0) begin : gen_vector
    gw_vector_cmd_check #(.LANES(LANES), .SPM_ROWS(SPM_ROWS)) u_vector (
      .en_i        (en_i & is_for_unit),
      .cmd_i       (cmd_i),
      .bad_field_o (vector_field),
      .bad_range_o (vector_range)
    );
  end else begin : gen_no_vector
    assign vector_field = 1'b0;
    assign vector_range = 1'b0;
  end

  logic bad_size, bad_unused_cin, bad_tile_field, bad_tile_range;

  assign bad_size       = (is_dma & ((first_rows == 16'd0) | (first_cols == 16'd0))) |
                          (is_product & ((m == 16'd0) | (n == 16'd0) | (k == 16'd0))) |
                          (is_add & ((m == 16'd0) | (n == 16'd0)));
  assign bad_unused_cin = is_product & ~acc & (cmd_i[gw_isa_pkg::CIN_ROW_LSB +: gw_isa_pkg::TILE_W] != '0);
  assign bad_tile_field = first_field | b_field | cin_field | cout_field | image_field | vector_field;
  assign bad_tile_range = ((is_conv | is_wgrad) ? image_range : first_range) | b_range | cin_range | cout_range |
                          vector_range;

  // --- DRAM ----------------------------------------------------------------------------------------
  gw_isa_pkg::addr_t      dram_addr, dram_offset;
  gw_isa_pkg::pitch_t     pitch;
  logic [47:0]            pitch_span;
  gw_isa_pkg::row_bytes_t row_bytes;
  logic [64:0]            span, dram_end, dram_offset_end;
  logic                   bad_dram_align, bad_dram_range;

  assign dram_addr = cmd_i[gw_isa_pkg::DRAM_ADDR_LO_LSB +: 64];
  assign pitch     = cmd_i[gw_isa_pkg::PITCH_LSB +: 32];

  always_comb begin
    pitch_span      = 48'd0;
    row_bytes       = 18'd0;
    span            = 65'd0;
    dram_offset     = 64'd0;
    dram_end        = 65'd0;
    dram_offset_end = 65'd0;
    bad_dram_align  = 1'b0;
    bad_dram_range  = 1'b0;
    if (en_i & is_dma) begin
      // Of the last row, counted from the address: one row leaves no multiple of the pitch.
      pitch_span      = {32'd0, first_rows - 16'd1} * {16'd0, pitch};
      row_bytes       = first_fp32 ? {first_cols, 2'b00} : {1'b0, first_cols, 1'b0};
      span            = {17'd0, pitch_span} + {47'd0, row_bytes};
      dram_offset     = dram_addr - dram_base_i;
      dram_end        = {1'b0, dram_addr} + span;
      dram_offset_end = {1'b0, dram_offset} + span;
      bad_dram_align  = dram_addr[0] | (first_fp32 & dram_addr[1]) |
                        ((first_rows != 16'd1) & (pitch[0] | (first_fp32 & pitch[1])));
      // The window may be described up to the end of the address space, a tile may not wrap around it.
      bad_dram_range  = (dram_addr < dram_base_i) | (dram_offset_end > {1'b0, dram_size_i}) |
                        (dram_end > {1'b1, 64'd0});
    end
  end

  // --- First failing check -------------------------------------------------------------------------
  always_comb begin
    error_o = gw_isa_pkg::ERR_NONE;
    if (en_i) begin
      if (~(is_dma | is_product | is_add | is_sync | is_mark | is_for_unit)) error_o = gw_isa_pkg::ERR_ILLEGAL_OPCODE;
      else if (bad_reserved | bad_engine | bad_sync | bad_size | bad_unused_cin | bad_tile_field)
        error_o = gw_isa_pkg::ERR_ILLEGAL_FIELD;
      else if (bad_tile_range) error_o = gw_isa_pkg::ERR_SPM_RANGE;
      else if (bad_dram_align) error_o = gw_isa_pkg::ERR_DRAM_ALIGN;
      else if (bad_dram_range) error_o = gw_isa_pkg::ERR_DRAM_RANGE;
    end
  end

endmodule
