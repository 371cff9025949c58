// What one result of a program needs gives that result's bits: random programs.
#include "compiler/vector_stream/stage/result_slice.hpp"
#include "sw_models/vector/interpreter.hpp"
#include "sw_models/vector/random_program.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace gradweave::compiler {
namespace {

using isa::vector::Program;
using Line = std::vector<std::uint32_t>;

constexpr std::uint64_t kSliceSeed = 273;
constexpr std::uint32_t kSliceLanes = 3, kSliceSteps = 7;

/// What is written last to lines of each result: by section and step.
using Lines = std::map<std::pair<unsigned, std::uint32_t>, Line>;

std::map<unsigned, Lines> written_by(const Program &program) {
  std::map<unsigned, Lines> all;
  vector::Execution e;
  e.lanes = kSliceLanes;
  e.steps = kSliceSteps;
  e.read = [](const vector::LinePlace &at, std::uint32_t *line) {
    for (std::uint32_t lane = 0; lane < kSliceLanes; ++lane)
      line[lane] = 0x3F800000U + (at.tile * 977 + at.step * 131071 + lane * 7919) % 0x00FFFFFF;
  };
  e.write = [&](const vector::LinePlace &at, const std::uint32_t *line) {
    all[at.tile][{at.section, at.step}] = Line(line, line + kSliceLanes);
  };
  interpret(program, e);
  return all;
}

std::size_t length_of(const Program &program) {
  std::size_t length = 0;
  for (const auto &section : program.sections)
    length += section.size();
  return length;
}

TEST(ResultSlice, GivesThatResultAndNoOther) {
  Dice dice(kSliceSeed);
  std::size_t shorter = 0;
  for (int n = 0; n < 2000; ++n) {
    const Program program = vector::random_program(dice, {4, 3, 2});
    for (const auto &[result, lines] : written_by(program)) {
      const Program slice = result_slice(program, result);
      ASSERT_FALSE(isa::vector::check(isa::vector::encode(slice)));
      const std::map<unsigned, Lines> of_slice = written_by(slice);
      ASSERT_EQ(of_slice.size(), 1U) << "program " << n << ", result " << result;
      ASSERT_TRUE(of_slice.at(result) == lines) << "program " << n << ", result " << result;
      shorter += length_of(slice) < length_of(program) ? 1 : 0;
    }
  }
  EXPECT_GT(shorter, 1000U);
}

} // namespace
} // namespace gradweave::compiler
