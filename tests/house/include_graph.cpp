#include "tests/house/include_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>

namespace gradweave::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> cells_of(const std::string &line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '|');)
    cells.push_back(cell);
  return cells;
}

class Sources {
public:
  Sources(const fs::path &root, const Floors &floors) : root_(root), floors_(floors) {
    std::set<std::string> tops;
    for (const auto &[room, floor] : floors)
      tops.insert(room.substr(0, room.find('/')));
    for (const std::string &top : tops)
      if (fs::is_directory(root / top))
        for (const auto &entry : fs::recursive_directory_iterator(root / top))
          if (const auto extension = entry.path().extension(); extension == ".cpp" || extension == ".hpp")
            files_.push_back(entry.path().lexically_relative(root).generic_string());
    std::sort(files_.begin(), files_.end());
  }

  std::vector<std::string> check() {
    for (const std::string &file : files_)
      check(file);
    for (const auto &[room, floor] : floors_)
      if (used_.count(room) == 0) problems_.push_back(fmt::format("{}: no source stands in this room", room));
    find_circles();
    return std::move(problems_);
  }

private:
  /// The nearest room above the file; empty: none.
  std::string room_of(const std::string &file) const {
    for (fs::path at = fs::path(file).parent_path(); !at.empty(); at = at.parent_path())
      if (floors_.count(at.generic_string()) != 0) return at.generic_string();
    return {};
  }

  static std::string unit_of(const std::string &file) { return file.substr(0, file.rfind('.')); }

  /// Files of the tree that a source includes.
  std::vector<std::string> includes_of(const std::string &file) const {
    static const std::string kInclude = "#include \"";
    std::vector<std::string> included;
    std::ifstream in(root_ / file);
    for (std::string line; std::getline(in, line);)
      if (line.rfind(kInclude, 0) == 0) {
        const std::string name = line.substr(kInclude.size(), line.rfind('"') - kInclude.size());
        if (std::binary_search(files_.begin(), files_.end(), name)) included.push_back(name);
      }
    return included;
  }

  void check(const std::string &file) {
    const std::string room = room_of(file);
    if (room.empty()) {
      problems_.push_back(fmt::format("{}: stands in no room", file));
      return;
    }
    used_.insert(room);
    for (const std::string &other : includes_of(file)) {
      const std::string below = room_of(other);
      if (below != room && (below.empty() || floors_.at(below) >= floors_.at(room)))
        problems_.push_back(fmt::format("{}: includes {}, but `{}` (floor {}) is not below `{}` (floor {})", file,
                                        other, below, below.empty() ? 0 : floors_.at(below), room, floors_.at(room)));
      if (unit_of(other) != unit_of(file)) units_[unit_of(file)].insert(unit_of(other));
    }
  }

  /// Follows units depth first; one that is met again while it is being followed closes a circle.
  void find_circles() {
    enum class State { kNew, kOpen, kDone };
    std::map<std::string, State> states;
    std::vector<std::string> path;
    const std::function<void(const std::string &)> follow = [&](const std::string &unit) {
      State &state = states[unit];
      if (state == State::kDone) return;
      if (state == State::kOpen) {
        std::string circle;
        for (auto at = std::find(path.begin(), path.end(), unit); at != path.end(); ++at)
          circle += *at + " -> ";
        problems_.push_back("circle: " + circle + unit);
        return;
      }
      state = State::kOpen;
      path.push_back(unit);
      if (const auto found = units_.find(unit); found != units_.end())
        for (const std::string &next : found->second)
          follow(next);
      path.pop_back();
      states[unit] = State::kDone;
    };
    for (const auto &[unit, next] : units_)
      follow(unit);
  }

  const fs::path &root_;
  const Floors &floors_;
  std::vector<std::string> files_; ///< sorted
  std::set<std::string> used_;
  std::map<std::string, std::set<std::string>> units_;
  std::vector<std::string> problems_;
};

} // namespace

Floors read_floors(const std::string &markdown) {
  std::istringstream in(markdown);
  std::string line;
  while (line.rfind("| floor | rooms |", 0) != 0)
    if (!std::getline(in, line)) throw std::runtime_error("no table of floors");
  std::getline(in, line); // the rule below the head
  Floors floors;
  while (std::getline(in, line) && line.rfind('|', 0) == 0) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 3) throw std::runtime_error("not a row of floors: " + line);
    std::size_t end = 0;
    const int floor = std::stoi(cells[1], &end);
    for (std::size_t at = cells[2].find('`'); at != std::string::npos; at = cells[2].find('`', at)) {
      const std::size_t close = cells[2].find('`', at + 1);
      if (close == std::string::npos) throw std::runtime_error("a room without its second backquote: " + line);
      const std::string room = cells[2].substr(at + 1, close - at - 1);
      if (!floors.emplace(room, floor).second) throw std::runtime_error("the room " + room + " is there twice");
      at = close + 1;
    }
  }
  return floors;
}

std::vector<std::string> broken_rules(const fs::path &root, const Floors &floors) {
  return Sources(root, floors).check();
}

} // namespace gradweave::test
