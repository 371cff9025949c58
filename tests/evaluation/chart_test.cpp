// Drawings and pages are well-formed, whatever is in them, and say everything in words too.
#include "app/evaluation/page/output.hpp"
#include "app/page/bar_chart.hpp"
#include "app/page/plot.hpp"
#include "app/page/xml.hpp"
#include "tests/evaluation/well_formed.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace gradweave::test {
namespace {

using namespace evaluation;
using gradweave::page::draw;
using gradweave::page::XmlWriter;

Chart example_chart() {
  return {"name",
          "A <title> & \"more\"",
          "time / baseline",
          {"r<s", "bert"},
          {{"one & two", {0.5, 1.25}}, {"b", {0.75, 1}}},
          1.0};
}

Plot example_plot() {
  return {"plot",
          "Some <points>",
          "MiB & more",
          "GB",
          false,
          {{"in", {24, 26, 28}, {3, std::numeric_limits<double>::quiet_NaN(), 1}}, {"out", {24}, {2}, false}}};
}

Evaluation evaluation() {
  Evaluation e;
  e.study = "igo";
  e.title = "Title & <b>";
  e.presentation.columns = {{"ours <a>", "a", "a"}, {"ours, b", "b", "b"}, {"more", "c", "c"}};
  e.presentation.terms = {"a & b"};
  e.presentation.settings = {{"policy", "p"}};
  e.command = "gradweave reproduce 'a&b'";
  Figure figure;
  figure.id = "12";
  figure.title = "Figure <12>";
  figure.charts = {example_chart(), example_chart()};
  figure.plots = {example_plot()};
  figure.tables = {{"Table, \"quoted\"", {"a", "b"}, {{"1", "x < y"}}}};
  figure.notes = {"a & b"};
  Row row;
  row.figure = "12";
  row.text = "number, with comma";
  row.unit = "%";
  row.paper = 1.5;
  row.ours = {std::numeric_limits<double>::quiet_NaN(), std::nullopt};
  row.command = "gradweave reproduce igo --figure 12";
  figure.rows = {row};
  e.figures = {figure};
  e.rtl = {{"res", "conv1", "sequential", 10, 11, 100, "1 cycle < more"}};
  e.problems = {"layer 'a' & 'b'"};
  return e;
}

std::size_t count(const std::string &text, const std::string &part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

} // namespace

TEST(WellFormed, SeesWhatIsBroken) {
  EXPECT_EQ(xml_problem("<a b=\"1\"><c/>text &amp; more</a>\n"), "");
  for (const char *broken : {"<a>", "<a></b>", "<a b=1></a>", "<a b=\"1\" b=\"2\"/>", "<a>&nbsp;</a>", "<a/><b/>",
                             "<a b=\"<\"/>", "text", "<a>x > y</a>", "<a"})
    EXPECT_NE(xml_problem(broken), "") << broken;
}

TEST(Xml, RefusesAnOpenElement) {
  XmlWriter writer;
  writer.open("a");
  EXPECT_THROW(static_cast<void>(writer.str()), std::logic_error);
  writer.close();
  EXPECT_THROW(writer.close(), std::logic_error);
}

TEST(BarChart, IsWellFormedAndNamesAllValues) {
  const std::string svg = draw(example_chart(), 3);
  EXPECT_EQ(xml_problem(svg), "") << svg;
  EXPECT_EQ(count(svg, "fill=\"#9ecae1\""), 3U); // two bars and the legend
  EXPECT_NE(svg.find("chart3-title"), std::string::npos);
  EXPECT_EQ(describe(example_chart()),
            "time / baseline. r<s: one & two 0.500, b 0.750; bert: one & two 1.250, b 1.000. ");
}

TEST(BarChart, DrawsNothingForAValueThatIsMissing) {
  Chart chart = example_chart();
  chart.series[0].values[1] = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = draw(chart, 0);
  EXPECT_EQ(xml_problem(svg), "") << svg;
  EXPECT_NE(svg.find(">n/a<"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(describe(chart).find("bert: one & two not available"), std::string::npos);
}

TEST(BarChart, CanBeEmpty) { EXPECT_EQ(xml_problem(draw(Chart{"n", "t", "a", {}, {}, {}}, 0)), ""); }

TEST(BarChart, PutsPartsOnTopOfEachOther) {
  Chart chart = example_chart();
  chart.stacked = true;
  chart.reference.reset();
  const std::string svg = draw(chart, 0);
  EXPECT_EQ(xml_problem(svg), "") << svg;
  // As high as 1.25 + 1, and three quarters of the first group's bars end where the others begin: at 0.5 of 2.5.
  EXPECT_NE(svg.find(">2.5<"), std::string::npos) << svg;
  EXPECT_NE(svg.find("y=\"214.8\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("y=\"147.0\""), std::string::npos) << svg; // 0.5 + 0.75
}

TEST(PlotTest, DrawsPointsAndLinesAndSaysTheirEnds) {
  Plot plot = example_plot();
  const std::string svg = draw(plot, 5);
  EXPECT_EQ(xml_problem(svg), "") << svg;
  EXPECT_EQ(count(svg, "<polyline"), 1U);
  EXPECT_EQ(count(svg, "<circle"), 2U); // and its legend
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(svg.find("chart5-title"), std::string::npos);
  EXPECT_EQ(describe(plot), "GB over MiB & more. in: from 24, 3 to 28, 1. out: from 24, 2 to 24, 2.");
  plot.logarithmic = true;
  plot.series[0].y[2] = 0; // nowhere on such an axis
  EXPECT_EQ(xml_problem(draw(plot, 0)), "");
  plot.series.clear();
  EXPECT_EQ(xml_problem(draw(plot, 0)), "");
}

TEST(Page, IsWellFormedAndNeedsNothingElse) {
  const std::string html = gradweave::evaluation::page(evaluation());
  EXPECT_EQ(xml_problem(html), "");
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("src="), std::string::npos);
  EXPECT_EQ(count(html, "http"), count(html, "xmlns=\"http")); // no address but those of namespaces
  EXPECT_EQ(count(html, "<svg"), 3U);
  EXPECT_EQ(count(html, "id=\"chart0-title\""), 1U);
  EXPECT_NE(html.find("1 cycle &lt; more"), std::string::npos);
}

TEST(Page, EveryRowHasEveryColumn) {
  const std::string html = gradweave::evaluation::page(evaluation());
  for (std::size_t at = html.find("<table>"); at != std::string::npos; at = html.find("<table>", at + 1)) {
    const std::string table = html.substr(at, html.find("</table>", at) - at);
    const std::size_t columns = count(table, "<th ");
    const std::size_t body = table.find("<tbody>");
    for (std::size_t row = table.find("<tr>", body); row != std::string::npos; row = table.find("<tr>", row + 1))
      EXPECT_EQ(count(table.substr(row, table.find("</tr>", row) - row), "<td"), columns) << table;
  }
}

TEST(Csv, EveryLineHasEveryField) {
  EXPECT_EQ(figure_csv(evaluation().figures.front()).substr(0, 62),
            "chart,group,series,value\nname,r<s,one & two,0.5\nname,r<s,b,0.7");
  EXPECT_NE(figure_csv(evaluation().figures.front()).find("\nplot,28,in,1\nplot,24,out,2\n"), std::string::npos);
  const std::string rows = rows_csv(evaluation());
  EXPECT_EQ(rows.rfind("figure,key,text,unit,paper,a,b,c,command\n", 0), 0U);
  EXPECT_NE(rows.find("\n12,,\"number, with comma\",%,1.5,,,,gradweave reproduce igo --figure 12\n"), std::string::npos)
      << rows;
}

} // namespace gradweave::test
