// Fields of CSV files.
#include "base/text/csv.hpp"

#include <gtest/gtest.h>

using gradweave::csv_field;

TEST(CsvField, HasQuotesWhereItMust) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field(""), "");
}
