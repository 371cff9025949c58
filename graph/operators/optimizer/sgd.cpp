// Sgd: a step down the gradient, with momentum, weight decay and Nesterov's momentum as torch has them (no dampening).
// SparseSgd: only the rows that ids name.
#include "graph/operators/optimizer/update.hpp"

namespace gradweave::graph {
namespace {

struct SgdInput {
  enum : std::size_t { kW, kG, kM, kConstants, kIds, kFactor };
};

template <class A, bool sparse> void run_sgd(Kernel<A> &k) {
  const std::size_t ids = sparse ? SgdInput::kIds : k.inputs();
  const std::size_t factor = sparse ? SgdInput::kFactor : SgdInput::kFactor - 1;
  const bool has_m = k.has_in(SgdInput::kM), gives_m = k.has_out(1), scaled = k.has_in(factor);
  keep_others(k, ids, {{SgdInput::kW, 0}});
  if (has_m && gives_m) keep_others(k, ids, {{SgdInput::kM, 1}});
  const auto momentum = real_attribute(k, "momentum"), decay = real_attribute(k, "weight_decay");
  const bool nesterov = k.attributes().integer("nesterov") != 0;
  for (const UpdatedRange &range : updated_ranges(k, ids)) {
    LineWalk walk = elements_walk(range.end - range.begin, {}, {});
    walk.in = {in_range(input(SgdInput::kW), range), in_range(input(SgdInput::kG), range),
               a_number(input(SgdInput::kConstants))};
    const std::size_t of_m = walk.in.size(), of_factor = of_m + (has_m ? 1 : 0);
    if (has_m) walk.in.push_back(in_range(input(SgdInput::kM), range));
    if (scaled) walk.in.push_back(a_number(input(factor)));
    walk.out = {in_range(output(0), range)};
    if (gives_m) walk.out.push_back(in_range(output(1), range));
    walk_lines(k, walk, 6, [=](auto &lines) {
      lines.loop([=](const auto &at) {
        const auto gradient = A::fma(decay, at.in(0), scaled ? A::mul(at.in(1), at.in(of_factor)) : at.in(1));
        const auto average = has_m ? A::fma(momentum, at.in(of_m), gradient) : gradient;
        const auto step = nesterov ? A::fma(momentum, average, gradient) : average;
        at.out(0, A::fma(-at.in(2), step, at.in(0)));
        if (gives_m) at.out(1, average);
      });
    });
  }
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
  dense.of_step = true;
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
