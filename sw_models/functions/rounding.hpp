// Whole numbers of fp32 ones, as sequences of the operations of N18: clause N19 of docs/numerics.md.
#pragma once

#include "sw_models/functions/roots.hpp"

namespace gradweave::functions {

/// The nearest whole number, of two the even one; a zero is +0. From 2^23 on all numbers are whole; below, a sum with
/// 2^23 of x's sign has no place behind the point.
template <class P> typename P::Value round(P &p, typename P::Value x) {
  const auto rounder = p.select(x, p.constant(bits::power(23) | bits::kSign), p.constant(bits::power(23)));
  const auto whole = p.add(p.add(x, rounder), p.neg(rounder));
  const auto near = p.select(p.lt(p.abs(x), p.constant(bits::power(23))), whole, x);
  return p.max(near, near); // a NaN becomes the canonical one
}

} // namespace gradweave::functions
