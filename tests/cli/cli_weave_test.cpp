// gradweave weave as a user sees it.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

class Weave : public CommandLineTest {
protected:
  /// A command that ends with the code and says all of these.
  void refused(const std::vector<std::string> &arguments, int code, const std::vector<std::string> &words) {
    std::vector<std::string> all{"weave"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const CommandResult r = run(all);
    EXPECT_EQ(r.code, code) << r.err;
    for (const std::string &word : words)
      EXPECT_NE(r.err.find(word), std::string::npos) << word << " is not in: " << r.err;
  }
};

TEST_F(Weave, ChecksEveryBitOfEachJob) {
  const CommandResult r = run({"weave", "--job", "mlp:4:both", "--job", "mlp:2:forward:2", "--npu", "test16", "--plans",
                               "2", "--changes", "20", "--backend", "functional", "--json", "-"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("checked    mlp:2:forward#2: "), std::string::npos) << r.err;
  const auto json = nlohmann::json::parse(r.out);
  ASSERT_EQ(json["jobs"].size(), 3U);
  EXPECT_EQ(json["jobs"][0]["name"], "mlp:4:both");
  for (const auto &job : json["jobs"]) {
    EXPECT_GT(job["elements"], 0);
    EXPECT_EQ(job["mismatches"], 0);
    EXPECT_LE(job["finish_cycles"], json["cycles"]);
  }
  EXPECT_LE(json["cycles"], json["one_by_one_cycles"]);
  EXPECT_GE(json["cycles"], json["bound_cycles"]);
}

TEST_F(Weave, DrawsATimelineWithTheNamesOfJobs) {
  const CommandResult r = run({"weave", "--job", "mlp:2:forward:2", "--npu", "test16", "--plans", "2", "--policy",
                               "round_robin", "--timeline", "t.json"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(read_file(work() / "t.json").find("mlp:2:forward#2/"), std::string::npos);
}

TEST_F(Weave, RefusesJobsThatAreNone) {
  refused({}, 2, {"--job"});
  refused({"--job", "mlp"}, 2, {"--job mlp: a job is MODEL[,NAME=VALUE...]:BATCH:PASS[:COPIES]"});
  refused({"--job", "mlq:1:forward"}, 3, {"no network 'mlq'", "mlp"});
  refused({"--job", "mlp:0:forward"}, 2, {"the batch is '0'", "from 1 to"});
  refused({"--job", "mlp:two:forward"}, 2, {"the batch is 'two'"});
  refused({"--job", "mlp:1:sideways"}, 2, {"--job mlp:1:sideways", "forward, backward, both"});
  refused({"--job", "mlp:1:forward:0"}, 2, {"copies is '0'", "from 1 to 64"});
  refused({"--job", "mlp,deep:1:forward"}, 2, {"'deep' sets no variable"});
  refused({"--job", "mlp,deep=3:1:forward"}, 3, {"'deep'"});
}

TEST_F(Weave, RefusesWhatDoesNotFit) {
  refused({"--job", "mlp:1:forward", "--npu", "test8c2"}, 3, {"one core", "'test8c2' has 2"});
  refused({"--job", "bert_large:256:both", "--npu", "small"}, 3,
          {"bytes of device memory together", "NPU 'small' has", "fewer jobs, copies or samples"});
  refused({"--job", "mlp:1:forward", "--policy", "best"}, 2, {"unknown policy 'best'", "one_by_one", "tiles"});
  refused({"--job", "mlp:1:forward", "--backend", "functional", "--timeline", "t.json"}, 2, {"has no time"});
  refused({"--job", "mlp:1:forward", "--set", "net.batch=3"}, 2, {"--job MODEL,NAME=VALUE"});
}

} // namespace
} // namespace gradweave::test
