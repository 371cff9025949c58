#include "compiler/elements/element_program.hpp"

#include "graph/golden/arithmetic.hpp"
#include "graph/golden/recorded.hpp"
#include "graph/operators/activation/gelu.hpp"
#include "graph/operators/optimizer/adamw.hpp"
#include "isa/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace gradweave::compiler {
namespace {

using graph::Recorded;
using graph::TensorId;
using Value = Recorded::Value;

/// What an op's recording sees: its inputs as values, and where its outputs go.
class OpRecording {
public:
  OpRecording(const graph::Graph &graph, const graph::Op &op, vector::Recorder &recorder,
              std::map<TensorId, Value> &values, const KnownValues &known, const std::set<TensorId> &read)
      : graph_(graph), op_(op), recorder_(recorder), values_(values), known_(known), read_(read) {}

  vector::Recorder &recorder() { return recorder_; }
  const graph::Attributes &attributes() const { return op_.attributes; }
  Value in(std::size_t i) const { return values_.at(op_.inputs[i]); }
  bool has_in(std::size_t i) const { return i < op_.inputs.size() && op_.inputs[i] != graph::kNone; }
  /// Element `at` of an input that is known.
  float known_in(std::size_t i, std::size_t at) const {
    const auto found = known_.find(op_.inputs[i]);
    if (found == known_.end() || found->second.size() <= at)
      throw ElementProgramError(fmt::format("op '{}': '{}' has to be known when the program is made; give its values",
                                            op_.name, graph_.tensors[op_.inputs[i]].name));
    return found->second[at];
  }
  /// Rounded to the edge's type: here if an op of the program reads it, else by the port of the results.
  void out(std::size_t o, Value value) {
    const TensorId id = o < op_.outputs.size() ? op_.outputs[o] : graph::kNone;
    if (id == graph::kNone) return;
    const bool bf16 = graph_.tensors[id].type == graph::ElementType::kBf16 && read_.count(id) != 0;
    values_.insert_or_assign(id, bf16 ? Value(recorder_.to_bf16(value.recorded())) : value);
  }

private:
  const graph::Graph &graph_;
  const graph::Op &op_;
  vector::Recorder &recorder_;
  std::map<TensorId, Value> &values_;
  const KnownValues &known_;
  const std::set<TensorId> &read_; ///< by ops of the program
};

bool by_tanh(const OpRecording &r) { return r.attributes().text("approximate") == "tanh"; }

void record_gelu(OpRecording &r) {
  r.out(0, by_tanh(r) ? graph::GeluByTanh::value<Recorded>(r.in(0)) : graph::GeluByErf::value<Recorded>(r.in(0)));
}
void record_gelu_gradient(OpRecording &r) {
  const Value slope =
      by_tanh(r) ? graph::GeluByTanh::slope<Recorded>(r.in(1)) : graph::GeluByErf::slope<Recorded>(r.in(1));
  r.out(0, Recorded::mul(r.in(0), slope));
}
void record_add(OpRecording &r) { r.out(0, Recorded::add(r.in(0), r.in(1))); }
void record_sub(OpRecording &r) { r.out(0, Recorded::sub(r.in(0), r.in(1))); }
void record_mul(OpRecording &r) { r.out(0, Recorded::mul(r.in(0), r.in(1))); }
void record_cast(OpRecording &r) { r.out(0, r.in(0)); }

/// x < 0 ? +0 : x, so that a NaN and a -0 stay.
void record_relu(OpRecording &r) {
  vector::Recorder &p = r.recorder();
  const auto zero = vector::Recorder::constant(0), x = r.in(0).recorded();
  r.out(0, Value(p.select(p.lt(x, zero), zero, x)));
}
/// y > 0 ? dy : +0.
void record_relu_gradient(OpRecording &r) {
  vector::Recorder &p = r.recorder();
  const auto zero = vector::Recorder::constant(0);
  r.out(0, Value(p.select(p.lt(zero, r.in(1).recorded()), r.in(0).recorded(), zero)));
}

/// Inputs: w, g, m, v, constants, factor.
void record_adamw(OpRecording &r) {
  const float rate = r.known_in(4, 0);
  const float decay = graph::Contract::mul(rate, static_cast<float>(r.attributes().real("weight_decay")));
  const Value gradient = Recorded::mul(r.in(1), Value(r.has_in(5) ? r.known_in(5, 0) : 1.0F));
  const graph::AdamWMoments<Recorded> moments(r.attributes());
  const auto next = moments.next(r.in(2), r.in(3), gradient, Value(r.known_in(4, 1)), Value(r.known_in(4, 2)));
  r.out(0, graph::adamw_weight<Recorded>(r.in(0), next.step, Value(rate), Value(decay)));
  r.out(1, next.m);
  r.out(2, next.v);
}

using Record = void (*)(OpRecording &);
constexpr std::array<std::pair<std::string_view, Record>, 10> kRecords{{{"Gelu", record_gelu},
                                                                        {"GeluGradient", record_gelu_gradient},
                                                                        {"Add", record_add},
                                                                        {"Sub", record_sub},
                                                                        {"Mul", record_mul},
                                                                        {"Bias", record_add},
                                                                        {"Cast", record_cast},
                                                                        {"Relu", record_relu},
                                                                        {"ReluGradient", record_relu_gradient},
                                                                        {"AdamW", record_adamw}}};

Record record_of(const graph::Op &op) {
  for (const auto &[name, record] : kRecords)
    if (name == op.type->name) return record;
  throw ElementProgramError(fmt::format("op '{}' is a {}, which is not recorded yet; there are {}", op.name,
                                        op.type->name, recordable_operators()));
}

/// Collects the tensors of the ops and what becomes of them.
class Recording {
public:
  Recording(const graph::Graph &graph, const std::vector<graph::OpId> &ops, const KnownValues &known)
      : graph_(graph), ops_(ops), known_(known) {}

