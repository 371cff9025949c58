// An operator of windows over an image, as pooling is: its walks, as positions of two grids.
#pragma once

#include "graph/ir/graph.hpp"
#include "isa/vector/program.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace gradweave::compiler::pooling {

/// Numbers of rows and columns, or steps from one to the next.
struct Extent {
  std::size_t rows = 1, cols = 1;
};

/// A tensor of the op, or values between its walks: pixels of the image, or of the result, with all channels each.
struct WindowValue {
  bool image = false;
  bool fp32 = false;
  bool loaded = false, stored = false; ///< inputs, outputs of the op that its walks have to do with
  bool written = false;                ///< by a walk
};

/// What a walk reads or writes in its first position: a pixel of the value's grid. From position to position it is one
/// pixel further in the result, and a stride further in the image.
struct WindowOperand {
  std::size_t value = 0, row = 0, col = 0;
};

/// A program for a rectangle of positions, each with all channels.
struct WindowWalk {
  isa::vector::Words words;
  isa::vector::Program program;
  Extent positions;
  std::vector<WindowOperand> in, out;
};

struct WindowWork {
  std::size_t batch = 1, channels = 1;
  Extent image, result, stride;
  std::vector<WindowValue> values; ///< inputs of the op, outputs, values between
  std::vector<WindowWalk> walks;   ///< in order

  Extent grid_of(const WindowValue &value) const { return value.image ? image : result; }
};

/// The op as such, as its text is written down. None: it is another operator; so is one of whose operands pixels are
/// not a stride apart in the image, and one in the result.
std::optional<WindowWork> window_work(const graph::Graph &graph, const graph::Op &op);

} // namespace gradweave::compiler::pooling
