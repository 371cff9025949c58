#include "compiler/cost/image_choice.hpp"

#include "compiler/cost/bounds.hpp"
#include "compiler/ir/image.hpp"

namespace gradweave::compiler {
namespace {

std::uint64_t bound_of(Layer layer, bool image, Pass pass, const Machine &npu) {
  layer.image = image;
  return layer_bound(layer, pass, npu);
}

/// Whether the layer is worth reading as an image: by the lower bounds, which do not see all that a stride costs. Its
/// pixels come by a LOAD for each row and phase, so that equal bounds are not enough; and phases of dX are many small
/// products, so that with these images have to gain a quarter (docs/convolution.md).
bool gains(const Layer &layer, Pass pass, const Machine &npu) {
  const std::uint64_t image = bound_of(layer, true, pass, npu), im2col = bound_of(layer, false, pass, npu);
  const bool strided = layer.conv->stride_height > 1 || layer.conv->stride_width > 1;
  if (!strided) return image <= im2col;
  if (layer.conv->group_channels() == 1) return false;
  return pass == Pass::kForward || !layer.dx ? image < im2col : 4 * image <= 3 * im2col;
}

} // namespace

std::size_t read_images(std::vector<Layer> &layers, Pass pass, const Machine &npu) {
  std::size_t count = 0;
  for (Layer &layer : layers)
    if (layer.conv && can_read_image(*layer.conv) && gains(layer, pass, npu)) {
      layer.image = true;
      ++count;
    }
  return count;
}

} // namespace gradweave::compiler
