#include "compiler/vector_stream/cut/cut_chains.hpp"

#include "compiler/vector_stream/cut/cut_size.hpp"
#include "compiler/vector_stream/cut/job_commands_error.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

constexpr std::size_t kEnoughSteps = 16; ///< of a part of a chain: handing on costs little

/// Of a job, for people: its first result's.
const std::string &name_of(const OpJobs &jobs, const JobGroup &group) {
  return jobs.values[group.stages[0].results.at(0).value].name;
}

/// What is run once behind the last loop has the first step's elements of what moves with the steps: these are not
/// there any more. The operand that is read there, if there is one.
std::optional<std::size_t> read_behind(const Stage &stage, unsigned last_loop) {
  for (unsigned s = last_loop + 1; s < isa::vector::kSections; ++s)
    for (std::size_t i = 0; i < stage.operands.size(); ++i)
      if ((isa::vector::mask_of(stage.program->sections[s]) >> i & 1U) != 0 && stage.operands[i].step != 0) return i;
  return std::nullopt;
}

} // namespace

void fail_to_fit(const OpJobs &jobs, const JobGroup &group, std::size_t lanes, const NpuConfig &npu) {
  const std::size_t row = std::size_t{npu.lanes()} * 2, rows = tiles_of(group, {0, lanes, 0, 1}, npu).rows;
  throw JobCommandsError(fmt::format("job of '{}': {} lanes and a step of its tiles take {} bytes of the scratchpad; a "
                                     "place of NPU '{}' has {}. Give it more spm_bytes",
                                     name_of(jobs, group), lanes, rows * row, npu.name, place_rows(npu) * row));
}

JobGroup group_of_part(const JobGroup &group, const ChainPart &part) {
  const Stage &whole = group.stages[0];
  Stage stage{&part.program, whole.lanes, whole.steps, {}, {}, false};
  for (const unsigned i : part.operands)
    stage.operands.push_back(whole.operands[i]);
  for (const unsigned o : part.results)
    stage.results.push_back(whole.results[o]);
  JobGroup of_part;
  of_part.stages = {stage};
  of_part.in_memory = group.in_memory;
  return of_part;
}

bool ChainCutting::is_possible(const JobGroup &group) {
  const Stage &stage = group.stages[0];
  const std::vector<unsigned> loops = loops_of(*stage.program);
  if (group.stages.size() > 1 || group.windows || stage.across || loops.size() != 1 || read_behind(stage, loops[0]))
    return false;
  try {
    chain_part(*stage.program, loops[0], false, false, 1);
  } catch (const std::length_error &) { // not enough tiles
    return false;
  }
  return true;
}

ChainCutting::ChainCutting(const OpJobs &jobs, const JobGroup &group, const NpuConfig &npu)
    : jobs_(jobs), group_(group), npu_(npu), loops_(loops_of(*group.stages[0].program)) {
  if (loops_.empty()) fail_to_fit(jobs, group, std::min<std::size_t>(group.lanes(), npu.lanes()), npu);
  check_behind();
  for (const unsigned loop : loops_)
    for (const bool first : {true, false})
      for (const unsigned reg : part(loop, first, false, 0).saved)
        states_.try_emplace(reg, states_.size());
  const auto lanes_of = [&](std::size_t strips) { return std::min(group.lanes(), strips * npu.lanes()); };
  const auto is_enough = [&](std::size_t strips) {
    return states_.size() * 2 * strips <= state_rows(npu) &&
           std::all_of(loops_.begin(), loops_.end(), [&](unsigned loop) {
             return steps_that_fit(loop, lanes_of(strips)) >= std::min(kEnoughSteps, group.steps());
           });
  };
  std::size_t strips = std::min(divide_up(group.lanes(), npu.lanes()), std::size_t{4} * npu.vector_groups);
  while (strips > 1 && !is_enough(strips))
    --strips;
  lanes_ = largest(lanes_of(strips), [this](std::size_t lanes) {
    return std::all_of(loops_.begin(), loops_.end(), [&](unsigned loop) { return steps_that_fit(loop, lanes) > 0; });
  });
  if (lanes_ == 0) fail_to_fit(jobs, group, 1, npu);
}

const std::string &ChainCutting::name() const { return name_of(jobs_, group_); }

void ChainCutting::check_behind() const {
  const Stage &stage = group_.stages[0];
  if (const auto operand = read_behind(stage, loops_.back()))
    throw JobCommandsError(fmt::format("job of '{}': its chain does not fit NPU '{}', and cannot be cut, as it reads "
                                       "'{}' behind its loops. Read it in a section before them",
                                       name(), npu_.name, jobs_.values[stage.operands[*operand].value].name));
}

ChainPart ChainCutting::part(unsigned loop, bool first, bool last, std::size_t offset) const {
  try {
    return chain_part(*group_.stages[0].program, loop, first, last, static_cast<std::uint32_t>(offset));
  } catch (const std::length_error &error) {
    throw JobCommandsError(fmt::format("job of '{}': {}. Give NPU '{}' more spm_bytes, so that whole chains fit",
                                       name(), error.what(), npu_.name));
  }
}

/// With all that the loop's parts may need.
std::size_t ChainCutting::steps_that_fit(unsigned loop, std::size_t lanes) const {
  const ChainPart all = part(loop, true, true, 0);
  const JobGroup of_part = group_of_part(group_, all);
  return largest(std::min(group_.steps(), kMostInField),
                 [&](std::size_t steps) { return fits(of_part, lanes, steps, npu_); });
}

std::size_t ChainCutting::steps(unsigned loop) const {
  const ChainPart all = part(loop, true, true, 0);
  return rows_of_area(group_.steps(), steps_that_fit(loop, lanes_),
                      bytes_a_step(group_of_part(group_, all), lanes_, npu_));
}

std::uint64_t ChainCutting::cycles() const {
  std::uint64_t cycles = 0, last = 0;
  for (const unsigned loop : loops_) {
    const ChainPart inner = part(loop, false, false, 1);
    const JobGroup of_part = group_of_part(group_, inner);
    const std::size_t steps = this->steps(loop);
    const std::uint64_t busy = walk_of(of_part.stages[0], lanes_, steps, npu_).cycles;
    const std::uint64_t moving = bytes_of_beats(tiles_of(of_part, {0, lanes_, 0, steps}, npu_), npu_) / npu_.bus_bytes;
    cycles += divide_up(group_.lanes(), lanes_) * divide_up(group_.steps(), steps) *
              std::max({busy, moving, kLeastAreaCycles});
    last = std::min(busy, moving);
  }
  return cycles + last;
}

} // namespace gradweave::compiler
