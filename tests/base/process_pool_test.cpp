#include "base/process/process_pool.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace gradweave {
namespace {

std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i)
    order[i] = i;
  return order;
}

std::map<std::size_t, TaskEnd> run(const std::vector<Task> &tasks, unsigned jobs) {
  const SignalGuard signals;
  std::map<std::size_t, TaskEnd> ends;
  PoolEvents events;
  events.ended = [&](std::size_t task, const TaskEnd &end) {
    ends[task] = end;
    return true;
  };
  run_tasks(tasks, in_order(tasks.size()), jobs, signals, events);
  return ends;
}

TEST(ProcessPool, BringsBackEveryResult) {
  std::vector<Task> tasks;
  for (int i = 0; i < 20; ++i)
    tasks.push_back([i](const auto &) { return std::string(static_cast<std::size_t>(i) * 10000, 'x'); });
  const auto ends = run(tasks, 3);
  ASSERT_EQ(ends.size(), 20U);
  for (const auto &[task, end] : ends) {
    EXPECT_TRUE(end.completed);
    EXPECT_EQ(end.result.size(), task * 10000);
  }
}

TEST(ProcessPool, RunsInParallel) {
  const auto sleep = [](const auto &) {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    return std::string();
  };
  const auto start = std::chrono::steady_clock::now();
  run({sleep, sleep, sleep, sleep}, 4);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1500));
}

TEST(ProcessPool, ReportsACrashWithItsLastOutput) {
  const auto ends = run({[](const auto &) -> std::string {
                           std::puts("about to fail");
                           std::fflush(stdout);
                           ::kill(::getpid(), SIGKILL);
                           return {};
                         },
                         [](const auto &) { return std::string("fine"); }},
                        2);
  EXPECT_FALSE(ends.at(0).completed);
  EXPECT_NE(ends.at(0).problem.find("signal 9"), std::string::npos) << ends.at(0).problem;
  EXPECT_EQ(ends.at(0).output, "about to fail\n");
  EXPECT_EQ(ends.at(1).result, "fine");
}

TEST(ProcessPool, ReportsAnException) {
  const auto ends = run({[](const auto &) -> std::string { throw std::runtime_error("no luck"); }}, 1);
  EXPECT_FALSE(ends.at(0).completed);
  EXPECT_NE(ends.at(0).problem.find("exit code 1"), std::string::npos);
  EXPECT_EQ(ends.at(0).output, "no luck\n");
}

TEST(ProcessPool, PassesProgressOn) {
  const SignalGuard signals;
  double last = 0;
  PoolEvents events;
  events.progress = [&](std::size_t, double fraction) { last = fraction; };
  events.ended = [](std::size_t, const TaskEnd &) { return true; };
  run_tasks({[](const auto &report) {
              report(0.25);
              report(0.75);
              return std::string();
            }},
            {0}, 1, signals, events);
  EXPECT_EQ(last, 0.75);
}

TEST(ProcessPool, CanBeAbandoned) {
  const SignalGuard signals;
  int ended = 0;
  PoolEvents events;
  events.ended = [&](std::size_t, const TaskEnd &) {
    ++ended;
    return false;
  };
  const auto start = std::chrono::steady_clock::now();
  run_tasks({[](const auto &) { return std::string(); },
             [](const auto &) {
               std::this_thread::sleep_for(std::chrono::seconds(30));
               return std::string();
             }},
            {0, 1}, 2, signals, events);
  EXPECT_EQ(ended, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(ProcessPool, ASignalEndsAllChildren) {
  const SignalGuard signals;
  PoolEvents events;
  events.ended = [](std::size_t, const TaskEnd &) { return true; };
  events.starting = [](std::size_t) { ::kill(::getpid(), SIGINT); };
  const Task sleeper = [](const auto &) {
    std::this_thread::sleep_for(std::chrono::seconds(30));
    return std::string();
  };
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(run_tasks({sleeper, sleeper}, {0, 1}, 2, signals, events), Interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

/// Or the second would end the process when the guard does.
TEST(SignalGuard, SignalsBehindTheFirstAreHeededWithIt) {
  {
    const SignalGuard signals;
    ::kill(::getpid(), SIGINT);
    while (signals.take() == 0)
      std::this_thread::yield();
    ::kill(::getpid(), SIGINT);
    ::kill(::getpid(), SIGTERM);
  }
  SUCCEED();
}

} // namespace
} // namespace gradweave
