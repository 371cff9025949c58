// Room along a line against a plain list of it.
#include "memory_model/room.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gradweave::memory_model {
namespace {

TEST(MemoryRoom, IsThatOfAPlainList) {
  constexpr unsigned kRoomSeed = 31;
  RecordProperty("seed", std::to_string(kRoomSeed));
  std::mt19937 random(kRoomSeed);
  const auto below = [&random](std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(0, most)(random);
  };
  for (const std::uint32_t places : {1U, 31U, 32U, 33U, 200U}) {
    std::vector<std::uint64_t> plain;
    for (std::uint32_t i = 0; i < places; ++i)
      plain.push_back(1000 + below(1000));
    Room room(plain);
    int taken = 0;
    for (int round = 0; round < 500; ++round) {
      const std::uint32_t from = below(places - 1), to = from + 1 + below(places - from - 1), bytes = below(60);
      const bool fits =
          std::all_of(plain.begin() + from, plain.begin() + to, [bytes](std::uint64_t left) { return left >= bytes; });
      ASSERT_EQ(room.has(from, to, bytes), fits)
          << "seed " << kRoomSeed << ", " << places << " places, round " << round;
      if (!fits) continue;
      room.take(from, to, bytes);
      std::for_each(plain.begin() + from, plain.begin() + to, [bytes](std::uint64_t &left) { left -= bytes; });
      ++taken;
      for (std::uint32_t place = 0; place < places; ++place)
        ASSERT_EQ(room.at(place), plain[place]);
    }
    EXPECT_GT(taken, 10);
    EXPECT_LT(taken, 500);
  }
}

} // namespace
} // namespace gradweave::memory_model
