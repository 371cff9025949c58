// Speed of the Verilated systolic array on one thread: every cycle takes a line of random operands; every 384 lines a
// swap enters, and behind it a pass of the shadow chain. Prints the median of several runs in CPU time.
#include "Varray_128.h"
#include "Varray_45.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

namespace {

constexpr std::uint32_t kBlock = 384; // lines a block
constexpr int kRuns = 7;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// A decoded bf16 (rtl/fp_pkg.sv) of magnitude about one.
std::uint32_t random_operand(std::uint64_t &state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  auto r = static_cast<std::uint32_t>(state >> 16);
  return (r & 0x8000'0000U) | ((512 + 120 + (r & 15U)) << 8) | 0x80U | ((r >> 8) & 0x7FU);
}

template <typename Model, std::uint32_t Size> void bench(std::uint32_t cycles) {
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
    double start = cpu_seconds();
    for (std::uint32_t i = 0; i < cycles; ++i) {
      std::uint32_t phase = i % kBlock;
      model->step_i = 1;
      model->swap_i = phase == 0;
      model->shift_i = phase >= 2 * Size && phase < 3 * Size;
      const std::uint32_t *line = &lines[i % 64 * 2 * Size];
      std::copy_n(line, Size, reinterpret_cast<std::uint32_t *>(&model->a_line_i));
      std::copy_n(line + Size, Size, reinterpret_cast<std::uint32_t *>(&model->b_line_i));
      tick();
    }
    busy.push_back(cycles / (cpu_seconds() - start));
    model->step_i = model->shift_i = 0;
    start = cpu_seconds();
    for (std::uint32_t i = 0; i < 20 * cycles; ++i)
      tick();
    idle.push_back(20 * cycles / (cpu_seconds() - start));
  }
  auto median = [](std::vector<double> &v) {
    std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
    return v[v.size() / 2];
  };
  double rate = median(busy);
  fmt::print("{:>9} {:>12.0f} {:>12.0f} {:>14.0f}\n", fmt::format("{0}x{0}", Size), rate * Size * Size / 1e6, rate,
             median(idle));
}

} // namespace

int main() {
  fmt::print("systolic array alone, one thread, median of {} runs (CPU time)\n", kRuns);
  fmt::print("{:>9} {:>12} {:>12} {:>14}\n", "array", "10^6 MAC/s", "cycles/s", "idle cycles/s");
  bench<Varray_45, 45>(20'000);
  bench<Varray_128, 128>(3'000);
  return 0;
}
