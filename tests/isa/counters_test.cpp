// The list of counters of an NPU with several cores.
#include "isa/counters.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gradweave::isa {
namespace {

TEST(CounterList, OneCoreHasTheGeneratedList) {
  ASSERT_EQ(counter_count(1), kCounters.size());
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    EXPECT_EQ(counter_index(static_cast<Counter>(i)), i);
    EXPECT_EQ(counter_name(i, 8), kCounters[i].name);
    EXPECT_EQ(counter_group(i, 8), kCounters[i].group);
    EXPECT_EQ(counter_csr(i), kCounterBase + 8 * i);
  }
}

TEST(CounterList, EachFurtherCoreAppendsItsOwn) {
  std::size_t next = kCounters.size();
  for (std::uint32_t core = 1; core < 8; ++core) {
    EXPECT_EQ(counter_count(core), next);
    for (const Counter c : kCoreCounters)
      EXPECT_EQ(counter_index(c, core), next++);
  }
  EXPECT_EQ(counter_name(counter_index(Counter::COMPUTE_ADD, 3), 8), "COMPUTE_ADD_CORE3");
  EXPECT_EQ(counter_group(counter_index(Counter::COMPUTE_ADD, 3), 8), "compute3");
  EXPECT_EQ(counter_group(counter_index(Counter::BLOCKS, 3), 8), "");
}

TEST(CounterList, ThoseOfVectorUnitsFollowAllCores) {
  for (std::uint32_t cores = 1; cores <= 8; ++cores) {
    std::size_t next = counter_count(cores);
    EXPECT_EQ(counter_count(cores, cores), next + cores * kVectorCounters.size());
    for (std::uint32_t unit = 0; unit < cores; ++unit)
      for (std::size_t i = 0; i < kVectorCounters.size(); ++i)
        EXPECT_EQ(counter_index(static_cast<Counter>(kCounters.size() + i), unit, cores), next++);
  }
  EXPECT_EQ(counter_index(Counter::VECTOR_ACTIVE), kCounters.size());
  EXPECT_EQ(counter_name(counter_index(Counter::VECTOR_READS, 2, 4), 4), "VECTOR_READS_CORE2");
  EXPECT_EQ(counter_name(counter_index(Counter::VECTOR_READS, 0, 4), 4), "VECTOR_READS");
  EXPECT_EQ(counter_group(counter_index(Counter::VECTOR_SEM, 2, 4), 4), "vector2");
  EXPECT_EQ(counter_group(counter_index(Counter::VECTOR_SEM), 1), "vector");
}

TEST(CounterList, NamesDifferAndAddressesFitTheRegisterFile) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < counter_count(8, 8); ++i)
    EXPECT_TRUE(names.insert(counter_name(i, 8)).second) << counter_name(i, 8);
  EXPECT_LE(counter_csr(counter_count(8, 8) - 1) + 8, 0x1000);
}

} // namespace
} // namespace gradweave::isa
