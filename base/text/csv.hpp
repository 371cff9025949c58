// Fields of CSV files.
#pragma once

#include <string>
#include <string_view>

namespace gradweave {

/// `text` as a field: in quotes if it has to be (RFC 4180).
std::string csv_field(std::string_view text);

} // namespace gradweave
