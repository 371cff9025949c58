#include "compiler/lower/layout.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/ir/grid/grid.hpp"
#include "compiler/request/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace gradweave::compiler {
namespace {

/// Of X and dX: a matrix by im2col, or the image.
std::uint32_t x_rows(const Layer &layer) { return layer.image ? image_form(layer).rows(*layer.conv) : layer.m; }
std::uint32_t x_cols(const Layer &layer) { return layer.image ? image_form(layer).cols : layer.groups * layer.k; }

class LayoutBuilder {
public:
  LayoutBuilder(const std::vector<Layer> &layers, const Jobs &jobs, const NpuConfig &npu)
      : layers_(layers), jobs_(jobs), npu_(npu) {
    layout_.places.resize(layers.size());
    for (auto &place : layout_.places)
      place.fill(Layout::kNone);
    find_producers();
    find_sharing();
  }

  Layout build() {
    for (std::uint32_t i = 0; i < layers_.size(); ++i)
      bind(i);
    return std::move(layout_);
  }

private:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  void find_producers();
  void find_sharing();
  /// X and dX of a layer are one image, Y and dY another.
  static std::size_t image_of(std::uint32_t layer, Tensor t) {
    return 2 * std::size_t{layer} + (t == Tensor::kY || t == Tensor::kDY ? 1 : 0);
  }
  void bind(std::uint32_t i);
  std::int32_t &place(std::uint32_t layer, Tensor t) { return layout_.places[layer][static_cast<std::size_t>(t)]; }
  TensorBinding &binding(std::uint32_t layer, Tensor t) {
    return layout_.tensors[static_cast<std::size_t>(place(layer, t))];
  }
  void add(std::uint32_t layer, Tensor tensor, bool input, std::uint32_t rows, std::uint32_t cols);
  bool same_matrix(const Layer &from, const Layer &to) const {
    // Of an image, what im2col makes is another matrix. A sum in fp32 is no operand: something happens to it in
    // between.
    const bool as_it_is = to.image ? !to.packed : !to.conv || to.conv->is_pointwise();
    return as_it_is && from.m == x_rows(to) && from.groups * from.n == x_cols(to) && !from.y_fp32 && !to.dx_fp32;
  }
  static bool same_x(const Layer &one, const Layer &other) {
    return x_rows(one) == x_rows(other) && x_cols(one) == x_cols(other) && one.image == other.image &&
           one.packed == other.packed;
  }

