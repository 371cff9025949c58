#include "app/evaluation/page/output.hpp"

#include "app/page/bar_chart.hpp"
#include "app/page/plot.hpp"
#include "base/file/output_file.hpp"
#include "base/text/csv.hpp"

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

/// Ours in a column; none if the row does not reach it.
std::optional<double> ours(const Row &row, std::size_t column) {
  return column < row.ours.size() ? row.ours[column] : std::nullopt;
}

Json row_json(const Row &row, const std::vector<Column> &columns) {
  Json json{
      {"figure", row.figure}, {"key", row.key}, {"text", row.text}, {"unit", row.unit}, {"paper", number(row.paper)}};
  for (std::size_t i = 0; i < columns.size(); ++i)
    json[columns[i].field] = number(ours(row, i));
  json["command"] = row.command;
  json["note"] = row.note;
  return json;
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

Json plot_json(const Plot &plot) {
  Json series = Json::array();
  for (const Plot::Points &points : plot.series) {
    Json x = Json::array(), y = Json::array();
    for (std::size_t i = 0; i < points.x.size(); ++i) {
      x.push_back(number(points.x[i]));
      y.push_back(number(points.y.at(i)));
    }
    series.push_back({{"name", points.name}, {"x", x}, {"y", y}});
  }
  return {{"name", plot.name}, {"title", plot.title}, {"x", plot.x_axis}, {"y", plot.y_axis}, {"series", series}};
}

Json figure_json(const Figure &figure) {
  Json charts = Json::array();
  for (const Chart &chart : figure.charts)
    charts.push_back(chart_json(chart));
  Json tables = Json::array();
  for (const Table &table : figure.tables)
    tables.push_back({{"title", table.title}, {"columns", table.columns}, {"rows", table.rows}});
  Json json{{"id", figure.id},  {"title", figure.title}, {"method", figure.method},
            {"charts", charts}, {"tables", tables},      {"notes", figure.notes}};
  for (const Plot &plot : figure.plots)
    json["plots"].push_back(plot_json(plot));
  return json;
}

std::string field(const std::string &text) { return csv_field(text); }

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
      rows.push_back(row_json(row, evaluation.presentation.columns));
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
  Json json{{"results_version", kResultsVersion},
            {"study", evaluation.study},
            {"title", evaluation.title},
            {"command", evaluation.command},
            {"tool", evaluation.tool}};
  for (const auto &[name, value] : evaluation.presentation.settings)
    json[name] = value;
  json["units"] = evaluation.units;
  json["rows"] = rows;
  json["figures"] = figures;
  json["rtl"] = rtl;
  json["problems"] = evaluation.problems;
  return json.dump(2) + '\n';
}

std::string figure_csv(const Figure &figure) {
  std::string text = "chart,group,series,value\n";
  for (const Chart &chart : figure.charts)
    for (std::size_t g = 0; g < chart.groups.size(); ++g)
      for (const Series &series : chart.series)
        text += fmt::format("{},{},{},{}\n", field(chart.name), field(chart.groups[g]), field(series.name),
                            field(std::optional<double>(series.values.at(g))));
  for (const Plot &plot : figure.plots)
    for (const Plot::Points &points : plot.series)
      for (std::size_t i = 0; i < points.x.size(); ++i)
        text += fmt::format("{},{:.6g},{},{}\n", field(plot.name), points.x[i], field(points.name),
                            field(std::optional<double>(points.y.at(i))));
  return text;
}

std::string rows_csv(const Evaluation &evaluation) {
  const std::vector<Column> &columns = evaluation.presentation.columns;
  std::string text = "figure,key,text,unit,paper,";
  for (const Column &column : columns)
    text += column.field + ",";
  text += "command\n";
  for (const Figure &figure : evaluation.figures)
    for (const Row &row : figure.rows) {
      text += fmt::format("{},{},{},{},{},", field(row.figure), field(row.key), field(row.text), field(row.unit),
                          field(row.paper));
      for (std::size_t i = 0; i < columns.size(); ++i)
        text += field(ours(row, i)) + ",";
      text += field(row.command) + "\n";
    }
  return text;
}

void write_outputs(const Evaluation &evaluation, const std::filesystem::path &directory) {
  const auto write = [&](const std::string &name, const std::string &text) {
    OutputFile(directory / name).commit(text);
  };
  std::size_t number = 0;
  for (const Figure &figure : evaluation.figures) {
    if (figure.charts.empty() && figure.plots.empty()) continue;
    write(fmt::format("figure-{}.csv", figure.id), figure_csv(figure));
    for (const Chart &chart : figure.charts)
      write(chart.name + ".svg", draw(chart, number++));
    for (const Plot &plot : figure.plots)
      write(plot.name + ".svg", draw(plot, number++));
  }
  write("rows.csv", rows_csv(evaluation));
  write("results.json", results_json(evaluation));
  for (const auto &[name, text] : evaluation.files)
    write(name, text);
  write("index.html", page(evaluation));
}

} // namespace gradweave::evaluation
