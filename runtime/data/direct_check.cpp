#include "runtime/data/direct_check.hpp"

#include "sw_models/numerics/convolution.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::runtime {

using compiler::Tensor;

std::string_view compared_directly(Tensor result) {
  return result == Tensor::kDX ? "elements of the image's gradient" : "elements";
}

Comparison compare_direct(const HostTensor &got, const compiler::Layer &layer, const HostTensor &image,
                          const Operands &inputs, const compiler::ReductionPlans &plans) {
  if (!layer.conv) throw std::invalid_argument(fmt::format("layer {} is no convolution", layer.name));
  const Convolution &conv = *layer.conv;
  const auto half = [&](Tensor tensor) { return inputs[tensor].half.data(); };
  HostTensor want(got.tensor, got.fp32, got.rows, got.cols);
  switch (got.tensor) {
  case Tensor::kY:
    want.half =
        direct::forward(conv, image.half.data(), half(Tensor::kW), plans.of(Tensor::kY), plans.block_of(Tensor::kY));
    return compare(got, want);
  case Tensor::kDX: {
    if (layer.image) {
      want.half = direct::transposed(conv, half(Tensor::kDY), half(Tensor::kW), plans.of(Tensor::kDX),
                                     plans.block_of(Tensor::kDX));
      return compare(got, want);
    }
    HostTensor gradient(got.tensor, false, image.rows, image.cols);
    gradient.half = col2im(conv, got.half.data());
    want = HostTensor(got.tensor, false, image.rows, image.cols);
    want.half = direct::input_gradient(conv, half(Tensor::kDY), half(Tensor::kW), plans.of(Tensor::kDX));
    return compare(gradient, want);
  }
  case Tensor::kDW: {
    const auto dw = direct::weight_gradient(conv, image.half.data(), half(Tensor::kDY), plans.of(Tensor::kDW));
    std::transform(dw.begin(), dw.end(), want.full.begin(), bits_of_fp32);
    return compare(got, want);
  }
  default:
    throw std::invalid_argument(fmt::format("{} is an input, not a result", compiler::to_string(got.tensor)));
  }
}

} // namespace gradweave::runtime
