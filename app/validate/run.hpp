// Runs streams on the Verilated NPU and on the timing model, and compares; many streams in parallel processes.
#pragma once

#include "app/validate/verdict/verdict.hpp"
#include "base/process/process_pool.hpp"
#include "compiler/compiler.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::runtime {

/// One stream to run on both sides. Its data lies in device memory from address 0 on and is all zeros: times do not
/// depend on it.
struct ValidationStream {
  std::string name;  ///< for people: "seed 17", "ffn1 (rearrange)"
  std::string layer; ///< part of the commands' labels
  std::vector<isa::Command> commands;
  std::vector<compiler::CommandInfo> info; ///< one for each command, or empty
  std::string reproduce;                   ///< the command that repeats it
  std::string kind;                        ///< of a random stream: "data", "timing"; else empty
  bool error_drawn = false;                ///< of a random stream: it may end by an error, for it was drawn so
  /// A host of this seed feeds the stream through a ring (app/validate/host), once as a run that it abandons and once
  /// to the end; empty: the stream is submitted whole.
  std::optional<std::uint64_t> host;
};

/// Streams that one process runs, one after the other, on one Verilated NPU.
struct ValidationBatch {
  std::string name; ///< for the progress display
  Machine npu;
  std::optional<std::uint32_t> watchdog;                  ///< as DeviceOptions has it
  std::uint32_t stream_offset = 0;                        ///< DeviceOptions
  double weight = 1;                                      ///< share of the work
  std::function<void()> prepare;                          ///< called before the process is forked; may be empty
  std::function<std::vector<ValidationStream>()> streams; ///< called in the process
};

/// Runs one stream on two devices that have run others before, or not. Throws what the RTL device throws.
ValidationVerdict validate_stream(Device &rtl, Device &model, const ValidationStream &stream,
                                  const ProgressFunction &progress = {});

/// Bytes of device memory from address 0 on that the legal commands of a stream touch.
std::uint64_t dram_extent(const std::vector<isa::Command> &commands, const Machine &npu);

/// Runs every batch, `jobs` at a time, the heaviest first. `done` is called in the order of the batches. A batch
/// that could not be run gives one verdict that says why; after bad input or a missing simulation nothing else is
/// started. Throws Interrupted if a signal arrives.
void run_validation(const std::vector<ValidationBatch> &batches, unsigned jobs, bool quiet, const SignalGuard &signals,
                    const std::function<void(const std::vector<ValidationVerdict> &)> &done);

} // namespace gradweave::runtime
