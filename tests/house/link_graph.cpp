#include "tests/house/link_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

namespace gradweave::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);)
    parts.push_back(part);
  return parts;
}

/// The nearest room above a file; empty: none.
std::string room_above(const fs::path &file, const Floors &floors) {
  for (fs::path at = file.parent_path(); !at.empty(); at = at.parent_path())
    if (floors.count(at.generic_string()) != 0) return at.generic_string();
  return {};
}

bool is_test(const std::string &source) { return source.rfind("tests/", 0) == 0; }

/// Those below a directory.
std::set<std::string> rooms_below(const std::string &directory, const Floors &floors) {
  std::set<std::string> rooms;
  for (const auto &[room, floor] : floors)
    if (room.rfind(directory + "/", 0) == 0) rooms.insert(room);
  return rooms;
}

/// Where a target stands: the room that it, or what it tests, is in.
struct Place {
  bool test = false;
  std::set<std::string> rooms, tested; ///< of sources that are none of tests; by the names of the tests' directories
  bool none() const { return rooms.empty() && tested.empty(); }
};

class Links {
public:
  Links(const LinkGraph &graph, const Floors &floors) : graph_(graph), floors_(floors) {
    for (const Target &target : graph.targets) {
      by_name_[target.name] = &target;
      places_[target.name] = place_of(target);
    }
  }

  std::vector<std::string> check() {
    std::set<std::string> with_library = graph_.absent;
    for (const Target &target : graph_.targets) {
      const Place &place = places_.at(target.name);
      if (target.type != "EXECUTABLE") with_library.insert(place.rooms.begin(), place.rooms.end());
      if (!place.test && place.rooms.size() > 1)
        problems_.push_back(fmt::format("{}: has sources of `{}` and of `{}`", target.name, *place.rooms.begin(),
                                        *std::next(place.rooms.begin())));
      check_links(target, place);
    }
    for (const auto &[room, floor] : floors_)
      if (with_library.count(room) == 0) problems_.push_back(fmt::format("{}: no library is made of this room", room));
    return std::move(problems_);
  }

private:
  Place place_of(const Target &target) const {
    Place place;
    for (const std::string &source : target.sources) {
      if (!is_test(source)) {
        if (const std::string room = room_above(source, floors_); !room.empty()) place.rooms.insert(room);
        continue;
      }
      place.test = true;
      const std::set<std::string> tested = tested_by(source.substr(source.find('/') + 1));
      place.tested.insert(tested.begin(), tested.end());
    }
    return place;
  }

  /// The room of a file below tests; none: those in its directory.
  std::set<std::string> tested_by(const std::string &file) const {
    for (const std::string above : {"", "app/"}) {
      if (const std::string room = room_above(above + file, floors_); !room.empty()) return {room};
      const std::string directory = above + file.substr(0, file.find('/'));
      if (std::set<std::string> rooms = rooms_below(directory, floors_); !rooms.empty()) return rooms;
    }
    return {};
  }

  void check_links(const Target &target, const Place &place) {
    const std::set<std::string> &rooms = place.test ? place.tested : place.rooms;
    if (rooms.empty()) return;
    const auto lower = [&](const std::string &a, const std::string &b) { return floors_.at(a) < floors_.at(b); };
    const std::string &room = *std::max_element(rooms.begin(), rooms.end(), lower);
    for (const std::string &compiled : place.test ? place.rooms : std::set<std::string>{})
      check_arrow(target, room, "has sources", compiled);
    std::set<std::string> seen;
    follow(target, target, room, place.test, seen);
  }

  /// `via` is the target itself, or one without a room that it links.
  void follow(const Target &target, const Target &via, const std::string &room, bool test,
              std::set<std::string> &seen) {
    for (const std::string &name : via.links) {
      const auto linked = by_name_.find(name);
      if (linked == by_name_.end() || !seen.insert(name).second) continue;
      const Place &place = places_.at(name);
      if (place.test && !test)
        problems_.push_back(fmt::format("{}: links {}, which belongs to tests", target.name, name));
      for (const std::set<std::string> *others : {&place.rooms, &place.tested})
        for (const std::string &other : *others)
          check_arrow(target, room, "links " + name, other);
      if (place.none()) follow(target, *linked->second, room, test, seen);
    }
  }

  void check_arrow(const Target &target, const std::string &room, const std::string &what, const std::string &other) {
    const std::set<std::string> &tested = places_.at(target.name).tested;
    if (other == room || tested.count(other) != 0 || floors_.at(other) < floors_.at(room)) return;
    problems_.push_back(fmt::format("{}: {} of `{}` (floor {}), which is not below `{}` (floor {})", target.name, what,
                                    other, floors_.at(other), room, floors_.at(room)));
  }

  const LinkGraph &graph_;
  const Floors &floors_;
  std::map<std::string, const Target *> by_name_;
  std::map<std::string, Place> places_;
  std::vector<std::string> problems_;
};

} // namespace

LinkGraph read_links(const std::string &text) {
  LinkGraph graph;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> fields = split(line + "|", '|');
    if (fields.size() == 2 && fields[0] == "absent") {
      for (const std::string &room : split(fields[1], ';'))
        graph.absent.insert(room);
    } else if (fields.size() == 4) {
      graph.targets.push_back({fields[0], fields[1], split(fields[2], ';'), split(fields[3], ';')});
    } else {
      throw std::runtime_error("not a target and what it links: " + line);
    }
  }
  return graph;
}

std::vector<std::string> broken_links(const LinkGraph &graph, const Floors &floors) {
  return Links(graph, floors).check();
}

} // namespace gradweave::test
