// The thesis's 489 capacities on its four networks: what better placement has to hold at each.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace gradweave::test {
namespace {

using nlohmann::json;

class MemorySweep : public CommandLineTest {
protected:
  struct Point {
    double seconds, traffic;
  };
  std::vector<Point> sweep(const std::string &model, const std::string &batch, const std::string &policy) {
    const CommandResult r = run(
        {"memory", "--model", model, "--batch", batch, "--capacity", "24:1000:2", "--policy", policy, "--json", "-"});
    EXPECT_EQ(r.code, 0) << r.err;
    const json whole = json::parse(r.out);
    std::vector<Point> points;
    for (const json &e : whole.at("estimates"))
      points.push_back(
          {e.at("seconds").get<double>(), e.at("bytes_in").get<double>() + e.at("bytes_out").get<double>()});
    return points;
  }

  /// Rows are never slower than the thesis's policy, and take neither more time nor more traffic with more capacity.
  /// `saved`: percent of the thesis's time, at least, at capacities in MiB.
  void hold(const std::string &model, const std::string &batch, const std::vector<std::pair<int, double>> &saved) {
    const std::vector<Point> thesis = sweep(model, batch, "thesis"), rows = sweep(model, batch, "rows");
    ASSERT_EQ(thesis.size(), 489U);
    ASSERT_EQ(rows.size(), thesis.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_LE(rows[i].seconds, thesis[i].seconds) << 24 + 2 * i << " MiB";
      if (i == 0) continue;
      EXPECT_LE(rows[i].seconds, rows[i - 1].seconds) << 24 + 2 * i << " MiB";
      EXPECT_LE(rows[i].traffic, rows[i - 1].traffic) << 24 + 2 * i << " MiB";
    }
    for (const auto &[mebibytes, percent] : saved) {
      const auto i = static_cast<std::size_t>((mebibytes - 24) / 2);
      EXPECT_GE(100 * (1 - rows[i].seconds / thesis[i].seconds), percent) << mebibytes << " MiB";
    }
  }
};

TEST_F(MemorySweep, OfResNet50) { hold("resnet50", "32", {{24, 13}, {96, 22}}); }
TEST_F(MemorySweep, OfMobileNetV2) { hold("mobilenet_v2", "32", {{24, 18}, {48, 30}}); }
TEST_F(MemorySweep, OfTransformer) { hold("transformer", "128", {{24, 11}}); }
TEST_F(MemorySweep, OfGnmt) { hold("gnmt", "32", {{24, 13}, {96, 10}}); }

} // namespace
} // namespace gradweave::test
