// Timelines of compiled layers.
#pragma once

#include "base/file/output_file.hpp"
#include "runtime/job/job.hpp"
#include "trace/timeline/sketch.hpp"
#include "trace/timeline/timeline.hpp"

namespace gradweave::runtime::timeline {

/// Draws the run of a layer, its commands named by their tiles. `cycles`: CYCLES of the run. As Timeline::add().
void draw_layer(Timeline &timeline, Source source, const NpuConfig &npu, const compiler::Compiled &layer,
                const std::vector<timing::CommandTimes> &times, std::uint64_t cycles, std::uint64_t offset);

/// Writes the timeline of one job into `output`: what its backend ran and, beside an RTL whose bus has no random
/// stalls, the timing model on the same commands. Throws OutputError, TimelineError.
void write_job_timeline(OutputFile &output, const JobSpec &spec, const compiler::Compiled &layer,
                        const std::vector<timing::CommandTimes> &times, std::uint64_t cycles);

/// The run of a job as a sketch of JobSpec::sketch_bars bars, by tensors. Throws TimelineError.
Sketch sketch_job(const JobSpec &spec, const compiler::Compiled &layer, const std::vector<timing::CommandTimes> &times,
                  std::uint64_t cycles);

/// What a timeline of these jobs is called: "bert_tiny on small, rearrange".
std::string job_title(const JobSpec &spec);

} // namespace gradweave::runtime::timeline
