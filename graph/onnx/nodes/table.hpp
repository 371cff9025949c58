// The operators of ONNX that are read.
#pragma once

#include "graph/onnx/value/node_import.hpp"

#include <string_view>
#include <vector>

namespace gradweave::graph::onnx {

struct TableEntry {
  std::string_view type;
  Importer import;
  std::string_view note; ///< what is not taken, for people; empty: all is
};

/// Ascending by type.
const std::vector<TableEntry> &importers();
/// Null if there is none.
const TableEntry *find_importer(std::string_view type);

} // namespace gradweave::graph::onnx
