#include "operator_check.hpp"

#include "graph/operators/optimizer/step_constants.hpp"
#include "sw_models/functions/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

const std::optional<Shape> kMatrix = Shape{5, 3}, kNothing, kScalar = Shape{};

/// w, m and v after a step of AdamW, an element at a time; what `touched` denies stays.
template <typename Touched>
std::vector<float> adamw(const Given &given, std::size_t output, float decay, Touched touched, float epsilon = 1e-8F) {
  const std::vector<float> &constants = given.real.at("constants");
  const float factor = given.real.count("factor") != 0 ? given.real.at("factor")[0] : 1;
  std::vector<float> w = given.real.at("w"), m = given.real.at("m"), v = given.real.at("v");
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (!touched(i)) continue;
    const float g = given.real.at("g")[i] * factor;
    m[i] = std::fmaf(0.9F, m[i], 0.1F * g);
    v[i] = std::fmaf(0.999F, v[i], static_cast<float>(1 - 0.999) * g * g);
    const float root = functions::sqrt(v[i] * constants[2]) + epsilon;
    const float decayed = std::fmaf(-(constants[0] * decay), w[i], w[i]);
    w[i] = std::fmaf(-constants[0], functions::divide(m[i] * constants[1], root), decayed);
  }
  return output == 0 ? w : output == 1 ? m : v;
}

constexpr auto kAll = [](std::size_t) { return true; };

std::vector<Check> checks_of_adamw() {
  std::vector<Check> all;
  const std::vector<std::optional<Shape>> inputs{kMatrix, kMatrix, kMatrix, kMatrix, Shape{3}, kScalar},
      bare{kMatrix, kMatrix, kMatrix, kMatrix, Shape{3}};
  for (std::size_t o = 0; o < 3; ++o) {
    all.push_back(near_fp64(op_of("AdamW", inputs, {}, o), range(0.1, 1)));
    all.push_back(replayed(op_of("AdamW", inputs, {{"weight_decay", 0.25}}, o), range(0.1, 1),
                           [o](const Given &given) { return adamw(given, o, 0.25F, kAll); }));
    all.push_back(replayed(op_of("AdamW", bare, {}, o), range(0.1, 1),
                           [o](const Given &given) { return adamw(given, o, 0.01F, kAll); }));
    // So little that all of sqrt and div are needed.
    all.push_back(replayed(op_of("AdamW", bare, {{"epsilon", 1e-30}}, o), range(0, 1e-18),
                           [o](const Given &given) { return adamw(given, o, 0.01F, kAll, 1e-30F); }));
  }
  return all;
}
const Holds adamw_holds({"AdamW"}, checks_of_adamw());

std::vector<Check> checks_of_sparse_adamw() {
  std::vector<Check> all;
  const std::vector<std::optional<Shape>> inputs{kMatrix, kMatrix, kMatrix, kMatrix, Shape{3}, Shape{4}, kScalar};
  for (std::size_t o = 0; o < 3; ++o) {
    all.push_back(near_fp64(op_of("SparseAdamW", inputs, {}, o), range(0.1, 1, 5)));
    for (std::uint64_t seed = 1; seed < 6; ++seed) // some of which name the first row, some the last
      all.push_back(replayed(op_of("SparseAdamW", inputs, {}, o), range(0.1, 1, 5, seed), [o](const Given &given) {
        const std::vector<std::int32_t> &ids = given.index.at("ids");
        return adamw(given, o, 0.01F, [&ids](std::size_t i) {
          return std::find(ids.begin(), ids.end(), static_cast<std::int32_t>(i / 3)) != ids.end();
        });
      }));
  }
  return all;
}
const Holds sparse_adamw_holds({"SparseAdamW"}, checks_of_sparse_adamw());

TEST(AdamW, FirstStepIsTheRateWithTheGradientsSign) {
  const StepConstants constants = adamw_constants(0.5, 0.9, 0.999, 1);
  const std::vector<float> w =
      run_contract(op_of("AdamW", {Shape{2}, Shape{2}, Shape{2}, Shape{2}, Shape{3}}, {{"weight_decay", 0.0}}),
                   {{"w", {1, 1}}, {"g", {100, -1e-3F}}, {"constants", {constants.begin(), constants.end()}}});
  EXPECT_NEAR(w[0], 0.5, 1e-6);
  EXPECT_NEAR(w[1], 1.5, 1e-5);
}

