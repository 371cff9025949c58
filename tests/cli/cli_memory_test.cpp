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

} // namespace
} // namespace gradweave::test
