// Which source includes which, and the floors that the rooms of the source tree stand on.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace gradweave::test {

/// Rooms (directories, with all below them that are no rooms of their own) and their floors, the lowest with the
/// smallest number.
using Floors = std::map<std::string, int>;

/// From the first table of a Markdown text whose head begins with "| floor | rooms |". Rooms are in backquotes. Throws
/// std::runtime_error if there is no such table, a floor is no number, or a room is there twice.
Floors read_floors(const std::string &markdown);

/// What breaks the rules in the C++ below `root`, a line each; empty: nothing. A source in a directory that holds a
/// room, or is one, is of the room that is nearest above it.
/// - Every source stands in a room, and every room holds sources.
/// - A source includes what is in its own room or on a lower floor.
/// - No unit, a .cpp with the .hpp of its name, includes itself by way of others.
std::vector<std::string> broken_rules(const std::filesystem::path &root, const Floors &floors);

} // namespace gradweave::test
