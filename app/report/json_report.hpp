// The report of a run as JSON; docs/report.md describes every field.
#pragma once

#include "runtime/run/run.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace gradweave::runtime {

nlohmann::ordered_json report_json(const RunOptions &options, const RunResult &run);
/// A report as it stands in a file: indented, with a newline at the end.
std::string json_text(const nlohmann::ordered_json &report);

} // namespace gradweave::runtime
