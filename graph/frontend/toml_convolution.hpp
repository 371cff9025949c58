// The entry `conv` of a layer.
#pragma once

#include "graph/frontend/toml_reader.hpp"
#include "graph/network.hpp"

namespace gradweave::compiler {

/// The convolution that a table describes (models/README.md), over `batch` images. Throws ConfigError naming line,
/// field and remedy if a field is missing, unknown or out of range by itself; whether the fields fit together is for
/// set_convolution() to find.
Convolution read_convolution(const TableReader &reader, std::uint32_t batch);

} // namespace gradweave::compiler
