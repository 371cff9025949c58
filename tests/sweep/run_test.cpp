// Runs of sweeps: each point once, whoever works at it and however it ends.
#include "tests/support/scratch_directory.hpp"
#include "tests/sweep/example.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace gradweave::sweep {
namespace {

namespace fs = std::filesystem;
using namespace test;

class SweepRun : public testing::Test {
protected:
  fs::path file() const { return scratch_ / "s.db"; }
  fs::path log() const { return scratch_ / "log"; }
  Store open(std::size_t points) const { return {file(), kIdentity, example_points(points), DatabaseAccess::kShared}; }

  /// Work that notes in a file that it was done, and takes its time.
  std::vector<Work> noted_work(std::size_t count, unsigned milliseconds) const {
    std::vector<Work> work = example_work(count);
    for (std::size_t i = 0; i < count; ++i)
      work[i].evaluate = [i, milliseconds, log = log().string()] {
        ::usleep(milliseconds * 1000);
        const std::string line = std::to_string(i) + '\n';
        const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
        if (::write(fd, line.data(), line.size()) < 0) throw std::runtime_error("no log");
        ::close(fd);
        return example_result(i);
      };
    return work;
  }
  std::map<std::string, int> done() const {
    std::map<std::string, int> count;
    std::ifstream in(log());
    for (std::string line; std::getline(in, line);)
      ++count[line];
    return count;
  }

  pid_t start(std::size_t points, unsigned milliseconds) const {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    const SignalGuard signals;
    Store store = open(points);
    const RunCount count = run(store, noted_work(points, milliseconds), 2, true, signals);
    ::_exit(count.done + count.others + count.known == points ? 0 : 1);
  }
  static int end(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status;
  }

private:
  const gradweave::test::ScratchDirectory scratch_;
};

void expect_complete(const fs::path &file, std::size_t points) {
  const Table table = read_table(file);
  ASSERT_EQ(table.rows.size(), points);
  for (std::size_t i = 0; i < points; ++i) {
    ASSERT_TRUE(table.rows[i].result) << i;
    EXPECT_EQ(table.rows[i].result->values, example_result(i).values);
  }
}

TEST_F(SweepRun, GivesEachPointItsResult) {
  const SignalGuard signals;
  Store store = open(50);
  const RunCount count = run(store, example_work(50), 3, true, signals);
  EXPECT_EQ(count.done, 50U);
  EXPECT_EQ(count.known, 0U);
  expect_complete(file(), 50);
  const RunCount again = run(store, example_work(50), 3, true, signals);
  EXPECT_EQ(again.done, 0U);
  EXPECT_EQ(again.known, 50U);
}

TEST_F(SweepRun, SeveralProcessesDoEachPointOnce) {
  open(60);
  std::vector<pid_t> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(start(60, 5));
  for (const pid_t pid : all)
    EXPECT_EQ(end(pid), 0);
  expect_complete(file(), 60);
  const auto count = done();
  EXPECT_EQ(count.size(), 60U);
  for (const auto &[point, times] : count)
    EXPECT_EQ(times, 1) << point;
}

/// Points are worked at one after another in two processes: those in flight are a batch each.
TEST_F(SweepRun, AKilledProcessLosesWhatItWasAt) {
  open(40);
  const pid_t pid = start(40, 30);
  while (done().size() < 15)
    ::usleep(2000);
  ::kill(pid, SIGKILL);
  end(pid);
  const std::size_t kept = 40 - read_table(file()).missing();
  EXPECT_GE(kept + 6, 15U) << "two batches of three are in flight";
  EXPECT_EQ(end(start(40, 1)), 0);
  expect_complete(file(), 40);
  for (const auto &[point, times] : done())
    EXPECT_LE(times, 2) << point;
}

TEST_F(SweepRun, OthersFinishWhatAKilledProcessHad) {
  open(20);
  const pid_t first = start(20, 200), second = start(20, 200);
  ::usleep(300'000);
  ::kill(first, SIGKILL);
  end(first);
  EXPECT_EQ(end(second), 0);
  expect_complete(file(), 20);
}

TEST_F(SweepRun, AProcessThatDiesFailsItsPointAlone) {
  const SignalGuard signals;
  Store store = open(20);
  std::vector<Work> work = example_work(20);
  work[7].evaluate = []() -> Result { std::abort(); };
  work[9].evaluate = []() -> Result { throw std::runtime_error("a defect"); };
  EXPECT_EQ(run(store, work, 2, true, signals).done, 20U);
  const Table table = read_table(file());
  EXPECT_EQ(table.count(Outcome::kOk), 18U);
  EXPECT_EQ(table.rows[7].result->outcome, Outcome::kFailed);
  EXPECT_EQ(table.rows[7].result->problem.rfind("its process died: ", 0), 0U) << table.rows[7].result->problem;
  EXPECT_EQ(table.rows[9].result->problem, "a defect");
}

TEST_F(SweepRun, SharesAreTheWorkAndEven) {
  std::vector<Work> work = example_work(100);
  for (std::size_t i = 0; i < work.size(); ++i)
    work[i].seconds = static_cast<double>(i % 17);
  std::set<std::string> seen;
  for (std::size_t share = 1; share <= 7; ++share) {
    double seconds = 0;
    for (const Work &one : share_of(work, share, 7)) {
      EXPECT_TRUE(seen.insert(one.key).second);
      seconds += one.seconds;
    }
    EXPECT_NEAR(seconds, 110, 20);
  }
  EXPECT_EQ(seen.size(), 100U);
}

} // namespace
} // namespace gradweave::sweep
