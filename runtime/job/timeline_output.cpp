#include "runtime/job/timeline_output.hpp"

namespace gradweave::runtime::timeline {

RunOutput::RunOutput(const std::string &path) : path_(path) {
  if (!path.empty() && !names_directory(path)) file_ = std::make_unique<OutputFile>(path);
}

void RunOutput::add(const JobSpec &spec, const compiler::Compiled &layer,
                    const std::vector<timing::CommandTimes> &times, std::uint64_t cycles) {
  if (path_.empty()) return;
  if (!file_) {
    OutputFile file(spec.timeline_file);
    write_job_timeline(file, spec, layer, times, cycles);
    return;
  }
  if (!timeline_) timeline_.emplace(*file_, compression_of(path_), spec.npu, job_title(spec));
  draw_layer(*timeline_, Source::kModel, spec.npu, layer, times, cycles, offset_);
  offset_ += cycles;
}

void RunOutput::commit() {
  if (timeline_) timeline_->commit();
}

} // namespace gradweave::runtime::timeline
