// gradweave memory as a user sees it.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

class Memory : public CommandLineTest {
protected:
  nlohmann::json sweep(const std::string &policy) {
    const CommandResult r = run({"memory", "--model", "mobilenet_v2", "--batch", "4", "--capacity", "8:68:4",
                                 "--policy", policy, "--json", "-"});
    EXPECT_EQ(r.code, 0) << r.err;
    return nlohmann::json::parse(r.out);
  }
};

TEST_F(Memory, MoreCapacityIsNoSlowerAndRowsAreNoSlowerThanTheThesis) {
  const auto thesis = sweep("thesis")["estimates"], rows = sweep("rows")["estimates"];
  ASSERT_EQ(thesis.size(), 16U);
  ASSERT_EQ(rows.size(), thesis.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_LE(rows[i]["seconds"].get<double>(), thesis[i]["seconds"].get<double>()) << i;
    EXPECT_GE(rows[i]["seconds"].get<double>(), rows[i]["compute_seconds"].get<double>()) << i;
    if (i > 0) {
      EXPECT_LE(rows[i]["seconds"].get<double>(), rows[i - 1]["seconds"].get<double>()) << i;
    }
  }
  EXPECT_LT(rows.back()["seconds"].get<double>(), rows.front()["seconds"].get<double>());
}

TEST_F(Memory, WritesALineForEachCapacity) {
  const CommandResult r = run({"memory", "--model", "mlp", "--capacity", "8,16", "--csv", "-"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out.rfind("capacity_mib,seconds,", 0), 0U) << r.out;
  EXPECT_NE(r.out.find("\n8,"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("\n16,"), std::string::npos) << r.out;
}

TEST_F(Memory, RefusesWhatIsNoMachine) {
  for (const char *capacity : {"0", "-3", "nan", "many", "8:4:1", "8:16:0", "0.001"}) {
    const CommandResult r = run({"memory", "--model", "mlp", "--capacity", capacity});
    EXPECT_EQ(r.code, 2) << capacity;
    EXPECT_NE(r.err.find("capacity"), std::string::npos) << r.err;
  }
  EXPECT_EQ(run({"memory", "--model", "mlp", "--bandwidth", "0"}).code, 2);
  EXPECT_EQ(run({"memory", "--model", "mlp", "--policy", "best"}).code, 2);
}

TEST_F(Memory, NamesAListOfLayersAsWhatItIs) {
  const CommandResult list = run({"memory", "--model", "gemms"});
  EXPECT_EQ(list.code, 3);
  EXPECT_NE(list.err.find("gemms.csv"), std::string::npos) << list.err;
  EXPECT_NE(list.err.find(".graph or .onnx"), std::string::npos) << list.err;
}

TEST_F(Memory, ComparesAStepWithWhatShapesPredict) {
  const CommandResult r = run({"memory", "--validate", "--model", "mlp", "--npu", "small", "--batch", "4", "--capacity",
                               "1,2", "--bandwidth", "11", "--json", "-", "--csv", "steps.csv"});
  ASSERT_EQ(r.code, 0) << r.err;
  const auto json = nlohmann::json::parse(r.out);
  ASSERT_EQ(json["steps"].size(), 2U);
  for (const auto &step : json["steps"]) {
    EXPECT_NEAR(step["overlap"]["cycles"].get<double>() / step["cycles"].get<double>(), 1, 0.12) << step;
    EXPECT_NEAR(step["overlap"]["bytes"].get<double>() / step["bytes"].get<double>(), 1, 0.15) << step;
    EXPECT_LT(step["roofline"]["cycles"], step["overlap"]["cycles"]);
  }
  EXPECT_EQ(json["errors"].size(), 7U);
  EXPECT_NE(r.err.find("errors of"), std::string::npos);
}

TEST_F(Memory, ValidatesWithoutWhatCompiledStepsDoNotHave) {
  EXPECT_EQ(run({"memory", "--validate", "--policy", "rows"}).code, 2);
  EXPECT_EQ(run({"memory", "--validate", "--throughput", "1"}).code, 2);
  EXPECT_EQ(run({"memory", "--model", "mlp", "--schedule", "rearrange"}).code, 2);
  EXPECT_EQ(run({"memory", "--validate", "--model", "mlp", "--npu", "small", "--schedule", "best"}).code, 2);
  EXPECT_EQ(run({"memory", "--model", "mlp", "--json", "-", "--csv", "-"}).code, 2);
}

} // namespace
} // namespace gradweave::test
