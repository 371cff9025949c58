#include "app/evaluation/dpt/subject.hpp"

#include "base/key/fingerprint.hpp"
#include "dpt_tool_version.hpp"
#include "graph/frontend/load_network.hpp"
#include "graph/ir/operator.hpp"
#include "graph/layers.hpp"
#include "runtime/run/lookup.hpp"
#include "sw_models/config/config_error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gradweave::evaluation::dpt {
namespace {

using Json = nlohmann::json;
using graph::kNone;
using graph::OpId;
using partitioned::LayerShape;

constexpr double kReadSeconds = 0.2;

bool is_layer(const graph::Graph &graph, const graph::Op &op) {
  if (op.type->name != "Conv" && op.type->name != "Gemm") return false;
  const graph::Tensor &weights = graph.tensors[op.inputs[1]];
  return weights.role == graph::Role::kParameter && !weights.head;
}

std::string describe(const std::string &model, std::uint32_t batch) {
  const std::filesystem::path file = runtime::find_model(model);
  const graph::Graph graph = compiler::load_graph(file, batch);
  Json layers = Json::array();
  for (const compiler::Layer &layer : graph::network_of(graph, file).layers) {
    const LayerShape s = shape_of(layer, file.string());
    layers.push_back({s.name, s.height, s.width, s.channels, s.filters, s.kernel, s.stride, s.pad_height, s.pad_width});
  }
  return Json{{"layers", layers}, {"maps", maps_of(graph)}}.dump();
}

} // namespace

LayerShape shape_of(const compiler::Layer &layer, const std::string &file) {
  LayerShape shape;
  shape.name = layer.name;
  if (!layer.conv) {
    shape.height = layer.m;
    shape.channels = layer.k;
    shape.filters = layer.n;
    return shape;
  }
  const Convolution &c = *layer.conv;
  if (c.kernel_height != c.kernel_width || c.stride_height != c.stride_width || c.groups != 1 ||
      c.dilation_height != 1 || c.dilation_width != 1)
    throw ConfigError(fmt::format("{}: layer '{}' has sides that differ, groups or dilation, which this model does not "
                                  "know; take another network",
                                  file, layer.name));
  shape.height = c.height;
  shape.width = c.width;
  shape.channels = c.channels;
  shape.filters = c.out_channels;
  shape.kernel = c.kernel_height;
  shape.stride = c.stride_height;
  shape.pad_height = c.pad_top + c.pad_bottom;
  shape.pad_width = c.pad_left + c.pad_right;
  return shape;
}

std::vector<double> maps_of(const graph::Graph &graph) {
  std::vector<OpId> cuts;
  for (OpId o = 0; o < graph.ops.size(); ++o)
    if (is_layer(graph, graph.ops[o])) cuts.push_back(o);
  const auto readers = graph.consumers();
  std::vector<double> maps(cuts.size() + 1);
  if (!cuts.empty()) maps[0] = static_cast<double>(graph.tensors[graph.ops[cuts[0]].inputs[0]].shape.elements());
  // Behind the last layer its result alone is handed over, to whoever computes the loss.
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const OpId producer = graph.tensors[t].producer;
    if (producer == kNone || readers[t].empty()) continue;
    for (std::size_t i = 1; i < cuts.size(); ++i)
      if (producer < cuts[i] && readers[t].back() >= cuts[i])
        maps[i] += static_cast<double>(graph.tensors[t].shape.elements());
  }
  if (!cuts.empty())
    maps.back() = static_cast<double>(graph.tensors[graph.ops[cuts.back()].outputs[0]].shape.elements());
  return maps;
}

std::vector<LayerShape> with_late_strides(std::vector<LayerShape> layers) {
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    LayerShape &first = layers[i], &next = layers[i + 1];
    if (first.kernel != 1 || first.stride == 1 || next.kernel != 3 || next.channels != first.filters) continue;
    next.stride = first.stride;
    next.height = first.height;
    next.width = first.width;
    first.stride = 1;
  }
  return layers;
}

Subject subject(Evaluations &evaluations, const std::string &model, std::uint32_t batch) {
  const std::string key =
      Fingerprint().add("dpt layers", file_fingerprint(runtime::find_model(model)), batch, kDptToolVersion).hex();
  const std::string text = evaluations.get(
      Work{key, kReadSeconds, [model, batch](const std::function<void(double)> &) { return describe(model, batch); }});
  Subject found;
  if (text.empty()) return found;
  const Json json = Json::parse(text);
  found.maps = json.at("maps").get<std::vector<double>>();
  for (const Json &l : json.at("layers"))
    found.layers.push_back({l.at(0), l.at(1), l.at(2), l.at(3), l.at(4), l.at(5), l.at(6), l.at(7), l.at(8)});
  return found;
}

} // namespace gradweave::evaluation::dpt
