// Kernels, strides and pads, as convolutions and pooling have them.
#pragma once

#include "graph/onnx/value/node_import.hpp"

namespace gradweave::graph::onnx {

/// As the graph's operators take it: [rows, columns], and pads [top, left, bottom, right]; of a signal, rows are 1. Of
/// volumes there are three numbers, and six pads.
struct Window {
  Dims kernel, strides, dilations, pads;
  Dims extra; ///< [rows, columns] beyond the last pad, for windows that begin within (ceil_mode)

  std::size_t axes() const { return kernel.size(); }
};

/// The attributes, without auto_pad. Fails for lists of another length.
Window given_window(const NodeImport &node, const Dims &kernel);

/// For an image or signal x [batch, channels, ...], or more dimensions up to `most_rank`: auto_pad and, where
/// `rounds_up` is "ceil_mode", that attribute are resolved.
Window window_of(const NodeImport &node, const Value &x, const Dims &kernel, std::string_view rounds_up,
                 std::size_t most_rank = 4);

} // namespace gradweave::graph::onnx
