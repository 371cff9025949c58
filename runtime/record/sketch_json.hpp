// A sketch of a run as JSON.
#pragma once

#include "trace/timeline/sketch.hpp"

#include <nlohmann/json_fwd.hpp>

namespace gradweave::runtime {

/// Bars are lists of four numbers, one behind another: cycles from the end of the bar before, cycles long, tensor,
/// commands. docs/report.md has the fields.
nlohmann::ordered_json to_json(const timeline::Sketch &sketch);
/// The inverse; throws nlohmann::json::exception, std::invalid_argument or std::out_of_range for what to_json() does
/// not write.
timeline::Sketch sketch_from_json(const nlohmann::ordered_json &json);

} // namespace gradweave::runtime
