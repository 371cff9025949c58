// Building graphs: every way into a graph goes through here, and what is added is checked at once.
#pragma once

#include "graph/build/verify.hpp"
#include "graph/ir/error.hpp"
#include "graph/ir/operator.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gradweave::graph {

/// Adds tensors and ops to a graph, which must outlive it and is changed by nobody else meanwhile (but for types,
/// attributes of tensors and results). Throws GraphError: "WHERE: op 'NAME' (Operator): message".
class Builder {
public:
  Builder(Graph &graph, const OperatorSet &operators);

  /// Where what is added from now on comes from, "file:line"; empty: not told.
  void at(std::string where) { where_ = std::move(where); }
  const std::string &where() const { return where_; }

  TensorId input(std::string name, ElementType type, Shape shape);
  TensorId parameter(std::string name, Shape shape, std::string initial, bool frozen = false);
  TensorId state(std::string name, Shape shape, std::string initial = "zeros");
  /// `values`: all elements, or one for all.
  TensorId constant(std::string name, Shape shape, std::vector<double> values, ElementType type = ElementType::kFp32);

  /// An op with all the outputs that its operator always has, and, of one that splits, `outputs` of them. An empty
  /// name: one is made. Returns the outputs; they are called as the op, and those behind the first one as the op and
  /// the output.
  std::vector<TensorId> add_all(std::string_view op, std::vector<TensorId> inputs, Attributes attributes = {},
                                std::string name = {}, std::size_t outputs = 0);
  /// The same for the first output.
  TensorId add(std::string_view op, std::vector<TensorId> inputs, Attributes attributes = {}, std::string name = {}) {
    return add_all(op, std::move(inputs), std::move(attributes), std::move(name)).front();
  }

  /// The same with outputs that are called as given, empty as above; of nothing, the output is left out, which its
  /// operator has to allow. Outputs behind those given are as above.
  std::vector<TensorId> add_named(std::string_view op, std::vector<TensorId> inputs, Attributes attributes,
                                  std::string name, const std::vector<std::optional<std::string>> &outputs);
  /// Whether there is an operator of the name.
  bool knows(std::string_view op) const { return operators_.find(op) != nullptr; }

  /// Names an output otherwise than its op.
  void rename(TensorId tensor, std::string name);
  /// Asks for a type that passes do not change.
  void fix_type(TensorId tensor, ElementType type);
  /// How the tensor lies in the file that it came from, and what it holds there.
  void set_origin(TensorId tensor, std::shared_ptr<const Origin> origin) {
    graph_.tensors[tensor].origin = std::move(origin);
  }
  /// How an input follows from others.
  void set_function(TensorId input, std::shared_ptr<const InputFunction> function) {
    graph_.tensors[input].function = std::move(function);
  }
  /// That an input holds whole numbers from 0 to `below` - 1.
  void set_below(TensorId input, std::uint32_t below) { graph_.tensors[input].below = below; }
  /// What ops added from now on compute: kActivation, kGradient or kUpdated.
  void set_role(Role role) { role_ = role; }
  /// `next` is what `tensor` is in the next step. Throws GraphError unless shape and type agree and it has none yet.
  void update(TensorId tensor, TensorId next);

  Graph &graph() { return graph_; }
  /// What these refer to moves when a tensor is added.
  const Tensor &tensor(TensorId id) const { return graph_.tensors[id]; }
  const Shape &shape(TensorId id) const { return graph_.tensors[id].shape; }
  /// A name that nothing has: `base`, or `base` with a number.
  std::string fresh(std::string_view base);
  /// The same among ops alone, and among tensors alone.
  std::string fresh_op(std::string_view base);
  std::string fresh_tensor(std::string_view base);
  [[noreturn]] void fail(std::string_view message) const;

private:
  TensorId add_tensor(Tensor tensor);
  TensorId add_output(const Op &op, std::size_t o, const Shape &shape, std::string name);
  void take_name(const std::string &name, bool op);
  /// Gives the op its own number where it is left out.
  void number_own(Op &op);
  /// `base`, or the first `base`_2, `base`_3 ... that is not taken.
  std::string numbered(std::string_view base, const std::function<bool(const std::string &)> &taken);

  Graph &graph_;
  const OperatorSet &operators_;
  std::string where_;
  Role role_ = Role::kActivation;
  std::unordered_set<std::string> tensor_names_, op_names_;
  std::unordered_map<std::string, std::uint32_t> next_number_;  ///< of a name's copies
  std::unordered_map<const Operator *, std::int64_t> next_own_; ///< one more than any op has (AttributeSpec::own)
};

} // namespace gradweave::graph
