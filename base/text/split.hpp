// Lists in words of a command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradweave {

/// What stands between the separators: one part more than there are separators, any of which may be empty; none of an
/// empty text.
std::vector<std::string> split(std::string_view text, char separator);

} // namespace gradweave
