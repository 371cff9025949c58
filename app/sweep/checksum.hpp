// Checksums of what a sweep's file holds: edits and damage that SQLite does not see.
#pragma once

#include "app/sweep/result.hpp"
#include "app/sweep/study.hpp"

#include <cstddef>
#include <string>

namespace gradweave::sweep {

/// Of whose file it is, and how many points it has.
std::string checksum_of(const Identity &identity, std::size_t points);
/// Of a point, the names of its fields included.
std::string checksum_of(std::size_t number, const KeyedPoint &point);
/// Of the result of the points with that key.
std::string checksum_of(const std::string &key, const Result &result);

} // namespace gradweave::sweep
