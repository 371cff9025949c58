// Timelines of the RTL.
#include "tests/cli/command_line.hpp"
#include "tests/trace/timeline_format.hpp"

#include <gtest/gtest.h>

namespace gradweave {
namespace {

class TimelineOfRtl : public test::CommandLineTest {
protected:
  test::Trace cosim(const std::vector<std::string> &more) const {
    write("net.csv", "name,M,K,N\nlayer,40,30,20\nlonger,50,30,40\n");
    std::vector<std::string> arguments{"cosim", "--model", "net.csv", "--npu", "test8", "--timeline", "t.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const test::CommandResult result = run(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    test::Trace trace = test::read_timeline(test::read_file(work() / "t.json"));
    EXPECT_EQ(trace.problems, std::vector<std::string>{});
    return trace;
  }
};

TEST_F(TimelineOfRtl, HasTheModelBesideItToTheCycle) {
  const test::Trace trace = cosim({});
  const test::TraceProcess &rtl = trace.processes.at("RTL: net on test8, rearrange"),
                           &model = trace.processes.at("timing model: net on test8, rearrange");
  EXPECT_EQ(rtl.counters, model.counters);
  ASSERT_EQ(rtl.rows.at("layers").size(), 2U);
  EXPECT_EQ(rtl.rows.at("layers")[1].begin, rtl.rows.at("layers")[0].end);
  ASSERT_EQ(rtl.rows.size(), model.rows.size());
  for (const auto &[name, row] : rtl.rows) {
    ASSERT_EQ(row.size(), model.rows.at(name).size()) << name;
    for (std::size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(row[i].begin, model.rows.at(name)[i].begin) << name << " " << row[i].name;
      EXPECT_EQ(row[i].end, model.rows.at(name)[i].end) << name << " " << row[i].name;
      EXPECT_EQ(row[i].args, model.rows.at(name)[i].args) << name;
    }
  }
}

TEST_F(TimelineOfRtl, HasTheModelBesideItWhenSignalsAreTraced) {
  const test::Trace trace = cosim({"--trace", "fst"});
  EXPECT_EQ(trace.processes.size(), 2U);
  EXPECT_EQ(trace.processes.count("timing model: net on test8, rearrange"), 1U);
}

TEST_F(TimelineOfRtl, StandsAloneIfTheBusStallsAtRandom) {
  const test::Trace trace = cosim({"--stall-probability", "0.2"});
  ASSERT_EQ(trace.processes.size(), 1U);
  EXPECT_EQ(trace.processes.begin()->first, "RTL: net on test8, rearrange");
}

} // namespace
} // namespace gradweave
