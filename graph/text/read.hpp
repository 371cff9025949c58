// A graph from its text (models/README.md has the format).
#pragma once

#include "graph/ir/operator.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace gradweave::graph {

/// Variables of the file that get another value: those that `let` declares outside of blocks.
using Variables = std::map<std::string, std::int64_t, std::less<>>;

/// The graph that `text`, the contents of `file`, describes; verified. Throws GraphError: "FILE:LINE: problem; remedy",
/// with the node where one is at fault, also if a variable is given that the file does not have.
Graph read_graph(std::string_view text, const std::string &file, const OperatorSet &operators,
                 const Variables &variables = {});

} // namespace gradweave::graph
