// The smallest graph that fails in the same way.
#pragma once

#include "app/validate/graphs/run_case.hpp"

#include <functional>

namespace gradweave::graphs {

using RunCase = std::function<Verdict(const GraphCase &)>;

struct Shrunk {
  GraphCase graph_case;
  Verdict verdict;
  std::uint32_t runs = 0;
};

/// Takes away operators, options, dimensions and attributes while `run` says the same outcome and kind_of(); until
/// nothing can be taken, or after `most` runs. `failure`: what `run` says of the case as it is.
Shrunk shrink(GraphCase failing, const Verdict &failure, const RunCase &run, std::uint32_t most = 2000);

} // namespace gradweave::graphs
