// Forms of tiles: one number for what is equal, another for what is not.
#include "compiler/ir/grid/tile_form.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gradweave::compiler {
namespace {

const Rect kRect{4, 8, 16, 24};
const Place kPlace{{100, 32}, 16, 2, 3, 5};

TEST(TileForms, GiveBackWhatTheyWereMadeOf) {
  TileForms forms;
  const TileForm &form = forms[forms.number_of(kRect, kPlace)];
  EXPECT_TRUE(form.rect(4, 8) == kRect);
  const Place place = form.place(100);
  EXPECT_EQ(place.rows.first, 100U);
  EXPECT_EQ(place.rows.rows, 32U);
  EXPECT_EQ(place.pstride, 16U);
  EXPECT_EQ(place.guard, 2U);
  EXPECT_EQ(place.panels, 3U);
  EXPECT_EQ(place.rot, 5U);
  EXPECT_EQ(form.lines, 16U);
}

TEST(TileForms, HaveOneNumberWhereverATileLies) {
  TileForms forms;
  const std::uint32_t number = forms.number_of(kRect, kPlace);
  Rect elsewhere = kRect;
  elsewhere.row = 40;
  Place there = kPlace;
  there.rows.first = 7;
  EXPECT_EQ(forms.number_of(elsewhere, there), number);
  EXPECT_EQ(forms.size(), 2U) << "and that of no tile";
}

/// Whatever differs, the form does.
TEST(TileForms, TellFormsApart) {
  const TileForm form(kRect, kPlace);
  std::vector<TileForm> others(11, form);
  others[0].rows += 1;
  others[1].cols += 1;
  others[2].taps.rows = 3;
  others[3].pixels.width = 7;
  others[4].lines += 1;
  others[5].place_rows += 1;
  others[6].pstride += 1;
  others[7].guard += 1;
  others[8].panels += 1;
  others[9].rot += 1;
  others[10] = {};
  TileForms forms;
  const std::uint32_t number = forms.number_of(form);
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_NE(forms.number_of(others[i]), number) << i;
    EXPECT_EQ(others[i].same_rect(form), i >= 4 && i < 10) << i;
  }
  EXPECT_EQ(forms.number_of(TileForm()), 0U);
  EXPECT_EQ(forms.number_of(form), number);
}

TEST(TileForms, KeepTheirNumbersWhenThereAreMany) {
  TileForms forms;
  std::vector<std::uint32_t> numbers;
  const auto form = [](std::uint32_t i) {
    TileForm f;
    f.rows = 1 + i % 37;
    f.rot = i / 37;
    return f;
  };
  for (std::uint32_t i = 0; i < 1000; ++i)
    numbers.push_back(forms.number_of(form(i)));
  EXPECT_EQ(forms.size(), 1001U);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(forms.number_of(form(i)), numbers[i]);
    EXPECT_TRUE(forms[numbers[i]] == form(i));
  }
}

} // namespace
} // namespace gradweave::compiler
