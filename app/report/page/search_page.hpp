// The page of gradweave search.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace gradweave::report {

/// `report`: the record that search --json writes (docs/search.md).
std::string search_page(const nlohmann::ordered_json &report);

} // namespace gradweave::report
