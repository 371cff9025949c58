// Work in threads: all of it, once, and what becomes of exceptions.
#include "base/process/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradweave {
namespace {

TEST(Parallel, DoesEachPieceOnce) {
  for (const unsigned threads : {0U, 1U, 2U, 5U, 100U})
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{37}}) {
      std::vector<std::atomic<int>> done(count);
      for_each_in_parallel(count, threads, [&](std::size_t i) { ++done[i]; });
      for (const std::atomic<int> &d : done)
        EXPECT_EQ(d, 1) << threads;
    }
}

TEST(Parallel, ThrowsWhatTheFirstOneThrewAndBeginsNoMore) {
  for (const unsigned threads : {1U, 4U}) {
    std::atomic<std::size_t> begun{0};
    try {
      for_each_in_parallel(100'000, threads, [&](std::size_t i) {
        ++begun;
        if (i >= 3) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error &error) {
      EXPECT_STREQ(error.what(), "3");
    }
    EXPECT_LT(begun, 100'000U);
  }
}

TEST(Parallel, ThereIsACore) { EXPECT_GE(usable_cores(), 1U); }

} // namespace
} // namespace gradweave