TEST(AdamW, ConstantsAreRoundedOnce) {
  const StepConstants constants = adamw_constants(0.1, 0.9, 0.999, 3);
  EXPECT_EQ(constants[0], 0.1F);
  EXPECT_EQ(constants[1], static_cast<float>(1 / (1 - 0.9 * 0.9 * 0.9)));
  EXPECT_EQ(constants[2], static_cast<float>(1 / (1 - 0.999 * 0.999 * 0.999)));
}

template <typename Touched>
std::vector<float> sgd(const Given &given, std::size_t output, float momentum, float decay, bool nesterov,
                       Touched touched) {
  const float rate = given.real.at("constants")[0];
  const float factor = given.real.count("factor") != 0 ? given.real.at("factor")[0] : 1;
  std::vector<float> w = given.real.at("w"), m(w.size());
  if (momentum != 0) m = given.real.at("m");
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (!touched(i)) continue;
    const float g = std::fmaf(decay, w[i], given.real.at("g")[i] * factor);
    m[i] = momentum != 0 ? std::fmaf(momentum, m[i], g) : g;
    w[i] = std::fmaf(-rate, nesterov ? std::fmaf(momentum, m[i], g) : m[i], w[i]);
  }
  return output == 0 ? w : m;
}

const Attributes kMomentum{{"momentum", 0.9}, {"weight_decay", 0.25}},
    kNesterov{{"momentum", 0.9}, {"nesterov", std::int64_t{1}}};

std::vector<Check> checks_of_sgd() {
  std::vector<Check> all;
  const std::vector<std::optional<Shape>> inputs{kMatrix, kMatrix, kMatrix, Shape{1}, kScalar},
      bare{kMatrix, kMatrix, kNothing, Shape{1}};
  for (std::size_t o = 0; o < 2; ++o) {
    all.push_back(near_fp64(op_of("Sgd", inputs, kMomentum, o)));
    all.push_back(replayed(op_of("Sgd", inputs, kMomentum, o), {},
                           [o](const Given &given) { return sgd(given, o, 0.9F, 0.25F, false, kAll); }));
    all.push_back(replayed(op_of("Sgd", inputs, kNesterov, o), {},
                           [o](const Given &given) { return sgd(given, o, 0.9F, 0, true, kAll); }));
    all.push_back(
        replayed(op_of("Sgd", bare, {}, o), {}, [o](const Given &given) { return sgd(given, o, 0, 0, false, kAll); }));
  }
  return all;
}
const Holds sgd_holds({"Sgd"}, checks_of_sgd());

std::vector<Check> checks_of_sparse_sgd() {
  std::vector<Check> all;
  const std::vector<std::optional<Shape>> inputs{kMatrix, kMatrix, kMatrix, Shape{1}, Shape{2, 2}, kScalar};
  for (std::size_t o = 0; o < 2; ++o) {
    all.push_back(near_fp64(op_of("SparseSgd", inputs, kMomentum, o), range(-2, 2, 5)));
    for (std::uint64_t seed = 1; seed < 6; ++seed)
      all.push_back(replayed(op_of("SparseSgd", inputs, kMomentum, o), range(-2, 2, 5, seed), [o](const Given &given) {
        const std::vector<std::int32_t> &ids = given.index.at("ids");
        return sgd(given, o, 0.9F, 0.25F, false, [&ids](std::size_t i) {
          return std::find(ids.begin(), ids.end(), static_cast<std::int32_t>(i / 3)) != ids.end();
        });
      }));
  }
  return all;
}
const Holds sparse_sgd_holds({"SparseSgd"}, checks_of_sparse_sgd());

/// Columns of 2^24 1 1 and of 3 4 5.
const Holds squares_holds({"SumSquares"},
                          {near_fp64(op_of("SumSquares", {Shape{9, 33}})), near_fp64(op_of("SumSquares", {Shape{}})),
                           exact(op_of("SumSquares", {Shape{3, 2}}), {{{"x", {4096, 3, 1, 4, 1, 5}}}}, {0x1p24F + 50}),
                           exact(op_of("SumSquares", {Shape{3}}), {{{"x", {4096, 1, 1}}}}, {0x1p24F})});

