// gradweave serve as a user sees it.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

class Serve : public CommandLineTest {
protected:
  static std::vector<std::string> serve(const std::vector<std::string> &arguments) {
    std::vector<std::string> all{"serve", "--job", "mlp:4:forward", "--job", "lenet:1:both",
                                 "--npu", "test8", "--plans",       "2"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }
  void refused(const std::vector<std::string> &arguments, int code, const std::vector<std::string> &words) {
    const CommandResult r = run(arguments);
    EXPECT_EQ(r.code, code) << r.err;
    for (const std::string &word : words)
      EXPECT_NE(r.err.find(word), std::string::npos) << word << " is not in: " << r.err;
  }
  nlohmann::json figures(const std::vector<std::string> &arguments) {
    std::vector<std::string> all = serve(arguments);
    all.insert(all.end(), {"--json", "-"});
    const CommandResult r = run(all);
    EXPECT_EQ(r.code, 0) << r.err;
    return r.code == 0 ? nlohmann::json::parse(r.out) : nlohmann::json();
  }
};

TEST_F(Serve, GivesTheSameForASeed) {
  const auto one = figures({"--requests", "60", "--load", "0.9", "--priority", "0,3", "--deadline", "50000,0"});
  EXPECT_EQ(one, figures({"--requests", "60", "--load", "0.9", "--priority", "0,3", "--deadline", "50000,0"}));
  EXPECT_NE(one["requests"], figures({"--requests", "60", "--arrival-seed", "2"})["requests"]);
  ASSERT_EQ(one["requests"].size(), 60U);
  std::uint64_t before = 0;
  for (const auto &request : one["requests"]) {
    EXPECT_GE(request["arrival_cycle"], before);
    before = request["arrival_cycle"];
    EXPECT_GE(request["begin_cycle"], before);
    EXPECT_GT(request["finish_cycle"], request["begin_cycle"]);
  }
  EXPECT_LE(one["most_passed"].get<std::uint64_t>(),
            one["patience"].get<std::uint64_t>() + one["most_present"].get<std::uint64_t>() - 1);
}

TEST_F(Serve, TakesArrivalsFromAFile) {
  write("a.csv", "# cycle, job\n500,lenet:1:both\n\n0,0\r\n500,1\n");
  const auto run = figures({"--arrivals", "a.csv"});
  ASSERT_EQ(run["requests"].size(), 3U);
  EXPECT_EQ(run["requests"][0]["job"], 0);
  EXPECT_EQ(run["requests"][1]["job"], 1);
  EXPECT_EQ(run["requests"][2]["arrival_cycle"], 500);
}

TEST_F(Serve, RefusesArrivalsThatAreNone) {
  const auto file = [&](const std::string &text, const std::vector<std::string> &words) {
    write("a.csv", text);
    refused(serve({"--arrivals", "a.csv"}), 3, words);
  };
  file("0,0\n-5,0\n", {"a.csv:2: cycle '-5'", "from 0 to"});
  file("0,resnet\n", {"a.csv:1: job 'resnet' is unknown", "mlp:4:forward, lenet:1:both", "from 0"});
  file("0,2\n", {"job '2' is unknown"});
  file("7\n", {"'7' is no arrival; write CYCLE,JOB"});
  file("1.5,0\n", {"cycle '1.5'"});
  file("# none\n", {"no arrivals"});
  refused(serve({"--arrivals", "none.csv"}), 3, {"none.csv"});
}

TEST_F(Serve, RefusesWhatCannotBeServed) {
  refused({"serve"}, 2, {"--job"});
  refused(serve({"--requests", "0"}), 2, {"--requests"});
  refused(serve({"--gap", "0"}), 2, {"--gap"});
  refused(serve({"--load", "nan"}), 2, {"--load"});
  refused(serve({"--patience", "0"}), 2, {"--patience"});
  refused(serve({"--priority", "1"}), 2, {"--priority has 1 values for 2 jobs"});
  refused(serve({"--deadline", "1,2,3"}), 2, {"--deadline has 3 values for 2 jobs"});
  refused(serve({"--job", "mlp:1:forward:2"}), 2, {"requests are the copies here"});
  refused(serve({"--job", "mlp:1:forward:0"}), 2, {"copies is '0'"});
  refused({"serve", "--job", "mlp:0:forward"}, 2, {"the batch is '0'"});
  refused({"serve", "--job", "mlq:1:forward"}, 3, {"no network 'mlq'"});
  refused(serve({"--set", "memory.size_bytes=8192"}), 3, {"memory"});
}

#ifdef GW_HAS_TEST8
TEST_F(Serve, TakesTheSameCyclesOnTheRtlAndEveryBitIsRight) {
  const std::vector<std::string> twenty{"--requests", "20", "--load", "1.2", "--priority", "1,0"};
  const auto on = [&](const std::string &backend) {
    std::vector<std::string> all = twenty;
    all.insert(all.end(), {"--backend", backend});
    return figures(all);
  };
  const auto rtl = on("rtl"), model = on("timing");
  EXPECT_EQ(rtl["requests"], model["requests"]);
  EXPECT_EQ(rtl["cycles"], model["cycles"]);
  for (const auto &network : rtl["networks"]) {
    EXPECT_GT(network["elements"], 0);
    EXPECT_EQ(network["mismatches"], 0);
  }
}
#endif

} // namespace
} // namespace gradweave::test
