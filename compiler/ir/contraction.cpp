#include "compiler/ir/contraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

std::vector<LoopOrder> any_loops() { return {all_loop_orders().begin(), all_loop_orders().end()}; }

} // namespace

bool used_in(Tensor tensor, Pass pass) {
  const TensorForm &form = form_of(tensor);
  return (form.forward && pass != Pass::kBackward) || (form.backward && pass != Pass::kForward);
}

const std::array<Tensor, 3> &operand_tensors() {
  static constexpr std::array<Tensor, 3> tensors{Tensor::kX, Tensor::kW, Tensor::kDY};
  return tensors;
}

const std::array<Tensor, 4> &activation_tensors() {
  static constexpr std::array<Tensor, 4> tensors{Tensor::kX, Tensor::kDY, Tensor::kY, Tensor::kDX};
  return tensors;
}

const std::array<Tensor, 3> &result_tensors() {
  static constexpr std::array<Tensor, 3> tensors{Tensor::kY, Tensor::kDX, Tensor::kDW};
  return tensors;
}

void refuse_operand(Tensor tensor) {
  throw std::invalid_argument(fmt::format("{} is an operand, not a result", to_string(tensor)));
}

Tensor shared_gradient() { return Tensor::kDY; }

bool rounds(const Layer &layer, Tensor result) {
  return result == Tensor::kY ? !layer.y_fp32 : result == Tensor::kDX && !layer.dx_fp32;
}

bool PhaseForm::forward() const { return form_of(results.front()).forward; }

bool PhaseForm::computes(Tensor result) const {
  return std::find(results.begin(), results.end(), result) != results.end();
}

const PhaseForm &form_of(PhaseKind kind) {
  static const PhaseForm forward{"Y", {Tensor::kY}, any_loops()};
  static const PhaseForm dx{"dX", {Tensor::kDX}, any_loops()};
  static const PhaseForm dw{"dW", {Tensor::kDW}, any_loops()};
  // dX walks dY by rows, dW by columns.
  static const PhaseForm interleave{"interleave",
                                    {Tensor::kDX, Tensor::kDW},
                                    {{Dim::kN, Dim::kK, Dim::kM}, {Dim::kK, Dim::kN, Dim::kM}},
                                    LoopOrder{Dim::kM, Dim::kK, Dim::kN}};
  static const PhaseForm dx_major{"dx_major", {Tensor::kDX, Tensor::kDW}, {{Dim::kM, Dim::kN, Dim::kK}}};
  static const PhaseForm dw_major{"dw_major", {Tensor::kDX, Tensor::kDW}, {{Dim::kN, Dim::kM, Dim::kK}}};
  switch (kind) {
  case PhaseKind::kForward:
    return forward;
  case PhaseKind::kDx:
    return dx;
  case PhaseKind::kDw:
    return dw;
  case PhaseKind::kInterleave:
    return interleave;
  case PhaseKind::kDxMajor:
    return dx_major;
  case PhaseKind::kDwMajor:
    return dw_major;
  }
  throw std::logic_error("a phase without a form");
}

const std::array<LoopOrder, 6> &all_loop_orders() {
  static constexpr std::array<LoopOrder, 6> orders{{{Dim::kM, Dim::kK, Dim::kN},
                                                    {Dim::kM, Dim::kN, Dim::kK},
                                                    {Dim::kK, Dim::kM, Dim::kN},
                                                    {Dim::kK, Dim::kN, Dim::kM},
                                                    {Dim::kN, Dim::kM, Dim::kK},
                                                    {Dim::kN, Dim::kK, Dim::kM}}};
  return orders;
}

} // namespace gradweave::compiler
