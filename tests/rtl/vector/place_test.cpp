// Where lines of tiles lie, by division, beside the unit that counts: far more panels and strips than a scratchpad of
// the tests' NPUs holds, and widths whose upper bits no stream of theirs needs.
#include "Vvector_place_200.h"
#include "Vvector_place_5.h"
#include "Vvector_place_512.h"
#include "Vvector_place_8.h"
#include "base/random/dice.hpp"
#include "isa_defs.hpp"
#include "tests/rtl/make_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace gradweave::test {
namespace {

constexpr std::uint64_t kSeed = 51;
constexpr std::uint32_t kRowBits = isa::field::SPM_ROW.width;
constexpr std::uint32_t kRowMask = (1U << kRowBits) - 1; ///< of row_t

template <class ModelOf, std::uint32_t Lanes> struct Place {
  using Model = ModelOf;
  static constexpr std::uint32_t kLanes = Lanes;
};

template <typename Shape> class VectorPlace : public testing::Test {
protected:
  static constexpr std::uint32_t kLanes = Shape::kLanes;

  void draw_tile() {
    Model &m = *model_;
    m.fp32_i = dice_.below(2) != 0;
    m.by_col_i = dice_.below(2) != 0;
    m.same_element_i = dice_.below(8) == 0;
    m.same_step_i = dice_.below(8) == 0;
    m.row_i = static_cast<std::uint32_t>(dice_.below(1U << dice_.between(4, kRowBits)));
    m.pstride_i = static_cast<std::uint32_t>(dice_.below(1U << dice_.between(1, kRowBits)));
    m.rot_i = static_cast<std::uint16_t>(dice_.below(kLanes));
    m.col_i = static_cast<std::uint16_t>(dice_.below(kLanes));
  }

  void take(std::uint32_t strip, std::uint32_t step) {
    Model &m = *model_;
    m.take_i = 1;
    m.strip_i = static_cast<std::uint16_t>(strip);
    m.step_i = static_cast<std::uint16_t>(step);
    m.clk_i = 1;
    m.eval();
    m.clk_i = 0;
    m.eval();
    compare(m.same_element_i != 0 ? 0 : strip, m.same_step_i != 0 ? 0 : step, strip, step);
  }

  void compare(std::uint32_t strip, std::uint32_t step, std::uint32_t asked_strip, std::uint32_t asked_step) {
    const Model &m = *model_;
    const std::uint64_t column = m.col_i + step;
    const std::uint64_t panels = m.by_col_i != 0 ? column / kLanes : strip;
    const std::uint64_t along = m.by_col_i != 0 ? std::uint64_t{strip} * kLanes : step;
    const std::uint64_t addr = m.row_i + panels * m.pstride_i + along * (m.fp32_i != 0 ? 2 : 1);
    ASSERT_EQ(m.addr0_o, addr & kRowMask) << "strip " << asked_strip << " step " << asked_step;
    ASSERT_EQ(m.addr1_o, (addr + m.pstride_i) & kRowMask);
    ASSERT_EQ(m.rot_o, (m.rot_i + column) % kLanes);
    ASSERT_EQ(m.jj_o, m.col_i);
    ASSERT_EQ(m.count_o, std::min(kLanes, m.elements_i - asked_strip * kLanes));
    ASSERT_EQ(m.fp32_o, m.fp32_i);
    ASSERT_EQ(m.col_o, m.by_col_i);
    ASSERT_EQ(m.same_o, m.same_element_i);
  }

  using Model = typename Shape::Model;
  std::unique_ptr<Model> model_ = make_model<Model>();
  Dice dice_{kSeed};
};

using Shapes = testing::Types<Place<Vvector_place_5, 5>, Place<Vvector_place_8, 8>, Place<Vvector_place_200, 200>,
                              Place<Vvector_place_512, 512>>;
TYPED_TEST_SUITE(VectorPlace, Shapes, );

/// Every strip and every step of the longest command.
TYPED_TEST(VectorPlace, CountsAsDivisionDoes) {
  constexpr std::uint32_t kMost = 65535; // of dim_t
  for (int tile = 0; tile < 40 && !this->HasFatalFailure(); ++tile) {
    this->draw_tile();
    this->model_->elements_i = static_cast<std::uint16_t>(kMost - this->dice_.below(TestFixture::kLanes));
    const std::uint32_t strips = (this->model_->elements_i - 1U) / TestFixture::kLanes + 1;
    for (std::uint32_t strip = 0; strip < strips && !this->HasFatalFailure(); ++strip)
      this->take(strip, 0);
    for (std::uint32_t step = 0; step < kMost && !this->HasFatalFailure(); ++step)
      for (int line = this->dice_.below(8) == 0 ? 2 : 1; line > 0; --line)
        this->take(static_cast<std::uint32_t>(this->dice_.below(strips)), step);
  }
}

} // namespace
} // namespace gradweave::test
