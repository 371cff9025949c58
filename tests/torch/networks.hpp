// Small networks with what large ones are made of.
#pragma once

#include "graph/ir/operator.hpp"

#include <string>

namespace gradweave::graph {

/// "small_cnn", "lstm", "gpt_block" or "dlrm_block", with a loss. Throws GraphError if there is none of the name.
Graph built_network(const std::string &name, const OperatorSet &operators);

} // namespace gradweave::graph
