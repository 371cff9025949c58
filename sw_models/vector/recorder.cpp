#include "sw_models/vector/recorder.hpp"

#include "sw_models/vector/allocation.hpp"

namespace gradweave::vector {

using isa::vector::kSections;
using isa::vector::Op;
using isa::vector::Program;

namespace {
constexpr std::uint32_t kSign = 0x80000000U;
}

Recorder::Value Recorder::neg(Value a) {
  if (a.kind == Value::Kind::kConstant)
    a.number ^= kSign;
  else
    a.neg = !a.neg;
  return a;
}

Recorder::Value Recorder::abs(Value a) {
  if (a.kind == Value::Kind::kConstant) a.number &= ~kSign;
  a.abs = a.kind != Value::Kind::kConstant;
  a.neg = false;
  return a;
}

Recorder::Value Recorder::add_node(Op op, std::vector<Value> operands, std::uint32_t number) {
  recording_.operations.push_back({op, std::move(operands), number, section_, recording_.results, std::nullopt});
  return {this, Value::Kind::kResult, recording_.results++, false, false};
}

Recorder::Value Recorder::copy(Value v) { return add_node(Op::OR, {v, v}); }

bool Recorder::fresh(const Value &v) const {
  if (v.kind != Value::Kind::kResult || v.neg || v.abs || recording_.operations.empty()) return false;
  const RecordedOperation &newest = recording_.operations.back();
  return newest.result == v.number && v.number + 1 == recording_.results && !newest.output &&
         newest.section == section_;
}

void Recorder::output(unsigned i, Value v) {
  if (!fresh(v)) copy(v);
  recording_.operations.back().output = i;
}

Recorder::Value Recorder::variable(Value v) { return copy(v); }

void Recorder::assign(Value variable, Value v) {
  if (!fresh(v)) copy(v);
  recording_.operations.back().result = variable.number;
}

void Recorder::loop() { section_ += section_ % 2 == 0 ? 1 : 2; }
void Recorder::once() { section_ += section_ % 2 == 0 ? 2 : 1; }

Program Recorder::program() const {
  if (section_ >= kSections)
    throw RecordingError("the program has more than " + std::to_string(kSections) + " sections");
  return Allocation(recording_).program();
}

} // namespace gradweave::vector
