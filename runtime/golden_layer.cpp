#include "runtime/golden_layer.hpp"

#include "sw_models/golden.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

namespace gradweave::runtime {

using compiler::Tensor;

const HostTensor &find_tensor(const TensorSet &set, Tensor tensor) {
  for (const HostTensor &candidate : set)
    if (candidate.tensor == tensor) return candidate;
  throw std::out_of_range(fmt::format("tensor {} is not bound", compiler::to_string(tensor)));
}

HostTensor golden_result(Tensor tensor, const TensorSet &inputs) {
  switch (tensor) {
  case Tensor::kY: {
    const HostTensor &x = find_tensor(inputs, Tensor::kX);
    const HostTensor &w = find_tensor(inputs, Tensor::kW);
    HostTensor y(tensor, false, x.rows, w.cols);
    y.half = golden::forward(x.half.data(), w.half.data(), x.rows, x.cols, w.cols);
    return y;
  }
  case Tensor::kDX: {
    const HostTensor &dy = find_tensor(inputs, Tensor::kDY);
    const HostTensor &w = find_tensor(inputs, Tensor::kW);
    HostTensor dx(tensor, false, dy.rows, w.rows);
    dx.half = golden::input_gradient(dy.half.data(), w.half.data(), dy.rows, w.rows, w.cols);
    return dx;
  }
  case Tensor::kDW: {
    const HostTensor &x = find_tensor(inputs, Tensor::kX);
    const HostTensor &dy = find_tensor(inputs, Tensor::kDY);
    HostTensor dw(tensor, true, x.cols, dy.cols);
    const std::vector<float> values = golden::weight_gradient(x.half.data(), dy.half.data(), x.rows, x.cols, dy.cols);
    std::memcpy(dw.full.data(), values.data(), values.size() * sizeof(float));
    return dw;
  }
  default:
    throw std::invalid_argument(fmt::format("{} is an input, not a result", compiler::to_string(tensor)));
  }
}

} // namespace gradweave::runtime
