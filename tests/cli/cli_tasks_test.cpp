// gradweave tasks as a user sees it.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

class Tasks : public CommandLineTest {};

// One product in one tile on test8 (8 x 8), its chain of 24 terms in steps of 8: three tasks of the shortest block, 20
// cycles.
TEST_F(Tasks, CountsAChainOfOneTile) {
  const std::string net = write("net.graph", "graph \"net\"\n"
                                             "input x bf16 [8, 24]\n"
                                             "input labels int32 [8]\n"
                                             "parameter w [24, 8] init \"zeros\"\n"
                                             "y = Gemm(x, w)\n"
                                             "cost = SoftmaxCrossEntropy(y, labels)\n"
                                             "result y\n"
                                             "loss cost\n");
  const CommandResult r = run({"tasks", "--model", "./" + net, "--npu", "test8", "--extent", "forward", "--blocks", "1",
                               "--terms", "8", "--json", "-"});
  ASSERT_EQ(r.code, 0) << r.err;
  const auto json = nlohmann::json::parse(r.out);
  EXPECT_EQ(json["tasks"]["products"]["count"], 3);
  EXPECT_EQ(json["tasks"]["products"]["cycles"], 60);
  EXPECT_GE(json["critical_path_cycles"], 60);
  EXPECT_EQ(json["tasks"]["updates"]["count"], 0);
}

TEST_F(Tasks, RefusesWhatIsNoStep) {
  EXPECT_EQ(run({"tasks", "--extent", "backward"}).code, 2);
  EXPECT_EQ(run({"tasks", "--blocks", "0"}).code, 2);
  const CommandResult list = run({"tasks", "--model", "gemms"});
  EXPECT_EQ(list.code, 3);
  EXPECT_NE(list.err.find("gemms.csv"), std::string::npos) << list.err;
}

} // namespace
} // namespace gradweave::test
