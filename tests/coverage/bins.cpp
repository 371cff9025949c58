#include "tests/coverage/bins.hpp"

#include "isa/toml.hpp"
#include "isa_defs.hpp"
#include "tests/coverage/functional.hpp"
#include "tests/coverage/toml_text.hpp"

#include <fmt/format.h>

#include <fstream>
#include <regex>
#include <set>
#include <stdexcept>

namespace gradweave::coverage {

namespace {

using Axis = std::vector<std::string>;

/// "@error" and so on: the words of isa.toml, so that the list grows with it.
Axis expand_axis(const std::string &word) {
  if (word[0] != '@') return {word};
  Axis axis;
  if (word == "@error") {
    for (const auto name : isa::kErrorNames)
      if (name != "NONE") axis.emplace_back(name);
  } else if (word == "@counter") {
    for (const auto &counter : isa::kCounters)
      if (!counter.group.empty()) axis.emplace_back(counter.name);
    for (const auto &counter : isa::kVectorCounters)
      if (!counter.group.empty()) axis.emplace_back(counter.name);
  } else if (word == "@state") {
    axis.assign(kStates.begin(), kStates.end());
  } else if (word == "@fifo") {
    axis.assign(kFifos.begin(), kFifos.end());
  } else if (word == "@opcode") {
    axis = {"LOAD",  "STORE", "GEMM",    "ADD",  "CONV",
            "WGRAD", "SYNC",  "PROGRAM", "TILE", "VECTOR"}; // a MARK counts as a SYNC
  } else if (word == "@flag") {
    for (const isa::Field &f : isa::kLOADFields)
      if (f.width == 1) axis.emplace_back(f.name);
    for (const isa::Field &f : isa::kGEMMFields)
      if (f.width == 1) axis.emplace_back(f.name);
  } else {
    throw std::runtime_error(word + " is no axis; there are @opcode, @flag, @error, @counter, @state, @fifo");
  }
  return axis;
}

void cross(const std::vector<Axis> &axes, std::size_t place, const std::string &prefix,
           std::vector<std::string> &names) {
  if (place == axes.size()) {
    names.push_back(prefix);
    return;
  }
  for (const std::string &value : axes[place])
    cross(axes, place + 1, fmt::format("{}.{}", prefix, value), names);
}

std::vector<Axis> axes_of(const toml::array &array, const std::string &where) {
  std::vector<Axis> axes;
  for (const auto &entry : array) {
    const toml::array *words = entry.as_array();
    if (!words) throw std::runtime_error(where + ": an axis is an array of words");
    Axis axis;
    for (const auto &word : *words) {
      const auto value = word.value<std::string>();
      if (!value || value->empty()) throw std::runtime_error(where + ": an axis is an array of words");
      const Axis more = expand_axis(*value);
      axis.insert(axis.end(), more.begin(), more.end());
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

void exclude(std::vector<Bin> &bins, const std::string &group, const toml::table &rule, const std::string &where) {
  const std::string pattern = text(rule, "bins", where), reason = text(rule, "reason", where);
  const std::regex expression(pattern);
  std::size_t excluded = 0;
  for (Bin &bin : bins) {
    if (bin.group != group || !bin.excluded.empty() || !std::regex_match(bin.name, expression)) continue;
    bin.excluded = reason;
    ++excluded;
  }
  if (excluded == 0)
    throw std::runtime_error(
        fmt::format("{}: the rule '{}' excludes no bin that rules before it leave; remove it", where, pattern));
}

} // namespace

BinList load_bins(const std::string &file) {
  BinList list;
  try {
    const toml::table root = toml::parse_file(file);
    const toml::array *groups = root["group"].as_array();
    if (!groups) throw std::runtime_error(file + ": there is no [[group]]");
    std::set<std::string> seen;
    for (const auto &entry : *groups) {
      const toml::table &table = *entry.as_table();
      const std::string name = text(table, "name", file), where = fmt::format("{}: group {}", file, name);
      list.groups.push_back({name, text(table, "doc", where)});
      const toml::array *crosses = table["crosses"].as_array();
      if (!crosses) throw std::runtime_error(where + ": 'crosses' is missing");
      for (const auto &axes : *crosses) {
        if (!axes.as_array()) throw std::runtime_error(where + ": a cross is an array of axes");
        std::vector<std::string> names;
        cross(axes_of(*axes.as_array(), where), 0, name, names);
        for (std::string &bin : names) {
          if (!seen.insert(bin).second)
            throw std::runtime_error(fmt::format("{}: the bin {} is there twice", where, bin));
          list.bins.push_back({std::move(bin), name, "", 0, ""});
        }
      }
      if (const toml::array *rules = table["exclude"].as_array())
        for (const auto &rule : *rules)
          exclude(list.bins, name, *rule.as_table(), where);
    }
  } catch (const toml::parse_error &e) {
    throw std::runtime_error(fmt::format("{}:{}: {}", file, e.source().begin.line, e.description()));
  } catch (const std::regex_error &e) {
    throw std::runtime_error(fmt::format("{}: a rule's pattern: {}", file, e.what()));
  }
  return list;
}

std::vector<std::string> add_hits(BinList &list, const std::string &stimulus, const std::vector<std::string> &files) {
  std::map<std::string, Bin *> bins;
  for (Bin &bin : list.bins)
    bins[bin.name] = &bin;
  std::set<std::string> unknown;
  for (const std::string &file : files) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot read " + file);
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      std::size_t digits = 0;
      std::uint64_t count = 0;
      try {
        count = std::stoull(line, &digits);
      } catch (const std::exception &) {
        digits = line.size();
      }
      if (digits + 1 >= line.size())
        throw std::runtime_error(fmt::format("{}:{}: '{}' is not a count and a bin", file, number, line));
      const auto bin = bins.find(line.substr(digits + 1));
      if (bin == bins.end()) {
        unknown.insert(line.substr(digits + 1));
        continue;
      }
      if (bin->second->first.empty()) bin->second->first = stimulus;
      bin->second->count += count;
    }
  }
  return {unknown.begin(), unknown.end()};
}

} // namespace gradweave::coverage
