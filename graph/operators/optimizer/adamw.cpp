// AdamW: I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", as torch has it: eps is added to the root,
// and corrections of bias are constants of the step. SparseAdamW: only the rows that ids name.
#include "graph/operators/optimizer/adamw.hpp"
#include "graph/operators/loops/function_cost.hpp"
#include "graph/operators/optimizer/update.hpp"

#include <algorithm>

namespace gradweave::graph {
namespace {

struct AdamWInput {
  enum : std::size_t { kW, kG, kM, kV, kConstants, kIds, kFactor };
};

/// Both have the inputs of SparseAdamW; AdamW has its factor where that has ids.
template <class A, bool sparse> void run_adamw(Kernel<A> &k) {
  using Value = typename A::Value;
  const Value *const w = k.in(AdamWInput::kW), *const g = k.in(AdamWInput::kG), *const m = k.in(AdamWInput::kM),
                     *const v = k.in(AdamWInput::kV);
  Value *const new_w = k.out(0), *const new_m = k.out(1), *const new_v = k.out(2);
  const Value rate = k.in(AdamWInput::kConstants)[0], correct_m = k.in(AdamWInput::kConstants)[1],
              correct_v = k.in(AdamWInput::kConstants)[2];
  constexpr std::size_t factor_input = sparse ? AdamWInput::kFactor : AdamWInput::kFactor - 1;
  const bool scaled = k.has_in(factor_input);
  const Value factor = scaled ? k.in(factor_input)[0] : Value{1};
  const AdamWFactors<A> factors(k.attributes(), rate, correct_m, correct_v, factor,
                                A::mul(rate, real_attribute(k, "weight_decay")));
  const auto update = [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const AdamWElement<A> next = adamw_step<A>(factors, {w[i], m[i], v[i]}, g[i]);
      new_w[i] = next.w;
      new_m[i] = next.m;
      new_v[i] = next.v;
    }
  };
  update_elements(k, sparse ? AdamWInput::kIds : k.inputs(), update, [=](std::size_t begin, std::size_t end) {
    std::copy(w + begin, w + end, new_w + begin);
    std::copy(m + begin, m + end, new_m + begin);
    std::copy(v + begin, v + end, new_v + begin);
  });
}

struct AdamWRun {
  template <class A> static void run(Kernel<A> &k) { run_adamw<A, false>(k); }
};
struct SparseAdamWRun {
  template <class A> static void run(Kernel<A> &k) { run_adamw<A, true>(k); }
};

void infer_moments(Inference &op, std::size_t factor) {
  require_like_parameter(op, {AdamWInput::kG, AdamWInput::kM, AdamWInput::kV});
  require_constants(op, AdamWInput::kConstants, 3, factor);
  for (const char *name : {"beta1", "beta2"}) {
    const double beta = op.attributes().real(name);
    op.require(beta >= 0 && beta < 1, std::string(name) + " must be at least 0 and below 1");
  }
  op.require(op.attributes().real("epsilon") >= 0, "epsilon must not be negative");
  for (std::size_t o = 0; o < op.outputs(); ++o)
    op.set(o, op.shape(AdamWInput::kW));
}

void infer_adamw(Inference &op) { infer_moments(op, AdamWInput::kFactor - 1); }
void infer_sparse_adamw(Inference &op) {
  require_rows(op, AdamWInput::kIds);
  infer_moments(op, AdamWInput::kFactor);
}

unsigned adamw_operations() { return 11 + function_cost::sqrt() + function_cost::divide(); }

} // namespace

std::vector<Operator> adamw_operators() {
  Operator dense;
  dense.name = "AdamW";
  dense.summary = "one step of AdamW: w, m and v of the next step";
  dense.inputs = {{"w", Takes::kFp32}, {"g", Takes::kFp32},         {"m", Takes::kFp32},
                  {"v", Takes::kFp32}, {"constants", Takes::kFp32}, {"factor", Takes::kFp32, true}};
  dense.outputs = {{"w", Gives::kFp32}, {"m", Gives::kFp32}, {"v", Gives::kFp32}};
  dense.attributes = {
      {"beta1", AttributeKind::kReal, 0.9, "what is kept of the mean"},
      {"beta2", AttributeKind::kReal, 0.999, "what is kept of the mean square"},
      {"epsilon", AttributeKind::kReal, 1e-8, "added to the root of the mean square"},
      {"weight_decay", AttributeKind::kReal, 0.01, "what w loses in a step, times the rate"},
  };
  dense.infer = infer_adamw;
  dense.operations = operations_per_element<adamw_operations>;
  executes<AdamWRun>(dense);

  Operator sparse = dense;
  sparse.name = "SparseAdamW";
  sparse.summary = "one step of AdamW for the rows of w that ids name; the others stay, and so do their moments";
  sparse.inputs.insert(sparse.inputs.begin() + AdamWInput::kIds, {"ids", Takes::kIndex});
  sparse.infer = infer_sparse_adamw;
  sparse.lower = walks<Walk::kGather>;
  executes<SparseAdamWRun>(sparse);
  return {dense, sparse};
}

} // namespace gradweave::graph
