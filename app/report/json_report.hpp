// The report of a run as JSON; docs/report.md describes every field.
#pragma once

#include "runtime/run/run.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace gradweave::runtime {

nlohmann::ordered_json report_json(const RunOptions &options, const RunResult &run);
/// The report as text, indented, with a newline at the end.
std::string json_report(const RunOptions &options, const RunResult &run);

} // namespace gradweave::runtime
