#include "tests/coverage/gates.hpp"

#include "isa/toml.hpp"
#include "tests/coverage/toml_text.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>

namespace gradweave::coverage {

namespace {

template <class Read> void read_entries(const toml::table &root, const char *kind, const std::string &file, Read read) {
  const toml::array *entries = root[kind].as_array();
  if (!entries) return;
  std::size_t number = 0;
  for (const auto &entry : *entries) {
    const std::string where = fmt::format("{}: [[{}]] number {}", file, kind, ++number);
    if (!entry.as_table()) throw std::runtime_error(where + " is no table");
    read(*entry.as_table(), where);
  }
}

/// Rules with their expressions compiled once; the first that matches counts.
class Rules {
public:
  explicit Rules(std::vector<ToggleRule> &rules) : rules_(rules) {
    for (const ToggleRule &rule : rules)
      expressions_.emplace_back(rule.signals, std::regex::optimize);
  }
  ToggleRule *match(const std::string &signal) {
    for (std::size_t i = 0; i < rules_.size(); ++i)
      if (std::regex_match(signal, expressions_[i])) return &rules_[i];
    return nullptr;
  }

private:
  std::vector<ToggleRule> &rules_;
  std::vector<std::regex> expressions_;
};

} // namespace

Waivers load_waivers(const std::string &file) {
  Waivers w;
  try {
    const toml::table root = toml::parse_file(file);
    read_entries(root, "line", file, [&](const toml::table &t, const std::string &where) {
      w.lines.push_back(
          {text(t, "file", where), text(t, "text", where), text(t, "kind", where), text(t, "reason", where), 0});
    });
    const auto rules = [&](const char *kind, std::vector<ToggleRule> &list) {
      read_entries(root, kind, file, [&](const toml::table &t, const std::string &where) {
        list.push_back({text(t, "signals", where), text(t, "reason", where), 0});
        try {
          std::regex check(list.back().signals);
        } catch (const std::regex_error &e) {
          throw std::runtime_error(fmt::format("{}: signals = '{}': {}", where, list.back().signals, e.what()));
        }
      });
    };
    rules("constant", w.constants);
    rules("data", w.data);
  } catch (const toml::parse_error &e) {
    throw std::runtime_error(fmt::format("{}:{}: {}", file, e.source().begin.line, e.description()));
  }
  return w;
}

double Gate::percent() const {
  return total == 0 ? 0 : 100.0 * static_cast<double>(covered) / static_cast<double>(total);
}

bool Gate::met() const {
  if (total == 0 || !defects.empty()) return false;
  return wanted >= 100 ? covered == total : percent() > wanted;
}

Gate judge_lines(const RtlPoints &points, Waivers &waivers) {
  Gate gate{"RTL lines", 0, 0, 100, {}, {}};
  std::vector<std::uint32_t> hits(waivers.lines.size());
  for (const LinePoint &p : points.lines) {
    ++gate.total;
    bool waived = false;
    for (std::size_t i = 0; i < waivers.lines.size(); ++i) {
      LineWaiver &w = waivers.lines[i];
      if (w.file != p.file || w.kind != p.kind || w.text != p.text) continue;
      ++w.matches;
      hits[i] += p.count > 0;
      waived = true;
    }
    if (p.count > 0 || waived)
      ++gate.covered;
    else
      gate.missed.push_back(fmt::format("{}:{}: {}: {}", p.file, p.line, p.kind, p.text));
  }
  for (std::size_t i = 0; i < waivers.lines.size(); ++i) {
    const LineWaiver &w = waivers.lines[i];
    const std::string name = fmt::format("waiver of {}: {}: '{}'", w.file, w.kind, w.text);
    if (w.matches == 0)
      gate.defects.push_back(name + " matches no line of the RTL; remove or correct it");
    else if (hits[i] == w.matches)
      gate.defects.push_back(name + " is covered; remove it");
  }
  return gate;
}

Gate judge_toggles(const RtlPoints &points, Waivers &waivers, std::vector<FileShare> *by_file) {
  Gate gate{"RTL toggles of control", 0, 0, 95, {}, {}};
  Rules data(waivers.data), constants(waivers.constants);
  std::map<std::string, FileShare> files;
  for (const TogglePoint &p : points.toggles) {
    if (ToggleRule *rule = data.match(p.signal)) {
      ++rule->matches;
      continue;
    }
    if (p.count == 0)
      if (ToggleRule *rule = constants.match(p.signal)) {
        ++rule->matches;
        continue;
      }
    FileShare &file = files[p.file];
    file.file = p.file;
    ++gate.total;
    ++file.total;
    if (p.count > 0) {
      ++gate.covered;
      ++file.covered;
    } else {
      gate.missed.push_back(fmt::format("{}: {}", p.file, p.signal));
    }
  }
  for (const auto *rules : {&waivers.data, &waivers.constants})
    for (const ToggleRule &rule : *rules)
      if (rule.matches == 0)
        gate.defects.push_back(fmt::format("toggle rule '{}' matches no bit that needs it; remove it", rule.signals));
  if (by_file)
    for (auto &[name, share] : files)
      by_file->push_back(share);
  return gate;
}

Gate judge_bins(const BinList &list, const std::vector<std::string> &unknown) {
  Gate gate{"functional bins", 0, 0, 100, {}, {}};
  for (const Bin &bin : list.bins) {
    if (!bin.excluded.empty()) {
      if (bin.count > 0)
        gate.defects.push_back(fmt::format("bin {} is excluded ('{}'), but {} hit it; correct the rule", bin.name,
                                           bin.excluded, bin.first));
      continue;
    }
    ++gate.total;
    if (bin.count > 0)
      ++gate.covered;
    else
      gate.missed.push_back(bin.name);
  }
  for (const std::string &name : unknown)
    gate.defects.push_back(fmt::format("bin {} was hit but is not listed; add it to the list", name));
  return gate;
}

Gate judge_cxx(const std::string &info, const std::string &source_root, double wanted,
               std::vector<FileShare> &by_directory) {
  std::ifstream in(info);
  if (!in) throw std::runtime_error("cannot read " + info);
  Gate gate{"C++ lines", 0, 0, wanted, {}, {}};
  std::map<std::string, FileShare> directories;
  FileShare *share = nullptr;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("SF:", 0) == 0) {
      const std::string name = std::filesystem::relative(line.substr(3), source_root).string();
      share = nullptr;
      if (name.rfind("..", 0) == 0) continue;
      share = &directories[name.substr(0, name.find('/'))];
      share->file = name.substr(0, name.find('/'));
    } else if (share && line.rfind("DA:", 0) == 0) {
      const std::size_t comma = line.find(',');
      const bool hit = comma != std::string::npos && line.compare(comma, std::string::npos, ",0") != 0;
      ++gate.total;
      ++share->total;
      gate.covered += hit;
      share->covered += hit;
    }
  }
  for (const auto &[name, directory] : directories)
    by_directory.push_back(directory);
  return gate;
}

} // namespace gradweave::coverage
