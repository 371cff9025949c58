// Convolutions that read some pixels of their image only.
#pragma once

#include "graph/ir/operator.hpp"

namespace gradweave::graph {

/// A convolution of one tap with a stride, and without padding, reads every so many pixels of its image: these become a
/// tensor of their own (a Slice, one for all that read the same pixels), and the convolution one of a stride of 1. The
/// gradient of its image is then that of the sample, with +0 around it (a SliceGradient). Sums of two such, and a
/// ReluGradient of one, are computed on the sample, and the zeros come behind: 0 + 0 and select(y, 0, 0) are +0. So
/// every tensor that the graph has before keeps its bits, but for those that then nobody reads.
///
/// For a graph whose edges have their types (assign_edges()).
void read_samples(Graph &graph, const OperatorSet &operators);

} // namespace gradweave::graph
