// Jobs whose results lie in the place of an operand.
#pragma once

#include "compiler/vector/job.hpp"
#include "graph/ir/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

/// Jobs read of an old value what an earlier element, or job, has overwritten with a new one.
class InPlaceConflict : public graph::GraphDefect {
public:
  InPlaceConflict(const std::string &what, graph::TensorId written) : GraphDefect(what), written_(written) {}
  graph::TensorId written() const { return written_; } ///< the new value

private:
  graph::TensorId written_;
};

/// Fits jobs to values that share a place: a move of elements onto themselves is left out. Throws InPlaceConflict, from
/// `node` on.
void fit_in_place(compiler::OpJobs &jobs, const std::vector<std::uint64_t> &addresses, const std::string &node);

} // namespace gradweave::runtime::train
