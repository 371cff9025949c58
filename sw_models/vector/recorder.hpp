// Arithmetic that writes down what is computed with it: a policy like those of sw_models/functions/fp32.hpp whose
// result is a program of the vector unit. The functions of the contract (N19, N20) and the operators of graphs are
// templates over a policy, so their programs are made of the same text as their golden execution.
#pragma once

#include "isa/vector/program.hpp"
#include "sw_models/vector/recording.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::vector {

class Recorder {
public:
  using Value = RecordedValue;

  static Value constant(std::uint32_t bits) { return {nullptr, Value::Kind::kConstant, bits, false, false}; }
  static Value neg(Value a);
  static Value abs(Value a);

  Value fma(Value a, Value b, Value c) { return add_node(isa::vector::Op::FMA, {a, b, c}); }
  Value add(Value a, Value b) { return add_node(isa::vector::Op::ADD, {a, b}); }
  Value mul(Value a, Value b) { return add_node(isa::vector::Op::MUL, {a, b}); }
  Value min(Value a, Value b) { return add_node(isa::vector::Op::MIN, {a, b}); }
  Value max(Value a, Value b) { return add_node(isa::vector::Op::MAX, {a, b}); }
  Value lt(Value a, Value b) { return add_node(isa::vector::Op::LT, {a, b}); }
  Value le(Value a, Value b) { return add_node(isa::vector::Op::LE, {a, b}); }
  Value eq(Value a, Value b) { return add_node(isa::vector::Op::EQ, {a, b}); }
  Value select(Value c, Value a, Value b) { return add_node(isa::vector::Op::SELECT, {c, a, b}); }
  Value iadd(Value a, Value b) { return add_node(isa::vector::Op::IADD, {a, b}); }
  Value isub(Value a, Value b) { return add_node(isa::vector::Op::ISUB, {a, b}); }
  Value band(Value a, Value b) { return add_node(isa::vector::Op::AND, {a, b}); }
  Value bor(Value a, Value b) { return add_node(isa::vector::Op::OR, {a, b}); }
  Value bxor(Value a, Value b) { return add_node(isa::vector::Op::XOR, {a, b}); }
  Value shl(Value a, unsigned by) { return add_node(isa::vector::Op::SHL, {a}, by); }
  Value shr(Value a, unsigned by) { return add_node(isa::vector::Op::SHR, {a}, by); }
  Value sra(Value a, unsigned by) { return add_node(isa::vector::Op::SRA, {a}, by); }
  Value to_bf16(Value a) { return add_node(isa::vector::Op::TO_BF16, {a}); }

  /// The line of operand tile i in this step; i below kTiles.
  Value tile(unsigned i) { return {this, Value::Kind::kTile, i, false, false}; }
  /// Where the element is: its lane, strip or step, as an integer.
  Value lane() { return add_node(isa::vector::Op::INDEX, {}, 0); }
  Value strip() { return add_node(isa::vector::Op::INDEX, {}, 1); }
  Value step() { return add_node(isa::vector::Op::INDEX, {}, 2); }

  /// v goes to result tile i, once a section. An operation of its own only if v is no fresh result.
  void output(unsigned i, Value v);

  /// A variable that begins as v and keeps what assign() gives it, from step to step of a loop too. v is copied: one
  /// operation. assign() takes one only if its value is no fresh result.
  Value variable(Value v);
  void assign(Value variable, Value v);

  /// What follows is run once a step, or once; a program begins with once. A value of a loop is that of the last step
  /// behind it.
  void loop();
  void once();

  /// Constants that do not fit into their instructions are set at the beginning; results that nothing reads are left
  /// out; then results get registers. Throws RecordingError.
  isa::vector::Program program() const;

private:
  Value add_node(isa::vector::Op op, std::vector<Value> operands, std::uint32_t number = 0);
  Value copy(Value v);
  /// Whether v is the result of the newest operation, as it is, and of nothing else.
  bool fresh(const Value &v) const;

  Recording recording_;
  unsigned section_ = 0;
};

} // namespace gradweave::vector
