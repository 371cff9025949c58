// The evaluation of the memory model: study and figures know the same numbers, and those that are to be had are.
#include "app/evaluation/memory/figures.hpp"
#include "app/evaluation/papers.hpp"
#include "sw_models/config/config_error.hpp"
#include "tests/cli/command_line.hpp"
#include "tests/evaluation/well_formed.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <set>

namespace gradweave::test {
namespace {

using namespace evaluation;
using nlohmann::json;

const std::filesystem::path kMemoryStudy = std::filesystem::path(GW_SOURCE_DIR) / "app/evaluation/memory/memory.toml";

class MemoryStudyTest : public CommandLineTest {
protected:
  std::string text() const { return read_file(kMemoryStudy); }

  /// A study of small networks and few capacities.
  void write_small() const {
    std::string small = text();
    const auto replace = [&small](const std::string &from, const std::string &to) {
      const std::size_t at = small.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      small.replace(at, from.size(), to);
    };
    replace("from = 24 ", "from = 2 ");
    replace("to = 1000", "to = 8");
    replace("breakdown = [24, 64, 128, 200, 300, 400]", "breakdown = [2, 4]");
    replace("placement = [24, 32, 48, 64, 96, 128, 180, 296, 442, 500]", "placement = [2, 4]");
    replace("batches = [8, 16, 32, 64, 128, 256]", "batches = [2, 4]");
    replace("small_capacity = 24", "small_capacity = 2");
    replace("large_capacity = 400", "large_capacity = 8");
    for (const char *model : {"\"resnet50\"", "\"mobilenet_v2\"", "\"gnmt\"", "\"transformer\""})
      replace(model, "\"mlp\"");
    for (const char *number : {".traffic.", ".time.", ".speedup."}) // capacities that are not swept
      for (std::size_t at = small.find(number); at != std::string::npos; at = small.find(number, at + 1)) {
        const std::size_t from = at + std::string(number).size();
        small.replace(from, small.find('"', from) - from, "4");
      }
    write("small.toml", small);
  }

  /// What is said about the study with `from` replaced by `to`.
  std::string problem(const std::string &from, const std::string &to) const {
    std::string changed = text();
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    try {
      memory::read_memory_study(parse_study(changed, "study.toml"), {});
    } catch (const ConfigError &error) {
      return error.what();
    }
    return {};
  }

