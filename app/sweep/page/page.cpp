#include "app/sweep/page/page.hpp"

#include "app/page/document.hpp"
#include "app/page/plot.hpp"
#include "sweep_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace gradweave::sweep {
namespace {

using page::XmlWriter;
using Json = nlohmann::json;

constexpr std::size_t kFrontRows = 12, kProblemRows = 10, kStillPoints = 400, kFrontPoints = 300;
constexpr std::array<std::string_view, 10> kTableColumns{
    "milliseconds",     "cycles", "energy_mj",        "bound",         "array_use", "dram_read_bytes",
    "dram_write_bytes", "pes",    "scratchpad_bytes", "bandwidth_gb_s"};

bool has_numbers(const Row &row) { return row.result && row.result->outcome == Outcome::kOk; }

/// Of a field, its values in the order in which they come.
std::vector<std::string> values_of(const Table &table, std::size_t field) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const Row &row : table.rows)
    if (seen.insert(row.point[field].value).second) values.push_back(row.point[field].value);
  return values;
}

/// What a machine costs that is drawn along x: the first that differs.
std::string_view cost_axis(const Table &table) {
  const std::vector<std::size_t> all = costs(table);
  return all.empty() ? std::string_view("cycles") : columns.at(all.front()).name;
}

class SweepPage {
public:
  SweepPage(const Table &table, const std::string &command, const std::vector<std::size_t> &by)
      : table_(table), command_(command), by_(by), page_(title(table), kSweepStyle) {
    for (const Group &group : workloads(table))
      fronts_.push_back(pareto_front(table, group.rows, by_));
  }

  std::string write() {
    const nlohmann::json data = points();
    summary();
    if (!fronts_.empty()) {
      plot();
      fronts();
      table();
    }
    problems();
    page_.data("data", data);
    if (!fronts_.empty()) page_.script(kSweepScript);
    return page_.finish();
  }

private:
  static std::string title(const Table &table) { return table.identity.title.empty() ? "Sweep" : table.identity.title; }

  void summary() {
    const std::size_t missing = table_.missing();
    html_.element("p",
                  fmt::format("{} points: {} with numbers, {} that no NPU or no plan fits, {} that failed, {} without "
                              "a result yet. Cycles are those of the exact timing model; compiler and models {}.",
                              table_.rows.size(), table_.count(Outcome::kOk), table_.count(Outcome::kInfeasible),
                              table_.count(Outcome::kFailed), missing, table_.identity.tool));
    std::string fixed;
    for (std::size_t f = 0; f < table_.fields.size(); ++f)
      if (const auto values = values_of(table_, f); values.size() == 1)
        fixed += fmt::format("{}{}={}", fixed.empty() ? "" : " ", table_.fields[f], values.front());
    if (!fixed.empty()) html_.element("p", "The same for all: " + fixed);
    html_.open("p");
    html_.element("code", command_);
    html_.close();
    if (left_out_ != 0)
      html_.element("p",
                    fmt::format("The plot and the table below leave {} of the points out, none of the best, to keep "
                                "this page small; the sweep's file has all.",
                                left_out_));
  }

  void choice(const std::string &id, const std::string &text) {
    html_.open("label");
    html_.text(text + " ");
    html_.element("select", "", {{"id", id}});
    html_.close();
  }

  void plot() {
    html_.element("h2", "Points");
    html_.open("div", {{"class", "choices"}});
    choice("x", "across");
    choice("y", "up");
    choice("colour", "colour");
    html_.close();
    html_.element("div", "", {{"id", "filters"}});
    html_.element("svg", "",
                  {{"id", "plot"}, {"xmlns", "http://www.w3.org/2000/svg"}, {"role", "img"}, {"aria-label", "points"}});
    html_.element("p", "", {{"id", "key"}});
    html_.element("p",
                  "Filled dots, joined by lines, are points of a colour that no other one is at or below in both axes. "
                  "Choose a dot or a row to see the command that runs it.");
    html_.element("div", "", {{"id", "about"}});
    html_.open("noscript");
    html_.raw(draw(still(), page_.next_drawing()));
    html_.close();
  }

