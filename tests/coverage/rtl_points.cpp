#include "tests/coverage/rtl_points.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <tuple>

namespace gradweave::coverage {

namespace {

/// A point's line: C '<key><value>...' <count>, each key behind \x01 and its value behind \x02.
struct RawPoint {
  std::map<std::string, std::string> values;
  std::uint64_t count = 0;
};

bool parse(const std::string &line, RawPoint &point) {
  const std::size_t begin = line.find('\''), end = line.rfind('\'');
  if (line.compare(0, 2, "C ") != 0 || begin == end || end == std::string::npos) return false;
  point.values.clear();
  for (std::size_t at = line.find('\1', begin); at < end;) {
    const std::size_t value = line.find('\2', at);
    if (value >= end) return false;
    std::size_t next = line.find('\1', value);
    if (next > end) next = end;
    point.values[line.substr(at + 1, value - at - 1)] = line.substr(value + 1, next - value - 1);
    at = next;
  }
  try {
    point.count = std::stoull(line.substr(end + 1));
  } catch (const std::exception &) {
    return false;
  }
  return true;
}

class SourceLines {
public:
  explicit SourceLines(std::filesystem::path root) : root_(std::move(root)) {}
  std::string text(const std::string &file, std::uint32_t line) {
    auto [it, fresh] = files_.try_emplace(file);
    if (fresh) {
      std::ifstream in(root_ / file);
      for (std::string text; std::getline(in, text);)
        it->second.push_back(text);
    }
    if (line == 0 || line > it->second.size()) return "";
    const std::string &text = it->second[line - 1];
    const std::size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
    return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
  }

private:
  std::filesystem::path root_;
  std::map<std::string, std::vector<std::string>> files_;
};

std::string relative(const std::string &file, const std::string &root) {
  const std::size_t generated = file.rfind("/generated/");
  if (generated != std::string::npos) return file.substr(generated + 1);
  const std::string r = std::filesystem::relative(file, root).string();
  return r.compare(0, 2, "..") == 0 ? "" : r;
}

} // namespace

RtlPoints read_rtl_points(const std::vector<std::string> &files, const std::string &source_root) {
  using Place = std::tuple<std::string, std::uint32_t, std::uint32_t, std::string>;
  std::map<Place, std::uint64_t> lines;
  std::map<std::string, TogglePoint> toggles;
  std::map<std::string, std::string> names; // of files, relative
  for (const std::string &name : files) {
    std::ifstream in(name);
    if (!in) throw std::runtime_error("cannot read the coverage file " + name);
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
      if (number == 1 && line.rfind("# SystemC::Coverage", 0) != 0)
        throw std::runtime_error(name + ":1: this is no coverage file of Verilator");
      if (line.empty() || line[0] == '#') continue;
      RawPoint point;
      if (!parse(line, point))
        throw std::runtime_error(fmt::format("{}:{}: no coverage point: {}", name, number, line));
      auto [file, fresh] = names.try_emplace(point.values["f"]);
      if (fresh) file->second = relative(file->first, source_root);
      if (file->second.empty()) continue;
      const std::string page = point.values["page"];
      if (page.rfind("v_toggle/", 0) == 0) {
        std::string signal = point.values["h"] + "." + point.values["o"];
        signal.erase(0, signal.find("npu.")); // Verilator's name of the top
        TogglePoint &t = toggles[signal];
        t.file = file->second;
        t.signal = signal;
        t.count += point.count;
      } else {
        const auto at = [&](const char *key) { return static_cast<std::uint32_t>(std::stoul(point.values[key])); };
        lines[{file->second, at("l"), at("n"), point.values["o"]}] += point.count;
      }
    }
  }
  RtlPoints points;
  SourceLines source(source_root);
  for (const auto &[place, count] : lines) {
    const auto &[file, line, column, kind] = place;
    points.lines.push_back({file, line, column, kind, source.text(file, line), count});
  }
  for (auto &[signal, point] : toggles)
    points.toggles.push_back(std::move(point));
  return points;
}

} // namespace gradweave::coverage
