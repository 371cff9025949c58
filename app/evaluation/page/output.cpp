#include "app/evaluation/page/output.hpp"

#include "app/evaluation/page/bar_chart.hpp"
#include "base/file/output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace gradweave::evaluation {
namespace {

using Json = nlohmann::ordered_json;

/// Raised when a field changes its meaning or goes; new fields leave it alone.
constexpr int kResultsVersion = 1;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(const std::optional<double> &value) { return value ? number(*value) : Json(nullptr); }

Json row_json(const Row &row) {
  return {{"figure", row.figure},
          {"key", row.key},
          {"text", row.text},
          {"unit", row.unit},
          {"paper", number(row.paper)},
          {"against_described_baseline", number(row.described)},
          {"searched_against_searched_baseline", number(row.searched)},
          {"against_searched_baseline", number(row.crossed)},
          {"command", row.command},
          {"note", row.note}};
}

Json chart_json(const Chart &chart) {
  Json series = Json::array();
  for (const Series &s : chart.series) {
    Json values = Json::array();
    for (const double value : s.values)
      values.push_back(number(value));
    series.push_back({{"name", s.name}, {"values", values}});
  }
  return {
      {"name", chart.name}, {"title", chart.title}, {"axis", chart.axis}, {"groups", chart.groups}, {"series", series}};
}

Json figure_json(const Figure &figure) {
  Json charts = Json::array();
  for (const Chart &chart : figure.charts)
    charts.push_back(chart_json(chart));
  Json tables = Json::array();
  for (const Table &table : figure.tables)
    tables.push_back({{"title", table.title}, {"columns", table.columns}, {"rows", table.rows}});
  return {{"id", figure.id},  {"title", figure.title}, {"method", figure.method},
          {"charts", charts}, {"tables", tables},      {"notes", figure.notes}};
}

/// A CSV field: in quotes if it has to be.
std::string field(const std::string &text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string field(const std::optional<double> &value) {
  return value && std::isfinite(*value) ? fmt::format("{:.6g}", *value) : std::string();
}

} // namespace

std::string results_json(const Evaluation &evaluation) {
  Json rows = Json::array();
  Json figures = Json::array();
  for (const Figure &figure : evaluation.figures) {
    figures.push_back(figure_json(figure));
    for (const Row &row : figure.rows)
      rows.push_back(row_json(row));
  }
  Json rtl = Json::array();
  for (const RtlCheck &check : evaluation.rtl)
    rtl.push_back({{"network", check.network},
                   {"layer", check.layer},
                   {"variant", check.variant},
                   {"model_cycles", check.model_cycles},
                   {"rtl_cycles", check.rtl_cycles},
                   {"elements_checked", check.elements},
                   {"problem", check.problem}});
  return Json{{"results_version", kResultsVersion},
              {"study", evaluation.study},
              {"title", evaluation.title},
              {"command", evaluation.command},
              {"tool", evaluation.tool},
              {"policy", evaluation.policy},
              {"units", evaluation.units},
              {"rows", rows},
              {"figures", figures},
              {"rtl", rtl},
              {"problems", evaluation.problems}}
             .dump(2) +
         '\n';
}

std::string figure_csv(const Figure &figure) {
  std::string text = "chart,group,series,value\n";
  for (const Chart &chart : figure.charts)
    for (std::size_t g = 0; g < chart.groups.size(); ++g)
      for (const Series &series : chart.series)
        text += fmt::format("{},{},{},{}\n", field(chart.name), field(chart.groups[g]), field(series.name),
                            field(std::optional<double>(series.values.at(g))));
  return text;
}

std::string rows_csv(const Evaluation &evaluation) {
  std::string text = "figure,key,text,unit,paper,against_described_baseline,searched_against_searched_baseline,"
                     "against_searched_baseline,command\n";
  for (const Figure &figure : evaluation.figures)
    for (const Row &row : figure.rows)
      text += fmt::format("{},{},{},{},{},{},{},{},{}\n", field(row.figure), field(row.key), field(row.text),
                          field(row.unit), field(row.paper), field(row.described), field(row.searched),
                          field(row.crossed), field(row.command));
  return text;
}

void write_outputs(const Evaluation &evaluation, const std::filesystem::path &directory) {
  const auto write = [&](const std::string &name, const std::string &text) {
    OutputFile(directory / name).commit(text);
  };
  std::size_t number = 0;
  for (const Figure &figure : evaluation.figures) {
    if (figure.charts.empty()) continue;
    write(fmt::format("figure-{}.csv", figure.id), figure_csv(figure));
    for (const Chart &chart : figure.charts)
      write(chart.name + ".svg", draw(chart, number++));
  }
  write("rows.csv", rows_csv(evaluation));
  write("results.json", results_json(evaluation));
  write("index.html", page(evaluation));
}

} // namespace gradweave::evaluation
