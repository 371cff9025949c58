// Device memory: zero at start, checked copies; scratchpad: the documented place of every element.
#include "sw_models/functional/scratchpad.hpp"
#include "sw_models/memory/memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

namespace gradweave {
namespace {

TEST(DeviceMemory, IsZeroAtStartAndKeepsWhatIsWritten) {
  DeviceMemory m(std::uint64_t{1} << 36U); // far more than the machine has: pages come when touched
  const std::array<std::uint8_t, 4> in{1, 2, 3, 4};
  std::array<std::uint8_t, 4> out{9, 9, 9, 9};
  m.read(m.size() - 4, out.data(), 4);
  EXPECT_EQ(out, (std::array<std::uint8_t, 4>{}));
  m.write(m.size() - 4, in.data(), 4);
  m.read(m.size() - 4, out.data(), 4);
  EXPECT_EQ(out, in);
  EXPECT_EQ(m.data()[m.size() - 1], 4);
}

TEST(DeviceMemory, RefusesRangesOutside) {
  DeviceMemory m(4096);
  std::uint64_t word = 0;
  EXPECT_NO_THROW(m.read(4088, &word, 8));
  EXPECT_NO_THROW(m.read(4096, &word, 0));
  EXPECT_THROW(m.read(4089, &word, 8), std::out_of_range);
  EXPECT_THROW(m.write(4096, &word, 1), std::out_of_range);
  EXPECT_THROW(m.write(~std::uint64_t{0}, &word, 8), std::out_of_range) << "the sum must not wrap";
  try {
    m.write(4090, &word, 8);
    FAIL();
  } catch (const std::out_of_range &e) {
    EXPECT_STREQ(e.what(), "8 bytes at device address 0xffa leave the memory of 4096 bytes");
  }
}

TEST(DeviceMemory, TooLargeToReserve) { EXPECT_THROW(DeviceMemory(std::uint64_t{1} << 60U), std::runtime_error); }

TEST(Scratchpad, Bf16ElementsLieWhereDocumented) {
  constexpr std::uint32_t kLanes = 6;
  constexpr std::uint32_t kCols = 15;
  Scratchpad s(40, kLanes);
  const isa::SpmTile t{3, 7, 4};
  for (std::uint16_t i = 0; i < 5; ++i) {
    std::array<std::uint16_t, kCols> row{};
    for (std::uint16_t j = 0; j < kCols; ++j)
      row[j] = static_cast<std::uint16_t>(100 * i + j + 1);
    s.write_row(t, i, kCols, row.data());
  }
  std::size_t held = 0;
  for (std::uint32_t r = 0; r < s.rows(); ++r)
    for (std::uint32_t l = 0; l < kLanes; ++l)
      held += s.at(r, l) != 0 ? 1 : 0;
  EXPECT_EQ(held, 5U * kCols) << "nothing else is touched";
  for (std::uint32_t i = 0; i < 5; ++i)
    for (std::uint32_t j = 0; j < kCols; ++j)
      EXPECT_EQ(s.at(3 + j / kLanes * 7 + i, (4 + i + j) % kLanes), 100 * i + j + 1);
  std::array<std::uint16_t, kCols> back{};
  s.read_row(t, 4, kCols, back.data());
  EXPECT_EQ(back[14], 415);
}

TEST(Scratchpad, Fp32ElementsTakeTwoRowsOfOneLane) {
  constexpr std::uint32_t kLanes = 6;
  Scratchpad s(40, kLanes);
  const isa::SpmTile t{2, 10, 5};
  const std::array<std::uint32_t, 7> row{0x11112222, 0x33334444, 0x55556666, 0x77778888,
                                         0x9999AAAA, 0xBBBBCCCC, 0xDDDDEEEE};
  s.write_row(t, 3, 7, row.data());
  EXPECT_EQ(s.at(8, (5 + 3) % kLanes), 0x2222);
  EXPECT_EQ(s.at(9, (5 + 3) % kLanes), 0x1111);
  EXPECT_EQ(s.at(18, (5 + 3 + 6) % kLanes), 0xEEEE);
  std::array<std::uint32_t, 7> back{};
  s.read_row(t, 3, 7, back.data());
  EXPECT_EQ(back, row);
}

} // namespace
} // namespace gradweave
