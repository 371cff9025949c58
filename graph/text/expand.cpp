#include "graph/text/expand.hpp"

#include "graph/text/parser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

namespace gradweave::graph::text {
namespace {

constexpr std::size_t kMaxStatements = std::size_t{1} << 17U, kMaxCalls = 32;

/// Whether a name may come out as `wanted`: numbers stand for what is in braces.
bool may_be(const Name &name, std::string_view wanted) {
  const std::string &first = name.pieces.front();
  if (wanted.substr(0, first.size()) != first) return false;
  wanted.remove_prefix(first.size());
  for (std::size_t i = 0; i < name.values.size(); ++i) {
    const std::size_t end = wanted.find_first_not_of("0123456789-");
    const std::string &piece = name.pieces[i + 1];
    const std::size_t digits = std::min(end, wanted.size());
    if (digits == 0 || wanted.substr(digits, piece.size()) != piece) return false;
    wanted.remove_prefix(digits + piece.size());
  }
  return wanted.empty();
}

/// The statement that computes `wanted`, null if none does.
const Statement *writer_of(const std::vector<Statement> &statements, std::string_view wanted) {
  for (const Statement &s : statements) {
    if (s.kind == Statement::Kind::kFor)
      if (const Statement *inside = writer_of(s.body, wanted); inside != nullptr) return inside;
    if (s.kind != Statement::Kind::kCall) continue;
    for (const Target &target : s.targets)
      if (!target.name.empty() && may_be(target.name, wanted)) return &s;
  }
  return nullptr;
}

} // namespace

Expander::Expander(Graph &graph, const std::string &file, const OperatorSet &operators, const Variables &variables)
    : graph_(graph), file_(file), variables_(variables), build_(graph, operators), evaluate_(graph, file) {}

void Expander::fail_at(const Statement &s, std::string_view message) const { fail(file_, s.line, message); }

std::string Expander::full_name(const std::string &local, const Scope &scope) {
  const auto returned = scope.returned.find(local);
  return returned == scope.returned.end() ? scope.prefix + local : returned->second;
}

void Expander::run(const Statements &statements) {
  for (const Statement &s : statements) {
    if (s.kind != Statement::Kind::kBlock) continue;
    if (build_.knows(s.text)) fail_at(s, fmt::format("block '{}' is called as an operator is; rename it", s.text));
    const auto [known, fresh] = blocks_.emplace(s.text, &s);
    if (!fresh) fail_at(s, fmt::format("block '{}' is taken by line {}; rename one", s.text, known->second->line));
    if (s.body.empty() || s.body.back().kind != Statement::Kind::kReturn)
      fail_at(s, fmt::format("block '{}' gives nothing back; end it by return y", s.text));
  }
  Scope scope;
  all(statements, scope);
  for (const auto &[name, value] : variables_)
    if (overridden_.count(name) == 0)
      fail(file_, 0,
           fmt::format("there is no variable '{0}' that {1} could replace; add let {0} = {1} and use it in shapes",
                       name, value));
}

void Expander::all(const Statements &statements, Scope &scope) {
  around_.push_back(&statements);
  for (const Statement &s : statements)
    if (s.kind != Statement::Kind::kBlock || around_.size() > 1) one(s, scope);
  around_.pop_back();
}

void Expander::one(const Statement &s, Scope &scope) {
  using Kind = Statement::Kind;
  // What is long counts for more, so that the bound is one of memory, too.
  executed_ += 1 + (s.text.size() + scope.prefix.size() + 16 * (s.values.size() + s.targets.size())) / 128;
  if (executed_ > kMaxStatements)
    fail_at(s, fmt::format("more than {} statements, those of blocks and loops counted as often as they run",
                           kMaxStatements));
  build_.at(fmt::format("{}:{}", file_, s.line));
  switch (s.kind) {
  case Kind::kGraph:
  case Kind::kDescription:
  case Kind::kSource:
  case Kind::kPublished:
    return header(s);
  case Kind::kLet:
    return let(s, scope);
  case Kind::kInput:
  case Kind::kParameter:
  case Kind::kState:
  case Kind::kConstant:
    return declare(s, scope);
  case Kind::kCall:
    return call(s, scope);
  case Kind::kUpdate: {
    const TensorId tensor = tensor_named(s, 0, scope), next = tensor_named(s, 1, scope);
    return build_.update(tensor, next);
  }
  case Kind::kResult:
  case Kind::kLoss:
  case Kind::kBoundary:
    return name_tensors(s, scope);
  case Kind::kRole:
    return role(s);
  case Kind::kFor:
    return for_loop(s, scope);
  case Kind::kBlock:
    fail_at(s, "a block inside of another statement; define it outside");
  case Kind::kReturn:
    fail_at(s, "return is the last line of a block; move it there");
  }
}

void Expander::header(const Statement &s) {
  if (s.kind == Statement::Kind::kPublished)
    graph_.published = static_cast<std::uint64_t>(evaluate_.whole(s.values[0], {}, "published"));
  else
    (s.kind == Statement::Kind::kGraph         ? graph_.name
     : s.kind == Statement::Kind::kDescription ? graph_.description
                                               : graph_.source) = s.text;
}

void Expander::define(const Statement &s, const std::string &local, Value value, Scope &scope) {
  if (!scope.values.emplace(local, std::move(value)).second)
    fail_at(s, fmt::format("'{}' has two writers; each name is given once: rename one", local));
}

void Expander::let(const Statement &s, Scope &scope) {
  if (scope.outer == nullptr) {
    overridden_[s.text] = true;
    if (const auto given = variables_.find(s.text); given != variables_.end())
      return define(s, s.text, given->second, scope);
  }
  Value value = evaluate_.value(s.values[0], scope);
  if (std::holds_alternative<TensorValue>(value))
    fail_at(s, fmt::format("'{}' would be another name of a tensor; let is for numbers, texts and lists", s.text));
  define(s, s.text, std::move(value), scope);
}

Shape Expander::shape(const Statement &s, Scope &scope) {
  std::vector<std::uint32_t> dims;
  for (const Expression &part : s.shape) {
    const std::int64_t dim = evaluate_.whole(part, scope, "a dimension");
    if (dim < 1 || dim > std::numeric_limits<std::uint32_t>::max())
      fail_at(s, fmt::format("a dimension of {}; give a whole number from 1 to {}", dim,
                             std::numeric_limits<std::uint32_t>::max()));
    dims.push_back(static_cast<std::uint32_t>(dim));
  }
  return Shape(std::move(dims));
}

void Expander::declare(const Statement &s, Scope &scope) {
  const std::string local = evaluate_.name(s.targets[0].name, scope, s.line);
  const std::string name = full_name(local, scope);
  Shape dims = shape(s, scope);
  TensorId id = kNone;
  if (s.kind == Statement::Kind::kInput) {
    id = build_.input(name, s.type, std::move(dims));
  } else if (s.kind == Statement::Kind::kParameter) {
    id = build_.parameter(name, std::move(dims), s.text, s.frozen);
    graph_.tensors[id].head = s.head;
  } else if (s.kind == Statement::Kind::kState) {
    id = build_.state(name, std::move(dims), s.text);
  } else {
    const Value value = evaluate_.value(s.values[0], scope);
    std::vector<double> values;
    if (const auto *list = std::get_if<std::vector<Number>>(&value))
      for (const Number &number : *list)
        values.push_back(std::visit([](auto n) { return static_cast<double>(n); }, number));
    else if (const auto *whole = std::get_if<std::int64_t>(&value))
      values = {static_cast<double>(*whole)};
    else if (const auto *real = std::get_if<double>(&value))
      values = {*real};
    else
      fail_at(s, fmt::format("constant '{}' = {}; give a number or a list of numbers", name, describe(value)));
    id = build_.constant(name, std::move(dims), std::move(values), s.type);
  }
  evaluate_.made(name, id);
  define(s, local, TensorValue{id}, scope);
}

void Expander::for_loop(const Statement &s, Scope &scope) {
  const auto [first, last] = bounds_of(evaluate_, s.loop, scope, file_, s.line);
  if (scope.values.count(s.loop.variable) != 0)
    fail_at(s, fmt::format("'{}' is taken; give the loop's number another name", s.loop.variable));
  for (std::int64_t i = first; i <= last; ++i) {
    scope.values[s.loop.variable] = i;
    all(s.body, scope);
    if (++executed_ > kMaxStatements) fail_at(s, "the loop runs too often; make it shorter");
  }
  scope.values.erase(s.loop.variable);
}

void Expander::role(const Statement &s) {
  for (const Role role : {Role::kActivation, Role::kGradient, Role::kUpdated})
    if (s.text == to_string(role)) return build_.set_role(role);
  fail_at(s, fmt::format("there is no role '{}' of what ops compute; write activation, gradient or updated", s.text));
}

TensorId Expander::tensor_named(const Statement &s, std::size_t target, Scope &scope) {
  const std::string name = evaluate_.name(s.targets[target].name, scope, s.line);
  const Value *value = evaluate_.find(name, scope);
  const auto *tensor = value == nullptr ? nullptr : std::get_if<TensorValue>(value);
  if (tensor == nullptr) fail_at(s, fmt::format("there is no tensor '{}' above; correct the name", name));
  return tensor->id;
}

void Expander::name_tensors(const Statement &s, Scope &scope) {
  for (std::size_t i = 0; i < s.targets.size(); ++i) {
    const TensorId id = tensor_named(s, i, scope);
    if (s.kind == Statement::Kind::kResult)
      graph_.results.push_back(id);
    else if (s.kind == Statement::Kind::kBoundary)
      graph_.tensors[id].boundary = true;
    else if (graph_.loss == kNone)
      graph_.loss = id;
    else
      fail_at(s, fmt::format("the graph has two losses, '{}' and '{}'; add them, or remove one",
                             graph_.tensors[graph_.loss].name, graph_.tensors[id].name));
  }
}

void Expander::call(const Statement &s, Scope &scope) {
  const auto block = blocks_.find(s.text);
  if (block == blocks_.end()) return operation(s, scope);
  this->block(s, *block->second, scope);
}

void Expander::check_known(const Expression &expression, Scope &scope) {
  if (expression.kind != Expression::Kind::kName) return;
  const std::string name = evaluate_.name(expression.name, scope, expression.line);
  if (evaluate_.find(name, scope) != nullptr) return;
  for (auto statements = around_.rbegin(); statements != around_.rend() && *statements != nullptr; ++statements)
    if (const Statement *writer = writer_of(**statements, name); writer != nullptr)
      fail(
          file_, expression.line,
          fmt::format("'{0}' is read, and line {1} computes it: a cycle, or statements out of order; move line {1} up, "
                      "or cut the cycle",
                      name, writer->line));
}

Attribute Expander::attribute(const Expression &expression, Scope &scope) {
  const Value value = evaluate_.value(expression, scope);
  if (const auto *whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto *real = std::get_if<double>(&value)) return *real;
  if (const auto *text = std::get_if<std::string>(&value)) return *text;
  std::vector<std::int64_t> list;
  if (const auto *numbers = std::get_if<std::vector<Number>>(&value))
    for (const Number &number : *numbers) {
      if (std::holds_alternative<double>(number)) break;
      list.push_back(std::get<std::int64_t>(number));
    }
  const auto *numbers = std::get_if<std::vector<Number>>(&value);
  if (numbers == nullptr || list.size() != numbers->size())
    fail(file_, expression.line,
         fmt::format("an attribute must be a number, a text, or a list of whole numbers, not {}", describe(value)));
  return list;
}

void Expander::operation(const Statement &s, Scope &scope) {
  std::vector<std::string> locals;
  std::vector<std::optional<std::string>> outputs;
  std::string op_name;
  for (const Target &target : s.targets) {
    locals.push_back(target.name.empty() ? "" : evaluate_.name(target.name, scope, s.line));
    outputs.push_back(target.name.empty() ? std::nullopt : std::optional(full_name(locals.back(), scope)));
    if (op_name.empty() && outputs.back()) op_name = *outputs.back();
  }
  if (!s.instance.empty()) op_name = scope.prefix + evaluate_.name(s.instance, scope, s.line);
  std::vector<TensorId> inputs;
  for (const Expression &argument : s.values) {
    check_known(argument, scope);
    inputs.push_back(evaluate_.tensor(argument, scope, fmt::format("an input of '{}' ({})", op_name, s.text)));
  }
  Attributes attributes;
  for (const auto &[name, value] : s.attributes)
    attributes.set(name, attribute(value, scope));
  const std::vector<TensorId> ids =
      build_.add_named(s.text, std::move(inputs), std::move(attributes), op_name, outputs);
  graph_.ops.back().recompute = s.recompute || recompute_;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == kNone) continue;
    evaluate_.made(graph_.tensors[ids[i]].name, ids[i]);
    if (i >= s.targets.size()) continue;
    define(s, locals[i], TensorValue{ids[i]}, scope);
    if (!s.targets[i].type) continue;
    build_.fix_type(ids[i], *s.targets[i].type);
    graph_.tensors[ids[i]].fixed_type = s.targets[i].asked;
  }
}

