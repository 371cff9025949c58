// Pages are made of the record alone: whole, whatever it says, and small, however long it is.
#include "app/page/bar_rows.hpp"
#include "app/page/document.hpp"
#include "app/report/page/run_page.hpp"
#include "app/report/page/search_page.hpp"
#include "app/report/page/training_page.hpp"
#include "tests/evaluation/well_formed.hpp"
#include "tests/report/requests.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

using Json = nlohmann::ordered_json;

const std::string kHostile = "<script>alert(1)</script>\"'&]]>";

Json energy() {
  return {{"array_pj", 2e9}, {"scratchpad_pj", 1e9}, {"bus_pj", 1e9},     {"dram_pj", 4e9},
          {"static_pj", 0},  {"total_pj", 8e9},      {"mean_watts", 1.5}, {"energy_delay_joule_seconds", 2e-6}};
}

Json layer(const std::string &name, std::uint64_t cycles) {
  Json counters;
  for (const char *counter : {"COMPUTE_ACTIVE", "LOAD_ACTIVE", "STORE_ACTIVE", "LOAD_SEM"})
    counters[counter] = cycles / 2;
  const Json moved{{"read_bytes", 600},    {"write_bytes", 0},      {"read_bus_bytes", 640},
                   {"write_bus_bytes", 0}, {"spill_read_bytes", 0}, {"spill_write_bytes", 0}};
  return {{"name", name},
          {"index", 0},
          {"m", 20},
          {"k", 30},
          {"n", 40},
          {"groups", 1},
          {"schedule", "rearrange"},
          {"chosen_schedule", "interleave"},
          {"commands", 7},
          {"macs", 48000},
          {"cycles", cycles},
          {"compute_cycles", cycles / 2},
          {"compute_bound", cycles / 4},
          {"traffic_bound", cycles / 3},
          {"io_bound", 0},
          {"compulsory_bytes", 400},
          {"bound", cycles / 2},
          {"dram", {{"X", moved}, {"dW", moved}}},
          {"counters", counters},
          {"outputs", Json::array()},
          {"array_utilisation", 0.5},
          {"dram_utilisation", 0.25},
          {"energy", energy()},
          {"outcome", "pass"}};
}

Json sketch(std::size_t bars) {
  Json numbers = Json::array(), occupied = Json::array();
  for (std::size_t i = 0; i < bars; ++i) {
    for (const std::size_t number : {std::size_t{3}, std::size_t{97}, i % 2, std::size_t{1}})
      numbers.push_back(number);
    if (i % 2 == 0) occupied.push_back(i % 64);
  }
  return {{"cycles", 100 * bars}, {"commands", bars},
          {"grain", 0},           {"rows", {{{"engine", "load"}, {"tensors", {"X", "dW"}}, {"bars", numbers}}}},
          {"spm_rows", 64},       {"interval", 128},
          {"occupied", occupied}};
}

Json run(const std::vector<Json> &layers) {
  return {{"verdict", "PASS"},
          {"network", kHostile},
          {"network_layers", layers.size()},
          {"not_counted", {{"products", Json::array()}, {"text", ""}}},
          {"npu",
           {{"name", "test8"},
            {"rows", 8},
            {"cols", 8},
            {"cores", 1},
            {"spm_bytes", 8192},
            {"clock_ghz", 1},
            {"dram_gb_s", 8}}},
          {"pass", "backward"},
          {"backend", "timing"},
          {"data", "none"},
          {"seed", 1},
          {"reproduce", "gradweave simulate --model '" + kHostile + "'"},
          {"wall_seconds", 0.5},
          {"failures", Json::array()},
          {"totals",
           {{{"schedule", "rearrange"},
             {"macs", 48000},
             {"cycles", 1000},
             {"milliseconds", 0.001},
             {"array_utilisation", 0.75},
             {"dram_utilisation", 0.25},
             {"bound", 500},
             {"dram_read_bytes", 1200},
             {"dram_write_bytes", 0},
             {"energy", energy()}}}},
          {"layers", layers}};
}

void expect_whole(const std::string &html) {
  EXPECT_EQ(xml_problem(html), "");
  EXPECT_EQ(requests_of(html), std::vector<std::string>{});
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_LT(html.size(), page::kMostPageBytes);
  EXPECT_EQ(html.find("nan"), std::string::npos);
}

