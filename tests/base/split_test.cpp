#include "base/text/split.hpp"

#include <gtest/gtest.h>

namespace gradweave {
namespace {

using Parts = std::vector<std::string>;

TEST(Split, GivesAPartMoreThanThereAreSeparators) {
  EXPECT_EQ(split("24", ','), Parts{"24"});
  EXPECT_EQ(split("24:1000:2", ':'), (Parts{"24", "1000", "2"}));
  EXPECT_EQ(split("res, bert", ','), (Parts{"res", " bert"}));
  EXPECT_EQ(split(",a,,b,", ','), (Parts{"", "a", "", "b", ""}));
  EXPECT_EQ(split(",", ','), (Parts{"", ""}));
}

TEST(Split, AnEmptyTextHasNoParts) { EXPECT_TRUE(split("", ',').empty()); }

} // namespace
} // namespace gradweave