void Expander::block(const Statement &s, const Statement &block, Scope &scope) {
  const std::vector<Target> &returns = block.body.back().targets;
  if (!s.attributes.empty())
    fail_at(s, fmt::format("block '{}' has no attribute '{}'; it is given {} values in parentheses", block.text,
                           s.attributes.front().first, block.parameters.size()));
  if (s.values.size() != block.parameters.size())
    fail_at(s, fmt::format("block '{}' is given {} values, and wants {}: {}", block.text, s.values.size(),
                           block.parameters.size(), fmt::join(block.parameters, ", ")));
  if (s.targets.size() > returns.size())
    fail_at(s, fmt::format("block '{}' gives {} back, and {} are named", block.text, returns.size(), s.targets.size()));
  if (++depth_ > kMaxCalls)
    fail_at(s, fmt::format("blocks call blocks more than {} deep; none may call itself", kMaxCalls));
  const Scope *file = &scope;
  while (file->outer != nullptr)
    file = file->outer;
  Scope inner;
  inner.outer = file;
  std::vector<std::string> locals;
  for (std::size_t i = 0; i < s.targets.size(); ++i) {
    const Target &target = s.targets[i];
    if (target.type) fail_at(s, "the results of a block have the types that its operators give; remove the type");
    locals.push_back(target.name.empty() ? "" : evaluate_.name(target.name, scope, s.line));
    if (locals.back().empty()) continue;
    const std::string name = full_name(locals.back(), scope);
    if (inner.prefix.empty()) inner.prefix = name + ".";
    if (returns[i].name.values.empty()) inner.returned.emplace(returns[i].name.plain(), name);
  }
  if (!s.instance.empty()) inner.prefix = scope.prefix + evaluate_.name(s.instance, scope, s.line) + ".";
  for (std::size_t i = 0; i < s.values.size(); ++i) {
    check_known(s.values[i], scope);
    inner.values[block.parameters[i]] = evaluate_.value(s.values[i], scope);
  }
  const bool recompute = recompute_;
  recompute_ = recompute_ || s.recompute;
  around_.push_back(nullptr); // names above it are none of the block's
  Statements const &body = block.body;
  around_.push_back(&body);
  for (std::size_t i = 0; i + 1 < body.size(); ++i)
    one(body[i], inner);
  for (std::size_t i = 0; i < s.targets.size(); ++i)
    if (!locals[i].empty()) define(s, locals[i], TensorValue{tensor_named(body.back(), i, inner)}, scope);
  around_.pop_back();
  around_.pop_back();
  recompute_ = recompute;
  --depth_;
}

} // namespace gradweave::graph::text

namespace gradweave::graph {

Graph read_graph(std::string_view text, const std::string &file, const OperatorSet &operators,
                 const Variables &variables) {
  Graph graph;
  const std::vector<text::Statement> statements = text::parse(text, file);
  text::Expander(graph, file, operators, variables).run(statements);
  if (graph.tensors.empty())
    text::fail(file, 0, "there is no tensor in it; declare inputs and parameters, and compute a loss from them");
  verify(graph);
  return graph;
}

} // namespace gradweave::graph
