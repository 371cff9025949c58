// What of a network's values its graph is for.
#pragma once

#include "graph/onnx/known.hpp"

namespace gradweave::graph::onnx {

/// Makes results of the graph of the values of these names, and calls them so. Whole numbers that follow from the
/// inputs alone are left out, and a note says so. `lenient`: names without a value are, too. Throws GraphError, naming
/// `file`, if nothing is left.
void add_results(Builder &build, Placement &placement, KnownValues &known, Values &values,
                 const std::vector<std::string> &names, bool lenient, const std::string &file);

} // namespace gradweave::graph::onnx
