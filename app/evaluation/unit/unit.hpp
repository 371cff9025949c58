// The unit of an evaluation: one pass of one layer on one NPU in one variant, and what it costs.
#pragma once

#include "compiler/compiler.hpp"
#include "sw_models/config/machine.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gradweave::evaluation {

/// The policy of plans that the compiler searches for. Any other text names a policy of compiler/paper/policy.hpp, and
/// may end in one of the two others here: partial sums that leave the scratchpad cost half their traffic, or none.
/// There is no stream then, only cycles (see compiler::paper::Idealisation).
inline constexpr std::string_view kSearched = "searched";
inline constexpr std::string_view kHalfSpills = "+spill=half";
inline constexpr std::string_view kFreeSpills = "+spill=free";

/// How a layer is executed.
struct Variant {
  std::string policy{kSearched};
  compiler::Schedule schedule = compiler::Schedule::kSequential;
  bool dy_once = false; ///< dY is not read for dW again, as if it were still there (figure 6); only for sequential
  compiler::Partition partition = compiler::Partition::kNone;
  std::uint32_t parts = 1; ///< that the dimension is cut into
  compiler::Reduction reduction = compiler::Reduction::kChain;
  std::uint64_t plans = 0; ///< searched: see compiler::CompileOptions::plans; else 0
};

/// Whether there are commands that do this.
bool executable(const Variant &variant);

struct Unit {
  compiler::Layer layer; ///< only its shape matters
  Machine npu;
  compiler::Pass pass = compiler::Pass::kBackward;
  Variant variant;
};

/// Bytes of one tensor, elements only; partial sums that spill are included, and counted by themselves.
struct Moved {
  std::uint64_t read = 0, written = 0, spilled = 0;
};

struct UnitResult {
  std::uint64_t cycles = 0;
  std::uint64_t compute_bound = 0, traffic_bound = 0; ///< cycles, see compiler::Bounds
  std::array<Moved, compiler::kTensorCount> moved{};  ///< indexed by compiler::Tensor
  std::string problem;                                ///< why there is no result; empty: there is one

  std::uint64_t bytes() const;
  std::uint64_t read_bytes() const;
  const Moved &of(compiler::Tensor tensor) const { return moved.at(static_cast<std::size_t>(tensor)); }
};

/// One line of JSON and back. from_text() throws std::invalid_argument if the text is not what to_text() wrote.
std::string to_text(const UnitResult &result);
UnitResult from_text(const std::string &text);

} // namespace gradweave::evaluation
