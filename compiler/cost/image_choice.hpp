// Which convolutions read images where they lie, and which go by im2col.
#pragma once

#include "compiler/request/names.hpp"
#include "graph/network.hpp"
#include "sw_models/config/machine.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::compiler {

/// Makes the convolutions among the layers read their images (Layer::image) that can (takes_image()), unless im2col
/// has the smaller lower bound in the pass on this NPU: a block of dW has the channels of one tap, so that few channels
/// leave rows of the array idle, and a pixel of few channels takes a whole beat. With a stride the bound of
/// images has to be smaller, and with a dX by a quarter, and depthwise ones go by im2col. Of a few channels and with a
/// stride, where no other layer reads or computes X, images are packed (Layer::packed), if their bound is then smaller
/// than im2col's and no larger than as they lie. Of a step a layer that shares no X has a choice for Y and one for its
/// gradients (Layer::forward_image), if the image is the one of Y alone and the bounds then take fewer cycles, or as
/// many and fewer bytes; unless all its products would read the image nearly as fast and then move at most half. How
/// many read images in all products.
std::size_t read_images(std::vector<Layer> &layers, Pass pass, const Machine &npu);

/// What is compiled for a layer of a step: itself, or, if Y alone reads its image, the layer of Y and that of the
/// gradients, which have its name (Layer::products).
std::vector<Layer> split_products(const Layer &layer, const Machine &npu);
/// Whether these are the two of one layer.
bool are_split(const std::vector<Layer> &layers);

/// Whether a pass of a convolution can read its image, with tiles that fit the scratchpad.
bool takes_image(const Layer &layer, Pass pass, const Machine &npu);

struct LayerPass {
  Layer layer;
  Pass pass = Pass::kForward;
};
/// Whether a pass of a convolution takes its image (takes_image()), and has, in doing so, a smaller lower bound than
/// the products over matrices that would run one after another in its stead; the same rules where there is a stride,
/// but for the quarter: those have the phases of dX, too.
bool gains_by_image(const Layer &layer, Pass pass, const Machine &npu, const std::vector<LayerPass> &instead);

} // namespace gradweave::compiler
