// Every operator of the table: its checks pass, and each sees what is wrong when one function of the operator has a
// fault. An operator without checks, or whose checks cannot fail, is red here.
#include "operator_check.hpp"

#include "graph/golden/kernel.hpp"
#include "graph/ir/derivation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace gradweave::graph {
namespace {

/// What a faulty function of an operator does; a function pointer has no state of its own.
struct Fault {
  const Operator *original = nullptr;
  std::size_t output = 0; ///< of executions: whose element is off
  bool last = false;      ///< the last element, else the first
  std::size_t input = 0;  ///< of derivatives: whose gradient is wrong
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

void faulty_contract(Kernel<Contract> &k) {
  fault.original->contract(k);
  strike(k);
}

void faulty_reference(Kernel<Reference> &k) {
  fault.original->reference(k);
  strike(k);
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
      EXPECT_EQ(is_seen(op(), {nullptr, output, last}, [](Operator &o) { o.contract = faulty_contract; }), true)
          << "output " << output << (last ? ", last" : ", first") << " element";
}

TEST_P(EveryOperator, ChecksSeeAnElementOfTheReferenceOff) {
  for (std::size_t output = 0; output < op().outputs.size(); ++output)
    for (const bool last : {false, true})
      EXPECT_EQ(is_seen(op(), {nullptr, output, last}, [](Operator &o) { o.reference = faulty_reference; }), true)
          << "output " << output << (last ? ", last" : ", first") << " element";
}

TEST_P(EveryOperator, ChecksSeeAWrongDerivative) {
  if (op().derive == nullptr) return; // what a gradient pass never asks
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
                         [](const testing::TestParamInfo<std::string> &info) { return info.param; });

} // namespace
} // namespace gradweave::graph