TEST(Requests, AreFound) {
  EXPECT_EQ(requests_of("<a href=\"#here\"></a><p>see https://x</p>").size(), 0U);
  for (const char *bad : {"<img src=\"a.png\"/>", "<a href=\"https://x\"/>", "<style>a { background: url(x) }</style>",
                          "<style>@import 'x';</style>", "<script>fetch('x')</script>"})
    EXPECT_EQ(requests_of(bad).size(), 1U) << bad;
}

TEST(RunPage, SaysTheVerdictFirstAndHasAllSections) {
  Json one = layer(kHostile, 1000);
  one["sketch"] = sketch(4);
  const std::string html = report::run_page(run({one}));
  expect_whole(html);
  std::size_t last = html.find("PASS");
  for (const char *part :
       {"1,000", "0.001 ms", "75.0%", "2.000 x", "gradweave simulate", "id=\"roofline\"", "id=\"engines\"",
        "id=\"traffic\"", "id=\"bounds\"", "id=\"energy\"", "In all 8 mJ: array 25.0 %", "DRAM 50.0 %",
        "energy-delay product 2 mJ ms", "id=\"timeline\"", "id=\"timeline-data\"", "id=\"layers\"", "20x30x40",
        "rearrange&gt;interleave"}) {
    const std::size_t at = html.find(part, last);
    ASSERT_NE(at, std::string::npos) << part << " is missing, or not behind what comes before it";
    last = at;
  }
}

TEST(RunPage, LeavesOutWhatTheRecordHasNot) {
  Json untimed = run({layer("a", 0)});
  untimed["totals"][0]["cycles"] = 0;
  const std::string html = report::run_page(untimed);
  expect_whole(html);
  for (const char *part :
       {"id=\"roofline\"", "id=\"engines\"", "id=\"timeline\"", "<dt>cycles<", "scope=\"col\">cycles<"})
    EXPECT_EQ(html.find(part), std::string::npos) << part;

  Json stream = run({layer("s", 1000)});
  stream["stream"] = "s.gws";
  for (const char *field : {"m", "k", "n", "schedule", "chosen_schedule", "compute_cycles", "dram", "bound"})
    stream["layers"][0].erase(field);
  expect_whole(report::run_page(stream));

  Json nothing = run({});
  nothing["verdict"] = "NOT RUN";
  nothing["failures"] = {kHostile};
  nothing["totals"] = Json::array();
  const std::string refused = report::run_page(nothing);
  expect_whole(refused);
  EXPECT_NE(refused.find("What went wrong"), std::string::npos);
}

TEST(RunPage, StaysSmallAndSaysWhatItLeavesOut) {
  std::vector<Json> layers;
  for (std::size_t i = 0; i < 1500; ++i) {
    layers.push_back(layer("encoder" + std::to_string(i) + ".attention_output_of_a_long_name", 100 + i));
    layers.back()["sketch"] = sketch(20); // together as many bars as all sketches of a run may have
  }
  layers[0]["sketch"]["grain"] = 4096;
  const std::string html = report::run_page(run(layers));
  expect_whole(html);
  EXPECT_NE(html.find("all but the 300 slowest of 1,500 rows"), std::string::npos);
  EXPECT_NE(html.find("Drawn are the 80 of 1500 layers"), std::string::npos);
  EXPECT_NE(html.find("shorter than 4,096 cycles"), std::string::npos);
}

