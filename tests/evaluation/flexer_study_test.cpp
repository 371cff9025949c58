// The evaluation of Flexer: study and figures know the same numbers, and what is asked for is made.
#include "app/evaluation/flexer/figures.hpp"
#include "app/evaluation/papers.hpp"
#include "sw_models/config/config_error.hpp"
#include "tests/cli/command_line.hpp"
#include "tests/evaluation/tiny_flexer.hpp"
#include "tests/evaluation/well_formed.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace gradweave::test {
namespace {

using namespace evaluation;
using nlohmann::json;

const std::filesystem::path kFlexerStudy = std::filesystem::path(GW_SOURCE_DIR) / "app/evaluation/flexer/flexer.toml";

class FlexerStudyTest : public CommandLineTest {};

std::string problem(std::string text, const std::string &from, const std::string &to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  try {
    flexer::read_flexer_study(parse_study(text, kFlexerStudy), {}, {});
  } catch (const ConfigError &error) {
    return error.what();
  }
  return {};
}

} // namespace

TEST_F(FlexerStudyTest, EveryPublishedNumberHasARow) {
  const Study study = load_study(kFlexerStudy);
  const Paper &paper = paper_of(study);
  ASSERT_EQ(paper.name, "flexer");
  const std::unique_ptr<Repetition> repetition = paper.open(study, {{}, "", "gradweave reproduce flexer", 1});
  WantedUnits wanted;
  std::set<std::string> keys;
  std::vector<Row> rows;
  for (const std::string_view id : paper.figures())
    for (const Row &row : repetition->figure(id, wanted, true).rows) {
      EXPECT_EQ(row.command, "gradweave reproduce flexer --figure " + std::string(id));
      EXPECT_TRUE(keys.insert(row.figure + " " + row.key).second) << row.key;
      EXPECT_EQ(row.ours.size(), repetition->presentation().columns.size());
      rows.push_back(row);
    }
  for (const Published &p : study.published) {
    const auto says = [&p](const Row &row) {
      return row.figure == p.figure && row.paper == p.value && row.key == p.key;
    };
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), says)) << p.figure << ' ' << p.key;
  }
  EXPECT_GT(wanted.works().size(), 500U);
}

TEST_F(FlexerStudyTest, MakesEveryFigureAndAPage) {
  write("tiny.toml", kTinyFlexerNetwork);
  write("study.toml", kTinyFlexer);
  const CommandResult r = run({"reproduce", "./study.toml", "--out", "out", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(xml_problem(read_file(work() / "out/index.html")), "");
  const json made = json::parse(read_file(work() / "out/results.json"));
  EXPECT_EQ(made.at("figures").size(), flexer::figures().size());
  EXPECT_TRUE(made.at("problems").empty());
  for (const json &row : made.at("rows")) // ours is never slower than (b), nor anything faster than the bound
    if (row.at("key").get<std::string>().find("speedup") != std::string::npos) {
      EXPECT_GE(row.at("list_over_b").get<double>(), 1) << row;
      EXPECT_GE(row.at("bound_over_a").get<double>(), row.at("list_over_a").get<double>()) << row;
    }
  // The same again evaluates nothing.
  const std::string kept = read_file(work() / "out/evaluations.db");
  ASSERT_EQ(run({"reproduce", "./study.toml", "--out", "out", "--quiet"}).code, 0);
  EXPECT_EQ(read_file(work() / "out/evaluations.db"), kept);
}

TEST_F(FlexerStudyTest, ErrorsNameFileLineAndRemedy) {
  const std::string text = read_file(kFlexerStudy);
  EXPECT_EQ(problem(text, "plans = 60", "plans = 60"), "");
  EXPECT_NE(problem(text, "plans = 60", "plans = 0").find("plans must be above 0"), std::string::npos);
  EXPECT_NE(problem(text, "name = \"arch2\"", "name = \"arch1\"").find("a second one called 'arch1'"),
            std::string::npos);
  const CommandResult r = run({"reproduce", "flexer", "--network", "AlexNet"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("no network 'AlexNet' in flexer; there are: VGG-16, ResNet-50"), std::string::npos) << r.err;
  const CommandResult machine = run({"reproduce", "flexer", "--machine", "arch5,arch9"});
  EXPECT_EQ(machine.code, 2);
  EXPECT_NE(machine.err.find("no machine 'arch9' in flexer; there are: arch1, arch2"), std::string::npos)
      << machine.err;
  const CommandResult other = run({"reproduce", "igo", "--machine", "arch5"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("'igo' has no machines to choose among"), std::string::npos) << other.err;
}

TEST_F(FlexerStudyTest, AFigureOfOtherNetworksOrMachinesSaysSo) {
  write("tiny.toml", kTinyFlexerNetwork);
  write("study.toml", kTinyFlexer);
  const auto figures = [&](const char *names) {
    return run({"reproduce", "./study.toml", "--out", "out", "--quiet", "--machine", "arch6", "--figure", names});
  };
  const CommandResult none = figures("9a,9b");
  EXPECT_EQ(none.code, 2) << none.out;
  EXPECT_NE(none.err.find("none of the networks and machines chosen is in 'Figure 9a"), std::string::npos) << none.err;
  EXPECT_NE(none.err.find("leave --network and --machine out"), std::string::npos) << none.err;
  EXPECT_FALSE(std::filesystem::exists(work() / "out/index.html"));
  const CommandResult one = figures("9a,tables");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_NE(read_file(work() / "out/index.html").find("Empty: this figure is of other networks"), std::string::npos);
}

TEST_F(FlexerStudyTest, HasOnlyTheNetworksAndMachinesThatAreAskedFor) {
  const Study study = load_study(kFlexerStudy);
  const flexer::FlexerStudy some = flexer::read_flexer_study(study, {"SqueezeNet"}, {"arch6", "arch2"});
  ASSERT_EQ(some.networks.size(), 1U);
  EXPECT_EQ(some.networks[0].name, "SqueezeNet");
  EXPECT_FALSE(some.networks[0].layers.empty());
  ASSERT_EQ(some.machines.size(), 2U);
  EXPECT_EQ(some.machines[0].npu.name, "flexer2");
  EXPECT_EQ(some.machines[1].npu.name, "flexer6");
  const flexer::FlexerStudy all = flexer::read_flexer_study(study, {}, {});
  EXPECT_EQ(all.networks.size(), 4U);
  EXPECT_EQ(all.machines.size(), 8U);
}

} // namespace gradweave::test
