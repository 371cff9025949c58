#include "runtime/job/times_output.hpp"

#include "trace/command_trace.hpp"

namespace gradweave::runtime {
namespace {

/// The file of all jobs; null if there is none.
std::unique_ptr<OutputFile> common_file(const std::string &path) {
  return path.empty() || names_directory(path) ? nullptr : std::make_unique<OutputFile>(path);
}

} // namespace

TimesOutput::TimesOutput(const std::string &table, const std::string &timeline)
    : table_(table), timeline_(timeline), table_file_(common_file(table)), timeline_file_(common_file(timeline)) {
  if (table_file_) table_file_->append(command_trace_header());
}

void TimesOutput::add_to_table(const JobSpec &spec, const compiler::Compiled &layer,
                               const std::vector<timing::CommandTimes> &times) {
  const std::string rows = command_trace_rows(spec.layer().name, layer.stream, layer.info, times);
  if (table_file_) {
    table_file_->append(rows);
    return;
  }
  OutputFile file(spec.times_file);
  file.append(command_trace_header());
  file.commit(rows);
}

void TimesOutput::add(const JobSpec &spec, const compiler::Compiled &layer,
                      const std::vector<timing::CommandTimes> &times, std::uint64_t cycles) {
  if (!table_.empty()) add_to_table(spec, layer, times);
  if (timeline_.empty()) return;
  if (!timeline_file_) {
    OutputFile file(spec.timeline_file);
    timeline::write_job_timeline(file, spec, layer, times, cycles);
    return;
  }
  if (!drawing_)
    drawing_.emplace(*timeline_file_, timeline::compression_of(timeline_), spec.npu, timeline::job_title(spec));
  offset_ = timeline::draw_job(*drawing_, spec, layer, times, cycles, offset_);
}

void TimesOutput::commit() {
  if (table_file_) table_file_->commit({});
  if (drawing_) drawing_->commit();
}

} // namespace gradweave::runtime
