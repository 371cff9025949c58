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
    EXPECT_EQ(counter_name(i), kCounters[i].name);
    EXPECT_EQ(counter_group(i), kCounters[i].group);
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
  EXPECT_EQ(counter_name(counter_index(Counter::COMPUTE_ADD, 3)), "COMPUTE_ADD_CORE3");
  EXPECT_EQ(counter_group(counter_index(Counter::COMPUTE_ADD, 3)), "compute3");
  EXPECT_EQ(counter_group(counter_index(Counter::BLOCKS, 3)), "");
}

TEST(CounterList, NamesDifferAndAddressesFitTheRegisterFile) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < counter_count(8); ++i)
    EXPECT_TRUE(names.insert(counter_name(i)).second) << counter_name(i);
  EXPECT_LE(counter_csr(counter_count(8) - 1) + 8, 0x1000);
}

} // namespace
} // namespace gradweave::isa
