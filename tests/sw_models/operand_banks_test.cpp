// Which macro-banks a line of an operand claims, and what two that claim the same one cost.
#include "sw_models/timing/engines/operand_banks.hpp"

#include <gtest/gtest.h>

namespace gradweave::timing {
namespace {

/// Cycles between the first and the last of four pairs: A is a column of 16 rows from row 0 on, in banks of 4 rows; B
/// is the row `b_row` and those that follow.
std::uint64_t cycles_beside(std::uint32_t b_row) {
  NpuConfig npu;
  npu.rows = npu.cols = 16;
  npu.spm_banks = 16;
  npu.spm_bytes = 64ULL * 2 * npu.lanes();
  isa::GemmCommand g;
  g.m = g.n = 16, g.k = 4;
  g.a_col = true;
  g.b = {b_row, 4, 0};
  const FeedTimes times = OperandBanks(npu).feed(g, {}, {}, 0, {});
  return times.last - times.first;
}

TEST(OperandBanks, AColumnClaimsAllBanksFromItsFirstRowToItsLast) {
  for (const std::uint32_t claimed : {0U, 4U, 8U, 12U})
    EXPECT_EQ(cycles_beside(claimed), 6U) << claimed;
  for (const std::uint32_t other : {16U, 20U, 60U})
    EXPECT_EQ(cycles_beside(other), 3U) << other;
}

} // namespace
} // namespace gradweave::timing
