// Tables, fronts and the page of a sweep.
#include "app/sweep/page/page.hpp"
#include "base/random/dice.hpp"
#include "tests/evaluation/well_formed.hpp"
#include "tests/sweep/example.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace gradweave::sweep {
namespace {

using namespace test;

Table example_table(std::size_t count) {
  Table table{kIdentity, {"model", "npu.rows"}, {}};
  const auto points = example_points(count);
  for (std::size_t i = 0; i < count; ++i)
    table.rows.push_back({i, points[i].point, example_result(i)});
  return table;
}

TEST(SweepTable, CsvHasALineAPoint) {
  Table table = example_table(3);
  (*table.rows[0].result)["milliseconds"] = 0.25;
  table.rows[1].result->outcome = Outcome::kInfeasible;
  table.rows[1].result->problem = "no, \"never\"";
  table.rows[2].result.reset();
  EXPECT_EQ(to_csv(table),
            "number,model,npu.rows,outcome,milliseconds,cycles,bound,compute_bound,traffic_bound,array_use,energy_mj,"
            "edp_mj_ms,mean_watts,macs,"
            "dram_read_bytes,dram_write_bytes,spill_bytes,layer_count,pes,scratchpad_bytes,bandwidth_gb_s,clock_ghz,"
            "problem\n"
            "0,mlp,0,ok,0.25,1000,0,0,0,0,0,0,0,0,0,0,0,0,100,0,0,0,\n"
            "1,mlp,1,infeasible,,,,,,,,,,,,,,,,,,,\"no, \"\"never\"\"\"\n"
            "2,mlp,2,missing,,,,,,,,,,,,,,,,,,,\n");
}

TEST(SweepTable, JsonSaysTheSame) {
  const auto json = nlohmann::json::parse(to_json(example_table(3)));
  EXPECT_EQ(json["points"][2]["point"]["npu.rows"], 2);
  EXPECT_EQ(json["points"][2]["cycles"], 1002);
  EXPECT_EQ(json["columns"].size(), columns.size());
}

TEST(SweepTable, FrontsAreThoseOfAllComparisons) {
  Dice dice(5);
  for (int round = 0; round < 200; ++round) {
    Table table = example_table(30);
    std::vector<std::size_t> rows, by{column("milliseconds"), column("pes"), column("scratchpad_bytes")};
    by.resize(1 + dice.below(3));
    for (Row &row : table.rows) {
      rows.push_back(row.number);
      for (const std::size_t c : by)
        row.result->values.at(c) = static_cast<double>(dice.below(6));
    }
    std::vector<std::size_t> expected;
    for (const std::size_t a : rows) {
      const auto beaten_by = [&](std::size_t b) {
        bool better = false;
        for (const std::size_t c : by) {
          if (table.rows[b].result->values.at(c) > table.rows[a].result->values.at(c)) return false;
          better = better || table.rows[b].result->values.at(c) < table.rows[a].result->values.at(c);
        }
        return better;
      };
      if (std::none_of(rows.begin(), rows.end(), beaten_by)) expected.push_back(a);
    }
    std::vector<std::size_t> front = pareto_front(table, rows, by);
    EXPECT_TRUE(std::is_sorted(front.begin(), front.end(), [&](std::size_t a, std::size_t b) {
      return table.rows[a].result->values.at(by[0]) < table.rows[b].result->values.at(by[0]);
    }));
    std::sort(front.begin(), front.end());
    EXPECT_EQ(front, expected);
  }
}

TEST(SweepTable, WorkloadsAreApartAndDesignsAreNot) {
  Table table = example_table(4);
  table.rows[2].point[0].value = table.rows[3].point[0].value = "ncf";
  const std::vector<Group> groups = workloads(table);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[1].name, "model=ncf");
  EXPECT_EQ(groups[1].rows, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(costs(table), std::vector<std::size_t>{column("pes")});
  EXPECT_NE(
      to_text(table, usual_front(table)).find("model=ncf: 2 of 2 points that no other one beats in milliseconds, pes"),
      std::string::npos);
}

TEST(SweepTable, FrontsAreOfTheColumnsThatAreAskedFor) {
  Table table = example_table(3);
  (*table.rows[0].result)["energy_mj"] = 3;
  (*table.rows[1].result)["energy_mj"] = 4;
  (*table.rows[2].result)["energy_mj"] = 2.5;
  const std::string text = to_text(table, columns_of({"energy_mj", "cycles"}));
  EXPECT_NE(text.find("2 of 3 points that no other one beats in energy_mj, cycles"), std::string::npos) << text;
  EXPECT_NE(text.find("energy_mj 2.5  cycles 1002  npu.rows=2"), std::string::npos) << text;
  EXPECT_EQ(text.find("npu.rows=1"), std::string::npos) << text;
  EXPECT_THROW(columns_of({"energy"}), std::invalid_argument);
  EXPECT_THROW(columns_of({"cycles", "cycles"}), std::invalid_argument);
}

TEST(SweepPage, StandsAlone) {
  Table table = example_table(5);
  table.identity.title = "<b>&\"title";
  table.rows[1].point[0].value = "</script><img src=x onerror=1>";
  table.rows[2].result->outcome = Outcome::kInfeasible;
  table.rows[2].result->problem = "<does> & not fit";
  const std::string html = page(table, "gradweave sweep 'a&b'", usual_front(table));
  EXPECT_EQ(gradweave::test::xml_problem(html), "");
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_NE(html.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_NE(html.find("width=device-width"), std::string::npos);
  for (const char *request : {"src=", "href=", "url(", "@import", "fetch(", "XMLHttpRequest"})
    EXPECT_EQ(html.find(request), html.find(std::string(request) + "x onerror")) << request;
  for (std::size_t at = 0; (at = html.find("http", at)) != std::string::npos; ++at)
    EXPECT_EQ(html.compare(at, 18, "http://www.w3.org/"), 0) << html.substr(at, 40); // names, not requests
}

TEST(SweepPage, ManyPointsStayBelowAMegabyte) {
  Table table = example_table(40000);
  for (Row &row : table.rows)
    for (std::size_t c = 0; c < columns.size(); ++c)
      row.result->values.at(c) += 1234567890 + static_cast<double>(row.number);
  (*table.rows[777].result)["milliseconds"] = 0.5; // on the front
  const std::string html = page(table, "gradweave sweep", usual_front(table));
  EXPECT_LT(html.size(), 1'000'000U);
  EXPECT_GT(html.size(), 500'000U);
  EXPECT_NE(html.find("of the points out"), std::string::npos);
  EXPECT_NE(html.find("[777,["), std::string::npos);
}

TEST(SweepPage, OfASweepWithoutNumbersIsAPage) {
  Table table = example_table(2);
  table.rows[0].result.reset();
  table.rows[1].result.reset();
  EXPECT_EQ(gradweave::test::xml_problem(page(table, "c", usual_front(table))), "");
}

} // namespace
} // namespace gradweave::sweep
