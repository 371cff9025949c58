// Names of schedules, passes, partitions and reductions: each is read as it is written.
#include "compiler/compiler.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace gradweave::compiler {
namespace {

template <typename Parse> std::string error_of(Parse parse, std::string_view name) {
  try {
    parse(name);
  } catch (const std::invalid_argument &e) {
    return e.what();
  }
  return "no error";
}

TEST(Names, AreReadAsTheyAreWritten) {
  for (const Schedule s : all_schedules())
    EXPECT_EQ(parse_schedule(to_string(s)), s);
  EXPECT_EQ(parse_schedule("search"), Schedule::kSearch);
  for (const Partition p : all_partitions())
    EXPECT_EQ(parse_partition(to_string(p)), p);
  for (const Pass p : {Pass::kForward, Pass::kBackward, Pass::kBoth})
    EXPECT_EQ(parse_pass(to_string(p)), p);
  for (const Reduction r : {Reduction::kChain, Reduction::kAdd})
    EXPECT_EQ(parse_reduction(to_string(r)), r);
}

TEST(Names, OthersAreRefusedWithThoseThatThereAre) {
  EXPECT_EQ(error_of(parse_schedule, "zigzag"), "unknown schedule 'zigzag'; use one of: " + schedule_names());
  EXPECT_EQ(schedule_names().find("sequential, interleave, dx_major, dw_major, dw_first, rearrange, ideal, search"),
            0U);
  EXPECT_EQ(error_of(parse_pass, ""), "unknown pass ''; use one of: forward, backward, both");
  EXPECT_EQ(error_of(parse_partition, "None"),
            "unknown partition 'None'; use one of: none, weight_sharing, dy_sharing, ifmap_sharing");
  EXPECT_EQ(error_of(parse_reduction, "tree"), "unknown reduction 'tree'; use one of: chain, add");
}

} // namespace
} // namespace gradweave::compiler
