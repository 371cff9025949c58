// index.html: one page without scripts, styles or pictures from elsewhere.
#include "app/evaluation/page/output.hpp"
#include "app/page/bar_chart.hpp"
#include "app/page/plot.hpp"
#include "app/page/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradweave::evaluation {
namespace {

constexpr const char *kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 1040px; margin: 2em auto;
  padding: 0 1em; }
h1 { font-size: 1.7em; line-height: 1.2; }
h2 { font-size: 1.25em; margin-top: 2.2em; border-bottom: 1px solid #ccc; }
h3 { font-size: 1em; margin-bottom: .3em; }
table { border-collapse: collapse; margin: .8em 0; font-size: .9em; }
caption { text-align: left; font-weight: 600; padding-bottom: .3em; }
th, td { border-bottom: 1px solid #ddd; padding: .25em .7em .25em 0; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
code { font-size: .88em; background: #f4f4f4; padding: 0 .2em; }
figure { margin: 1em 0; break-inside: avoid; }
figcaption { font-size: .9em; color: #444; }
svg { width: 100%; height: auto; }
details { margin: .4em 0; }
.scroll { overflow-x: auto; }
.bad { color: #a00; }
@media print { body { max-width: none; font-size: 10pt; } a { color: inherit; text-decoration: none; }
  h2 { break-after: avoid; } tr { break-inside: avoid; } }
)";

std::string shown(const std::optional<double> &value, const std::string &unit) {
  if (!value) return {};
  if (!std::isfinite(*value)) return "n/a";
  const bool whole = *value == std::floor(*value) && std::abs(*value) >= 10 && unit != "%";
  return fmt::format("{:.{}f}{}", *value, whole ? 0 : unit == "x" ? 2 : 1, unit.empty() ? "" : " " + unit);
}

class Page {
public:
  explicit Page(const Evaluation &evaluation) : evaluation_(evaluation) {}

  std::string write() {
    html_.raw("<!DOCTYPE html>\n");
    html_.open("html", {{"xmlns", "http://www.w3.org/1999/xhtml"}, {"lang", "en"}});
    head();
    html_.open("body");
    introduction();
    all_rows();
    for (const Figure &figure : evaluation_.figures)
      section(figure);
    rtl();
    problems();
    html_.close();
    html_.close();
    return html_.str() + '\n';
  }

private:
  void head() {
    html_.open("head");
    html_.empty("meta", {{"charset", "utf-8"}});
    html_.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    html_.element("title", evaluation_.title + ": evaluation");
    html_.element("style", kStyle);
    html_.close();
  }

  void paragraph(const std::string &text) {
    html_.element("p", text);
    html_.line_feed();
  }

  void command(const std::string &text) {
    html_.open("p");
    html_.element("code", text);
    html_.close();
    html_.line_feed();
  }

  void introduction() {
    html_.element("h1", evaluation_.title);
    const Presentation &said = evaluation_.presentation;
    paragraph(said.purpose + " The whole page is made by");
    command(evaluation_.command);
    paragraph(
        fmt::format("{} {}; compiler and models {}. {}", evaluation_.units, said.work, evaluation_.tool, said.method));
    html_.open("ul");
    for (const std::string &term : said.terms)
      html_.element("li", term);
    html_.close();
  }

  void header(const std::vector<std::string> &columns, std::size_t numbers_from) {
    html_.open("thead");
    html_.open("tr");
    for (std::size_t i = 0; i < columns.size(); ++i)
      html_.element("th", columns[i],
                    i >= numbers_from ? XmlWriter::Attributes{{"scope", "col"}, {"class", "number"}}
                                      : XmlWriter::Attributes{{"scope", "col"}});
    html_.close();
    html_.close();
  }

  void rows_table(const std::vector<Row> &rows, const std::string &caption, bool with_figure) {
    html_.open("div", {{"class", "scroll"}});
    html_.open("table");
    html_.element("caption", caption);
    std::vector<std::string> columns{"number", "paper"};
    for (const Column &column : evaluation_.presentation.columns)
      columns.push_back(column.title);
    columns.emplace_back("command");
    if (with_figure) columns.insert(columns.begin(), "figure");
    header(columns, columns.size());
    html_.open("tbody");
    for (const Row &row : rows) {
      html_.open("tr");
      if (with_figure) {
        html_.open("td");
        html_.element("a", row.figure, {{"href", "#figure-" + row.figure}});
        html_.close();
      }
      html_.element("td", row.note.empty() ? row.text : row.text + " (" + row.note + ")");
      html_.element("td", shown(row.paper, row.unit), {{"class", "number"}});
      for (std::size_t i = 0; i < evaluation_.presentation.columns.size(); ++i)
        html_.element("td", i < row.ours.size() ? shown(row.ours[i], row.unit) : std::string(), {{"class", "number"}});
      html_.open("td");
      html_.element("code", row.command);
      html_.close();
      html_.close();
      html_.line_feed();
    }
    html_.close();
    html_.close();
    html_.close();
  }

  void all_rows() {
    std::vector<Row> rows;
    for (const Figure &figure : evaluation_.figures)
      rows.insert(rows.end(), figure.rows.begin(), figure.rows.end());
    html_.element("h2", "All numbers");
    rows_table(rows, "Numbers that the paper states, and ours", true);
  }

  void table(const Table &table) {
    html_.open("div", {{"class", "scroll"}});
    html_.open("table");
    html_.element("caption", table.title);
    header(table.columns, table.columns.size());
    html_.open("tbody");
    for (const std::vector<std::string> &row : table.rows) {
      html_.open("tr");
      for (const std::string &cell : row)
        html_.element("td", cell);
      html_.close();
      html_.line_feed();
    }
    html_.close();
    html_.close();
    html_.close();
  }

  /// The chart's values, folded away.
  void values(const Chart &chart) {
    Table all{chart.axis, {""}, {}};
    for (const Series &series : chart.series)
      all.columns.push_back(series.name);
    for (std::size_t g = 0; g < chart.groups.size(); ++g) {
      all.rows.push_back({chart.groups[g]});
      for (const Series &series : chart.series)
        all.rows.back().push_back(std::isfinite(series.values.at(g)) ? fmt::format("{:.4f}", series.values.at(g))
                                                                     : "n/a");
    }
    html_.open("details");
    html_.element("summary", "values");
    table(all);
    html_.close();
  }

  void section(const Figure &figure) {
    html_.element("h2", figure.title, {{"id", "figure-" + figure.id}});
    paragraph(figure.method);
    if (!figure.rows.empty()) rows_table(figure.rows, "The paper's numbers, and ours", false);
    for (const Chart &chart : figure.charts) {
      html_.open("figure");
      html_.raw(draw(chart, charts_++));
      html_.element("figcaption", chart.title);
      values(chart);
      html_.close();
      html_.line_feed();
    }
    for (const Plot &plot : figure.plots) {
      html_.open("figure");
      html_.raw(draw(plot, charts_++));
      html_.element("figcaption", plot.title);
      html_.close();
      html_.line_feed();
    }
    for (const Table &t : figure.tables)
      table(t);
    list(figure.notes);
  }

  void list(const std::vector<std::string> &items) {
    if (items.empty()) return;
    html_.open("ul");
    for (const std::string &item : items)
      html_.element("li", item);
    html_.close();
    html_.line_feed();
  }

  void rtl() {
    if (evaluation_.rtl_note.empty() && evaluation_.rtl.empty()) return;
    html_.element("h2", "On the RTL", {{"id", "rtl"}});
    if (!evaluation_.rtl_note.empty()) paragraph(evaluation_.rtl_note);
    if (evaluation_.rtl.empty()) return;
    Table checks{"Units that ran on the Verilated NPU as well",
                 {"network", "layer", "variant", "cycles, model", "cycles, RTL", "results compared", "verdict"},
                 {}};
    for (const RtlCheck &c : evaluation_.rtl)
      checks.rows.push_back({c.network, c.layer, c.variant, std::to_string(c.model_cycles),
                             std::to_string(c.rtl_cycles), std::to_string(c.elements),
                             c.passed() ? "all bits and cycles equal" : c.problem});
    table(checks);
  }

  void problems() {
    if (evaluation_.problems.empty()) return;
    html_.element("h2", "Not evaluated", {{"id", "problems"}});
    paragraph(evaluation_.presentation.left_out);
    list(evaluation_.problems);
  }

  const Evaluation &evaluation_;
  XmlWriter html_;
  std::size_t charts_ = 0;
};

} // namespace

std::string page(const Evaluation &evaluation) { return Page(evaluation).write(); }

} // namespace gradweave::evaluation
