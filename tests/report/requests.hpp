// Finds what a page would ask of others.
#pragma once

#include <string>
#include <vector>

namespace gradweave::test {

/// Of an HTML page: values of attributes that name something to fetch (src, href, srcset, data, action, poster) other
/// than places of the page itself, url(...) and @import of styles, and what scripts fetch with. Empty: nothing.
std::vector<std::string> requests_of(const std::string &html);

} // namespace gradweave::test
