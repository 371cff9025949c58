#include "compiler/cost/image_choice.hpp"

#include "compiler/cost/bounds.hpp"
#include "compiler/ir/image.hpp"

namespace gradweave::compiler {
namespace {

std::uint64_t bound_of(Layer layer, bool image, Pass pass, const Machine &npu) {
  layer.image = image;
  return layer_bound(layer, pass, npu);
}

} // namespace

std::size_t read_images(std::vector<Layer> &layers, Pass pass, const Machine &npu) {
  std::size_t count = 0;
  for (Layer &layer : layers)
    if (layer.conv && can_read_image(*layer.conv) &&
        bound_of(layer, true, pass, npu) <= bound_of(layer, false, pass, npu)) {
      layer.image = true;
      ++count;
    }
  return count;
}

} // namespace gradweave::compiler
