// Evaluations that run on the RTL as well.
#include "app/evaluation/unit/results_file.hpp"
#include "device/device.hpp"
#include "tests/evaluation/tiny_flexer.hpp"
#include "tests/evaluation/tiny_study.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <string>

namespace gradweave::test {
namespace {

using nlohmann::json;

class ReproduceRtlTest : public TinyStudyTest {};

} // namespace

TEST_F(ReproduceRtlTest, ASampleOfEachNetworkAgreesToTheCycle) {
  const CommandResult r = run(command({"--figure", "12", "--sample", "3"}));
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  const json checks = json::parse(output("results.json")).at("rtl");
  EXPECT_EQ(checks.size(), 6U);
  for (const json &check : checks) {
    EXPECT_EQ(check.at("model_cycles"), check.at("rtl_cycles"));
    EXPECT_GT(check.at("elements_checked").get<int>(), 0);
    EXPECT_EQ(check.at("problem"), "");
  }
}

TEST_F(ReproduceRtlTest, EveryUnitRunsIfAskedTo) {
  const CommandResult r = run(command({"--figure", "6,12", "--network", "a", "--rtl"}));
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  const json results = json::parse(output("results.json"));
  // All but those of figure 6 that read dY once: one policy each on the small and the large NPU, one layer with dX.
  EXPECT_EQ(results.at("rtl").size(), results.at("units").get<std::size_t>() - 4) << r.out;
}

TEST_F(ReproduceRtlTest, SeesACycleTooMany) {
  ASSERT_EQ(run(command({"--figure", "12", "--sample", "0"})).code, 0);
  std::map<std::string, std::string> one_more;
  {
    Database file(work() / "out/evaluations.db", DatabaseAccess::kRead);
    Statement all(file, "SELECT key, json_set(value, '$.cycles', value ->> '$.cycles' + 1) FROM evaluations");
    while (all.step())
      one_more[all.text(0)] = all.text(1);
  }
  {
    evaluation::ResultsFile file(work() / "out/evaluations.db");
    for (const auto &[key, text] : one_more)
      file.keep(key, text);
  }
  const CommandResult r = run(command({"--figure", "12", "--sample", "1"}));
  EXPECT_EQ(r.code, 1) << r.out << r.err;
  EXPECT_NE(r.out.find(" cycles instead of "), std::string::npos) << r.out;
}

TEST_F(ReproduceRtlTest, MeasuresAnewWhatWasEdited) {
  ASSERT_EQ(run(command({"--figure", "12", "--sample", "0"})).code, 0);
  const std::string results = output("results.json");
  {
    Database file(work() / "out/evaluations.db", DatabaseAccess::kExclusive);
    file.execute("UPDATE evaluations SET value = json_set(value, '$.cycles', value ->> '$.cycles' + 1)");
  }
  const CommandResult r = run(command({"--figure", "12", "--sample", "1"}));
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  ASSERT_EQ(run(command({"--figure", "12", "--sample", "0"})).code, 0);
  EXPECT_EQ(output("results.json"), results);
}

TEST_F(ReproduceRtlTest, RunsAgainOnAnotherBuildOfTheNpu) {
  const auto kept_after_a_run = [&] {
    const CommandResult r = run(command({"--figure", "12", "--network", "a", "--sample", "1"}));
    EXPECT_EQ(r.code, 0) << r.out << r.err;
    return kept();
  };
  const std::size_t before = kept_after_a_run();
  EXPECT_EQ(kept_after_a_run(), before) << "kept";
  const std::filesystem::path library = find_rtl_library(load_machine("configs/test8.toml"));
  write(library.filename(), read_file(library) + "another build");
  ::setenv("GRADWEAVE_LIB_DIR", work().c_str(), 1);
  EXPECT_EQ(kept_after_a_run(), before + 1);
  ::unsetenv("GRADWEAVE_LIB_DIR");
}

TEST_F(ReproduceRtlTest, FlexerRunsItsSchedules) {
  write("tiny.toml", kTinyFlexerNetwork);
  write("study.toml", kTinyFlexer);
  const CommandResult r = run({"reproduce", "./study.toml", "--figure", "1,9a", "--rtl", "--out", "out"});
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  const json checks = json::parse(output("results.json")).at("rtl");
  std::set<std::string> variants;
  for (const json &check : checks) {
    EXPECT_EQ(check.at("model_cycles"), check.at("rtl_cycles")) << check;
    EXPECT_GT(check.at("elements_checked").get<int>(), 0);
    EXPECT_EQ(check.at("network"), "VGG-16");
    variants.insert(check.at("variant"));
  }
  EXPECT_EQ(variants, (std::set<std::string>{"flexer, test8c2", "flexer, test8c4", "list, test8c2", "list, test8c4",
                                             "loop_order, test8c2", "loop_order, test8c4", "search, test8c2",
                                             "search, test8c4"}));
}

} // namespace gradweave::test
