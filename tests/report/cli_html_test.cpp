// --html of the commands that run something: a page or none, from the same record as --json.
#include "tests/cli/command_line.hpp"
#include "tests/evaluation/well_formed.hpp"
#include "tests/report/requests.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

using Json = nlohmann::json;

class CliHtml : public CommandLineTest {
protected:
  /// Runs, and sees that page.html is a whole page. Returns it.
  std::string page_of(std::vector<std::string> arguments, int code = 0) const {
    arguments.insert(arguments.end(), {"--html", "page.html", "--quiet"});
    const CommandResult r = run(arguments);
    EXPECT_EQ(r.code, code) << r.out << r.err;
    std::string html = read_file(work() / "page.html");
    EXPECT_EQ(xml_problem(html), "");
    EXPECT_EQ(requests_of(html), std::vector<std::string>{});
    EXPECT_LT(html.size(), 1'000'000U);
    EXPECT_NE(html.find("</html>"), std::string::npos);
    return html;
  }
};

/// What the page's element with this id holds.
Json data_of(const std::string &html, const std::string &id) {
  const std::string head = "id=\"" + id + "\">";
  const std::size_t begin = html.find(head) + head.size();
  return Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

TEST_F(CliHtml, SimulateWritesWhatItsJsonHas) {
  const std::string html =
      page_of({"simulate", "--model", write("t.csv", kLayers), "--npu", "test8", "--json", "r.json"});
  const Json report = Json::parse(read_file(work() / "r.json"));
  const Json drawn = data_of(html, "timeline-data");
  ASSERT_EQ(drawn["layers"].size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const Json &layer = report["layers"][i];
    EXPECT_EQ(drawn["layers"][i][0], layer["name"]);
    EXPECT_EQ(drawn["layers"][i][1], layer["cycles"]);
    EXPECT_EQ(drawn["layers"][i][2][1][2], layer["sketch"]["rows"][1]["bars"]);
    EXPECT_EQ(drawn["layers"][i][4], layer["sketch"]["occupied"]);
    EXPECT_EQ(layer["sketch"]["cycles"], layer["cycles"]);
    EXPECT_EQ(layer["sketch"]["commands"], layer["commands"]);
    EXPECT_EQ(layer["sketch"]["grain"], 0);
  }
  EXPECT_NE(html.find(report["reproduce"].get<std::string>()), std::string::npos);
}

TEST_F(CliHtml, EscapesNamesOfNetworksAndLayers) {
  const std::string file = write("<script>alert(1)<|script>&.csv", "name,M,K,N\n<script>alert(2)</script>,20,30,40\n");
  const std::string html = page_of({"simulate", "--model", "./" + file, "--npu", "test8"});
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(2)"), std::string::npos);
}

TEST_F(CliHtml, CosimWritesAPageOfEachBackend) {
  const std::string model = write("t.csv", kLayers);
  const std::vector<std::string> work{"cosim", "--model", model, "--npu", "test8", "--schedule", "all", "--backend"};
  std::vector<std::string> functional = work, timing = work;
  functional.emplace_back("functional");
  timing.emplace_back("timing");
  const std::string untimed = page_of(functional);
  EXPECT_NE(untimed.find("equals the golden model"), std::string::npos);
  EXPECT_EQ(untimed.find("timeline-data"), std::string::npos);
  const std::string timed = page_of(timing);
  EXPECT_NE(timed.find("timeline-data"), std::string::npos);
  EXPECT_NE(timed.find("id=\"schedules\""), std::string::npos);
}

TEST_F(CliHtml, AStreamHasAPage) {
  const std::string model = write("t.csv", kLayers);
  ASSERT_EQ(run({"compile", "--model", model, "--npu", "test8", "--out", "streams"}).code, 0);
  EXPECT_NE(page_of({"simulate", "streams/0-a.gws", "--npu", "test8"}).find("timeline-data"), std::string::npos);
}

TEST_F(CliHtml, SearchAndTrainWritePages) {
  const std::string searched = page_of({"search", "--model", write("t.csv", kLayers), "--npu", "test8", "--plans", "2",
                                        "--step-plans", "4", "--check", "functional", "--json", "r.json"});
  const Json report = Json::parse(read_file(work() / "r.json"));
  EXPECT_EQ(report["step_falls"].back()["cost"], report["step_cycles"]);
  std::uint64_t moved = 0;
  for (const Json &tensor : report["step_traffic"])
    moved += tensor["read_bytes"].get<std::uint64_t>() + tensor["write_bytes"].get<std::uint64_t>();
  EXPECT_EQ(moved, report["step_bytes"]);
  EXPECT_NE(searched.find("PASS: the step ran"), std::string::npos);
  const std::string trained =
      page_of({"train", "--model", "mlp_fashion", "--data", "synthetic", "--steps", "3", "--batch", "4"});
  EXPECT_NE(trained.find("id=\"loss\""), std::string::npos);
}

TEST_F(CliHtml, OneStepOfCosimIsTraining) {
  EXPECT_NE(page_of({"cosim", "--step", "--model", "mlp_fashion", "--batch", "4", "--npu", "test8", "--backend",
                     "functional"})
                .find("every bit equal"),
            std::string::npos);
}

TEST_F(CliHtml, IsRefusedBeforeTheRun) {
  const std::string model = write("t.csv", kLayers);
  for (const char *command : {"simulate", "search"}) {
    const CommandResult r = run({command, "--model", model, "--npu", "test8", "--html", "none/p.html"});
    EXPECT_EQ(r.code, 5) << r.out << r.err;
    EXPECT_NE(r.err.find("none/p.html"), std::string::npos) << r.err;
    EXPECT_EQ(r.out.find("total"), std::string::npos) << "it ran";
  }
  const CommandResult both = run({"simulate", "--model", model, "--npu", "test8", "--html", "-", "--json", "-"});
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.err.find("--html"), std::string::npos);
  const CommandResult background =
      run({"cosim", "--model", model, "--npu", "test8", "--backend", "timing", "--html", "-", "--background"});
  EXPECT_EQ(background.code, 2);
  EXPECT_NE(background.err.find("--html -"), std::string::npos) << background.err;
}

TEST_F(CliHtml, KeepsAnEarlierPageIfTheRunFails) {
  write("page.html", "earlier");
  const CommandResult r =
      run({"simulate", "--model", write("t.csv", "name,M,K,N\na,x,1,1\n"), "--npu", "test8", "--html", "page.html"});
  EXPECT_EQ(r.code, 3);
  EXPECT_EQ(read_file(work() / "page.html"), "earlier");
}

} // namespace
} // namespace gradweave::test
