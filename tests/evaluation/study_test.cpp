// Study files: what is wrong with one is told with its line; that of igo_micro23 and the figures know the same numbers.
#include "app/evaluation/igo/figures.hpp"
#include "app/evaluation/papers.hpp"
#include "app/evaluation/run.hpp"
#include "sw_models/config/npu_config.hpp"
#include "tests/cli/command_line.hpp"

#include <set>

namespace gradweave::test {
namespace {

using namespace evaluation;

const std::filesystem::path kStudy = std::filesystem::path(GW_SOURCE_DIR) / "app/evaluation/igo/igo.toml";

class StudyTest : public CommandLineTest {
protected:
  /// What load_study() says about the text of the study with `from` replaced by `to`.
  std::string problem(const std::string &from, const std::string &to) const {
    std::string text = read_file(kStudy);
    const std::size_t known = text.find("known = ");
    text.erase(known, text.find(' ', known + 8) - known); // a file that lies beside the study
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    write("study.toml", text);
    try {
      read_layer_study(load_study(work() / "study.toml"));
    } catch (const ConfigError &error) {
      return error.what();
    }
    return {};
  }
};

} // namespace

TEST_F(StudyTest, EveryPublishedNumberHasARowAndEveryRowOfAFigureANumber) {
  const LayerStudy study = read_layer_study(load_study(kStudy));
  // Figures of one core and of the first network suffice to see which numbers they ask for, but 14 and knn need all
  // NPUs.
  const Workloads workloads(study, {});
  WantedUnits units;
  const Context context{study, workloads, units, true, "searched", {"searched"}, "gradweave reproduce igo", 1};
  std::set<std::string> rows;
  for (const igo::FigureMaker &maker : igo::figure_makers()) {
    if (maker.make == igo::search) continue; // has targets, nothing published
    for (const Row &row : maker.make(context).rows) {
      EXPECT_TRUE(row.paper.has_value()) << row.figure << ' ' << row.key;
      EXPECT_EQ(row.command, "gradweave reproduce igo --figure " + std::string(maker.id));
      EXPECT_TRUE(rows.insert(row.figure + " " + row.key).second) << row.key;
    }
  }
  for (const Published &p : study.published)
    EXPECT_EQ(rows.count(p.figure + " " + p.key), 1U) << p.figure << ' ' << p.key;
  EXPECT_EQ(rows.size(), study.published.size());
  EXPECT_GT(units.units().size(), 1000U);
}

TEST_F(StudyTest, ErrorsNameFileLineAndRemedy) {
  EXPECT_NE(problem("small_batch = 4", "small_batch = 0").find("study.toml:10: small_batch must be above 0"),
            std::string::npos)
      << problem("small_batch = 4", "small_batch = 0");
  EXPECT_NE(problem("small_batch = 4", "small_batch = \"4\"").find("study.toml:10: small_batch must be a whole number"),
            std::string::npos);
  EXPECT_NE(problem("small_batch = 4", "tiny_batch = 4").find("has no 'small_batch'; add it"), std::string::npos);
  EXPECT_NE(problem("large_batch = 8", "large_batch = 8\nextra = 1").find("unknown key 'extra'"), std::string::npos);
  EXPECT_NE(problem("step_plans = 20000", "step_plans = 20000\nstart = \"luck\"").find("make it reuse or placement"),
            std::string::npos);
  EXPECT_NE(problem("step_plans = 20000", "step_plans = 20000\nknown = \"none.plans\"").find("none.plans"),
            std::string::npos);
  EXPECT_NE(problem("batches = [8, 16, 32]", "batches = []").find("batches must be a list of at least one item"),
            std::string::npos);
  EXPECT_NE(problem("name = \"goo\"", "name = \"rcnn\"").find("a second network 'rcnn'"), std::string::npos);
  EXPECT_NE(problem("key = \"small.cols\"", "key = \"small.rows\"").find("has a second 'small.rows'"),
            std::string::npos);
  EXPECT_NE(problem("value = 45", "value = \"45\"").find("value must be a number"), std::string::npos);
  EXPECT_NE(problem("title = ", "title ").find("correct the TOML syntax"), std::string::npos);
  EXPECT_NE(problem("[settings]", "[setting]").find("there is no table [settings]"), std::string::npos);
}

TEST_F(StudyTest, AMissingFileIsToldAndAnUnknownNameLists) {
  EXPECT_THROW(load_study(work() / "none.toml"), ConfigError);
  try {
    find_study("nosuch");
    FAIL();
  } catch (const ConfigError &error) {
    EXPECT_NE(std::string(error.what()).find("there are: dpt, flexer, igo"), std::string::npos) << error.what();
  }
}

TEST_F(StudyTest, NamesThePaperWhoseFiguresItHas) {
  Study study = load_study(kStudy);
  EXPECT_EQ(study.paper, "igo");
  EXPECT_EQ(paper_of(study).name, "igo");
  study.paper.clear();
  EXPECT_EQ(paper_of(study).name, papers().front().name);
  study.paper = "nowhere";
  try {
    paper_of(study);
    FAIL() << "there is such a paper";
  } catch (const ConfigError &error) {
    EXPECT_NE(std::string(error.what()).find("no paper 'nowhere'; there are: igo"), std::string::npos) << error.what();
  }
}

TEST_F(StudyTest, FiguresAreSelectedInTheirOrder) {
  const Paper &paper = papers().front();
  EXPECT_EQ(select_figures(paper, "").size(), paper.figures().size());
  const auto two = select_figures(paper, "12,5");
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0], "5");
  EXPECT_EQ(two[1], "12");
  EXPECT_THROW(select_figures(paper, "5,99"), std::invalid_argument);
}

} // namespace gradweave::test
