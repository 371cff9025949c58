// Timelines of compiled layers.
#pragma once

#include "base/file/output_file.hpp"
#include "runtime/job/job.hpp"
#include "trace/timeline/sketch.hpp"
#include "trace/timeline/timeline.hpp"

namespace gradweave::runtime::timeline {

/// Draws a job's run from cycle `offset` of the time axis on, its commands named by their tiles: what its backend ran
/// and, beside an RTL whose bus has no random stalls, the timing model on the same commands. `cycles`: CYCLES of the
/// run. Returns where the job behind it may begin. As Timeline::add().
std::uint64_t draw_job(Timeline &timeline, const JobSpec &spec, const compiler::Compiled &layer,
                       const std::vector<timing::CommandTimes> &times, std::uint64_t cycles, std::uint64_t offset);

/// Writes the timeline of one job into `output`. Throws OutputError, TimelineError.
void write_job_timeline(OutputFile &output, const JobSpec &spec, const compiler::Compiled &layer,
                        const std::vector<timing::CommandTimes> &times, std::uint64_t cycles);

/// The run of a job as a sketch of JobSpec::sketch_bars bars, by tensors. Throws TimelineError.
Sketch sketch_job(const JobSpec &spec, const compiler::Compiled &layer, const std::vector<timing::CommandTimes> &times,
                  std::uint64_t cycles);

/// What a timeline of these jobs is called: "bert_tiny on small, rearrange".
std::string job_title(const JobSpec &spec);

} // namespace gradweave::runtime::timeline