  void table() {
    html_.element("h2", "All points that the filters let through");
    html_.open("div", {{"class", "scroll"}});
    html_.element("table", "", {{"id", "table"}});
    html_.close();
    html_.element("button", "Show more", {{"id", "more"}, {"type", "button"}});
  }

  /// What a page without scripts shows: an even choice of the points.
  page::Plot still() const {
    const std::string_view cost = cost_axis(table_);
    const std::size_t step = table_.rows.size() / kStillPoints + 1;
    page::Plot plot{"sweep", "Time against cost", std::string(cost), "milliseconds", true, {}};
    for (const Group &group : workloads(table_)) {
      page::Plot::Points dots{group.name, {}, {}, false};
      for (std::size_t i = 0; i < group.rows.size(); i += step) {
        const Result &result = *table_.rows[group.rows[i]].result;
        dots.x.push_back(result[cost]);
        dots.y.push_back(result["milliseconds"]);
      }
      plot.series.push_back(std::move(dots));
    }
    return plot;
  }

  void table_head(const std::vector<std::string> &names) {
    html_.open("thead");
    html_.open("tr");
    for (const std::string &name : names)
      html_.element("th", name, {{"scope", "col"}});
    html_.close();
    html_.close();
  }

  void fronts() {
    std::vector<std::string> said;
    for (const std::size_t at : by_)
      said.emplace_back(columns.at(at).name);
    html_.element("h2", "Best points");
    html_.element("p", fmt::format("Of each workload those that no other point beats in {}, by the first of these.",
                                   fmt::join(said, ", ")));
    const std::vector<Group> groups = workloads(table_);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      html_.element("h3",
                    fmt::format("{}{} of {} points", groups[g].name.empty() ? std::string() : groups[g].name + ": ",
                                fronts_[g].size(), groups[g].rows.size()));
      html_.open("div", {{"class", "scroll"}});
      html_.open("table");
      std::vector<std::string> names{"milliseconds", "array use, %"};
      std::vector<std::size_t> shown;
      for (std::size_t f = 0; f < table_.fields.size(); ++f)
        if (!is_workload(table_.fields[f]) && values_of(table_, f).size() > 1) {
          shown.push_back(f);
          names.push_back(table_.fields[f]);
        }
      table_head(names);
      html_.open("tbody");
      for (std::size_t i = 0; i < std::min(fronts_[g].size(), kFrontRows); ++i)
        front_row(table_.rows[fronts_[g][i]], shown);
      html_.close();
      html_.close();
      html_.close();
    }
  }

  void front_row(const Row &row, const std::vector<std::size_t> &shown) {
    html_.open("tr");
    html_.element("td", fmt::format("{:.6f}", (*row.result)["milliseconds"]), {{"class", "number"}});
    html_.element("td", fmt::format("{:.1f}", 100 * (*row.result)["array_use"]), {{"class", "number"}});
    for (const std::size_t f : shown)
      html_.element("td", row.point[f].value);
    html_.close();
    html_.line_feed();
  }

  /// Why points have no numbers, the most frequent reasons first.
  void problems() {
    std::map<std::string, std::pair<std::size_t, const Row *>> reasons;
    for (const Row &row : table_.rows)
      if (row.result && !row.result->problem.empty()) {
        auto &[count, first] = reasons[row.result->problem];
        if (count++ == 0) first = &row;
      }
    if (reasons.empty()) return;
    std::vector<std::pair<std::size_t, std::string>> sorted;
    for (const auto &[reason, where] : reasons)
      sorted.emplace_back(where.first,
                          fmt::format("{} ({}, first {})", reason, where.first, to_text(where.second->point)));
    std::sort(sorted.begin(), sorted.end(),
              [](const auto &a, const auto &b) { return std::tie(b.first, a.second) < std::tie(a.first, b.second); });
    html_.element("h2", "Points without numbers");
    html_.open("ul");
    for (std::size_t i = 0; i < std::min(sorted.size(), kProblemRows); ++i)
      html_.element("li", sorted[i].second);
    html_.close();
    if (sorted.size() > kProblemRows)
      html_.element("p", fmt::format("and {} other reasons", sorted.size() - kProblemRows));
  }

  static Json number(const Column &column, double value) {
    constexpr double kExact = 9007199254740992; // whole numbers of a double and of JavaScript
    if (column.whole && std::abs(value) <= kExact) return static_cast<std::int64_t>(value);
    return std::stod(fmt::format("{:.7g}", value));
  }

  Json point(const Row &row, const std::vector<std::map<std::string, std::size_t>> &places) const {
    Json fields = Json::array(), numbers = Json::array();
    for (std::size_t f = 0; f < row.point.size(); ++f)
      fields.push_back(places[f].at(row.point[f].value));
    for (std::size_t i = 0; i < columns.size(); ++i)
      numbers.push_back(number(columns.at(i), row.result->values.at(i)));
    return {row.number, fields, numbers};
  }

  /// The data that the script draws.
  Json points() {
    Json data{
        {"x", cost_axis(table_)}, {"fields", Json::array()}, {"columns", Json::array()}, {"points", Json::array()}};
    std::vector<std::map<std::string, std::size_t>> places(table_.fields.size());
    for (std::size_t f = 0; f < table_.fields.size(); ++f) {
      const std::vector<std::string> values = values_of(table_, f);
      for (std::size_t v = 0; v < values.size(); ++v)
        places[f].emplace(values[v], v);
      data["fields"].push_back(
          {{"name", table_.fields[f]}, {"values", values}, {"workload", is_workload(table_.fields[f])}});
    }
    for (const Column &column : columns)
      data["columns"].push_back({{"name", column.name},
                                 {"unit", column.unit},
                                 {"help", column.help},
                                 {"table", std::count(kTableColumns.begin(), kTableColumns.end(), column.name) != 0}});
    const std::size_t bytes = data.dump().size();
    for (Json &one : choose(places, bytes))
      data["points"].push_back(std::move(one));
    return data;
  }

  /// Points with numbers, in their order: all, or as many as fit beside `bytes` of other data.
  std::vector<Json> choose(const std::vector<std::map<std::string, std::size_t>> &places, std::size_t bytes) {
    constexpr std::size_t kFrame = 150'000; // of the page, all but data
    std::map<std::size_t, Json> all;        // by row
    std::size_t wanted = 0;
    for (const Row &row : table_.rows)
      if (has_numbers(row)) wanted += all.emplace(row.number, point(row, places)).first->second.dump().size() + 1;
    const std::size_t room = page::kMostPageBytes - std::min(page::kMostPageBytes, kFrame + bytes),
                      step = wanted / (room + 1) + 1;
    std::set<std::size_t> keep;
    if (step > 1)
      for (const std::vector<std::size_t> &front : fronts_)
        keep.insert(front.begin(), front.begin() + static_cast<std::ptrdiff_t>(std::min(front.size(), kFrontPoints)));
    std::vector<Json> chosen;
    std::size_t place = 0;
    for (auto &[row, json] : all)
      if (place++ % step == 0 || keep.count(row) != 0) chosen.push_back(std::move(json));
    left_out_ = all.size() - chosen.size();
    return chosen;
  }

  const Table &table_;
  const std::string &command_;
  std::vector<std::size_t> by_;
  std::vector<std::vector<std::size_t>> fronts_; ///< of workloads()
  std::size_t left_out_ = 0;
  page::Document page_;
  XmlWriter &html_ = page_.html();
};

} // namespace

std::string page(const Table &table, const std::string &command, const std::vector<std::size_t> &by) {
  return SweepPage(table, command, by).write();
}

} // namespace gradweave::sweep