TEST(SearchPage, DrawsHowTheBestStepFell) {
  const Json effort{{"plans_tried", 90}, {"simulated", 40}};
  Json report{{"network", kHostile},
              {"npu", "test8"},
              {"pass", "both"},
              {"layers",
               {{{"name", kHostile},
                 {"m", 1},
                 {"k", 2},
                 {"n", 3},
                 {"groups", 1},
                 {"bound_cycles", 100},
                 {"paper_cycles", 300},
                 {"conventional_cycles", 200},
                 {"searched_cycles", 150},
                 {"order", "dX first"},
                 {"step_plan", "tiles " + std::string(200, 'x')}}}},
              {"objective", "cycles"},
              {"cost_unit", "cycles"},
              {"paper_cycles", 300},
              {"conventional_cycles", 200},
              {"searched_cycles", 150},
              {"step_cycles", 140},
              {"step_effort", effort},
              {"step_bound_cycles", 100},
              {"step_simulated", 20},
              {"step_falls", {{{"simulated", 0}, {"cost", 180}}, {{"simulated", 7}, {"cost", 140}}}},
              {"reproduce", "gradweave search"}};
  const std::string html = report::search_page(report);
  expect_whole(html);
  EXPECT_NE(html.find("1 improvements, 180 to 140 cycles"), std::string::npos);
  EXPECT_NE(html.find("1.400 x"), std::string::npos);
  for (const std::string plans : {"paper_cost", "conventional_cost", "searched_cost"}) {
    report[plans] = 170;
    report["layers"][0][plans] = 170;
  }
  report["objective"] = "energy";
  report["cost_unit"] = "nJ";
  report["layers"][0]["bound_cycles"] = 0;
  const std::string energy = report::search_page(report);
  expect_whole(energy);
  EXPECT_NE(energy.find("1 improvements, 180 to 140 nJ"), std::string::npos);
  EXPECT_EQ(energy.find("inf"), std::string::npos);
  report["step_falls"] = Json::array();
  report["check"] = {{"outcome", "mismatch"}, {"outputs", Json::array()}, {"failures", {kHostile}}};
  const std::string failed = report::search_page(report);
  expect_whole(failed);
  EXPECT_NE(failed.find("FAIL: mismatch"), std::string::npos);
}

TEST(TrainingPage, DrawsLossesAndShares) {
  Json report{{"model", kHostile},
              {"data", "synthetic"},
              {"batch", 4},
              {"seed", 1},
              {"backend", "rtl"},
              {"npu", "test8"},
              {"optimizer", "adamw"},
              {"rate", 0.001},
              {"warmup", 0},
              {"rate_schedule", "constant"},
              {"losses", {2.5, nullptr, 1.25}},
              {"seconds", 3.5},
              {"verdict", "fail"},
              {"reproduce", "gradweave train"},
              {"compared", {{"elements", 1234}}},
              {"step",
               {{"device_multiply_adds", 75},
                {"host_multiply_adds", 25},
                {"host_operations", 10},
                {"device_bytes", 1},
                {"host_bytes", 1},
                {"device_ops", 3},
                {"host_ops", 1},
                {"cycles", 99}}},
              {"failures", {kHostile}}};
  const std::string html = report::training_page(report);
  EXPECT_EQ(xml_problem(html), "");
  EXPECT_NE(html.find("2.5000"), std::string::npos);
  EXPECT_NE(html.find("What went wrong"), std::string::npos);
  for (std::size_t i = 0; i < 200'000; ++i)
    report["losses"].push_back(1.0 / static_cast<double>(i + 1));
  report["losses"][1] = 2.0;
  expect_whole(report::training_page(report));
}

TEST(BarRows, NamesPartsMarksAndValues) {
  page::BarRows chart{"t & u",
                      "MB",
                      {"X", "W"},
                      {{"a layer with a name of more than thirty letters", {{"first", {1, 2}, 2.5}}, "3 MB"}}};
  const std::string svg = draw(chart, 4);
  EXPECT_EQ(xml_problem(svg), "");
  EXPECT_NE(svg.find("chart4-title"), std::string::npos);
  EXPECT_NE(svg.find("<title>a layer with a name of more than thirty letters</title>"), std::string::npos);
  EXPECT_NE(svg.find("first: W 2"), std::string::npos);
  EXPECT_NE(svg.find(">3 MB<"), std::string::npos);
  chart.rows.clear();
  EXPECT_EQ(xml_problem(draw(chart, 0)), "");
}

TEST(Document, MakesCellsWideEnoughForThreeLines) {
  page::Document page("t");
  page.table({"", {"text", "number"}, {{std::string(300, 'w'), "1"}, {"short", "2"}}},
             {{page::CellKind::kText, page::CellKind::kNumber}, true});
  const std::string html = page.finish();
  EXPECT_EQ(xml_problem(html), "");
  EXPECT_NE(html.find("<td style=\"min-width:108ch\">ww"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"line\">short"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"number\">1<"), std::string::npos);
  EXPECT_NE(html.find("table.sortable"), std::string::npos);
}

} // namespace
} // namespace gradweave::test
