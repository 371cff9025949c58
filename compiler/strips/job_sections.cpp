#include "compiler/strips/job_sections.hpp"

#include "compiler/strips/strip_commands.hpp"
#include "compiler/strips/strip_jobs.hpp"
#include "compiler/vector_stream/job_commands.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace gradweave::compiler {
namespace {

constexpr std::uint64_t kStreamRoom = std::uint64_t{1} << 30;
constexpr std::size_t kMostPanels = 4;                ///< of a strip's columns: as many keep the vector unit busy
constexpr std::size_t kFewParts = 4, kManyParts = 12; ///< of a run of sums

/// All that commands depend on but for addresses.
std::string key_of(const OpJobs &jobs) {
  std::string key;
  for (const JobValue &value : jobs.values)
    key +=
        fmt::format("{}{}:{} ", value.tensor == graph::kNone ? "-" : "", value.elements, static_cast<int>(value.type));
  for (const JobStep &step : jobs.steps)
    if (const auto *job = std::get_if<VectorJob>(&step)) {
      key += fmt::format("| {} {} {}", job->lanes, job->steps, isa::vector::encode(jobs.programs[job->program]).size());
      for (const auto *tiles : {&job->operands, &job->results})
        for (const JobTile &t : *tiles)
          key += fmt::format(" {}:{}:{}", t.value, t.first, t.pitch);
    } else {
      const auto &move = std::get<MoveJob>(step);
      key += fmt::format("| {} {} {} {}", move.from, move.to, move.rows, move.length);
    }
  return key;
}

/// Some steps as jobs by themselves: what others read of them is stored.
OpJobs some_steps(const OpJobs &jobs, std::size_t begin, std::size_t end) {
  constexpr graph::TensorId kOfOthers = 0; // any but kNone
  OpJobs some = jobs;
  some.steps.assign(jobs.steps.begin() + static_cast<std::ptrdiff_t>(begin),
                    jobs.steps.begin() + static_cast<std::ptrdiff_t>(end));
  const auto note = [&](std::size_t value) {
    if (some.values[value].tensor == graph::kNone) some.values[value].tensor = kOfOthers;
  };
  for (std::size_t at = 0; at < jobs.steps.size(); ++at) {
    if (at >= begin && at < end) continue;
    if (const auto *move = std::get_if<MoveJob>(&jobs.steps[at]))
      note(move->from);
    else
      for (const JobTile &t : std::get<VectorJob>(jobs.steps[at]).operands)
        note(t.value);
  }
  return some;
}

/// Widths of a strip that fill panels, or halves of one, in whole beats of bf16, with blocks that are long enough.
std::vector<StripCut> cuts_of(const StripJobs &jobs, const NpuConfig &npu) {
  std::vector<StripCut> cuts;
  const std::size_t beat = npu.bus_bytes / 2, half = npu.lanes() / 2;
  const auto add = [&](std::size_t panels, std::size_t columns, std::size_t abreast) {
    for (const std::size_t lines : {4, 8, 12}) // folds (StripLayout::folds()), or a few rows a lane
      for (const std::size_t merged : {kFewParts, kManyParts})
        if (merged == kFewParts || jobs.parts() > kFewParts)
          cuts.push_back({columns, std::min(lines * npu.lanes() / panels, jobs.part_rows), merged, abreast});
  };
  const std::size_t most = jobs.parts() > 1 ? kMostPanels / 2 : kMostPanels; // parts are lanes, too
  for (std::size_t panels = 1; panels <= most; ++panels) {
    std::size_t columns = std::min(jobs.cols, panels * npu.lanes());
    if (columns < jobs.cols && columns > beat) columns = columns / beat * beat;
    if (!cuts.empty() && columns == cuts.back().columns) break;
    add(panels, columns, 1);
  }
  if (half >= beat && jobs.parts() > 1) add(1, half / beat * beat, 2);
  return cuts;
}

} // namespace

JobSections::Sections JobSections::with_strips(const OpJobs &jobs, const StripCut &cut,
                                               const std::vector<std::uint64_t> &addresses) const {
  const std::optional<StripJobs> strips = strip_jobs(jobs);
  Sections sections;
  if (strips->begin > 0)
    sections.push_back(job_commands(some_steps(jobs, 0, strips->begin), addresses, npu_, semaphores_.areas));
  sections.push_back(strip_commands(*strips, jobs, cut, addresses, npu_, semaphores_.strips));
  if (sections.back().empty()) return {};
  if (strips->end < jobs.steps.size())
    sections.push_back(
        job_commands(some_steps(jobs, strips->end, jobs.steps.size()), addresses, npu_, semaphores_.areas));
  return sections;
}

std::uint64_t JobSections::cycles(const Sections &sections, const std::vector<std::uint64_t> &addresses,
                                  const OpJobs &jobs) const {
  Machine timed = npu_;
  timed.memory.size_bytes = kStreamRoom;
  for (std::size_t v = 0; v < addresses.size(); ++v)
    timed.memory.size_bytes =
        std::max(timed.memory.size_bytes, kStreamRoom + addresses[v] + jobs.values[v].elements * sizeof(float));
  std::uint64_t sum = 0;
  for (const std::vector<isa::Command> &section : sections) {
    const timing::RunResult result = timing::run(timed, section);
    if (!result.ok()) throw std::logic_error("a section of jobs stops by itself");
    sum += result.cycles();
  }
  return sum;
}

std::optional<StripCut> JobSections::choose(const OpJobs &jobs, const std::vector<std::uint64_t> &addresses) const {
  std::optional<StripCut> best;
  const std::optional<StripJobs> strips = strip_jobs(jobs);
  if (!strips || semaphores_.strips + kOrderedSemaphores > npu_.semaphores) return best;
  std::uint64_t least = cycles({job_commands(jobs, addresses, npu_, semaphores_.areas)}, addresses, jobs);
  for (const StripCut &cut : cuts_of(*strips, npu_)) {
    const Sections sections = with_strips(jobs, cut, addresses);
    if (sections.empty()) continue;
    const std::uint64_t taken = cycles(sections, addresses, jobs);
    if (taken >= least) continue;
    least = taken;
    best = cut;
  }
  return best;
}

JobSections::Sections JobSections::of(const OpJobs &jobs, const std::vector<std::uint64_t> &addresses) {
  const auto [known, is_new] = known_.try_emplace(key_of(jobs));
  if (is_new) known->second = choose(jobs, addresses);
  if (known->second)
    if (Sections sections = with_strips(jobs, *known->second, addresses); !sections.empty()) return sections;
  return {job_commands(jobs, addresses, npu_, semaphores_.areas)};
}

} // namespace gradweave::compiler
