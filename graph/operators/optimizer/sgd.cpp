// Sgd: a step down the gradient, with momentum, weight decay and Nesterov's momentum as torch has them (no dampening).
// SparseSgd: only the rows that ids name.
#include "graph/operators/optimizer/update.hpp"

#include <algorithm>

namespace gradweave::graph {
namespace {

struct SgdInput {
  enum : std::size_t { kW, kG, kM, kConstants, kIds, kFactor };
};

template <class A, bool sparse> void run_sgd(Kernel<A> &k) {
  using Value = typename A::Value;
  const Value *const w = k.in(SgdInput::kW), *const g = k.in(SgdInput::kG),
                     *const m = k.has_in(SgdInput::kM) ? k.in(SgdInput::kM) : nullptr;
  // Without momentum nobody reads the second result; it then is the step.
  Value *const new_w = k.out(0);
  std::vector<Value> unread(k.has_out(1) ? 0 : k.out_shape(0).elements());
  Value *const new_m = k.has_out(1) ? k.out(1) : unread.data();
  const Value rate = k.in(SgdInput::kConstants)[0];
  constexpr std::size_t factor_input = sparse ? SgdInput::kFactor : SgdInput::kFactor - 1;
  const Value factor = k.has_in(factor_input) ? k.in(factor_input)[0] : Value{1};
  const Value momentum = real_attribute(k, "momentum"), decay = real_attribute(k, "weight_decay");
  const bool nesterov = k.attributes().integer("nesterov") != 0;
  const auto update = [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Value gradient = A::fma(decay, w[i], A::mul(g[i], factor));
      const Value average = m == nullptr ? gradient : A::fma(momentum, m[i], gradient);
      new_m[i] = average;
      new_w[i] = A::fma(-rate, nesterov ? A::fma(momentum, average, gradient) : average, w[i]);
    }
  };
  update_elements(k, sparse ? SgdInput::kIds : k.inputs(), update, [=](std::size_t begin, std::size_t end) {
    std::copy(w + begin, w + end, new_w + begin);
    if (m != nullptr) std::copy(m + begin, m + end, new_m + begin);
  });
}

struct SgdRun {
  template <class A> static void run(Kernel<A> &k) { run_sgd<A, false>(k); }
};
struct SparseSgdRun {
  template <class A> static void run(Kernel<A> &k) { run_sgd<A, true>(k); }
};

void infer_step(Inference &op, std::size_t factor) {
  require_like_parameter(op, {SgdInput::kG, SgdInput::kM});
  require_constants(op, SgdInput::kConstants, 1, factor);
  const double momentum = op.attributes().real("momentum");
  op.require(momentum >= 0 && momentum < 1, "momentum must be at least 0 and below 1");
  op.require(op.has(SgdInput::kM) || momentum == 0, "momentum is not 0, and input 'm' is missing");
  op.require(!op.has(SgdInput::kM) || momentum != 0, "momentum is 0, and needs no input 'm'");
  op.require(op.attributes().integer("nesterov") == 0 || momentum != 0, "nesterov needs a momentum");
  for (std::size_t o = 0; o < op.outputs(); ++o)
    op.set(o, op.shape(SgdInput::kW));
}

void infer_sgd(Inference &op) { infer_step(op, SgdInput::kFactor - 1); }
void infer_sparse_sgd(Inference &op) {
  require_rows(op, SgdInput::kIds);
  infer_step(op, SgdInput::kFactor);
}

} // namespace

std::vector<Operator> sgd_operators() {
  Operator dense;
  dense.name = "Sgd";
  dense.summary = "one step of gradient descent: w and m of the next step";
  dense.inputs = {{"w", Takes::kFp32},
                  {"g", Takes::kFp32},
                  {"m", Takes::kFp32, true},
                  {"constants", Takes::kFp32},
                  {"factor", Takes::kFp32, true}};
  dense.outputs = {{"w", Gives::kFp32}, {"m", Gives::kFp32, true}};
  dense.attributes = {
      {"momentum", AttributeKind::kReal, 0.0, "what is kept of earlier steps"},
      {"weight_decay", AttributeKind::kReal, 0.0, "how much of w is added to its gradient"},
      {"nesterov", AttributeKind::kInteger, std::int64_t{0}, "1: the step looks ahead by one momentum more"},
  };
  dense.infer = infer_sgd;
  dense.operations = operations_per_element<4>;
  executes<SgdRun>(dense);

  Operator sparse = dense;
  sparse.name = "SparseSgd";
  sparse.summary = "one step of gradient descent for the rows of w that ids name; the others stay";
  sparse.inputs.insert(sparse.inputs.begin() + SgdInput::kIds, {"ids", Takes::kIndex});
  sparse.infer = infer_sparse_sgd;
  sparse.lower = walks<Walk::kGather>;
  executes<SparseSgdRun>(sparse);
  return {dense, sparse};
}

} // namespace gradweave::graph
