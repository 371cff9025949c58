#include "graph/text/print.hpp"

#include "graph/ir/operator.hpp"
#include "graph/text/token.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph {
namespace {

using text::in_quotes;

class Printer {
public:
  explicit Printer(const Graph &graph) : graph_(graph) {}

  std::string run() {
    header();
    for (const Op &op : graph_.ops) {
      declare_up_to(last_needed(op));
      print_op(op);
    }
    declare_up_to(static_cast<TensorId>(graph_.tensors.size()));
    for (const Tensor &tensor : graph_.tensors)
      if (tensor.boundary) line("boundary {}", name(tensor.name));
    for (const Update &update : graph_.updates)
      line("update {} = {}", name_of(update.tensor), name_of(update.next));
    for (const TensorId result : graph_.results)
      line("result {}", name_of(result));
    if (graph_.loss != kNone) line("loss {}", name_of(graph_.loss));
    return std::move(out_);
  }

private:
  template <typename... Args> void line(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  static std::string name(const std::string &name) { return text::is_bare_name(name) ? name : in_quotes(name, '\''); }
  std::string name_of(TensorId id) const { return id == kNone ? "_" : name(graph_.tensors[id].name); }

  void header() {
    line("graph {}", in_quotes(graph_.name, '"'));
    if (!graph_.description.empty()) line("description {}", in_quotes(graph_.description, '"'));
    if (!graph_.source.empty()) line("source {}", in_quotes(graph_.source, '"'));
    if (graph_.published) line("published {}", *graph_.published);
  }

  /// Behind the last tensor that is to be declared before the op, so that ids come out as they are.
  TensorId last_needed(const Op &op) const {
    TensorId last = declared_;
    for (const TensorId input : op.inputs)
      if (input != kNone && !graph_.tensors[input].computed()) last = std::max(last, input + 1);
    for (const TensorId output : op.outputs)
      if (output != kNone) last = std::max(last, output);
    return last;
  }

  void declare_up_to(TensorId end) {
    for (; declared_ < end; ++declared_)
      if (!graph_.tensors[declared_].computed()) declare(graph_.tensors[declared_]);
  }

  void declare(const Tensor &t) {
    const std::string init = t.initial.empty() ? "" : " init " + in_quotes(t.initial, '"');
    if (t.role == Role::kInput)
      line("input {} {} {}", name(t.name), to_string(t.type), t.shape.text());
    else if (t.role == Role::kParameter)
      line("{}{}parameter {} {}{}", t.head ? "head " : "", t.frozen ? "frozen " : "", name(t.name), t.shape.text(),
           init);
    else if (t.role == Role::kState)
      line("state {} {}{}", name(t.name), t.shape.text(), init);
    else
      line("constant {} {} {} = {}", name(t.name), to_string(t.type), t.shape.text(), values(t));
  }

  static std::string values(const Tensor &t) {
    if (t.values.size() == 1 && t.shape.elements() != 1) return to_string(Attribute(t.values.front()));
    std::string result = "[";
    for (const double value : t.values)
      result += (result.size() > 1 ? ", " : "") + to_string(Attribute(value));
    return result + "]";
  }

  void print_op(const Op &op) {
    if (const Role role = role_of(op); role != role_) line("role {}", to_string(role_ = role));
    std::string outputs, inputs, rest;
    const std::string *first = nullptr;
    for (const TensorId id : op.outputs) {
      outputs += (outputs.empty() ? "" : ", ") + name_of(id);
      if (id == kNone) continue;
      const Tensor &t = graph_.tensors[id];
      if (first == nullptr) first = &t.name;
      outputs += fmt::format("{}{}", t.fixed_type ? ':' : '~', to_string(t.type));
    }
    for (const TensorId id : op.inputs)
      inputs += (inputs.empty() ? "" : ", ") + name_of(id);
    for (const auto &[attribute, value] : op.attributes.all())
      rest += fmt::format(" {}={}", attribute, value_text(value));
    if (first == nullptr || *first != op.name) rest += " as " + name(op.name);
    if (op.recompute) rest += " recompute";
    line("{} = {}({}){}", outputs, op.type->name, inputs, rest);
  }

  static std::string value_text(const Attribute &value) {
    if (const auto *text = std::get_if<std::string>(&value)) return in_quotes(*text, '"');
    return to_string(value);
  }

  Role role_of(const Op &op) const {
    for (const TensorId id : op.outputs)
      if (id != kNone) return graph_.tensors[id].role;
    return role_;
  }

  const Graph &graph_;
  std::string out_;
  TensorId declared_ = 0;
  Role role_ = Role::kActivation;
};

} // namespace

std::string print_graph(const Graph &graph) { return Printer(graph).run(); }

} // namespace gradweave::graph