const Attributes kNorm{{"max_norm", 10.0}};
const std::vector<std::optional<Shape>> kThreeSums{kScalar, kScalar, kScalar};
const Given kSums{{{"squares", {100}}, {"squares2", {200}}, {"squares3", {100}}}};
const Holds clip_factor_holds(
    {"ClipFactor"},
    {near_fp64(op_of("ClipFactor", kThreeSums, {{"max_norm", 0.5}}), range(0.1, 2)),
     near_fp64(op_of("ClipFactor", kThreeSums, kNorm, 1), range(0.1, 2)),
     exact(op_of("ClipFactor", kThreeSums, kNorm), kSums, {functions::divide(10, 20 + 1e-6F)}),
     exact(op_of("ClipFactor", kThreeSums, kNorm, 1), kSums, {20}),
     exact(op_of("ClipFactor", {kScalar, kScalar, kScalar, kScalar, kScalar}, kNorm, 1),
           {{{"squares", {0x1p24F}}, {"squares2", {1}}, {"squares3", {1}}, {"squares4", {1}}, {"squares5", {1}}}},
           {4096}),
     exact(op_of("ClipFactor", {kScalar}, kNorm), {{{"squares", {4}}}}, {1}),
     exact(op_of("ClipFactor", {kScalar}, kNorm), {{{"squares", {NAN}}}}, {NAN}),
     exact(op_of("ClipFactor", {kScalar}, kNorm), {{{"squares", {HUGE_VALF}}}}, {0})});

TEST(Optimizers, RefuseWhatDoesNotFit) {
  const std::optional<Shape> w = Shape{4, 2}, three = Shape{3}, one = Shape{1};
  EXPECT_EQ(build_error(op_of("AdamW", {w, w, w, Shape{4}, three})),
            "op 'y' (AdamW): w is [4, 2] and 'v' [4]; they must be equal");
  EXPECT_EQ(build_error(op_of("AdamW", {w, w, w, w, one})), "op 'y' (AdamW): constants are [1]; they must be [3]");
  EXPECT_EQ(build_error(op_of("AdamW", {w, w, w, w, three}, {{"beta2", 1.0}})),
            "op 'y' (AdamW): beta2 must be at least 0 and below 1");
  EXPECT_EQ(build_error(op_of("AdamW", {w, w, w, w, three, w})),
            "op 'y' (AdamW): factor must be one number, and is [4, 2]");
  EXPECT_EQ(build_error(op_of("Sgd", {w, w, kNothing, one}, {{"momentum", 0.5}})),
            "op 'y' (Sgd): momentum is not 0, and input 'm' is missing");
  EXPECT_EQ(build_error(op_of("Sgd", {w, w, w, one})), "op 'y' (Sgd): momentum is 0, and needs no input 'm'");
  EXPECT_EQ(build_error(op_of("Sgd", {w, w, kNothing, one}, {{"nesterov", std::int64_t{1}}})),
            "op 'y' (Sgd): nesterov needs a momentum");
  EXPECT_EQ(build_error(op_of("SparseSgd", {kScalar, kScalar, kNothing, one, Shape{3}})),
            "op 'y' (SparseSgd): w is a scalar; it has no rows that ids could name");
  EXPECT_EQ(build_error(op_of("ClipFactor", {w}, kNorm)),
            "op 'y' (ClipFactor): 'squares' is [4, 2]; it must be one sum of squares");
}

TEST(SparseSgd, RefusesIdsThatAreNoRow) {
  try {
    run_contract(op_of("SparseSgd", {kMatrix, kMatrix, kNothing, Shape{1}, Shape{2}}), {}, {{"ids", {0, 5}}});
    FAIL() << "passed";
  } catch (const GraphError &error) {
    EXPECT_EQ(std::string(error.what()), "op 'y' (SparseSgd): id 5 at 1 is none of the 5 rows of w");
  }
}

} // namespace
} // namespace gradweave::graph
