// Policies as text, and the sets that a sweep walks.
#include "compiler/paper/policy.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gradweave::compiler::paper {
namespace {

TEST(Policies, AreDifferentAndBeginWithTheDefault) {
  for (const auto *policies : {&all_policies(), &policies_near_default()}) {
    EXPECT_TRUE(policies->front() == Policy{});
    std::set<std::string> names;
    for (const Policy &p : *policies)
      EXPECT_TRUE(names.insert(to_string(p)).second) << to_string(p);
  }
  // Tile rules x (two replacements without a choice of reuse, three with both) x the two-valued choices.
  EXPECT_EQ(all_policies().size(), 4U * (2 + 3 * 2) * 2 * 2 * 2 * 2);
  EXPECT_EQ(policies_near_default().size(), 1U + 3 + 4 + 1 + 1 + 1 + 1 + 1);
}

TEST(Policies, ComeBackFromTheirText) {
  for (const Policy &p : all_policies())
    EXPECT_TRUE(parse_policy(to_string(p)) == p) << to_string(p);
}

TEST(Policies, WordsLeftOutKeepTheDefault) {
  EXPECT_TRUE(parse_policy("") == Policy{});
  Policy wanted;
  wanted.tile = TileRule::kArray2;
  wanted.replacement = Replacement::kBelady;
  EXPECT_TRUE(parse_policy("belady/array2") == wanted);
}

TEST(Policies, AnUnknownWordIsNamedWithTheKnownOnes) {
  try {
    parse_policy("array2/mru");
    FAIL() << "accepted";
  } catch (const std::invalid_argument &error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("'mru'"), std::string::npos) << text;
    EXPECT_NE(text.find("belady"), std::string::npos) << text;
  }
}

} // namespace
} // namespace gradweave::compiler::paper
