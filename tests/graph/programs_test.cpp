// Recorded operators give the bits of their golden execution.
#include "isa/vector/assembler.hpp"
#include "tests/graph/element_programs.hpp"
#include "tests/sw_models/vector/program_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace gradweave::graph {
namespace {

constexpr std::uint64_t kSeed = 27;
constexpr std::size_t kInputs = 60'000;

template <class Gelu> class GeluPrograms : public testing::Test {};
using Kinds = testing::Types<GeluByErf, GeluByTanh>;
struct KindNames {
  template <class Gelu> static std::string GetName(int) { return std::is_same_v<Gelu, GeluByErf> ? "Erf" : "Tanh"; }
};
TYPED_TEST_SUITE(GeluPrograms, Kinds, KindNames);

TYPED_TEST(GeluPrograms, EqualTheGoldenExecution) {
  Dice dice(kSeed);
  const vector::Elements x = vector::mixed_inputs(kInputs, dice), dy = vector::mixed_inputs(kInputs, dice);
  const isa::vector::Program forward = gelu_program<TypeParam>(), backward = gelu_gradient_program<TypeParam>();
  EXPECT_FALSE(isa::vector::check(isa::vector::encode(forward)));
  EXPECT_FALSE(isa::vector::check(isa::vector::encode(backward)));
  const vector::Elements y = vector::run_program(forward, x, x), dx = vector::run_program(backward, dy, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(y[i], golden_gelu<TypeParam>(x[i])) << fmt::format("seed {}, x 0x{:08X}", kSeed, x[i]);
    ASSERT_EQ(dx[i], golden_gelu_gradient<TypeParam>(dy[i], x[i]))
        << fmt::format("dy 0x{:08X} x 0x{:08X}", dy[i], x[i]);
  }
  fmt::print("{} and {} instructions an element\n", forward.sections[1].size(), backward.sections[1].size());
}

} // namespace
} // namespace gradweave::graph