  /// Ours by figure and key.
  std::map<std::string, double> numbers(const std::vector<std::string> &more) {
    std::vector<std::string> all{"reproduce", "memory", "--out", "out", "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    const CommandResult r = run(all);
    EXPECT_EQ(r.code, 0) << r.err;
    std::map<std::string, double> found;
    const json results = json::parse(read_file(work() / "out/results.json"));
    for (const json &row : results.at("rows"))
      if (row.at("ours").is_number())
        found[row.at("figure").get<std::string>() + " " + row.at("key").get<std::string>()] = row.at("ours");
    return found;
  }
};

} // namespace

TEST_F(MemoryStudyTest, EveryPublishedNumberHasARow) {
  const Study study = load_study(kMemoryStudy);
  const Paper &paper = paper_of(study);
  ASSERT_EQ(paper.name, "memory");
  const std::unique_ptr<Repetition> repetition = paper.open(study, {{}, "", "gradweave reproduce memory", 1});
  WantedUnits wanted;
  std::set<std::string> rows;
  for (const std::string_view id : paper.figures())
    for (const Row &row : repetition->figure(id, wanted, true).rows) {
      EXPECT_EQ(row.command, "gradweave reproduce memory --figure " + std::string(id));
      EXPECT_TRUE(rows.insert(row.figure + " " + row.key).second) << row.key;
    }
  for (const Published &p : study.published)
    EXPECT_EQ(rows.count(p.figure + " " + p.key), 1U) << p.figure << ' ' << p.key;
  EXPECT_GT(wanted.works().size(), 50U);
  EXPECT_TRUE(wanted.units().empty());
}

TEST_F(MemoryStudyTest, MakesEveryFigureAndAPageAndGoesOnFromKeptResults) {
  write_small();
  const std::vector<std::string> all{"reproduce", "./small.toml", "--out", "out", "--quiet"};
  const CommandResult r = run(all);
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  const std::string page = read_file(work() / "out/index.html");
  EXPECT_EQ(xml_problem(page), "");
  const json results = json::parse(read_file(work() / "out/results.json"));
  EXPECT_EQ(results.at("figures").size(), memory::figures().size());
  for (const json &figure : results.at("figures"))
    for (const char *kind : {"charts", "plots"})
      for (const json &drawing : figure.value(kind, json::array()))
        EXPECT_EQ(xml_problem(read_file(work() / "out" / (drawing.at("name").get<std::string>() + ".svg"))), "");
  const std::string kept = read_file(work() / "out/evaluations.db");
  ASSERT_EQ(run(all).code, 0);
  EXPECT_EQ(read_file(work() / "out/evaluations.db"), kept);
  EXPECT_EQ(read_file(work() / "out/index.html"), page);
}

TEST_F(MemoryStudyTest, RefusesWhatSaysNothingAboutIt) {
  for (const std::vector<std::string> &more :
       {std::vector<std::string>{"--rtl"}, {"--sample", "1"}, {"--policy", "array"}}) {
    std::vector<std::string> all{"reproduce", "memory"};
    all.insert(all.end(), more.begin(), more.end());
    const CommandResult r = run(all);
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_NE(r.err.find(more.front() + ": nothing of 'memory' runs on an NPU"), std::string::npos) << r.err;
  }
  const CommandResult r = run({"reproduce", "memory", "--network", "res"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("no network 'res' in memory; there are: ResNet-50, "), std::string::npos) << r.err;
}

TEST_F(MemoryStudyTest, ErrorsNameFileLineAndRemedy) {
  EXPECT_EQ(problem("from = 24", "from = 24"), "");
  EXPECT_NE(problem("to = 1000", "to = 2").find("from 24 to 2 is empty"), std::string::npos);
  EXPECT_NE(problem("step = 2", "step = 0").find("study.toml:15: step must be above 0"), std::string::npos)
      << problem("step = 2", "step = 0");
  EXPECT_NE(problem("to = 1000", "to = 4000000000").find("make step larger"), std::string::npos);
  EXPECT_NE(problem("name = \"MobileNet\"", "name = \"ResNet-50\"").find("a second network"), std::string::npos);
  EXPECT_NE(problem("network = \"ResNet-50\"", "network = \"res\"").find("no network 'res'"), std::string::npos);
  EXPECT_NE(problem("bandwidth = 616", "bandwith = 616").find("has no 'bandwidth'"), std::string::npos);
}

/// Limits that issue and docs/memory-model.md state.
TEST_F(MemoryStudyTest, HasTheNumbersOfTheThesis) {
  const std::map<std::string, double> ours =
      numbers({"--figure", "5.2,5.3,5.5", "--network", "ResNet-50,MobileNet,Transformer"});
  const auto near = [&ours](const char *key, double published, double limit) {
    ASSERT_EQ(ours.count(key), 1U) << key;
    EXPECT_NEAR(ours.at(key), published, limit) << key;
  };
  near("5.3 ResNet-50.time.500", -48.1, 4);
  near("5.3 Transformer.time.500", -26.5, 4);
  near("5.3 MobileNet.time.500", -69.6, 4);
  near("5.5 ResNet-50.type2.24", 46.15, 2);
  near("5.5 Transformer.type2.24", 26.69, 2);
  near("5.2 ResNet-50.knee", 296, 29.6);
  near("5.2 MobileNet.knee", 442, 44.2);
  near("5.2 Transformer.knee", 180, 18);
  near("5.3 ResNet-50.speedup.24", 1.20, 0.03);
  near("5.3 Transformer.speedup.24", 1.40, 0.03);
}

/// Of 17,628 steps, at the two capacities that count.
TEST_F(MemoryStudyTest, HasThoseOfGnmt) {
  const CommandResult r = run({"memory", "--model", "gnmt", "--batch", "32", "--capacity", "24,500", "--json", "-"});
  ASSERT_EQ(r.code, 0) << r.err;
  const json whole = json::parse(r.out), &estimates = whole.at("estimates");
  const auto traffic = [](const json &e) { return e.at("bytes_in").get<double>() + e.at("bytes_out").get<double>(); };
  EXPECT_NEAR(100 * (estimates[1].at("seconds").get<double>() / estimates[0].at("seconds").get<double>() - 1), -81.1,
              4);
  EXPECT_NEAR(100 * (traffic(estimates[1]) / traffic(estimates[0]) - 1), -96.6, 2);
}

} // namespace gradweave::test