  const std::vector<Layer> &layers_;
  const Jobs &jobs_;
  const NpuConfig &npu_;
  Layout layout_;
  std::vector<std::uint32_t> producer_;  ///< of each layer: whose Y its X is
  std::vector<std::uint32_t> gradients_; ///< of each layer: itself, or the one of its name that has the gradients
  std::vector<std::uint32_t> consumers_; ///< of each layer: how many layers read its Y
  std::vector<std::uint32_t> twin_;      ///< of each layer: an earlier one whose X is the same
  std::vector<bool> other_form_;         ///< of each layer: some of them read it in another form
  std::vector<bool> sharing_;            ///< by image_of(): several pixels may share a beat
};

void LayoutBuilder::find_producers() {
  producer_.assign(layers_.size(), kNobody);
  consumers_.assign(layers_.size(), 0);
  other_form_.assign(layers_.size(), false);
  twin_.assign(layers_.size(), kNobody);
  gradients_.resize(layers_.size());
  std::map<std::string, std::uint32_t> by_name;
  for (std::uint32_t i = 0; i < layers_.size(); ++i) {
    const auto it = layers_[i].input.empty() ? by_name.end() : by_name.find(layers_[i].input);
    if (it != by_name.end()) {
      const std::uint32_t from = it->second;
      ++consumers_[from];
      if (same_matrix(layers_[from], layers_[i]))
        producer_[i] = from;
      else
        other_form_[from] = true;
    }
    if (const auto twin = layers_[i].x_of.empty() ? by_name.end() : by_name.find(layers_[i].x_of);
        twin != by_name.end() && same_x(layers_[twin->second], layers_[i])) {
      twin_[i] = twin->second;
      // The twin's X is this layer's too: whoever computes it has one more reader.
      if (producer_[i] == kNobody && producer_[twin_[i]] != kNobody) ++consumers_[producer_[twin_[i]]];
    }
    by_name.emplace(layers_[i].name, i);
    gradients_[i] = layers_[i].products == Products::kForward ? i + 1 : i;
  }
}

void LayoutBuilder::find_sharing() {
  const auto images_of = [&](std::uint32_t i) {
    const std::uint32_t first = twin_[i] != kNobody ? twin_[i] : i;
    const std::uint32_t from = producer_[i] != kNobody ? producer_[i] : producer_[first];
    std::vector<std::size_t> images{image_of(i, Tensor::kX), image_of(i, Tensor::kY), image_of(first, Tensor::kX)};
    if (from == kNobody) return images;
    images.push_back(image_of(from, Tensor::kY));
    images.push_back(image_of(gradients_[from], Tensor::kY));
    return images;
  };
  std::vector<bool> apart(2 * layers_.size(), false); // of images whose pixels take whole beats
  sharing_ = apart;
  for (bool more = true; more;) { // until layers that have an image in common, directly or by way of others, are alike
    more = false;
    for (std::uint32_t i = 0; i < layers_.size(); ++i) {
      if (!layers_[i].vector) continue;
      const std::vector<std::size_t> images = images_of(i);
      const bool whole = !may_share_beats(*layers_[i].conv) ||
                         std::any_of(images.begin(), images.end(), [&](std::size_t image) { return apart[image]; });
      for (const std::size_t image : images) {
        more = more || (whole && !apart[image]);
        apart[image] = apart[image] || whole;
        sharing_[image] = !apart[image];
      }
    }
  }
}

void LayoutBuilder::add(std::uint32_t layer, Tensor tensor, bool input, std::uint32_t rows, std::uint32_t cols) {
  TensorBinding b;
  b.tensor = tensor;
  b.layer = layer;
  b.input = input;
  b.result = !input;
  b.fp32 = !input && !rounds(layers_[layer], tensor);
  b.rows = rows;
  b.cols = cols;
  // The vector unit takes all taps of a channel at once.
  const bool dense = layers_[layer].vector && (tensor == Tensor::kW || tensor == Tensor::kDW);
  const std::uint32_t bytes = cols * (b.fp32 ? 4U : 2U);
  const bool of_pixels = tensor != Tensor::kW && tensor != Tensor::kDW;
  if (of_pixels && !b.fp32 && sharing_[image_of(layer, tensor)])
    b.pitch = pixel_bytes(cols, npu_);
  else
    b.pitch = static_cast<std::uint32_t>(round_up(bytes, dense ? 1 : npu_.bus_bytes));
  b.offset = round_up(layout_.bytes, kTensorAlignment);
  layout_.bytes = b.offset + static_cast<std::uint64_t>(rows) * b.pitch;
  place(layer, tensor) = static_cast<std::int32_t>(layout_.tensors.size());
  layout_.tensors.push_back(b);
}

void LayoutBuilder::bind(std::uint32_t i) {
  const Layer &layer = layers_[i];
  const Pass pass = pass_of(layer, jobs_.pass_of(i));
  const bool forward = pass != Pass::kBackward;
  const bool backward = pass != Pass::kForward;
  const std::uint32_t all_k = layer.groups * layer.k, all_n = layer.groups * layer.n;
  const std::uint32_t from = producer_[i];
  if (twin_[i] != kNobody) {
    place(i, Tensor::kX) = place(twin_[i], Tensor::kX);
  } else if (from != kNobody && forward) {
    place(i, Tensor::kX) = place(from, Tensor::kY);
    binding(from, Tensor::kY).result = other_form_[from];
  } else {
    add(i, Tensor::kX, true, x_rows(layer), x_cols(layer));
  }
  const bool split = i > 0 && gradients_[i - 1] == i; // from the layer before, which has W, too
  if (split && layer.dx)
    place(i, Tensor::kW) = place(i - 1, Tensor::kW);
  else if (forward || layer.dx)
    add(i, Tensor::kW, true, all_k, layer.n);
  // As long as nobody computes it, dY is an input.
  if (backward) add(i, Tensor::kDY, true, layer.m, all_n);
  if (forward) add(i, Tensor::kY, false, layer.m, all_n);
  if (computes_dx(layer, pass)) {
    if (from != kNobody && consumers_[from] == 1) {
      const std::uint32_t of = gradients_[from];
      TensorBinding &dy = binding(of, Tensor::kDY);
      dy.input = dy.result = false;
      dy.tensor = Tensor::kDX;
      dy.layer = i;
      place(i, Tensor::kDX) = place(of, Tensor::kDY);
    } else {
      add(i, Tensor::kDX, false, x_rows(layer), x_cols(layer));
    }
  }
  if (backward) add(i, Tensor::kDW, false, all_k, layer.n);
}

} // namespace

bool may_share_beats(const Convolution &conv) { return conv.stride_width == 1; }

std::uint32_t pixel_bytes(std::uint32_t channels, const NpuConfig &npu) {
  const std::uint32_t bytes = channels * 2;
  return npu.bus_bytes % bytes == 0 ? bytes : static_cast<std::uint32_t>(round_up(bytes, npu.bus_bytes));
}

Layout make_layout(const std::vector<Layer> &layers, const Jobs &jobs, const NpuConfig &npu) {
  return LayoutBuilder(layers, jobs, npu).build();
}

void check_room(const std::vector<Layer> &layers, const Room &room, const Machine &npu) {
  if (room.bytes() <= npu.memory.size_bytes) return;
  const std::string stream = room.commands == 0 ? "" : fmt::format(", {} commands included", room.commands);
  if (layers.size() > 1)
    throw CompileError(fmt::format("the layers need {} bytes of device memory together{}, NPU '{}' has {}; raise "
                                   "memory.size_bytes or pick fewer layers",
                                   room.bytes(), stream, npu.name, npu.memory.size_bytes));
  const Layer &layer = layers.front();
  throw CompileError(
      fmt::format("layer '{}': needs {} bytes of device memory{}, NPU '{}' has {}; raise memory.size_bytes "
                  "or reduce M, K, N = {}, {}, {}",
                  layer.name, room.bytes(), stream, npu.name, npu.memory.size_bytes, layer.m, layer.k, layer.n));
}

} // namespace gradweave::compiler
