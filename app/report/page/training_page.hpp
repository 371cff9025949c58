// The page of gradweave train.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace gradweave::report {

/// `report`: the record that train --json writes (docs/training.md).
std::string training_page(const nlohmann::ordered_json &report);

} // namespace gradweave::report
