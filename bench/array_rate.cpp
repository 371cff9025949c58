#include "bench/array_rate.hpp"

#include "base/process/stopwatch.hpp"

#include "Varray_128.h"
#include "Varray_45.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

namespace gradweave::bench {
namespace {

constexpr std::uint32_t kBlock = 384; // lines a block
constexpr int kRuns = 7;

/// A decoded bf16 (rtl/core/gw_fp_pkg.sv) of magnitude about one.
std::uint32_t random_operand(std::uint64_t &state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  auto r = static_cast<std::uint32_t>(state >> 16);
  return (r & 0x8000'0000U) | ((512 + 120 + (r & 15U)) << 8) | 0x80U | ((r >> 8) & 0x7FU);
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

template <typename Model, std::uint32_t Size> ArrayRate measure(std::uint32_t cycles) {
  auto model = std::make_unique<Model>();
  auto tick = [&] {
    model->clk_i = 0;
    model->eval();
    model->clk_i = 1;
    model->eval();
  };
  model->rst_ni = 0;
  tick();
  tick();
  model->rst_ni = 1;

  std::uint64_t state = 88172645463325252ULL;
  std::vector<std::uint32_t> lines(64 * 2 * Size);
  for (std::uint32_t &x : lines)
    x = random_operand(state);

  std::vector<double> busy, idle;
  for (int run = 0; run < kRuns; ++run) {
    const Stopwatch busy_time;
    for (std::uint32_t i = 0; i < cycles; ++i) {
      const std::uint32_t phase = i % kBlock;
      model->step_i = 1;
      model->swap_i = phase == 0;
      model->shift_i = phase >= Size && phase < 2 * Size;
      const std::uint32_t *line = &lines[i % 64 * 2 * Size];
      std::copy_n(line, Size, reinterpret_cast<std::uint32_t *>(&model->a_line_i));
      std::copy_n(line + Size, Size, reinterpret_cast<std::uint32_t *>(&model->b_line_i));
      tick();
    }
    busy.push_back(cycles / busy_time.cpu_seconds());
    model->step_i = model->shift_i = 0;
    const Stopwatch idle_time;
    for (std::uint32_t i = 0; i < 20 * cycles; ++i)
      tick();
    idle.push_back(20 * cycles / idle_time.cpu_seconds());
  }
  return {median(busy), median(idle)};
}

} // namespace

ArrayRate array_rate(int size) {
  switch (size) {
  case 45:
    return measure<Varray_45, 45>(20'000);
  case 128:
    return measure<Varray_128, 128>(3'000);
  default:
    throw std::invalid_argument("array_rate: size must be 45 or 128");
  }
}

} // namespace gradweave::bench