  ElementProgram run() {
    for (const graph::OpId id : ops_)
      read_.insert(graph_.ops[id].inputs.begin(), graph_.ops[id].inputs.end());
    find_results();
    const graph::Shape &shape = graph_.tensors[program_.results.front().tensor].shape;
    program_.cols = shape.rank() == 0 ? 1 : static_cast<std::uint32_t>(shape.cols());
    program_.rows = static_cast<std::uint32_t>(shape.elements() / program_.cols);
    recorder_.loop();
    for (const graph::OpId id : ops_)
      record(graph_.ops[id]);
    for (std::size_t o = 0; o < program_.results.size(); ++o)
      recorder_.output(static_cast<unsigned>(o), values_.at(program_.results[o].tensor).recorded());
    program_.program = recorder_.program();
    return std::move(program_);
  }

private:
  void record(const graph::Op &op) {
    const Record record = record_of(op);
    for (const TensorId id : op.inputs)
      if (id != graph::kNone && values_.count(id) == 0 && known_.count(id) == 0) add_operand(op, id);
    OpRecording recording(graph_, op, recorder_, values_, known_, read_);
    record(recording);
  }

  void add_operand(const graph::Op &op, TensorId id) {
    const auto slot = static_cast<unsigned>(program_.operands.size());
    if (slot == isa::vector::kTiles)
      throw ElementProgramError(fmt::format("op '{}': '{}' is tensor {} that the program reads, of at most {}; "
                                            "leave an op out",
                                            op.name, graph_.tensors[id].name, slot + 1, isa::vector::kTiles));
    program_.operands.push_back(edge(op, id));
    values_.insert_or_assign(id, Value(recorder_.tile(slot)));
  }

  ElementEdge edge(const graph::Op &op, TensorId id) const {
    const graph::Tensor &t = graph_.tensors[id];
    const std::uint64_t elements = t.shape.elements(), all = std::uint64_t{program_.rows} * program_.cols;
    ElementEdge e{id, t.type == graph::ElementType::kFp32, ElementEdge::Repeat::kNone};
    if (elements == all) return e;
    if (elements == program_.cols && t.shape.rank() == 1)
      e.repeat = ElementEdge::Repeat::kRow;
    else if (elements == 1)
      e.repeat = ElementEdge::Repeat::kScalar;
    else
      throw ElementProgramError(fmt::format("op '{}': '{}' is {}, neither as the result nor a row of it nor one number",
                                            op.name, t.name, t.shape.text()));
    return e;
  }

  void find_results() {
    const auto consumers = graph_.consumers();
    for (const graph::OpId id : ops_)
      for (const TensorId out : graph_.ops[id].outputs) {
        if (out == graph::kNone) continue;
        const bool inside =
            !consumers[out].empty() && std::all_of(consumers[out].begin(), consumers[out].end(), [&](graph::OpId c) {
              return std::find(ops_.begin(), ops_.end(), c) != ops_.end();
            });
        if (inside) continue;
        program_.results.push_back({out, graph_.tensors[out].type == graph::ElementType::kFp32, {}});
      }
    if (program_.results.empty() || program_.results.size() > isa::vector::kOutputs)
      throw ElementProgramError(fmt::format("the ops have {} results; a program has 1 to {}", program_.results.size(),
                                            isa::vector::kOutputs));
  }

  const graph::Graph &graph_;
  const std::vector<graph::OpId> &ops_;
  const KnownValues &known_;
  vector::Recorder recorder_;
  std::map<TensorId, Value> values_;
  std::set<TensorId> read_; ///< by any of the ops
  ElementProgram program_;
};

} // namespace

std::string recordable_operators() {
  std::string names;
  for (const auto &[name, record] : kRecords)
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

ElementProgram record_elements(const graph::Graph &graph, const std::vector<graph::OpId> &ops,
                               const KnownValues &known) {
  return Recording(graph, ops, known).run();
}

} // namespace gradweave::compiler
