// A job's result as JSON: what a simulation process sends back, and a `layers` entry of the report (docs/report.md).
#pragma once

#include "runtime/job/job.hpp"

#include <nlohmann/json_fwd.hpp>

namespace gradweave::runtime {

nlohmann::ordered_json to_json(const JobResult &result);
nlohmann::ordered_json to_json(const compiler::Tuning &tuning);

/// The inverse; throws nlohmann::json::exception or std::invalid_argument if `json` is not of that form.
JobResult result_from_json(const nlohmann::ordered_json &json);

} // namespace gradweave::runtime
