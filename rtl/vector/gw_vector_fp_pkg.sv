// Arithmetic of the vector unit's lanes: clause N18 of docs/numerics.md.
//
// Branch-free on words of 32 bits, and of 64 where the product of two fp32 is exact (gw_fp_pkg says why). The fused
// multiply-add is two functions, with a pipeline register between them.
package gw_vector_fp_pkg;

  // --- Format ----------------------------------------------------------------------------------
  // The sign is bit 31; exponent and fraction are the lowest bits. tests/rtl/vector/small_fma_test.cpp changes these three
  // numbers, so that all there is to multiply and add can be tried.
  localparam int unsigned EXP_W   = 8;
  localparam int unsigned FRAC_W  = 23;
  localparam int unsigned GUARD_W = 14; // bits of a sum below a product's lowest

  localparam logic [31:0] HIDDEN    = 32'd1 << FRAC_W; // the bit before the point
  localparam logic [31:0] FRACTION  = HIDDEN - 32'd1;
  localparam logic [31:0] EXP_MAX   = (32'd1 << EXP_W) - 32'd1;
  localparam logic [31:0] BIAS      = EXP_MAX >> 1;
  localparam logic [31:0] INFINITE  = EXP_MAX << FRAC_W;
  localparam logic [31:0] MAGNITUDE = INFINITE | FRACTION;
  localparam logic [31:0] QUIET_NAN = INFINITE | (HIDDEN >> 1);
  localparam logic [31:0] ONE       = BIAS << FRAC_W;
  localparam logic [31:0] MINUS_0   = 32'h8000_0000;

  localparam int unsigned POINT     = 2 * FRAC_W + GUARD_W; // weighs as much as the bit before the point of a product
  localparam int unsigned TO_POINT  = POINT - FRAC_W;       // from a significand to there
  localparam int unsigned TO_TOP    = 60 - POINT;           // from there to where a sum is normalised
  localparam int unsigned ROUNDED   = 62 - FRAC_W;          // bits below a normalised significand
  localparam logic [63:0] BELOW_TIE = (64'd1 << (ROUNDED - 1)) - 64'd1;

  // --- Fused multiply-add ----------------------------------------------------------------------
  // The significands' product, two bits before the point.
  function automatic logic [63:0] product(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] ma, mb;
    ma = (a & FRACTION) | (((a & INFINITE) != 32'd0) ? HIDDEN : 32'd0);
    mb = (b & FRACTION) | (((b & INFINITE) != 32'd0) ? HIDDEN : 32'd0);
    product = ({32'd0, ma} * {32'd0, mb}) << GUARD_W;
  endfunction

  // What else there is to know of it: [31] sign, [30] NaN, [29] infinite, [10:0] exponent + 512; 0 where it is zero,
  // so that it never shifts an addend.
  function automatic logic [31:0] product_class(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] aa, ba, ea, eb, exp, cls, zero, inf, nan;
    aa   = a & MAGNITUDE;
    ba   = b & MAGNITUDE;
    ea   = aa >> FRAC_W;
    eb   = ba >> FRAC_W;
    ea   = (ea == 32'd0) ? 32'd1 : ea;
    eb   = (eb == 32'd0) ? 32'd1 : eb;
    exp  = ea + eb + (32'd512 - BIAS);
    zero = ((aa == 32'd0) ? 32'd1 : 32'd0) | ((ba == 32'd0) ? 32'd1 : 32'd0);
    inf  = ((aa == INFINITE) ? 32'd1 : 32'd0) | ((ba == INFINITE) ? 32'd1 : 32'd0);
    nan  = ((aa > INFINITE) ? 32'd1 : 32'd0) | ((ba > INFINITE) ? 32'd1 : 32'd0) | (zero & inf);
    exp  = (zero != 32'd0) ? 32'd0 : exp;
    cls  = (nan << 30) | (inf << 29);
    product_class = ((a ^ b) & 32'h8000_0000) | cls | exp;
  endfunction

  // The sum of a product and c, rounded once.
  function automatic logic [31:0] sum_rounded(input logic [63:0] pman, input logic [31:0] pcls, input logic [31:0] c);
    logic [63:0] cman, hi, lo, t, neg, sum, mag, norm;
    logic [31:0] cabs, cexp, pexp, exp, gap, sign, top, lz, res, x;
    logic        p_ge;
    // Align the operand of the lower exponent; what falls off is kept as a sticky bit.
    cabs = c & MAGNITUDE;
    cexp = cabs >> FRAC_W;
    cman = {32'd0, (c & FRACTION) | ((cexp != 32'd0) ? HIDDEN : 32'd0)} << TO_POINT;
    cexp = (cexp == 32'd0) ? 32'd1 : cexp;
    pexp = (pcls & 32'h7ff) - 32'd512;
    gap  = pexp - cexp;
    p_ge = gap[31] == 1'b0;
    hi   = p_ge ? pman : cman;
    lo   = p_ge ? cman : pman;
    exp  = p_ge ? pexp : cexp;
    sign = p_ge ? pcls : c;
    gap  = p_ge ? gap : (32'd0 - gap);
    gap  = (gap > 32'd63) ? 32'd63 : gap;
    t    = lo >> gap[5:0];
    t    = t | (((t << gap[5:0]) != lo) ? 64'd1 : 64'd0);

    // Add or subtract magnitudes.
    x   = (pcls ^ c) >> 31;
    neg = 64'd0 - {32'd0, x};
    sum = hi + ((t ^ neg) - neg);
    mag = ((sum[63] == 1'b1) ? (64'd0 - sum) : sum) << TO_TOP;

    // Normalise to bit 62, but not below the subnormal exponent.
    top = 32'(mag >> 31);
    lz  = (top == 32'd0) ? 32'd32 : 32'd0;
    top = (top == 32'd0) ? 32'(mag << 1) : top;
    lz  = (top < 32'h0001_0000) ? (lz + 32'd16) : lz;    top = (top < 32'h0001_0000) ? (top << 16) : top;
    lz  = (top < 32'h0100_0000) ? (lz + 32'd8) : lz;     top = (top < 32'h0100_0000) ? (top << 8) : top;
    lz  = (top < 32'h1000_0000) ? (lz + 32'd4) : lz;     top = (top < 32'h1000_0000) ? (top << 4) : top;
    lz  = (top < 32'h4000_0000) ? (lz + 32'd2) : lz;     top = (top < 32'h4000_0000) ? (top << 2) : top;
    lz  = (top < 32'h8000_0000) ? (lz + 32'd1) : lz;
    lz  = (lz > exp + 32'd1) ? (exp + 32'd1) : lz;
    norm = mag << lz[5:0];

    // Round to nearest even; a carry moves into the exponent, the greatest exponent becomes infinity.
    norm = (norm + BELOW_TIE + ((norm >> ROUNDED) & 64'd1)) >> ROUNDED;
    exp  = exp + 32'd1 - lz;
    exp  = (exp > EXP_MAX) ? EXP_MAX : exp;
    res  = (exp << FRAC_W) + 32'(norm);
    res  = (res > INFINITE) ? INFINITE : res;
    res  = res | ((sign ^ 32'(sum >> 32)) & 32'h8000_0000);
    res  = (sum == 64'd0) ? (pcls & c & 32'h8000_0000) : res; // x + -x = +0; only -0 + -0 = -0

    // An infinite operand stays; NaN if one is NaN, or both are infinite and differ in sign.
    res = ((pcls & 32'h2000_0000) != 32'd0) ? ((pcls & 32'h8000_0000) | INFINITE) : res;
    res = (cabs == INFINITE) ? c : res;
    x   = (cabs == INFINITE) ? (x << 29) : 32'd0;
    x   = (pcls & x) | (pcls & 32'h4000_0000) | ((cabs > INFINITE) ? 32'd1 : 32'd0);
    sum_rounded = (x != 32'd0) ? QUIET_NAN : res;
  endfunction

  // --- Order -----------------------------------------------------------------------------------
  // An unsigned number that is ordered as the fp32 are, -0 just below +0.
  function automatic logic [31:0] rank(input logic [31:0] a);
    rank = a ^ ((32'd0 - (a >> 31)) | 32'h8000_0000);
  endfunction

  // All ones if one is NaN.
  function automatic logic [31:0] unordered(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] n;
    n = (((a & MAGNITUDE) > INFINITE) ? 32'd1 : 32'd0) | (((b & MAGNITUDE) > INFINITE) ? 32'd1 : 32'd0);
    unordered = 32'd0 - n;
  endfunction

  function automatic logic [31:0] min(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] r;
    r = (rank(a) < rank(b)) ? a : b;
    min = (unordered(a, b) != 32'd0) ? QUIET_NAN : r;
  endfunction

  function automatic logic [31:0] max(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] r;
    r = (rank(a) > rank(b)) ? a : b;
    max = (unordered(a, b) != 32'd0) ? QUIET_NAN : r;
  endfunction

  // Comparisons take -0 for +0.
  function automatic logic [31:0] unsigned_zero(input logic [31:0] a);
    unsigned_zero = ((a & MAGNITUDE) == 32'd0) ? 32'd0 : a;
  endfunction

  function automatic logic [31:0] lt(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] r;
    r = (rank(unsigned_zero(a)) < rank(unsigned_zero(b))) ? 32'hffff_ffff : 32'd0;
    lt = r & ~unordered(a, b);
  endfunction

  function automatic logic [31:0] le(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] r;
    r = (rank(unsigned_zero(a)) <= rank(unsigned_zero(b))) ? 32'hffff_ffff : 32'd0;
    le = r & ~unordered(a, b);
  endfunction

  function automatic logic [31:0] eq(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] r;
    r = (unsigned_zero(a) == unsigned_zero(b)) ? 32'hffff_ffff : 32'd0;
    eq = r & ~unordered(a, b);
  endfunction

  // --- Bits ------------------------------------------------------------------------------------
  function automatic logic [31:0] sra(input logic [31:0] a, input logic [4:0] by);
    logic [31:0] sign;
    sign = 32'd0 - (a >> 31);
    sra = ((a ^ sign) >> by) ^ sign;
  endfunction

endpackage
