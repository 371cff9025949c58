#include "app/sweep/table.hpp"

#include "base/text/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

namespace gradweave::sweep {
namespace {

using Json = nlohmann::ordered_json;

/// Of this many lines a terminal shows a front.
constexpr std::size_t kShown = 12;

double value(const Table &table, std::size_t row, std::size_t column) {
  return table.rows[row].result->values.at(column);
}

/// No worse in all, and better in one.
bool beats(const Table &table, std::size_t a, std::size_t b, const std::vector<std::size_t> &by) {
  bool better = false;
  for (const std::size_t column : by) {
    if (value(table, a, column) > value(table, b, column)) return false;
    better = better || value(table, a, column) < value(table, b, column);
  }
  return better;
}

/// A field's value as JSON has it: a number if it is written as that.
Json field_json(const std::string &text) {
  Json number = Json::parse(text, nullptr, false);
  if (number.is_number() && number.dump() == text) return number;
  return text;
}

Json row_json(const Row &row) {
  Json json{{"number", row.number}};
  for (const Field &field : row.point)
    json["point"][field.name] = field_json(field.value);
  json["outcome"] = row.result ? std::string(to_string(row.result->outcome)) : "missing";
  if (row.result && row.result->outcome == Outcome::kOk) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns.at(i).whole)
        json[std::string(columns.at(i).name)] = static_cast<std::uint64_t>(row.result->values.at(i));
      else
        json[std::string(columns.at(i).name)] = row.result->values.at(i);
  }
  if (row.result && !row.result->problem.empty()) json["problem"] = row.result->problem;
  return json;
}

/// Those with several values.
std::set<std::string> varying(const Table &table) {
  std::map<std::string, std::set<std::string>> values;
  for (const Row &row : table.rows)
    for (const Field &field : row.point)
      values[field.name].insert(field.value);
  std::set<std::string> names;
  for (const auto &[name, texts] : values)
    if (texts.size() > 1) names.insert(name);
  return names;
}

} // namespace

std::string to_csv(const Table &table) {
  std::vector<std::string> head{"number"};
  for (const std::string &field : table.fields)
    head.push_back(csv_field(field));
  head.emplace_back("outcome");
  for (const Column &column : columns)
    head.emplace_back(column.name);
  head.emplace_back("problem");
  std::string text = fmt::format("{}\n", fmt::join(head, ","));
  for (const Row &row : table.rows) {
    text += std::to_string(row.number);
    for (const Field &field : row.point)
      text += ',' + csv_field(field.value);
    text += row.result ? fmt::format(",{}", to_string(row.result->outcome)) : std::string(",missing");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      text += ',';
      if (row.result && row.result->outcome == Outcome::kOk) text += to_text(columns.at(i), row.result->values.at(i));
    }
    text += ',' + (row.result ? csv_field(row.result->problem) : std::string()) + '\n';
  }
  return text;
}

std::string to_json(const Table &table) {
  Json names = Json::array();
  for (const Column &column : columns)
    names.push_back(
        {{"name", std::string(column.name)}, {"unit", std::string(column.unit)}, {"help", std::string(column.help)}});
  Json rows = Json::array();
  for (const Row &row : table.rows)
    rows.push_back(row_json(row));
  return Json{{"sweep_version", 1},
              {"title", table.identity.title},
              {"study", table.identity.study},
              {"tool", table.identity.tool},
              {"columns", names},
              {"points", rows}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         '\n';
}

bool is_workload(std::string_view field) {
  for (const char *name : {"model", "until", "layers", "batch", "pass"})
    if (field == name) return true;
  return field.rfind("net.", 0) == 0;
}

std::vector<Group> workloads(const Table &table) {
  const std::set<std::string> names = varying(table);
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row &row = table.rows[i];
    if (!row.result || row.result->outcome != Outcome::kOk) continue;
    Point workload;
    for (const Field &field : row.point)
      if (is_workload(field.name) && names.count(field.name) != 0) workload.push_back(field);
    const auto [at, is_new] = places.emplace(to_text(workload), groups.size());
    if (is_new) groups.push_back({at->first, {}});
    groups[at->second].rows.push_back(i);
  }
  return groups;
}

std::vector<std::size_t> costs(const Table &table) {
  std::vector<std::size_t> varied;
  for (const char *name : {"pes", "scratchpad_bytes", "bandwidth_gb_s"}) {
    std::set<double> values;
    for (const Row &row : table.rows)
      if (row.result && row.result->outcome == Outcome::kOk) values.insert((*row.result)[name]);
    if (values.size() > 1) varied.push_back(column(name));
  }
  return varied;
}

std::vector<std::size_t> pareto_front(const Table &table, std::vector<std::size_t> rows,
                                      const std::vector<std::size_t> &by) {
  // In lexical order no row is beaten by one behind it, so that each is compared with those that stay.
  std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    for (const std::size_t column : by)
      if (value(table, a, column) != value(table, b, column)) return value(table, a, column) < value(table, b, column);
    return a < b;
  });
  std::vector<std::size_t> front;
  for (const std::size_t row : rows)
    if (std::none_of(front.begin(), front.end(), [&](std::size_t other) { return beats(table, other, row, by); }))
      front.push_back(row);
  return front;
}

std::vector<std::size_t> columns_of(const std::vector<std::string> &names) {
  std::vector<std::size_t> by;
  for (const std::string &name : names) {
    const std::size_t at = column(name);
    if (at == columns.size()) {
      std::vector<std::string_view> all;
      for (const Column &column : columns)
        all.push_back(column.name);
      throw std::invalid_argument(fmt::format("'{}' is no column; use some of: {}", name, fmt::join(all, ", ")));
    }
    if (std::count(by.begin(), by.end(), at) != 0)
      throw std::invalid_argument(fmt::format("column '{}' is there twice; name it once", name));
    by.push_back(at);
  }
  return by;
}

std::vector<std::size_t> usual_front(const Table &table) {
  std::vector<std::size_t> by{column("milliseconds")};
  for (const std::size_t cost : costs(table))
    by.push_back(cost);
  return by;
}

std::string to_text(const Table &table, const std::vector<std::size_t> &by) {
  const std::set<std::string> names = varying(table);
  const std::vector<std::size_t> usual = usual_front(table); // what lines have without being asked, or fields tell
  std::vector<std::string> said;
  for (const std::size_t cost : by)
    said.emplace_back(columns.at(cost).name);
  std::string text;
  for (const Group &group : workloads(table)) {
    const std::vector<std::size_t> front = pareto_front(table, group.rows, by);
    text += fmt::format("{}{}{} of {} points that no other one beats in {}\n", group.name,
                        group.name.empty() ? "" : ": ", front.size(), group.rows.size(), fmt::join(said, ", "));
    for (std::size_t i = 0; i < std::min(front.size(), kShown); ++i) {
      const Row &row = table.rows[front[i]];
      Point machine;
      for (const Field &field : row.point)
        if (!is_workload(field.name) && names.count(field.name) != 0) machine.push_back(field);
      text += fmt::format("  {:>12.6f} ms  {:>5.1f} % of the array  ", (*row.result)["milliseconds"],
                          100 * (*row.result)["array_use"]);
      for (const std::size_t asked : by)
        if (std::count(usual.begin(), usual.end(), asked) == 0)
          text += fmt::format("{} {:.6g}  ", columns.at(asked).name, row.result->values.at(asked));
      text += fmt::format("{}\n", to_text(machine));
    }
    if (front.size() > kShown) text += fmt::format("  ... {} more\n", front.size() - kShown);
  }
  return text;
}

} // namespace gradweave::sweep
