// The reader that the other tests trust finds every broken rule.
#include "tests/trace/timeline_format.hpp"

#include <gtest/gtest.h>

namespace gradweave::test {
namespace {

/// A file of the right form with these events behind the names of one process with rows 11 (a) and 12 (b).
Trace read(const std::string &events) {
  return read_timeline(R"({"otherData":{},"traceEvents":[
    {"ph":"M","ts":0,"pid":1,"name":"process_name","args":{"name":"p"}},
    {"ph":"M","ts":0,"pid":1,"tid":11,"name":"thread_name","args":{"name":"a"}},
    {"ph":"M","ts":0,"pid":1,"tid":12,"name":"thread_name","args":{"name":"b"}})" +
                       (events.empty() ? "" : ",\n" + events) + "]}");
}

std::string slice(int tid, int begin, int duration) {
  return R"({"ph":"X","ts":)" + std::to_string(begin) + R"(,"dur":)" + std::to_string(duration) + R"(,"pid":1,"tid":)" +
         std::to_string(tid) + R"(,"cat":"c","name":"s","args":{}})";
}
std::string counter(int time, int value) {
  return R"({"ph":"C","ts":)" + std::to_string(time) + R"(,"pid":1,"name":"n","args":{"v":)" + std::to_string(value) +
         "}}";
}
std::string arrow(const char *phase, int tid, int time, int id) {
  return std::string(R"({"ph":")") + phase + R"(","bp":"e","ts":)" + std::to_string(time) + R"(,"pid":1,"tid":)" +
         std::to_string(tid) + R"(,"cat":"c","name":"s","id":)" + std::to_string(id) + "}";
}

void expect_problem(const std::string &events, const std::string &text) {
  const std::vector<std::string> problems = read(events).problems;
  ASSERT_EQ(problems.size(), 1U) << events;
  EXPECT_NE(problems[0].find(text), std::string::npos) << problems[0];
}

TEST(TimelineFormat, AcceptsWhatIsRight) {
  const Trace trace = read(slice(11, 0, 5) + "," + slice(12, 3, 5) + "," + slice(11, 5, 1) + "," + counter(0, 3) + "," +
                           counter(7, 0) + "," + arrow("s", 11, 4, 0) + "," + arrow("f", 12, 4, 0));
  EXPECT_EQ(trace.problems, std::vector<std::string>{});
  EXPECT_EQ(trace.processes.at("p").rows.at("a").size(), 2U);
  EXPECT_EQ(trace.processes.at("p").value("n", 6), 3);
  EXPECT_EQ(trace.processes.at("p").value("n", 7), 0);
}

TEST(TimelineFormat, FindsOverlappingBars) { expect_problem(slice(11, 0, 5) + "," + slice(11, 4, 5), "overlaps"); }
TEST(TimelineFormat, FindsNestedBars) { expect_problem(slice(11, 0, 9) + "," + slice(11, 4, 1), "overlaps"); }
TEST(TimelineFormat, FindsEmptyBars) { expect_problem(slice(11, 3, 0), "takes no time"); }
TEST(TimelineFormat, FindsNegativeTimes) { expect_problem(slice(11, -1, 5), "ts of"); }
TEST(TimelineFormat, FindsRowsWithoutName) { expect_problem(slice(13, 0, 5), "row 13 of process 1 has no name"); }
TEST(TimelineFormat, FindsRowsWithTwoNames) {
  expect_problem(R"({"ph":"M","ts":0,"pid":2,"tid":11,"name":"thread_name","args":{"name":"c"}})", "two names");
  expect_problem(R"({"ph":"M","ts":0,"pid":1,"tid":13,"name":"thread_name","args":{"name":"a"}})", "are called a");
}
TEST(TimelineFormat, FindsProcessesWithoutName) {
  expect_problem(R"({"ph":"C","ts":0,"pid":2,"name":"n","args":{"v":1}})", "process 2 has no name");
}
TEST(TimelineFormat, FindsUnknownEvents) {
  expect_problem(R"({"ph":"B","ts":0,"pid":1,"tid":11,"name":"s"})", "unknown phase B");
  expect_problem(R"({"ph":"M","ts":0,"pid":1,"name":"other","args":{}})", "unknown metadata other");
}
TEST(TimelineFormat, FindsNegativeCounters) { expect_problem(counter(0, -1), "is -1"); }
TEST(TimelineFormat, FindsCountersThatGoBackInTime) {
  expect_problem(counter(5, 1) + "," + counter(4, 1), "goes back");
}
TEST(TimelineFormat, FindsCountersThatAreNoNumber) {
  expect_problem(R"({"ph":"C","ts":0,"pid":1,"name":"n","args":{"v":"1"}})", "not one whole number");
}
TEST(TimelineFormat, FindsLooseArrows) {
  const std::string bars = slice(11, 0, 5) + "," + slice(12, 0, 5) + ",";
  expect_problem(bars + arrow("s", 11, 1, 0), "does not end");
  expect_problem(bars + arrow("f", 11, 1, 0), "does not begin");
  expect_problem(bars + arrow("s", 11, 4, 0) + "," + arrow("f", 12, 3, 0), "back in time");
}
TEST(TimelineFormat, FindsArrowsWithoutBars) {
  const std::string bars = slice(11, 0, 5) + "," + slice(12, 6, 5) + ",";
  expect_problem(bars + arrow("s", 11, 5, 0) + "," + arrow("f", 12, 7, 0), "begins in row a at 5");
  expect_problem(bars + arrow("s", 11, 4, 0) + "," + arrow("f", 12, 5, 0), "ends in row b at 5");
}

} // namespace
} // namespace gradweave::test
