// ADD in the compute engine alone, against native addition.
#include "core_bench.hpp"

namespace gradweave::core_test {
namespace {

TEST_F(GemmCore, RandomAddsOneByOne) {
  for (int n = 0; n < cases(100); ++n) {
    top_ = 0;
    const std::uint32_t rows = pick(1, kMost), cols = pick(1, kMost);
    Tile a = place(rows, cols, true), cin = place(rows, cols, true), out;
    fill(a);
    fill(cin);
    const isa::AddCommand c = random_add(a, cin, out);
    ASSERT_LE(top_, kSpmRows);
    core_.run({c});
    expect(out, fmt::format("case {}: m {} n {} bf16 {}", n, c.m, c.n, c.out_bf16));
    if (HasFatalFailure()) return;
  }
}

/// All pairs of special values, through scratchpad and adder.
TEST_F(GemmCore, AddOfSpecialValues) {
  std::vector<std::uint32_t> values;
  for (const std::uint32_t sign : {0U, 0x80000000U})
    for (const std::uint32_t x :
         {0x00000000U, 0x00000001U, 0x00000002U, 0x007FFFFFU, 0x00800000U, 0x00800001U, 0x00FFFFFFU,
          0x01000000U, 0x33800000U, 0x34000000U, 0x3F7FFFFFU, 0x3F800000U, 0x3F800001U, 0x4B7FFFFFU,
          0x7F7FFFFFU, 0x7F000000U, 0x73000000U, 0x7F800000U, 0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU})
      values.push_back(sign | x);
  std::size_t pair = 0;
  while (pair < values.size() * values.size()) {
    top_ = 0;
    Tile a = place(kLanes, 2 * kLanes, true), cin = place(kLanes, 2 * kLanes, true), out;
    for (std::uint32_t i = 0; i < a.rows; ++i)
      for (std::uint32_t j = 0; j < a.cols; ++j, ++pair) {
        a(i, j) = values[pair / values.size() % values.size()];
        cin(i, j) = values[pair % values.size()];
        core_.put(true, a.row_of(i, j), a.lane_of(i, j), a(i, j));
        core_.put(true, cin.row_of(i, j), cin.lane_of(i, j), cin(i, j));
      }
    core_.run({random_add(a, cin, out)});
    expect(out, fmt::format("pairs up to {}", pair));
    if (HasFatalFailure()) return;
  }
}

/// A clear or reset in any cycle leaves nothing of an ADD behind that a command begun at once would see.
TEST_F(GemmCore, ClearAndResetForgetAnAdd) {
  for (int n = 0; n < cases(60); ++n) {
    top_ = 0;
    Tile a = place(pick(1, 6), pick(1, kLanes + 2), true), cin = place(a.rows, a.cols, true), forgotten, sum, product;
    fill(a);
    fill(cin);
    const isa::AddCommand interrupted = random_add(a, cin, forgotten);
    Tile b = place(a.rows, a.cols, true), c = place(a.rows, a.cols, true);
    fill(b);
    fill(c);
    const std::vector<Op> commands = {random_add(b, c, sum), random_gemm(kLanes + 2, product, false)};
    ASSERT_LE(top_, kSpmRows);
    const std::uint32_t cycles = pick(1, 4 * a.rows + 6);
    core_.run_and_forget({interrupted}, cycles, n % 2 != 0);
    core_.run(commands);
    expect(sum, fmt::format("case {}, ended in cycle {}: sum", n, cycles));
    expect(product, fmt::format("case {}, ended in cycle {}: product", n, cycles));
    if (HasFatalFailure()) return;
  }
}

/// An ADD starts when the results of the GEMMs before it are written, and nothing starts before its own are.
TEST_F(GemmCore, AddBetweenGemmsNeedsNoWait) {
  for (int n = 0; n < cases(40); ++n) {
    top_ = 0;
    Tile first, second;
    const isa::GemmCommand g = random_gemm(kLanes + 2, first, true);
    if (g.out_bf16) continue;
    Tile other = place(g.m, g.n, true);
    fill(other);
    isa::AddCommand sum;
    sum.m = g.m, sum.n = g.n, sum.a = first.at, sum.cin = sum.cout = other.at;
    for (std::size_t i = 0; i < other.bits.size(); ++i)
      other.bits[i] = add(first.bits[i], other.bits[i]);
    // A GEMM of one step that continues from the sums.
    isa::GemmCommand more;
    more.m = g.m, more.n = g.n, more.k = 1, more.acc = true;
    Tile a = place(1, g.m, false), b = place(1, g.n, false);
    fill(a);
    fill(b);
    more.a = a.at, more.b = b.at, more.cin = more.cout = other.at;
    for (std::uint32_t i = 0; i < g.m; ++i)
      for (std::uint32_t j = 0; j < g.n; ++j)
        other(i, j) = mac(a(0, i), b(0, j), other(i, j));
    ASSERT_LE(top_, kSpmRows);
    core_.run({g, sum, more});
    expect(other, fmt::format("case {}", n));
    if (HasFatalFailure()) return;
  }
}

TEST_F(GemmCore, AddTakesTheDocumentedTime) {
  for (int n = 0; n < 30; ++n) {
    isa::AddCommand c;
    c.m = pick(1, 12), c.n = pick(1, 3 * kCols);
    c.a = c.cout = {0, 24, 0}, c.cin = {200, 24, 1};
    core_.busy_cycles_ = core_.add_ = 0;
    core_.run({c});
    const std::uint64_t cycles = 2ULL * c.m * ((c.n + kCols - 1) / kCols) + 4;
    EXPECT_EQ(core_.add_, cycles) << c.m << " x " << c.n;
    EXPECT_EQ(core_.busy_cycles_, cycles) << c.m << " x " << c.n;
  }
}

} // namespace
} // namespace gradweave::core_test
