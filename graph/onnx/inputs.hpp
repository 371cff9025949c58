// What a model's inputs are: sizes of symbolic dimensions, and which of them are images.
#pragma once

#include "graph/onnx/file/model.hpp"
#include "graph/onnx/import_options.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gradweave::graph::onnx {

struct InputSizes {
  const ValueInfo *info;
  std::vector<std::int64_t> dims;
  std::optional<std::int64_t> value = {}; ///< of one whole number, if it is given
};

/// The inputs that are no initializers, with all dimensions known. Throws GraphError naming file, input and dimension:
/// for a symbolic one without a size, a size for what is not symbolic, and names that no dimension and no single whole
/// number has.
std::vector<InputSizes> input_sizes(const Model &model, const std::string &file, const ImportOptions &options);

/// Values that, perhaps after operations element by element, a convolution or pooling reads.
std::set<std::string, std::less<>> images_among(const Model &model);

} // namespace gradweave::graph::onnx
