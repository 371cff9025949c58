#include "trace/timeline/run.hpp"

#include "isa/assembler.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::runtime::timeline {
namespace {

using timing::CommandTimes;
using timing::kNever;

std::string cycle_text(std::uint64_t cycle) { return cycle == kNever ? "never" : fmt::format("cycle {}", cycle); }

[[noreturn]] void fail(const Run &run, std::size_t index, const std::string &problem) {
  throw TimelineError(fmt::format("{}, command {} ({}): {}; are the times of this stream on the NPU '{}'?", run.name,
                                  index, isa::disassemble(run.stream[index]), problem, run.npu.name));
}

/// kNever is the largest cycle: a station that was not reached is not before one that was.
void check_stations(const Run &run, std::size_t index) {
  const CommandTimes &t = run.times[index];
  if ((t.issue >= t.start && t.start != kNever) || t.start > t.done)
    fail(run, index,
         fmt::format("issue in {}, start in {} and done in {} are not in this order", cycle_text(t.issue),
                     cycle_text(t.start), cycle_text(t.done)));
  for (const std::uint64_t cycle : {t.issue, t.start, t.done})
    if (cycle != kNever && cycle >= run.cycles)
      fail(run, index, fmt::format("cycle {} is after the run, which has {} cycles", cycle, run.cycles));
}

isa::Decoded decode_legal(const Run &run, std::size_t index) {
  // Where the stream may touch DRAM is not known here: any address is inside.
  const isa::Limits limits{run.npu.lanes(),   run.npu.spm_rows(), run.npu.cores, run.npu.semaphores, 0,
                           ~std::uint64_t{0}, run.npu.vectors()};
  const isa::ErrorCode error = isa::check_command(run.stream[index], limits);
  const auto decoded = isa::decode(run.stream[index]);
  if (error != isa::ErrorCode::NONE || !decoded)
    fail(run, index,
         fmt::format("it was issued, but is not legal: {}", isa::kErrorNames[static_cast<std::size_t>(error)]));
  return *decoded;
}

} // namespace

std::uint64_t cycles_of(const std::vector<CommandTimes> &times) {
  std::uint64_t cycles = 0;
  for (const CommandTimes &t : times)
    for (const std::uint64_t cycle : {t.issue, t.start, t.done})
      if (cycle != kNever) cycles = std::max(cycles, cycle + 1);
  return cycles;
}

std::vector<std::optional<isa::Decoded>> decode_run(const Run &run) {
  if (run.times.size() != run.stream.size())
    throw TimelineError(fmt::format("{}: times of {} commands for a stream of {}; give those of the same stream",
                                    run.name, run.times.size(), run.stream.size()));
  std::vector<std::optional<isa::Decoded>> decoded(run.stream.size());
  std::vector<CommandTimes> last(run.npu.engines(), CommandTimes{0, 0, 0}); // by engine
  for (std::size_t i = 0; i < run.stream.size(); ++i) {
    check_stations(run, i);
    const CommandTimes &t = run.times[i];
    if (t.issue == kNever) continue;
    decoded[i] = decode_legal(run, i);
    CommandTimes &before = last[isa::engine_place(decoded[i]->engine(), run.npu.cores)];
    if (t.issue < before.issue || t.start < before.start || t.done < before.done)
      fail(run, i,
           fmt::format("{} overtakes an earlier command of its engine", t.issue < before.issue   ? "its issue"
                                                                        : t.start < before.start ? "its start"
                                                                                                 : "its completion"));
    before = t;
  }
  return decoded;
}

} // namespace gradweave::runtime::timeline
