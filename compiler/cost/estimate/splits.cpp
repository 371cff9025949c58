#include "compiler/cost/estimate/splits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gradweave::compiler {

std::vector<SpmSplit> splits_near(const RoughEstimate &rough, const NpuConfig &npu, int reach) {
  const auto banks = static_cast<int>(npu.spm_banks);
  const std::uint32_t bank = npu.bank_rows();
  const double total = rough.shared_rows + rough.other_rows + rough.result_rows;
  std::vector<SpmSplit> result;
  const auto add = [&](int shared, int other) {
    if (shared < 1 || other < 1 || shared + other >= banks) return;
    const auto rows = [&](int n) { return static_cast<std::uint32_t>(n) * bank; };
    result.push_back(
        {{0, rows(shared)}, {rows(shared), rows(other)}, {rows(shared + other), rows(banks - shared - other)}});
  };
  const auto wanted = [&](double rows) {
    return std::clamp(static_cast<int>(std::lround(rows / total * banks)), 1, std::max(1, banks - 2));
  };
  const int shared = wanted(rough.shared_rows);
  const int other = std::min(wanted(rough.other_rows), std::max(1, banks - shared - 1));
  for (int distance = 0; distance <= reach; ++distance)
    for (int ds = -distance; ds <= distance; ++ds)
      for (int d_other = -distance; d_other <= distance; ++d_other)
        if (std::max(std::abs(ds), std::abs(d_other)) == distance) add(shared + ds, other + d_other);
  if (banks >= 2) {
    const auto cut = static_cast<std::uint32_t>(std::clamp(shared, 1, banks - 1)) * bank;
    const RowRange rest{cut, npu.spm_rows() - cut};
    result.push_back({{0, cut}, rest, rest});
  }
  const RowRange all{0, npu.spm_rows()};
  result.push_back({all, all, all});
  return result;
}

} // namespace gradweave::compiler
