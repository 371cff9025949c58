// index.html: a summary and all charts first, then every number.
#include "app/evaluation/page/output.hpp"
#include "app/page/bar_chart.hpp"
#include "app/page/document.hpp"
#include "app/page/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradweave::evaluation {
namespace {

using page::CellKind;

std::string shown(const std::optional<double> &value, const std::string &unit) {
  if (!value) return {};
  if (!std::isfinite(*value)) return "n/a";
  const bool whole = *value == std::floor(*value) && std::abs(*value) >= 10 && unit != "%";
  return fmt::format("{:.{}f}{}", *value, whole ? 0 : unit == "x" ? 2 : 1, unit.empty() ? "" : " " + unit);
}

/// The chart's values.
Table values_of(const Chart &chart) {
  Table all{chart.axis, {""}, {}};
  for (const Series &series : chart.series)
    all.columns.push_back(series.name);
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    all.rows.push_back({chart.groups[g]});
    for (const Series &series : chart.series)
      all.rows.back().push_back(std::isfinite(series.values.at(g)) ? fmt::format("{:.4f}", series.values.at(g))
                                                                   : "n/a");
  }
  return all;
}

class Page {
public:
  explicit Page(const Evaluation &evaluation) : evaluation_(evaluation), page_(evaluation.title) {}

  std::string write() {
    introduction();
    for (const Figure &figure : evaluation_.figures)
      if (is_drawn(figure)) drawings(figure);
    rtl();
    problems();
    page_.heading("All numbers", "numbers");
    for (const Figure &figure : evaluation_.figures)
      numbers(figure);
    return page_.finish();
  }

private:
  void introduction() {
    const Presentation &said = evaluation_.presentation;
    page_.paragraph(said.purpose);
    std::size_t beside = 0, drawn = 0;
    for (const Figure &figure : evaluation_.figures) {
      drawn += figure.charts.size() + figure.plots.size();
      beside += static_cast<std::size_t>(
          std::count_if(figure.rows.begin(), figure.rows.end(), [](const Row &row) { return row.paper.has_value(); }));
    }
    std::vector<page::Fact> facts{{"figures and tables", std::to_string(evaluation_.figures.size())},
                                  {"charts", std::to_string(drawn)},
                                  {"numbers beside the paper's", std::to_string(beside)},
                                  {said.work, std::to_string(evaluation_.units)}};
    if (!evaluation_.rtl.empty()) {
      const auto equal = std::count_if(evaluation_.rtl.begin(), evaluation_.rtl.end(),
                                       [](const RtlCheck &check) { return check.passed(); });
      facts.push_back({"equal on the RTL, bits and cycles", fmt::format("{} of {}", equal, evaluation_.rtl.size())});
    }
    if (!evaluation_.problems.empty()) facts.push_back({"not evaluated", std::to_string(evaluation_.problems.size())});
    page_.facts(facts);
    page_.command(evaluation_.command);
    page_.paragraph(fmt::format("Compiler and models {}. {}", evaluation_.tool, said.method));
    page_.list(said.terms);
  }

  static bool is_drawn(const Figure &figure) { return !figure.charts.empty() || !figure.plots.empty(); }

  /// What a figure draws, how, and what is to be noted.
  void drawings(const Figure &figure) {
    page_.heading(figure.title, "figure-" + figure.id);
    page_.paragraph(figure.method);
    for (const Chart &chart : figure.charts)
      page_.figure(draw(chart, page_.next_drawing()), chart.title, values_of(chart));
    for (const Plot &plot : figure.plots)
      page_.figure(draw(plot, page_.next_drawing()), plot.title);
    page_.list(figure.notes);
    if (figure.rows.empty() && figure.tables.empty()) return;
    page_.html().open("p");
    page_.html().element("a", "its numbers", {{"href", "#numbers-" + figure.id}});
    page_.html().close();
  }

  void rows_table(const std::vector<Row> &rows) {
    Table all{"The paper's numbers, and ours", {"number", "paper"}, {}};
    page::TableForm form{{CellKind::kText, CellKind::kNumber}};
    const std::vector<Column> &columns = evaluation_.presentation.columns;
    for (const Column &column : columns) {
      all.columns.push_back(column.title);
      form.kinds.push_back(CellKind::kNumber);
    }
    all.columns.emplace_back("command");
    form.kinds.push_back(CellKind::kCode);
    for (const Row &row : rows) {
      all.rows.push_back({row.note.empty() ? row.text : row.text + " (" + row.note + ")", shown(row.paper, row.unit)});
      for (std::size_t i = 0; i < columns.size(); ++i)
        all.rows.back().push_back(i < row.ours.size() ? shown(row.ours[i], row.unit) : std::string());
      all.rows.back().push_back(row.command);
    }
    page_.table(all, form);
  }

  /// Tables; of a figure without drawings, all that there is.
  void numbers(const Figure &figure) {
    if (is_drawn(figure) && figure.rows.empty() && figure.tables.empty()) return;
    page_.html().open("h3", {{"id", "numbers-" + figure.id}});
    if (is_drawn(figure))
      page_.html().element("a", figure.title, {{"href", "#figure-" + figure.id}});
    else
      page_.html().text(figure.title);
    page_.html().close();
    if (!is_drawn(figure)) {
      page_.paragraph(figure.method);
      page_.list(figure.notes);
    }
    if (!figure.rows.empty()) rows_table(figure.rows);
    for (const Table &table : figure.tables)
      page_.table(table);
  }

  void rtl() {
    if (evaluation_.rtl_note.empty() && evaluation_.rtl.empty()) return;
    page_.heading("On the RTL", "rtl");
    if (!evaluation_.rtl_note.empty()) page_.paragraph(evaluation_.rtl_note);
    if (evaluation_.rtl.empty()) return;
    Table checks{"Units that ran on the Verilated NPU as well",
                 {"network", "layer", "variant", "cycles, model", "cycles, RTL", "results compared", "verdict"},
                 {}};
    for (const RtlCheck &c : evaluation_.rtl)
      checks.rows.push_back({c.network, c.layer, c.variant, std::to_string(c.model_cycles),
                             std::to_string(c.rtl_cycles), std::to_string(c.elements),
                             c.passed() ? "all bits and cycles equal" : c.problem});
    page_.table(checks, {{CellKind::kText, CellKind::kText, CellKind::kText, CellKind::kNumber, CellKind::kNumber,
                          CellKind::kNumber, CellKind::kText}});
  }

  void problems() {
    if (evaluation_.problems.empty()) return;
    page_.heading("Not evaluated", "problems");
    page_.paragraph(evaluation_.presentation.left_out);
    page_.list(evaluation_.problems);
  }

  const Evaluation &evaluation_;
  page::Document page_;
};

} // namespace

std::string page(const Evaluation &evaluation) { return Page(evaluation).write(); }

} // namespace gradweave::evaluation
