// AdamW: I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", as torch has it: eps is added to the root,
// and corrections of bias are constants of the step. SparseAdamW: only the rows that ids name.
#include "graph/operators/optimizer/adamw.hpp"
#include "graph/operators/loops/function_cost.hpp"
#include "graph/operators/optimizer/update.hpp"

namespace gradweave::graph {
namespace {

struct AdamWInput {
  enum : std::size_t { kW, kG, kM, kV, kConstants, kIds, kFactor };
};

/// Both have the inputs of SparseAdamW; AdamW has its factor where that has ids. Moments and the divisor of w's step
/// come first, then that step and w: each has no more operands than a walk may have, and more to compute than lines to
/// read.
template <class A, bool sparse> class AdamWStep {
public:
  static void run(Kernel<A> &k) {
    const std::size_t ids = sparse ? AdamWInput::kIds : k.inputs();
    const std::size_t factor = sparse ? AdamWInput::kFactor : AdamWInput::kFactor - 1;
    keep_others(k, ids, {{AdamWInput::kW, 0}, {AdamWInput::kM, 1}, {AdamWInput::kV, 2}});
    const WalkValue divisors = k.temporary(k.in_shape(0).elements());
    WalkValue gradients = input(AdamWInput::kG);
    if (k.has_in(factor)) gradients = k.temporary(k.in_shape(0).elements());
    for (const UpdatedRange &range : updated_ranges(k, ids)) {
      if (k.has_in(factor)) scale(k, range, factor, gradients);
      update_moments(k, range, gradients, divisors);
      update_weights(k, range, divisors);
    }
  }

private:
  static LineWalk walk_of(const UpdatedRange &range) { return elements_walk(range.end - range.begin, {}, {}); }

  static void scale(Kernel<A> &k, const UpdatedRange &range, std::size_t factor, const WalkValue &gradients) {
    LineWalk walk = walk_of(range);
    walk.in = {in_range(input(AdamWInput::kG), range), a_number(input(factor))};
    walk.out = {in_range(gradients, range)};
    walk_lines(k, walk, 1,
               [](auto &lines) { lines.loop([](const auto &at) { at.out(0, A::mul(at.in(0), at.in(1))); }); });
  }

  static void update_moments(Kernel<A> &k, const UpdatedRange &range, const WalkValue &gradients,
                             const WalkValue &divisors) {
    enum Operand { kG, kM, kV, kCorrectV };
    LineWalk walk = walk_of(range);
    walk.in = {in_range(gradients, range), in_range(input(AdamWInput::kM), range),
               in_range(input(AdamWInput::kV), range), a_number(input(AdamWInput::kConstants), 2)};
    walk.out = {in_range(output(1), range), in_range(output(2), range), in_range(divisors, range)};
    const AdamWMoments<A> moments(k.attributes());
    walk_lines(k, walk, 40, [=](auto &lines) {
      lines.loop([=](const auto &at) {
        const auto next = moments.next(at.in(kM), at.in(kV), at.in(kG), at.in(kCorrectV));
        at.out(2, next.divisor);
        at.out(0, next.m);
        at.out(1, next.v);
      });
    });
  }

  static void update_weights(Kernel<A> &k, const UpdatedRange &range, const WalkValue &divisors) {
    enum Operand { kW, kNextM, kDivisor, kRate, kCorrectM };
    LineWalk walk = walk_of(range);
    walk.in = {in_range(input(AdamWInput::kW), range), in_range(output(1), range), in_range(divisors, range),
               a_number(input(AdamWInput::kConstants), 0), a_number(input(AdamWInput::kConstants), 1)};
    walk.out = {in_range(output(0), range)};
    const AdamWMoments<A> moments(k.attributes());
    const auto weight_decay = real_attribute(k, "weight_decay");
    walk_lines(k, walk, 24, [=](auto &lines) {
      auto decay = lines.variable(0);
      lines.once([&](const auto &at) { decay(at) = A::mul(at.in(kRate), weight_decay); });
      lines.loop([&](const auto &at) {
        const auto step = moments.step(at.in(kNextM), at.in(kDivisor), at.in(kCorrectM));
        at.out(0, adamw_weight<A>(at.in(kW), step, at.in(kRate), decay(at)));
      });
    });
  }
};

struct AdamWRun {
  template <class A> static void run(Kernel<A> &k) { AdamWStep<A, false>::run(k); }
};
struct SparseAdamWRun {
  template <class A> static void run(Kernel<A> &k) { AdamWStep<A, true>::run(k); }
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

unsigned adamw_operations() { return 11 + function_cost::sqrt_midrange() + function_cost::divide_midrange(); }

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
  dense.of_step = true;
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
