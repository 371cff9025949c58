// Fingerprints tell apart whatever may differ in a key.
#include "base/key/fingerprint.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>

namespace gradweave {
namespace {

enum class Colour { kRed, kBlue };

template <typename... T> std::string hex_of(const T &...values) { return Fingerprint().add(values...).hex(); }

TEST(Fingerprint, IsThatOfTheSameValuesAlone) {
  EXPECT_EQ(hex_of("key", 7U, true), hex_of(std::string("key"), std::uint64_t{7}, true));
  EXPECT_EQ(Fingerprint().add(1, 2).hex(), Fingerprint().add(1).add(2).hex());
  EXPECT_EQ(hex_of("key", 7U, true).size(), 32U);
}

TEST(Fingerprint, IsTheSameOnEveryMachine) { EXPECT_EQ(hex_of("key", 7U), "a4a5bc2d0f2d8005ad9e3aa4e6a8a519"); }

TEST(Fingerprint, FieldsCannotRunIntoEachOther) {
  std::set<std::string> seen;
  std::size_t count = 0;
  const auto differs = [&](const std::string &hex) { EXPECT_TRUE(seen.insert(hex).second) << "value " << count++; };
  differs(hex_of());
  differs(hex_of(""));
  differs(hex_of("", ""));
  differs(hex_of("abc"));
  differs(hex_of("ab", "c"));
  differs(hex_of("a", "bc"));
  differs(hex_of(1, 2));
  differs(hex_of(2, 1));
  differs(hex_of(12));
  differs(hex_of("12"));
  differs(hex_of(std::vector{1, 2}));
  differs(hex_of(std::vector{1}, 2));
  differs(hex_of(std::vector{1}, std::vector{2}));
  differs(hex_of(std::vector<int>{}, std::vector{1, 2}));
  differs(hex_of(Fingerprint().add(1, 2)));
  differs(hex_of(Fingerprint().add(1), 2));
  differs(hex_of(Fingerprint()));
}

TEST(Fingerprint, TypesDiffer) {
  std::set<std::string> seen{hex_of(1)};
  for (const std::string &hex :
       {hex_of(true), hex_of(1.0), hex_of(Colour::kBlue), hex_of("1"), hex_of("\1"), hex_of(-1),
        hex_of(~std::uint64_t{0}), hex_of(std::optional(1)), hex_of(std::optional<int>())})
    EXPECT_TRUE(seen.insert(hex).second) << hex;
  EXPECT_EQ(hex_of(1), hex_of(std::uint8_t{1})) << "a wider field is no other value";
}

TEST(Fingerprint, OfAFileIsThatOfItsBytes) {
  const std::string file = test::scratch_file("fingerprint");
  std::set<std::string> seen;
  for (const std::string &bytes :
       {std::string(), std::string("a"), std::string(100000, 'a'), std::string(100001, 'a')}) {
    std::ofstream(file, std::ios::binary) << bytes;
    EXPECT_TRUE(seen.insert(file_fingerprint(file).hex()).second) << bytes.size();
  }
  std::remove(file.c_str());
  EXPECT_THROW(file_fingerprint(file), std::runtime_error);
}

} // namespace
} // namespace gradweave
