// What strips do, one thing after the other.
#pragma once

#include "compiler/strips/strip_item.hpp"
#include "compiler/strips/strip_layout.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// All strips. Nothing if the program memory is too small, or a chain over parts would have more tiles than there are.
std::optional<StripItems> strip_items(const StripJobs &jobs, const OpJobs &of, const StripCut &cut,
                                      const StripLayout &layout, const std::vector<std::uint64_t> &addresses,
                                      const NpuConfig &npu);

} // namespace gradweave::compiler
