// The evaluation of Layerweaver: study and figures know the same numbers, and those that are to be had are.
#include "app/evaluation/layerweaver/figures.hpp"
#include "app/evaluation/papers.hpp"
#include "sw_models/config/config_error.hpp"
#include "tests/cli/command_line.hpp"
#include "tests/evaluation/well_formed.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace gradweave::test {
namespace {

using namespace evaluation;
using nlohmann::json;

const std::filesystem::path kWeaveStudy =
    std::filesystem::path(GW_SOURCE_DIR) / "app/evaluation/layerweaver/layerweaver.toml";

class WeaveStudyTest : public CommandLineTest {
protected:
  std::string text() const { return read_file(kWeaveStudy); }

  std::string changed(const std::string &from, const std::string &to) const {
    std::string all = text();
    const std::size_t at = all.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    all.replace(at, from.size(), to);
    return all;
  }

  /// What is said about the study with `from` replaced by `to`.
  std::string problem(const std::string &from, const std::string &to) const {
    try {
      layerweaver::read_weave_study(parse_study(changed(from, to), "study.toml"), {});
    } catch (const ConfigError &error) {
      return error.what();
    }
    return {};
  }

  json results(const std::vector<std::string> &more) {
    std::vector<std::string> all{"reproduce", "layerweaver", "--out", "out", "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    const CommandResult r = run(all);
    EXPECT_EQ(r.code, 0) << r.err;
    return json::parse(read_file(work() / "out/results.json"));
  }
};

} // namespace

TEST_F(WeaveStudyTest, EveryPublishedNumberHasARow) {
  const Study study = load_study(kWeaveStudy);
  const Paper &paper = paper_of(study);
  ASSERT_EQ(paper.name, "layerweaver");
  const std::unique_ptr<Repetition> repetition = paper.open(study, {{}, "", "gradweave reproduce layerweaver", 1});
  WantedUnits wanted;
  std::set<std::string> keys;
  std::vector<Row> rows;
  for (const std::string_view id : paper.figures())
    for (const Row &row : repetition->figure(id, wanted, true).rows) {
      EXPECT_EQ(row.command, "gradweave reproduce layerweaver --figure " + std::string(id));
      EXPECT_TRUE(keys.insert(row.figure + " " + row.key).second) << row.key;
      EXPECT_EQ(row.note.find("confirmed"), std::string::npos);
      rows.push_back(row);
    }
  for (const Published &p : study.published) {
    const auto says = [&p](const Row &row) {
      return row.figure == p.figure && row.paper == p.value && row.text.find(p.text) != std::string::npos;
    };
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), says)) << p.figure << ' ' << p.key;
  }
  EXPECT_GT(wanted.works().size(), 500U);
  EXPECT_TRUE(wanted.units().empty());
}

TEST_F(WeaveStudyTest, MakesEveryFigureAndAPage) {
  const json made = results({"--network", "MN,BB"});
  EXPECT_EQ(xml_problem(read_file(work() / "out/index.html")), "");
  EXPECT_EQ(made.at("figures").size(), layerweaver::figures().size());
  EXPECT_TRUE(made.at("problems").empty());
  for (const json &figure : made.at("figures"))
    for (const char *kind : {"charts", "plots"})
      for (const json &drawing : figure.value(kind, json::array()))
        EXPECT_EQ(xml_problem(read_file(work() / "out" / (drawing.at("name").get<std::string>() + ".svg"))), "");
}

/// Limits that docs/layerweaver.md states.
TEST_F(WeaveStudyTest, HasTheNumbersOfTheAbstract) {
  std::map<std::string, double> ours;
  const json made = results({"--figure", "abstract"});
  for (const json &row : made.at("rows"))
    ours[row.at("key")] = row.at("ours");
  EXPECT_NEAR(ours.at("multi, data sheet.throughput"), 53.9, 3);
  EXPECT_NEAR(ours.at("multi, data sheet.compute"), 22.8, 5);
  EXPECT_NEAR(ours.at("multi, data sheet.fetch"), 40.7, 3);
  EXPECT_NEAR(ours.at("single, fitted to all three.throughput"), 60.1, 3);
  EXPECT_NEAR(ours.at("single, fitted to all three.compute"), 44.0, 3);
  EXPECT_NEAR(ours.at("single, fitted to all three.fetch"), 28.7, 5);
}

TEST_F(WeaveStudyTest, TilesAreNearTheBoundWhereLayersAreNot) {
  write("small.toml", changed("buffers = [1, 2, 4, 8, 16, 32]", "buffers = [1]"));
  ASSERT_EQ(run({"reproduce", "./small.toml", "--out", "out", "--quiet", "--figure", "buffers"}).code, 0);
  const json made = json::parse(read_file(work() / "out/results.json"));
  std::map<std::string, double> mean;
  for (const json &plot : made.at("figures").at(0).at("plots"))
    if (plot.at("title") == "multi, data sheet")
      for (const json &series : plot.at("series"))
        mean[series.at("name")] = series.at("y").at(0);
  EXPECT_GE(mean.at("tiles"), 1.58);
  EXPECT_GE(mean.at("bounded"), 1.20);
  EXPECT_LE(mean.at("greedy"), mean.at("bounded"));
  EXPECT_LE(mean.at("tiles"), mean.at("bound"));
}

TEST_F(WeaveStudyTest, ErrorsNameFileLineAndRemedy) {
  EXPECT_EQ(problem("repeats = 30", "repeats = 30"), "");
  EXPECT_NE(problem("repeats = 30", "repeats = 0").find("study.toml:9: repeats must be above 0"), std::string::npos)
      << problem("repeats = 30", "repeats = 0");
  EXPECT_NE(problem("name = \"MN\"", "name = \"IC\"").find("a second one called 'IC'"), std::string::npos);
  EXPECT_NE(problem("machine = \"NNP-I-like\"", "machine = \"NNP\"").find("no machine 'NNP'; add a [[machine]]"),
            std::string::npos);
  EXPECT_NE(problem("ties = \"least ahead\"", "ties = \"last\"").find("furthest behind, least ahead, first"),
            std::string::npos);
  EXPECT_NE(problem("bandwidth = 68", "bandwith = 68").find("no 'bandwidth'"), std::string::npos);
  const CommandResult r = run({"reproduce", "layerweaver", "--network", "VGG"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("no network 'VGG' in layerweaver; there are: IC, MN, "), std::string::npos) << r.err;
}

} // namespace gradweave::test
