#include "base/key/memo.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace gradweave {
namespace {

TEST(Memo, MakesAValueOnceHoweverManyThreadsAsk) {
  Memo<int> memo;
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      sum += *memo.get("key", [&] {
        ++made;
        std::this_thread::yield();
        return 5;
      });
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(sum, 40);
  EXPECT_EQ(*memo.get("other", [] { return 6; }), 6);
}

TEST(Memo, MakesAValueWhileAnotherIsMade) {
  Memo<int> memo;
  EXPECT_EQ(*memo.get("outer", [&] { return *memo.get("inner", [] { return 1; }) + 1; }), 2);
}

TEST(Memo, AnErrorLeavesNothing) {
  Memo<int> memo;
  EXPECT_THROW(memo.get("key", []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(memo.find("key"), nullptr);
  EXPECT_EQ(*memo.get("key", [] { return 3; }), 3);
  EXPECT_EQ(*memo.find("key"), 3);
}

} // namespace
} // namespace gradweave
