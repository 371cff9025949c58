// Every operator of the table: its checks pass, and each sees what is wrong when one function of the operator has a
// fault. An operator without checks, or whose checks cannot fail, is red here.
#include "operator_check.hpp"

#include "graph/operators/loops/entry.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace gradweave::graph {
namespace {

/// What a faulty function of an operator does; a function pointer has no state of its own.
struct Fault {
  const Operator *original = nullptr;
  std::size_t output = 0; ///< of executions: whose element is off
  bool last = false;      ///< the last element, else the first
  std::size_t input = 0;  ///< whose last element is taken for 0; of derivatives: whose gradient is wrong
  bool dropped = false;   ///< it is missing, else doubled
  bool struck = false;    ///< the fault has been met
};
Fault fault;

float off(float value) {
  // An ulp away from 0; what cannot be a little off becomes 1.
  return std::isfinite(value) ? std::nextafter(value, value < 0 ? -INFINITY : INFINITY) : 1.0F;
}
double off(double value) { return std::isfinite(value) ? value * 1.001 + 0.001 : 1.0; }

template <class A> void strike(Kernel<A> &k) {
  const std::size_t o = fault.output;
  if (!k.has_out(o)) return;
  fault.struck = true;
  const std::size_t i = fault.last ? k.out_shape(o).elements() - 1 : 0;
  if (is_real(k.out_tensor(o).type))
    k.out(o)[i] = off(k.out(o)[i]);
  else
    ++k.index_out(o)[i];
}

template <class A> void original(Kernel<A> &k) {
  if constexpr (std::is_same_v<A, Contract>)
    fault.original->contract(k);
  else
    fault.original->reference(k);
}

template <class A> void one_element_off(Kernel<A> &k) {
  original(k);
  strike(k);
}

/// An execution of the original with copies of the inputs.
template <class A> struct Rerun {
  explicit Rerun(Kernel<A> &kernel) : k(kernel), copies(kernel.inputs()), results(kernel.outputs()) {
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (!k.has_in(i)) continue;
      const std::size_t count = k.in_shape(i).elements();
      if (is_real(k.in_tensor(i).type))
        copies[i].real.assign(k.in(i), k.in(i) + count);
      else
        copies[i].index.assign(k.index_in(i), k.index_in(i) + count);
    }
    for (std::size_t o = 0; o < results.size(); ++o) {
      if (!k.has_out(o)) continue;
      if (is_real(k.out_tensor(o).type))
        results[o].real.resize(k.out_shape(o).elements());
      else
        results[o].index.resize(k.out_shape(o).elements());
    }
  }

  void run() {
    std::vector<const Buffer<A> *> inputs;
    std::vector<Buffer<A> *> outputs;
    for (std::size_t i = 0; i < copies.size(); ++i)
      inputs.push_back(k.has_in(i) ? &copies[i] : nullptr);
    for (std::size_t o = 0; o < results.size(); ++o)
      outputs.push_back(k.has_out(o) ? &results[o] : nullptr);
    Kernel<A> again(k.graph(), k.op(), inputs, outputs, k.threads());
    original(again);
    fault.struck = true;
  }

  template <typename Change> void give(Change change) {
    for (std::size_t o = 0; o < results.size(); ++o) {
      if (!k.has_out(o)) continue;
      change(results[o].real);
      change(results[o].index);
      std::copy(results[o].real.begin(), results[o].real.end(), k.out(o));
      std::copy(results[o].index.begin(), results[o].index.end(), k.index_out(o));
    }
  }

  Kernel<A> &k;
  std::vector<Buffer<A>> copies, results;
};

/// A term left out: chains begin with 0.
template <class A> void element_ignored(Kernel<A> &k) {
  if (!k.has_in(fault.input) || !is_real(k.in_tensor(fault.input).type)) return original(k);
  Rerun<A> rerun(k);
  rerun.copies[fault.input].real.back() = 0;
  rerun.run();
  rerun.give([](auto &) {});
}

/// The same values in descending order: all tensors reversed, and results back again. An index counts columns of the
/// input before it.
void descending(Kernel<Contract> &k) {
  Rerun<Contract> rerun(k);
  for (std::size_t i = 0; i < rerun.copies.size(); ++i) {
    std::reverse(rerun.copies[i].real.begin(), rerun.copies[i].real.end());
    std::reverse(rerun.copies[i].index.begin(), rerun.copies[i].index.end());
    if (i == 0) continue;
    for (std::int32_t &index : rerun.copies[i].index)
      index = static_cast<std::int32_t>(k.in_shape(i - 1).cols()) - 1 - index;
  }
  if (k.op().type->variadic) std::reverse(rerun.copies.begin(), rerun.copies.end());
  rerun.run();
  rerun.give([](auto &values) { std::reverse(values.begin(), values.end()); });
}

