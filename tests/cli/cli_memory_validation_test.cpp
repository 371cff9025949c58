// The memory model against the compiled steps of igo_micro23's networks on both of its NPUs.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

class MemoryValidation : public CommandLineTest {
protected:
  static constexpr double kTimeMean = 0.06, kTimeWorst = 0.12, kTrafficMean = 0.06, kTrafficWorst = 0.15;

  void holds(const std::string &convolution) {
    const CommandResult r = run({"memory", "--validate", "--convolution", convolution, "--json", "-"});
    ASSERT_EQ(r.code, 0) << r.err;
    const auto json = nlohmann::json::parse(r.out);
    EXPECT_EQ(json["steps"].size(), 18U);
    for (const char *of : {"overlap", "elsewhere"}) {
      const auto &errors = json["errors"][of];
      EXPECT_LE(errors["time_mean"].get<double>(), kTimeMean) << r.err;
      EXPECT_LE(errors["time_worst"].get<double>(), kTimeWorst) << r.err;
      EXPECT_LE(errors["traffic_mean"].get<double>(), kTrafficMean) << r.err;
      EXPECT_LE(errors["traffic_worst"].get<double>(), kTrafficWorst) << r.err;
    }
    EXPECT_LE(json["errors"]["given"]["time_mean"].get<double>(), 0.03) << r.err;
    EXPECT_LE(json["errors"]["given"]["time_worst"].get<double>(), 0.09) << r.err;
  }
};

TEST_F(MemoryValidation, HoldsOfStepsThatReadImages) { holds("image"); }

TEST_F(MemoryValidation, HoldsOfStepsThatReadMatricesOfIm2col) { holds("im2col"); }

} // namespace
} // namespace gradweave::test
