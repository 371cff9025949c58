// Verdicts as JSON: what a validation process sends back, and the entries of the report.
#pragma once

#include "app/validate/verdict/verdict.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace gradweave::runtime {

nlohmann::ordered_json to_json(const ValidationVerdict &verdict);

std::string to_text(const std::vector<ValidationVerdict> &verdicts);
/// The inverse; throws nlohmann::json::exception or std::invalid_argument if the text is not of that form.
std::vector<ValidationVerdict> verdicts_from_text(const std::string &text);

} // namespace gradweave::runtime
