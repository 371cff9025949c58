#include "compiler/cost/image_choice.hpp"

#include "compiler/cost/bounds.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gradweave::compiler {
namespace {

/// All products of a layer read the image if they then move at most one part of so many, and take at most one part of
/// so many longer by their bounds: of matrices that are loaded and stored for as long as the array computes, searched
/// plans are a tenth above theirs.
constexpr std::uint64_t kMovesLess = 2, kNearlyAsFast = 32;

std::uint64_t bound_of(Layer layer, bool image, Pass pass, const Machine &npu) {
  layer.image = image;
  return layer_bound(layer, pass, npu);
}

Layer packed(Layer layer) {
  layer.image = layer.packed = true;
  return layer;
}

bool is_strided(const Convolution &conv) { return conv.stride_height > 1 || conv.stride_width > 1; }

/// Whether images have the smaller lower bound, which does not see all that a stride costs: its pixels come by a LOAD
/// for each row and phase, so that equal bounds are not enough, and one channel by one element.
bool gains(const Convolution &conv, std::uint64_t image, std::uint64_t im2col) {
  if (!is_strided(conv)) return image <= im2col;
  return conv.group_channels() > 1 && image < im2col;
}

/// Whether the smallest tiles of images fit the scratchpad.
bool fits_scratchpad(const Layer &layer, Pass pass, const Machine &npu) {
  const RowRange all{0, npu.spm_rows()};
  const std::vector<PhaseKind> kinds = phases(Schedule::kSequential, pass, layer);
  return std::all_of(kinds.begin(), kinds.end(), [&](PhaseKind kind) {
    const auto least = [&](Dim dim) { return sides_along(kind, dim, layer, npu).back(); };
    return fits(kind, {least(Dim::kM), least(Dim::kK), least(Dim::kN)}, {all, all, all}, layer, npu, {});
  });
}

/// Whether X may be packed, for it is no other layer's result, nor is there a dX, and its blocks fit a line.
bool can_pack(const Layer &layer, const Machine &npu) {
  const Convolution &conv = *layer.conv;
  return is_strided(conv) && conv.groups == 1 && !layer.dx && layer.input.empty() && layer.x_of.empty() &&
         image_form(packed(layer)).cols <= npu.lanes();
}

/// Whether packed it has a smaller lower bound than by im2col, and no larger one than as it lies, which takes more
/// moves.
bool gains_packed(const Layer &layer, Pass pass, const Machine &npu, std::uint64_t image, std::uint64_t im2col) {
  if (!can_pack(layer, npu) || !fits_scratchpad(packed(layer), pass, npu)) return false;
  const std::uint64_t bound = bound_of(packed(layer), true, pass, npu);
  return bound <= image && bound < im2col;
}

/// The layer as a pass reads its X best.
Layer in_best_form(Layer layer, Pass pass, const Machine &npu) {
  if (!layer.conv || !can_read_image(*layer.conv)) return layer;
  const std::uint64_t image = bound_of(layer, true, pass, npu), im2col = bound_of(layer, false, pass, npu);
  // Phases of dX are many small products, and im2col's is one: images have to gain a quarter (docs/convolution.md).
  const bool phases = is_strided(*layer.conv) && pass != Pass::kForward && layer.dx;
  layer.packed = gains_packed(layer, pass, npu, image, im2col);
  const bool gained = gains(*layer.conv, image, im2col) && (!phases || 4 * image <= 3 * im2col);
  layer.image = layer.packed || (gained && takes_image(layer, pass, npu));
  return layer;
}

/// A lower bound of cycles, then what is moved at least, in cycles of the memory.
using Cost = std::pair<std::uint64_t, std::uint64_t>;

Cost cost_of(const Layer &layer, Pass pass, const Machine &npu) {
  const Bounds bounds = lower_bounds({layer}, pass, make_layout({layer}, pass, npu), npu);
  return {bounds.run_cycles, bounds.traffic_cycles};
}

/// Of a step: both passes, one after the other.
Cost cost_of(const Layer &forward, const Layer &gradients, const Machine &npu) {
  const Cost y = cost_of(forward, Pass::kForward, npu), others = cost_of(gradients, Pass::kBackward, npu);
  return {y.first + others.first, y.second + others.second};
}

/// The least that a step of the layer takes if Y alone reads the image, and dX and dW what im2col makes of it, if each
/// has its best form so.
std::optional<Cost> cost_if_split(const Layer &layer, const Machine &npu) {
  const Layer forward = in_best_form(layer, Pass::kForward, npu), gradients = in_best_form(layer, Pass::kBackward, npu);
  if (!layer.x_of.empty() || !forward.image || gradients.image) return std::nullopt;
  return cost_of(forward, gradients, npu);
}

/// How a step reads X of a layer that would rather go by im2col than read its image in all products.
void choose_by_product(Layer &layer, const Machine &npu) {
  const std::optional<Cost> split = cost_if_split(layer, npu);
  if (!split || *split >= cost_of(layer, layer, npu)) return;
  layer.forward_image = true;
  if (is_strided(*layer.conv) || !takes_image(layer, Pass::kBoth, npu)) return;
  Layer whole = layer;
  whole.image = true;
  whole.forward_image = false;
  const auto [cycles, moved] = cost_of(whole, whole, npu);
  if (cycles <= split->first + split->first / kNearlyAsFast && moved <= split->second / kMovesLess) layer = whole;
}

} // namespace

std::size_t read_images(std::vector<Layer> &layers, Pass pass, const Machine &npu) {
  std::size_t count = 0;
  for (Layer &layer : layers) {
    layer = in_best_form(layer, pass, npu);
    layer.forward_image = false;
    if (pass == Pass::kBoth && layer.conv && !layer.image) choose_by_product(layer, npu);
    count += layer.image ? 1 : 0;
  }
  return count;
}

std::vector<Layer> split_products(const Layer &layer, const Machine &npu) {
  if (!layer.forward_image) return {layer};
  Layer gradients = layer;
  gradients.forward_image = false;
  Layer forward = in_best_form(gradients, Pass::kForward, npu);
  forward.products = Products::kForward;
  gradients.products = Products::kGradients;
  return {forward, gradients};
}

bool are_split(const std::vector<Layer> &layers) {
  return layers.size() == 2 && layers.front().products == Products::kForward &&
         layers.back().products == Products::kGradients;
}

bool takes_image(const Layer &layer, Pass pass, const Machine &npu) {
  Layer over_image = layer;
  over_image.image = true;
  return can_read_image(*layer.conv) && fits_scratchpad(over_image, pass, npu);
}

bool gains_by_image(const Layer &layer, Pass pass, const Machine &npu, const std::vector<LayerPass> &instead) {
  if (!takes_image(layer, pass, npu)) return false;
  std::uint64_t im2col = 0;
  for (const LayerPass &other : instead)
    im2col += bound_of(other.layer, false, other.pass, npu);
  return gains(*layer.conv, bound_of(layer, true, pass, npu), im2col);
}

} // namespace gradweave::compiler
