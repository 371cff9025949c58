#include "graph/onnx/results.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <set>

namespace gradweave::graph::onnx {
namespace {

bool is_left_out(Builder &build, const Value &value) {
  if (value.kind == Kind::kReal) return false;
  const bool computed = value.tensor != kNone && build.tensor(value.tensor).computed();
  if (computed && value.channels == 0 && value.order == plain_order(value.rank())) return false;
  build.graph().notes.push_back(
      fmt::format("output '{}' is left out: {}", value.name,
                  computed ? fmt::format("{} lie otherwise in the file", to_string(value.kind))
                           : fmt::format("its {} follow from the inputs alone", to_string(value.kind))));
  return true;
}

void add_result(Builder &build, Placement &placement, const std::string &name, const Value &value,
                std::set<TensorId> &taken) {
  TensorId tensor = placement.plain(value);
  const bool own = build.tensor(tensor).computed() && taken.count(tensor) == 0;
  // A constant that is a result gives its name to what is computed of it.
  if (value.tensor == kNone && build.tensor(tensor).name == name)
    build.rename(tensor, build.fresh_tensor(name + ".stored"));
  if (!own) tensor = build.add("Reshape", {tensor}, {{"shape", numbers(build.shape(tensor))}}, build.fresh(name));
  // What the result was made of, in another order, gives its name away.
  if (const TensorId of = value.tensor; of != tensor && of != kNone && build.tensor(of).name == name)
    build.rename(of, build.fresh(name + ".stored"));
  if (build.tensor(tensor).name != name) build.rename(tensor, build.fresh_tensor(name));
  taken.insert(tensor);
  build.graph().results.push_back(tensor);
}

} // namespace

void add_results(Builder &build, Placement &placement, KnownValues &known, Values &values,
                 const std::vector<std::string> &names, bool lenient, const std::string &file) {
  std::set<TensorId> taken;
  for (const std::string &name : names) {
    const auto found = values.find(name);
    if (found == values.end()) {
      if (lenient) continue; // an output that the node's import does not give
      throw GraphError(fmt::format("{}: output '{}' is computed by no node", file, name));
    }
    build.at(fmt::format("{}: output '{}'", file, name));
    if (is_left_out(build, found->second)) continue;
    known.take_from_host(found->second);
    add_result(build, placement, name, found->second, taken);
  }
  if (build.graph().results.empty())
    throw GraphError(fmt::format("{}: nothing is computed: all outputs are whole numbers or truth values that follow "
                                 "from the inputs alone",
                                 file));
}

} // namespace gradweave::graph::onnx
