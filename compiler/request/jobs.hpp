// The jobs of one stream: which layers are whose, and under which pass.
#pragma once

#include "compiler/request/names.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gradweave::compiler {

/// Layers [first, end) of those compiled together, a network's under one pass.
struct JobRange {
  std::uint32_t first = 0, end = 0;
  Pass pass = Pass::kBackward;
};

/// Layers that are compiled together are those of one job, or of several one after the other, which have nothing in
/// common: no tensor, and no row of the scratchpad while it holds something of one of them.
class Jobs {
public:
  /// All layers are one job's.
  Jobs(Pass pass) : ranges_{{0, ~std::uint32_t{0}, pass}} {} // NOLINT(google-explicit-constructor): the usual case
  /// At least one; the first begins with layer 0, each other one where the last ends.
  explicit Jobs(std::vector<JobRange> ranges) : ranges_(std::move(ranges)) {}

  const std::vector<JobRange> &ranges() const { return ranges_; }
  /// Of a layer that one of them has.
  std::size_t job_of(std::size_t layer) const {
    std::size_t job = 0;
    while (job + 1 < ranges_.size() && layer >= ranges_[job].end)
      ++job;
    return job;
  }
  Pass pass_of(std::size_t layer) const { return ranges_[job_of(layer)].pass; }

private:
  std::vector<JobRange> ranges_;
};

} // namespace gradweave::compiler
