// Rules of dispatch for images: the legal limit passes, the first value beyond it gives the documented code.
#include "tests/isa/checked_commands.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <iterator>

namespace gradweave::isa::checked {
namespace {

ErrorCode conv_with(const std::function<void(ConvCommand &)> &change) { return after<ConvCommand>(conv(), change); }
ErrorCode wgrad_with(const std::function<void(ConvCommand &)> &change) { return after<ConvCommand>(wgrad(), change); }

TEST(ImageCheck, ImagesHaveAShape) {
  EXPECT_EQ(check(conv()), ErrorCode::NONE);
  EXPECT_EQ(check(wgrad()), ErrorCode::NONE);
  const std::function<void(ConvCommand &)> bad[] = {
      [](auto &v) { v.image.taps_y = 0; },    [](auto &v) { v.image.taps_x = 0; },
      [](auto &v) { v.image.stride = 0; },    [](auto &v) { v.image.grid_w = 0; },
      [](auto &v) { v.image.grid_h = 0; },    [](auto &v) { v.image.img_w = 0; },
      [](auto &v) { v.image.img_h = 0; },     [](auto &v) { v.image.grid_y = 4; },
      [](auto &v) { v.image.img_w = 6; },     [](auto &v) { v.image.img_h = 5; },
      [](auto &v) { v.image.b_tap = 8192; },  [](auto &v) { v.product.m = 0; },
      [](auto &v) { v.product.cin.row = 1; },
  };
  for (std::size_t i = 0; i < std::size(bad); ++i)
    EXPECT_EQ(conv_with(bad[i]), ErrorCode::ILLEGAL_FIELD) << i;
  EXPECT_EQ(conv_with([](auto &v) { v.image.img_w = 10, v.image.img_h = 8, v.image.stride = 2; }), ErrorCode::NONE);
  for (const std::uint32_t out : {0U, 6U}) {
    EXPECT_EQ(wgrad_with([&](auto &v) { v.image.out_w = out; }), ErrorCode::ILLEGAL_FIELD);
    EXPECT_EQ(wgrad_with([&](auto &v) { v.image.out_h = out; }), ErrorCode::ILLEGAL_FIELD);
  }
}

TEST(ImageCheck, TapsStayInTheScratchpad) {
  EXPECT_EQ(conv_with([](auto &v) { v.product.a.row = 6; }), ErrorCode::NONE);
  EXPECT_EQ(conv_with([](auto &v) { v.product.a.row = 5; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(conv_with([](auto &v) { v.product.a.row = 84; }), ErrorCode::NONE); // 84 + 6 + 10 = 100
  EXPECT_EQ(conv_with([](auto &v) { v.product.a.row = 85; }), ErrorCode::SPM_RANGE);
  // Turned around, the last tap is the farthest back.
  const auto turned = [](std::uint32_t row) {
    return conv_with([&](auto &v) {
      v.product.a.row = row;
      v.image.off_y = v.image.off_x = 1;
      v.image.step_y = v.image.step_x = -1;
    });
  };
  EXPECT_EQ(turned(6), ErrorCode::NONE);
  EXPECT_EQ(turned(5), ErrorCode::SPM_RANGE);
  // Stride 2: -1 is plane 1 or 2 of the row before, and any plane may be the last: 20 + 3 PLANE + 10.
  const auto planes = [](std::uint32_t plane) {
    return conv_with([&](auto &v) {
      v.image.stride = 2;
      v.image.plane = plane;
    });
  };
  EXPECT_EQ(planes(23), ErrorCode::NONE); // 20 + 69 + 10 = 99
  EXPECT_EQ(planes(24), ErrorCode::SPM_RANGE);
  // Phases that are packed lie in the same rows.
  const auto packed = [](std::uint32_t row) {
    return conv_with([&](auto &v) {
      v.image.stride = 2;
      v.image.plane = 24;
      v.image.packed = true;
      v.product.a.row = row;
    });
  };
  EXPECT_EQ(packed(90), ErrorCode::NONE); // its last tap moves by no row
  EXPECT_EQ(packed(91), ErrorCode::SPM_RANGE);
  EXPECT_EQ(wgrad_with([](auto &v) { v.product.a.row = 6; }), ErrorCode::NONE);
  EXPECT_EQ(wgrad_with([](auto &v) { v.product.a.row = 5; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(wgrad_with([](auto &v) { v.product.a.row = 96; }), ErrorCode::NONE); // it begins at 90
  EXPECT_EQ(wgrad_with([](auto &v) { v.product.a.row = 97; }), ErrorCode::SPM_RANGE);
}

TEST(ImageCheck, TapsOfBAreATile) {
  EXPECT_EQ(conv_with([](auto &v) { v.product.b.row = 73; }), ErrorCode::NONE); // 9 taps of 3 rows
  EXPECT_EQ(conv_with([](auto &v) { v.product.b.row = 74; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(conv_with([](auto &v) { v.product.b_col = true, v.product.b.row = 69; }), ErrorCode::NONE); // 8 x 3 + 7
  EXPECT_EQ(conv_with([](auto &v) { v.product.b_col = true, v.product.b.row = 70; }), ErrorCode::SPM_RANGE);
}

} // namespace
} // namespace gradweave::isa::checked
