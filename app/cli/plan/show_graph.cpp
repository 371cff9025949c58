#include "app/cli/plan/show_graph.hpp"

#include "app/report/text_format.hpp"
#include "graph/ir/product.hpp"
#include "graph/onnx/nodes/table.hpp"
#include "graph/operators/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <vector>

namespace gradweave::cli {
namespace {

struct Kind {
  std::size_t ops = 0;
  double multiply_adds = 0, others = 0;
};

/// "x, w, [initial]": what may be left out in brackets; "..." behind the last of any number.
template <class Spec> std::string names_of(const std::vector<Spec> &specs, bool any_number) {
  std::vector<std::string> names;
  for (const Spec &spec : specs)
    names.push_back(spec.optional ? fmt::format("[{}]", spec.name) : std::string(spec.name));
  if (any_number) names.emplace_back("...");
  return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

std::string operators_by_kind(const graph::Graph &graph) {
  std::map<std::string_view, Kind> kinds;
  Kind all;
  for (const graph::Op &op : graph.ops) {
    const graph::OpView view{graph, op};
    const double operations = op.type->operations(view);
    const bool product = graph::is_product(view);
    for (Kind *kind : {&kinds[op.type->name], &all}) {
      ++kind->ops;
      (product ? kind->multiply_adds : kind->others) += operations;
    }
  }
  std::string text;
  for (const auto &[name, kind] : kinds)
    text += fmt::format("     {:<28} {:>5}  {:>8} {}\n", name, kind.ops,
                        runtime::human(kind.multiply_adds > 0 ? kind.multiply_adds : kind.others),
                        kind.multiply_adds > 0 ? "multiply-adds" : "other operations");
  text += fmt::format("{} ops of {} operators; forward {} multiply-adds and {} other operations\n", all.ops,
                      kinds.size(), runtime::human(all.multiply_adds), runtime::human(all.others));
  if (const std::uint64_t head = graph::count_head_parameters(graph); head > 0)
    text += fmt::format("{} parameters of a head that the loss brings, not counted above\n", runtime::grouped(head));
  return text;
}

std::string operator_table() {
  std::string text;
  for (const graph::Operator &op : graph::operators().all()) {
    text += fmt::format("{} = {}({})\n    {}\n", names_of(op.outputs, op.splits), op.name,
                        names_of(op.inputs, op.variadic), op.summary);
    for (const graph::AttributeSpec &attribute : op.attributes)
      text += fmt::format("    {}={}  {}\n", attribute.name,
                          attribute.own        ? "(its own)"
                          : attribute.fallback ? graph::to_string(*attribute.fallback)
                                               : fmt::format("({})", graph::to_string(attribute.kind)),
                          attribute.summary);
  }
  return text;
}

std::string onnx_operator_table() {
  std::string text =
      "of ONNX files, opsets 1 to 24, besides what is known from the file alone (shapes, ranges, masks):\n";
  for (const graph::onnx::TableEntry &entry : graph::onnx::importers())
    text += fmt::format("    {}{}{}\n", entry.type, entry.note.empty() ? "" : ": ", entry.note);
  return text;
}

} // namespace gradweave::cli
