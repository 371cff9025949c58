// What areas of Y and dX run, and between which values.
#pragma once

#include "compiler/depthwise/image_layout.hpp"
#include "compiler/depthwise/programs.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::compiler::depthwise {

enum ImageValue : std::size_t { kImageRead, kImageWeights, kImageResult };

/// The programs, by their numbers in the plan.
struct ImagePrograms {
  static constexpr std::size_t kZeros = 0, kCopies = 1, kPairs = 2, kTaps = 3, kRows = kTaps + 2 * kMostTaps;
  static std::size_t taps(unsigned count, bool continues) { return kTaps + 2 * (count - 1) + (continues ? 1 : 0); }

  static std::vector<isa::vector::Words> all(const ImageWork &work, const ImageLayout &layout) {
    std::vector<isa::vector::Words> words{encode(zeros()), encode(copies()), encode(pairs())};
    for (unsigned n = 1; n <= kMostTaps; ++n)
      for (const bool continues : {false, true})
        words.push_back(encode(image_taps(n, continues)));
    if (layout.by_rows)
      words.push_back(encode(image_rows(static_cast<unsigned>(work.kernel_height()), work.kernel_width)));
    return words;
  }
};

} // namespace gradweave::compiler::depthwise
