// Which library and program links which, held against the floors of the rooms.
#pragma once

#include "tests/house/include_graph.hpp"

#include <set>
#include <string>
#include <vector>

namespace gradweave::test {

/// A library or a program of the build.
struct Target {
  std::string name, type; ///< type as CMake says it
  std::vector<std::string> sources, links;
};

struct LinkGraph {
  std::vector<Target> targets;
  std::set<std::string> absent; ///< rooms that the build leaves out
};

/// What gw_write_links() of cmake/LinkGraph.cmake wrote. Throws std::runtime_error for a line of another form.
LinkGraph read_links(const std::string &text);

/// What breaks the rules, a line each; empty: nothing. The room of a target is that of its sources. Sources below tests
/// belong to the tests of the room that has their directory's name, or that with app/ before it, or of all rooms in a
/// directory of this name; other tests may link whatever they like. A target without sources in a room counts as a part
/// of whatever links it.
/// - Every room has a library, and no library or program has sources of two rooms.
/// - A target links what is in its own room or on a lower floor; so do the tests of the room.
/// - Nothing but tests links what is below tests.
std::vector<std::string> broken_links(const LinkGraph &graph, const Floors &floors);

} // namespace gradweave::test
