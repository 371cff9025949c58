// Normalisations by strips of columns, run and compared with golden execution.
#pragma once

#include "base/random/dice.hpp"
#include "compiler/strips/strip_commands.hpp"
#include "tests/compiler/vector_stream/op_group.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// A normalisation and what stands beside it in a step of training.
class Normalisation {
public:
  enum class Kind : std::uint8_t { kForward, kOfASum, kGradient };
  static constexpr std::array<Kind, 3> kKinds{Kind::kForward, Kind::kOfASum, Kind::kGradient};

  Normalisation(const Machine &npu, Kind kind, std::uint32_t rows, std::uint32_t cols) : npu_(npu), group_(npu) {
    const graph::TensorId x = matrix("x", rows, cols);
    if (kind == Kind::kGradient) {
      const std::vector<graph::TensorId> inputs{matrix("dy", rows, cols), x, vector("gamma", cols),
                                                vector("mean", cols), vector("rstd", cols)};
      group_.add("BatchNormalizationGradient", inputs, graph::ElementType::kBf16, "dx");
      return;
    }
    graph::TensorId y = normalised("", x, cols, kind == Kind::kForward);
    if (kind == Kind::kOfASum) {
      const graph::TensorId other = normalised("other.", matrix("x2", rows, cols), cols, false);
      y = group_.add("Add", {y, other}, graph::ElementType::kBf16, "sum");
    }
    group_.add("Relu", {y}, graph::ElementType::kBf16, "active");
  }

  OpGroup &group() { return group_; }
  OpJobs jobs() const { return group_.jobs(); }
  std::vector<isa::Command> commands(const StripCut &cut) const {
    const OpJobs all = jobs();
    const std::optional<StripJobs> strips = strip_jobs(all);
    EXPECT_TRUE(strips && strips->begin == 0 && strips->end == all.steps.size());
    return strip_commands(*strips, all, cut, SectionPlaces(all).addresses, npu_, 0);
  }
  void check(const std::vector<isa::Command> &stream, const RunStream &run = run_functional) {
    group_.check_stream(stream, run, given_);
  }

private:
  graph::TensorId matrix(const std::string &name, std::uint32_t rows, std::uint32_t cols) {
    draw(name, std::size_t{rows} * cols, true);
    return group_.input(name, graph::ElementType::kBf16, {rows, cols});
  }
  graph::TensorId vector(const std::string &name, std::uint32_t cols) {
    draw(name, cols, false);
    return group_.input(name, graph::ElementType::kFp32, {cols});
  }
  graph::TensorId normalised(const std::string &name, graph::TensorId x, std::uint32_t cols, bool bf16) {
    std::vector<graph::TensorId> inputs{x};
    for (const char *of : {"gamma", "beta", "running_mean", "running_variance"})
      inputs.push_back(vector(name + of, cols));
    return group_.add("BatchNormalization", inputs, bf16 ? graph::ElementType::kBf16 : graph::ElementType::kFp32,
                      name + "y");
  }
  void draw(const std::string &name, std::size_t count, bool bf16) {
    std::vector<float> &values = given_[name];
    for (std::size_t i = 0; i < count; ++i) {
      const float x = static_cast<float>(dice_.below(1U << 20U)) / 65536.0F - 7.0F;
      values.push_back(bf16 ? fp32_from_bf16(bf16_from_fp32(x)) : x);
    }
  }

  const Machine &npu_;
  OpGroup group_;
  Dice dice_{kGroupSeed};
  std::map<std::string, std::vector<float>> given_;
};

/// Of matrices that fit the scratchpad as a whole, and of some that have more than one part of their sums.
inline std::uint32_t random_rows(Dice &dice) {
  return dice.chance(0.1) ? dice.between(1025, 1200) : dice.between(2, 60);
}

/// Any cut: most fit.
inline StripCut random_cut(Dice &dice, const Machine &npu, std::uint32_t rows) {
  const std::size_t block = dice.chance(0.5) ? npu.lanes() * dice.between(1, 12) : dice.between(1, 300);
  const std::size_t abreast = dice.chance(0.5) ? 1 : dice.between(2, 4);
  const std::size_t columns = dice.between(1, abreast == 1 ? 4 * npu.lanes() : npu.lanes() / abreast);
  return {columns, std::min<std::size_t>({block, rows, 1024}), dice.between(1, 12), abreast};
}

} // namespace gradweave::compiler
