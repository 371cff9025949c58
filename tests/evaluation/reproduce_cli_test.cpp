// The command as a user runs it, on a network and an NPU of test size.
#include "tests/evaluation/tiny_study.hpp"
#include "tests/evaluation/well_formed.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <thread>

namespace gradweave::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class ReproduceTest : public TinyStudyTest {
protected:
  /// Without RTL.
  std::vector<std::string> command(const std::vector<std::string> &more = {}) const {
    std::vector<std::string> all = TinyStudyTest::command({"--sample", "0"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

} // namespace

TEST_F(ReproduceTest, MakesEveryFigureAndAPage) {
  const CommandResult r = run(command());
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_EQ(xml_problem(output("index.html")), "");
  const json results = json::parse(output("results.json"));
  EXPECT_EQ(results.at("figures").size(), 14U);
  EXPECT_EQ(results.at("units").get<std::size_t>(), kept());
  bool found = false;
  for (const json &row : results.at("rows")) {
    found = found || row.at("paper") == 23.8;
    EXPECT_EQ(row.at("command").get<std::string>().rfind("gradweave reproduce ./tiny.toml", 0), 0U);
  }
  EXPECT_TRUE(found);
  for (const char *file : {"figure-5.csv", "figure-12.csv", "figure-14.csv", "rows.csv"})
    EXPECT_NE(output(file), "") << file;
  for (const json &figure : results.at("figures"))
    for (const json &chart : figure.at("charts"))
      EXPECT_EQ(xml_problem(output(chart.at("name").get<std::string>() + ".svg")), "") << chart.at("name");
}

TEST_F(ReproduceTest, ASecondRunEvaluatesNothingAndSaysTheSame) {
  ASSERT_EQ(run(command()).code, 0);
  const std::string page = output("index.html");
  const std::size_t before = kept();
  ASSERT_EQ(run(command({"--jobs", "1"})).code, 0);
  EXPECT_EQ(kept(), before);
  EXPECT_EQ(output("index.html"), page);
}

TEST_F(ReproduceTest, AFileOfResultsThatIsDamagedOrInUseOrSomethingElseIsLeftAsItIs) {
  const std::vector<std::string> all = command({"--figure", "12", "--network", "a"});
  ASSERT_EQ(run(all).code, 0);
  const std::string whole = output("evaluations.db");
  const auto refused = [&](const std::string &text) {
    const CommandResult r = run(all);
    EXPECT_EQ(r.code, 3) << r.err;
    EXPECT_NE(r.err.find("evaluations.db: "), std::string::npos) << r.err;
    EXPECT_NE(r.err.find(text), std::string::npos) << r.err;
  };
  const auto refused_and_left = [&](const std::string &bytes, const std::string &text) {
    write("out/evaluations.db", bytes);
    refused(text);
    EXPECT_EQ(output("evaluations.db"), bytes);
  };
  refused_and_left(whole.substr(0, whole.size() / 2), "damaged");
  refused_and_left("no database, but a text that is long enough for the header of one, which has a hundred bytes: "
                   "this has more",
                   "it is left as it is");
  write("out/evaluations.db", whole);
  {
    Database other(work() / "out/evaluations.db", DatabaseAccess::kExclusive);
    refused("another process has it to itself");
    other.execute("PRAGMA application_id = 5");
  }
  refused("a database of something else");
  write("out/evaluations.db", whole);
  EXPECT_EQ(run(all).code, 0);
}

TEST_F(ReproduceTest, OnlyTheFiguresAndNetworksAskedFor) {
  ASSERT_EQ(run(command({"--figure", "5", "--network", "b"})).code, 0);
  const json results = json::parse(output("results.json"));
  ASSERT_EQ(results.at("figures").size(), 1U);
  EXPECT_EQ(results.at("figures")[0].at("charts")[0].at("groups"), (json{"b", "mean"}));
}

TEST_F(ReproduceTest, GoesOnAfterAnInterruption) {
  write_study(6000); // seconds of work
  const std::vector<std::string> all = command({"--figure", "12", "--jobs", "1"});
  const pid_t pid = start(all);
  // What is kept goes to the log of the file, which no other process may read as a database meanwhile.
  const auto has_result = [&] {
    return std::filesystem::exists(work() / "out/evaluations.db-wal") &&
           output("evaluations.db-wal").find("\"cycles\":") != std::string::npos;
  };
  for (int i = 0; i < 6000 && !has_result(); ++i)
    std::this_thread::sleep_for(10ms);
  ::kill(pid, SIGINT);
  const CommandResult stopped = finish(pid);
  ASSERT_EQ(stopped.code, 130) << stopped.out << stopped.err;
  EXPECT_NE(stopped.err.find("the same command goes on from there"), std::string::npos) << stopped.err;
  EXPECT_FALSE(std::filesystem::exists(work() / "out/index.html"));
  const std::size_t before = kept();
  EXPECT_GT(before, 0U);

  ASSERT_EQ(run(all).code, 0);
  const std::string page = output("index.html");
  EXPECT_GT(kept(), before);
  std::filesystem::remove_all(work() / "out");
  ASSERT_EQ(run(all).code, 0);
  EXPECT_EQ(output("index.html"), page);
}

TEST_F(ReproduceTest, StepsThatAreKnownAreNotSearchedAndTakeTheSameCycles) {
  const std::vector<std::string> all = command({"--figure", "search"});
  ASSERT_EQ(run(all).code, 0);
  const std::string plans = output("steps.plans"), rows = output("rows.csv");
  EXPECT_NE(plans.find("step "), std::string::npos);
  const std::string study = read_file(work() / "tiny.toml");
  const std::size_t at = study.find("[search]\n");
  ASSERT_NE(at, std::string::npos);
  write("tiny.toml", study.substr(0, at) + "[search]\nknown = \"known.plans\"" + study.substr(at + 8));
  write("known.plans", plans);
  std::filesystem::remove_all(work() / "out");
  ASSERT_EQ(run(all).code, 0);
  EXPECT_EQ(output("rows.csv"), rows);
  EXPECT_EQ(output("known.plans"), plans);
  const std::size_t timed = kept();
  std::vector<std::string> anew = all;
  anew.emplace_back("--search");
  ASSERT_EQ(run(anew).code, 0);
  EXPECT_GT(kept(), timed) << "nothing was searched";
  EXPECT_EQ(output("known.plans"), plans);

  write("known.plans", "# nothing is known\n"); // and nothing is searched unasked
  const std::size_t searched = kept();
  ASSERT_EQ(run(all).code, 0);
  EXPECT_EQ(kept(), searched);
  EXPECT_NE(output("index.html").find("nobody has searched this step"), std::string::npos);

  const auto refused = [&](const std::string &text) {
    write("known.plans", text);
    const CommandResult r = run(all);
    EXPECT_EQ(r.code, 3) << r.err;
    EXPECT_NE(r.err.find("known.plans:"), std::string::npos) << r.err;
  };
  refused(plans.substr(0, plans.size() / 2));
  refused("no plans\n" + plans);
  std::filesystem::remove(work() / "known.plans");
  EXPECT_EQ(run(all).code, 3);
  const CommandResult other = run({"reproduce", "memory", "--search"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("--search: 'memory'"), std::string::npos) << other.err;
}

TEST_F(ReproduceTest, BadInputIsToldBeforeAnythingRuns) {
  const auto fails = [&](const std::vector<std::string> &more, int code, const std::string &text) {
    std::vector<std::string> all{"reproduce", "./tiny.toml", "--sample", "0"};
    all.insert(all.end(), more.begin(), more.end());
    const CommandResult r = run(all);
    EXPECT_EQ(r.code, code) << r.err;
    EXPECT_NE(r.err.find(text), std::string::npos) << r.err;
  };
  fails({"--figure", "99"}, 2, "no figure '99'; there are: table3, ");
  fails({"--network", "c"}, 2, "no network 'c' in tiny; there are: a, b");
  fails({"--out", "tiny.toml"}, 5, "tiny.toml");
  fails({"--out", "/proc/none"}, 5, "/proc/none");
  fails({"--jobs", "0"}, 2, "jobs");
  fails({"--policy", "nonsense"}, 2, "nonsense");
  CommandResult r = run({"reproduce", "nosuch"});
  EXPECT_EQ(r.code, 3) << r.err;
  EXPECT_NE(r.err.find("there are: dpt, flexer, igo"), std::string::npos) << r.err;
  r = run({"reproduce"});
  EXPECT_EQ(r.code, 2);
  EXPECT_FALSE(std::filesystem::exists(work() / "reproduce"));
}

TEST_F(ReproduceTest, AskedForAnRtlThatIsNotThereItFails) {
  ::setenv("GRADWEAVE_LIB_DIR", "/nonexistent", 1);
  const CommandResult r = run(TinyStudyTest::command({"--figure", "12", "--sample", "1"}));
  const CommandResult unasked = run(TinyStudyTest::command({"--figure", "12"}));
  ::unsetenv("GRADWEAVE_LIB_DIR");
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_NE(r.err.find("`make cosim NPU=test8` in the source tree builds it"), std::string::npos) << r.err;
  EXPECT_EQ(unasked.code, 0) << unasked.err;
}

} // namespace gradweave::test
