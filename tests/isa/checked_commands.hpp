// Legal commands at a small NPU's limits, and what the check says of them when they are changed.
#pragma once

#include "isa/command.hpp"

#include <cstdint>
#include <functional>

namespace gradweave::isa::checked {

inline constexpr std::uint32_t kLanes = 10;
inline constexpr std::uint32_t kSpmRows = 100;
inline constexpr std::uint64_t kBase = 0x1000;
inline constexpr std::uint64_t kSize = 0x1000;

inline Limits limits() {
  Limits l;
  l.lanes = kLanes;
  l.spm_rows = kSpmRows;
  l.semaphores = 64;
  l.dram_base = kBase;
  l.dram_size = kSize;
  return l;
}

inline DmaCommand load() {
  DmaCommand d;
  d.dram_addr = kBase;
  d.pitch = 64;
  d.rows = 4;
  d.cols = 25; // three panels
  d.spm = {8, 4, 9};
  return d;
}

inline GemmCommand gemm() {
  GemmCommand g;
  g.m = 12;
  g.n = 7;
  g.k = 5;
  g.a = {0, 5, 0};
  g.b = {20, 0, 1};
  g.acc = true;
  g.cin = {30, 24, 2};
  g.cout = {60, 24, 3};
  return g;
}

inline AddCommand add() {
  AddCommand a;
  a.m = 12;
  a.n = 17; // two panels
  a.a = {0, 24, 0};
  a.cin = {48, 24, 1};
  a.cout = {0, 24, 0};
  return a;
}

template <typename Op> ErrorCode check(const Op &op, const Sync &sync = {}, const Limits &l = limits()) {
  Decoded d;
  d.op = op;
  d.sync = sync;
  return check_command(encode(d), l);
}

template <typename Op> ErrorCode after(Op op, const std::function<void(Op &)> &change) {
  change(op);
  return check(op);
}
inline ErrorCode load_with(const std::function<void(DmaCommand &)> &change) {
  return after<DmaCommand>(load(), change);
}
inline ErrorCode gemm_with(const std::function<void(GemmCommand &)> &change) {
  return after<GemmCommand>(gemm(), change);
}
inline ErrorCode add_with(const std::function<void(AddCommand &)> &change) { return after<AddCommand>(add(), change); }

/// A 3 x 3 kernel, padding 1, over 4 x 5 pixels of 3 channels, from the second row on: rows 20 - 6 to 20 + 6 + 9.
inline ConvCommand conv() {
  ConvCommand v;
  GemmCommand &g = v.product;
  g.a_col = true;
  g.m = 10;
  g.n = 7;
  g.k = 3;
  g.a = {20, 10, 5};
  g.b = {40, 0, 1};
  g.cout = {70, 0, 3};
  ImageWalk &i = v.image;
  i.taps_y = i.taps_x = 3;
  i.off_y = i.off_x = -1;
  i.step_y = i.step_x = 1;
  i.b_tap = 3;
  i.img_w = i.grid_w = 5;
  i.img_h = i.grid_h = 4;
  i.grid_y = 1;
  return v;
}
inline ConvCommand wgrad() {
  ConvCommand v = conv();
  v.weights = true;
  v.product.a_col = false;
  v.product.m = 3;
  v.product.k = 10;
  ImageWalk &i = v.image;
  i.taps_y = i.taps_x = 1;
  i.step_y = i.step_x = 0;
  i.b_tap = 0;
  i.out_w = 5;
  i.out_h = 4;
  return v;
}

} // namespace gradweave::isa::checked
