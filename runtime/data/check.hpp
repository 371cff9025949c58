// Comparison of results with the golden model, bit by bit, and of counters with the compiler's plan.
#pragma once

#include "compiler/compiler.hpp"
#include "device/device.hpp"
#include "runtime/data/tensor.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::runtime {

struct Mismatch {
  std::uint32_t row = 0, col = 0;
  std::uint32_t got = 0, want = 0; ///< bit patterns
};

struct Comparison {
  std::uint64_t elements = 0, mismatches = 0;
  std::uint64_t finite = 0;      ///< elements of `want` that are neither infinite nor NaN
  std::optional<Mismatch> first; ///< in row-major order
};

/// Compares every element. Both tensors must have the same shape and type; throws std::invalid_argument otherwise.
Comparison compare(const HostTensor &got, const HostTensor &want);

/// A value as people read it: bits in hex and the decimal value.
std::string format_value(std::uint32_t bits, bool fp32);

/// How many elements differ, and the first that does, which there must be: "1 of 6 elements differ; first at (0, 2):
/// got
/// ..., golden ...".
std::string describe_difference(const Comparison &comparison, bool fp32);

/// Where an element comes from: its tile, the commands that computed and stored it, the last of them disassembled.
std::string describe_origin(const compiler::Compiled &compiled, const compiler::TensorBinding &tensor,
                            std::uint32_t row, std::uint32_t col);

/// Why the NPU stopped: the error, of a program the fault and its word, the command's index and the command.
std::string describe_stop(const std::vector<isa::Command> &stream, const RunStatus &status);

/// What the counters must satisfy: groups add up to CYCLES, bytes and beats are the planned traffic, blocks and steps
/// of the array are those of the stream. Returns one sentence per violation. Without `timed`, cycle counters are not
/// looked at.
std::vector<std::string> check_counters(const compiler::Compiled &compiled, const NpuConfig &npu,
                                        const Counters &counters, bool timed);

/// Compares what the stream accesses by its commands, for energies, with the counters that the hardware has of it: line
/// pairs, bytes and beats. Of a run without an error on a backend with time. Returns what differs, for people.
std::vector<std::string> check_accesses(const AccessCounts &counts, const NpuConfig &npu, const Counters &counters);

/// Whether the run's cycles are possible: not below the bounds and, with `exact` (a bus without stalls), those
/// that the timing model predicted to the compiler. Returns one sentence per violation.
std::vector<std::string> check_cycles(const compiler::Compiled &compiled, const Counters &counters, bool exact);

} // namespace gradweave::runtime
