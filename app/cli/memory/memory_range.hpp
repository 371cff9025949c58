// What --capacity of `gradweave memory` takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::cli {

/// "24", "24,32,48" or "24:1000:2" (from, to, step), in MiB, as bytes; ascending. Throws std::invalid_argument naming
/// what is wrong: no number, zero or negative, a range whose end is before its beginning, a step of zero, or more than
/// 100,000.
std::vector<std::uint64_t> parse_capacities(const std::string &text);

} // namespace gradweave::cli