/// Whether the operator's chains take another course on reversed tensors; those of convolutions and pooling do not:
/// their windows have a beginning.
bool has_chains(const Operator &op) {
  static const std::vector<std::string_view> kOrderDoesNotMatter = {"ReduceMax", "ReduceSumGradient",
                                                                    "ReduceMeanGradient"};
  if (std::find(kOrderDoesNotMatter.begin(), kOrderDoesNotMatter.end(), op.name) != kOrderDoesNotMatter.end())
    return false;
  return op.lower == walks<Walk::kRows> || op.lower == walks<Walk::kColumns> || op.lower == walks<Walk::kWhole>;
}

void faulty_derive(Derivation &d) {
  fault.original->derive(d);
  if (fault.input >= d.given().size() || d.given()[fault.input] == kNone) return;
  fault.struck = true;
  const TensorId right = d.given()[fault.input];
  d.give(fault.input, fault.dropped ? kNone : d.build.add("Add", {right, right}));
}

using Change = void (*)(Operator &);

OperatorSet with_fault(std::string_view name, Change change) {
  std::vector<Operator> all = operators().all();
  for (Operator &op : all)
    if (op.name == name) change(op);
  return OperatorSet(std::move(all));
}

std::string run_check(const Check &check, const OperatorSet &set) {
  try {
    return check(set);
  } catch (const GraphError &error) {
    return error.what();
  }
}

/// Whether some check of the operator sees the fault; nothing if none meets it.
std::optional<bool> is_seen(const Operator &op, const Fault &what, Change change) {
  fault = what;
  fault.original = &op;
  const OperatorSet set = with_fault(op.name, change);
  for (const Check &check : checks_of(op.name))
    if (!run_check(check, set).empty()) return true;
  return fault.struck ? std::optional<bool>(false) : std::nullopt;
}

class EveryOperator : public testing::TestWithParam<std::string> {
protected:
  const Operator &op() const { return *operators().find(GetParam()); }
};

TEST_P(EveryOperator, PassesItsChecks) {
  ASSERT_FALSE(checks_of(GetParam()).empty()) << "no check is registered; its test file needs a Holds object";
  for (const Check &check : checks_of(GetParam()))
    EXPECT_EQ(run_check(check, operators()), "");
}

TEST_P(EveryOperator, ChecksSeeAnElementOfTheContractAnUlpOff) {
  for (std::size_t output = 0; output < op().outputs.size(); ++output)
    for (const bool last : {false, true})
      EXPECT_EQ(is_seen(op(), {nullptr, output, last}, [](Operator &o) { o.contract = one_element_off<Contract>; }),
                true)
          << "output " << output << (last ? ", last" : ", first") << " element";
}

TEST_P(EveryOperator, ChecksSeeAnElementOfTheReferenceOff) {
  for (std::size_t output = 0; output < op().outputs.size(); ++output)
    for (const bool last : {false, true})
      EXPECT_EQ(is_seen(op(), {nullptr, output, last}, [](Operator &o) { o.reference = one_element_off<Reference>; }),
                true)
          << "output " << output << (last ? ", last" : ", first") << " element";
}

TEST_P(EveryOperator, ChecksSeeAnInputIgnored) {
  for (std::size_t input = 0; input < op().inputs.size(); ++input) {
    if (op().inputs[input].takes == Takes::kIndex) continue;
    const Fault ignored{nullptr, 0, false, input};
    EXPECT_EQ(is_seen(op(), ignored, [](Operator &o) { o.contract = element_ignored<Contract>; }), true)
        << "contract, input " << op().inputs[input].name;
    EXPECT_EQ(is_seen(op(), ignored, [](Operator &o) { o.reference = element_ignored<Reference>; }), true)
        << "reference, input " << op().inputs[input].name;
  }
}

TEST_P(EveryOperator, ChecksSeeChainsThatDescend) {
  if (!has_chains(op())) return;
  EXPECT_EQ(is_seen(op(), {}, [](Operator &o) { o.contract = descending; }), true);
}

TEST_P(EveryOperator, ChecksSeeAWrongDerivative) {
  if (op().derive == nullptr || op().derive == derive_nothing) return; // what gives no gradient
  std::size_t gradients = 0;
  for (std::size_t input = 0; input < op().inputs.size(); ++input)
    for (const bool dropped : {false, true}) {
      const std::optional<bool> seen =
          is_seen(op(), {nullptr, 0, false, input, dropped}, [](Operator &o) { o.derive = faulty_derive; });
      if (!seen) continue; // no gradient is given to this input
      ++gradients;
      EXPECT_TRUE(*seen) << "gradient of " << op().inputs[input].name << (dropped ? " missing" : " doubled");
    }
  EXPECT_GT(gradients, 0U) << "no check asks for a gradient";
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Operator &entry : operators().all())
    all.emplace_back(entry.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOperator, testing::ValuesIn(names()),
                         [](const testing::TestParamInfo<std::string> &entry) { return entry.param; });

} // namespace
} // namespace gradweave::graph
