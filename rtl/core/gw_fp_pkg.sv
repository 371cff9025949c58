// Arithmetic of the numeric contract: bf16 x bf16 + fp32 and fp32 + fp32, each with one rounding (docs/numerics.md).
//
// Everything is written on 32-bit words without branches: synthesis sees plain logic, and a simulator that keeps the
// loops of the array can vectorise them.
package gw_fp_pkg;

  // --- Decoded bf16 operand ------------------------------------------------------------------
  // [31] sign, [29:28] class, [18:8] exponent + 512, [7:0] significand with bit 7 set (0 for zero).
  // The class of a product is the bitwise OR of its operands' classes: 0 finite, 1 zero, 2 infinite, 3 NaN;
  // 0 x inf = 1 | 2 = NaN. Bit 19 is free: the array carries its swap mark there.
  localparam logic [31:0] DEC_POS_ZERO = 32'h1000_d400;
  localparam logic [31:0] DEC_NEG_ZERO = 32'h9000_d400;

  function automatic logic [31:0] decode_bf16(input logic [31:0] x); // bits 15:0
    logic [31:0] e, f, m, k, cls, lz;
    e   = (x >> 7) & 32'hff;
    f   = x & 32'h7f;
    lz  = (f < 32'h08) ? 32'd4 : 32'd0;                            // leading zeros of the fraction below bit 7,
    m   = f << lz[2:0];                                            // to normalise a subnormal
    lz  = (m < 32'h20) ? (lz + 32'd2) : lz;
    m   = f << lz[2:0];
    lz  = (m < 32'h40) ? (lz + 32'd1) : lz;
    lz  = lz + 32'd1;
    m   = (e == 32'd0) ? (f << lz[3:0]) : (f | 32'h80);
    k   = (e == 32'd0) ? (32'd513 - lz) : (32'd512 + e);
    cls = 32'd0;
    // Zero: an exponent so low that the product vanishes. Infinity and NaN: one so high that it overflows.
    k   = ((e | f) == 32'd0) ? 32'd212 : k;
    m   = ((e | f) == 32'd0) ? 32'd0 : m;
    cls = ((e | f) == 32'd0) ? 32'd1 : cls;
    cls = (e == 32'd255) ? ((f == 32'd0) ? 32'd2 : 32'd3) : cls;
    k   = (e == 32'd255) ? 32'd1212 : k;
    m   = (e == 32'd255) ? 32'd128 : m;
    decode_bf16 = ((x & 32'h8000) << 16) | (cls << 28) | (k << 8) | m;
  endfunction

  // --- Sum of two magnitudes with signs, rounded once ------------------------------------------
  // Magnitudes are 32-bit fixed point with the leading bit of a normal number at 28 (27 or 28 for a product): 24
  // significant bits, 5 guard bits, the last of them sticky. Signs are in bit 31; other bits of x and y are ignored.
  // Infinities and NaNs are the callers' business.
  function automatic logic [31:0] sum_rounded(input logic [31:0] xman, input logic [31:0] xexp, input logic [31:0] x,
                                              input logic [31:0] yman, input logic [31:0] yexp, input logic [31:0] y);
    logic [31:0] gap, hi, lo, exp, sign, neg, sum, mag, norm, lz, round, res, t;
    logic        x_ge;
    // Align the operand of the lower exponent; what falls off is kept as a sticky bit.
    gap  = xexp - yexp;
    x_ge = (gap[31] == 1'b0);
    hi   = x_ge ? xman : yman;
    lo   = x_ge ? yman : xman;
    exp  = x_ge ? xexp : yexp;
    sign = x_ge ? x : y;
    gap  = x_ge ? gap : (32'd0 - gap);
    gap  = (gap > 32'd31) ? 32'd31 : gap;
    t    = lo >> gap[4:0];
    t    = t | (((t << gap[4:0]) != lo) ? 32'd1 : 32'd0);

    // Add or subtract magnitudes.
    neg = 32'd0 - ((x ^ y) >> 31);
    sum = hi + ((t ^ neg) - neg);
    mag = (sum[31] == 1'b1) ? (32'd0 - sum) : sum;

    // Normalise, but not below the subnormal exponent.
    norm = mag;
    lz = (norm < 32'h0000_4000) ? 32'd16 : 32'd0;        norm = (norm < 32'h0000_4000) ? (norm << 16) : norm;
    lz = (norm < 32'h0040_0000) ? (lz + 32'd8) : lz;     norm = (norm < 32'h0040_0000) ? (norm << 8) : norm;
    lz = (norm < 32'h0400_0000) ? (lz + 32'd4) : lz;     norm = (norm < 32'h0400_0000) ? (norm << 4) : norm;
    lz = (norm < 32'h1000_0000) ? (lz + 32'd2) : lz;     norm = (norm < 32'h1000_0000) ? (norm << 2) : norm;
    lz = (norm < 32'h2000_0000) ? (lz + 32'd1) : lz;
    lz = (lz > exp) ? exp : lz;
    norm = mag << lz[4:0];

    // Round to nearest even; a carry moves into the exponent, an exponent of 255 becomes infinity.
    round = (norm + 32'd31 + ((norm >> 6) & 32'd1)) >> 6;
    exp   = exp - lz;
    exp   = (exp > 32'd255) ? 32'd255 : exp;
    res   = (exp << 23) + round;
    res   = (res > 32'h7f80_0000) ? 32'h7f80_0000 : res;
    res   = res | ((sign ^ sum) & 32'h8000_0000);
    sum_rounded = (sum == 32'd0) ? (x & y & 32'h8000_0000) : res; // x + -x = +0; only -0 + -0 = -0
  endfunction

  // --- Fused multiply-add: a, b decoded; c and the result fp32 ---------------------------------
  function automatic logic [31:0] mac(input logic [31:0] a, input logic [31:0] b, input logic [31:0] c);
    logic [31:0] cls, psign, pexp, pman, cabs, cexp, cman, res, t;
    cls    = a | b;
    psign  = a ^ b;
    pman   = ((a & 32'hff) * (b & 32'hff)) << 13;
    pexp   = ((a >> 8) & 32'h7ff) + ((b >> 8) & 32'h7ff) - 32'd1150;
    cabs   = c & 32'h7fff_ffff;
    cexp   = cabs >> 23;
    cexp   = (cexp == 32'd0) ? 32'd1 : cexp;
    cman   = (cabs - ((cexp - 32'd1) << 23)) << 5;
    res    = sum_rounded(pman, pexp, psign, cman, cexp, c);

    // An infinite c stays; NaN if c is NaN, the product is NaN (class 3), or both are infinite and differ in sign.
    t   = cabs + 32'h0080_0000;                                 // bit 31: c's exponent is all ones
    res = (t[31] == 1'b1) ? c : res;
    t   = (t & (cls << 2) & (psign ^ c)) | (((cls & 32'h3000_0000) + 32'h1000_0000) << 1) | (cabs + 32'h007f_ffff);
    res = (t[31] == 1'b1) ? 32'h7fc0_0000 : res;
    mac = res;
  endfunction

  // --- fp32 addition -----------------------------------------------------------------------------
  function automatic logic [31:0] add(input logic [31:0] x, input logic [31:0] y);
    logic [31:0] xabs, xexp, xman, yabs, yexp, yman, res, xinf, yinf, t;
    xabs = x & 32'h7fff_ffff;
    xexp = xabs >> 23;
    xexp = (xexp == 32'd0) ? 32'd1 : xexp;
    xman = (xabs - ((xexp - 32'd1) << 23)) << 5;
    yabs = y & 32'h7fff_ffff;
    yexp = yabs >> 23;
    yexp = (yexp == 32'd0) ? 32'd1 : yexp;
    yman = (yabs - ((yexp - 32'd1) << 23)) << 5;
    res  = sum_rounded(xman, xexp, x, yman, yexp, y);

    // An infinite operand stays; NaN if one is NaN, or both are infinite and differ in sign.
    xinf = xabs + 32'h0080_0000;                                // bit 31: the exponent is all ones
    yinf = yabs + 32'h0080_0000;
    res  = (xinf[31] == 1'b1) ? x : res;
    res  = (yinf[31] == 1'b1) ? y : res;
    t    = (xinf & yinf & (x ^ y)) | (xabs + 32'h007f_ffff) | (yabs + 32'h007f_ffff);
    res  = (t >= 32'h8000_0000) ? 32'h7fc0_0000 : res;
    add  = res;
  endfunction

  // --- fp32 to bf16, nearest even, one NaN -----------------------------------------------------
  function automatic logic [31:0] round_bf16(input logic [31:0] x); // result in bits 15:0
    logic [31:0] r;
    r = (x + 32'h7fff + ((x >> 16) & 32'd1)) >> 16;
    round_bf16 = ((x & 32'h7fff_ffff) > 32'h7f80_0000) ? 32'h7fc0 : r;
  endfunction

endpackage
