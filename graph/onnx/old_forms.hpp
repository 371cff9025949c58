// Operators as the first opsets write them.
#pragma once

#include "graph/onnx/file/model.hpp"

namespace gradweave::graph::onnx {

/// Gives nodes of old opsets the attributes of later ones, as far as these do not depend on shapes: types of Cast by
/// number, the axis of Concat, pads of Pad and scales of Upsample under their names.
void renew_attributes(Model &model);

/// Whether the second operand of a node is aligned by 'axis' rather than from its last dimension (opsets below 7).
bool aligns_by_axis(const Node &node, std::int64_t opset);

} // namespace gradweave::graph::onnx
