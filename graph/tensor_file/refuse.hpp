// How readers of tensor files complain.
#pragma once

#include <string>

namespace gradweave::graph {

/// Throws ConfigError "WHERE: PROBLEM".
[[noreturn]] void refuse_file(const std::string &where, const std::string &problem);

} // namespace gradweave::graph
