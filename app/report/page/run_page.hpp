// The page of a run of layers: cosim and simulate.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace gradweave::report {

/// `report`: the record that --json writes (docs/report.md). What it does not have, as times of the functional backend,
/// has no section.
std::string run_page(const nlohmann::ordered_json &report);

} // namespace gradweave::report
