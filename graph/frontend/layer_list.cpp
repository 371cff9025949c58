// The list that every frontend fills, with the checks of names and of what one layer says of another.
#include "base/text/input_file.hpp"
#include "graph/frontend/network_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

constexpr std::size_t kMaxNameBytes = 200; // with network and schedule it has to fit the name of a file

} // namespace

void LayerList::add(Layer layer, std::size_t line) {
  if (layer.name.empty()) fail(file_, line, "the layer's name is empty; give each layer a name");
  if (layer.name.size() > kMaxNameBytes)
    fail(file_, line,
         fmt::format("layer name '{}...' has {} bytes; use at most {}", layer.name.substr(0, 20), layer.name.size(),
                     kMaxNameBytes));
  if (find_invalid_utf8(layer.name) != std::string::npos)
    fail(file_, line, "the layer's name is not UTF-8; save the file as UTF-8");
  const auto unprintable = [](unsigned char c) { return c < 0x20 || c == 0x7f || c == ','; };
  if (std::any_of(layer.name.begin(), layer.name.end(), unprintable) || layer.name.front() == ' ' ||
      layer.name.back() == ' ')
    fail(file_, line,
         fmt::format("layer name '{}' has a comma, a control character or a space at an end; remove it", layer.name));
  if (!layer.input.empty()) check_input(layer, line);
  if (!layer.x_of.empty()) check_x_of(layer, line);
  if (!layer.weights.empty()) check_weights(layer, line);
  const auto [it, fresh] = places_.emplace(layer.name, Place{line, layers_.size()});
  if (!fresh)
    fail(file_, line,
         fmt::format("layer name '{}' is taken by line {}; names must be unique", layer.name, it->second.line));
  layer.index = static_cast<std::uint32_t>(layers_.size());
  layers_.push_back(std::move(layer));
}

std::vector<Layer> LayerList::take() {
  if (layers_.empty()) fail(file_, 0, "no layers; describe at least one (models/README.md shows the format)");
  return std::move(layers_);
}

const Layer &LayerList::earlier(const std::string &name, std::string_view field, std::size_t line) const {
  const auto found = places_.find(name);
  if (found == places_.end())
    fail(file_, line, fmt::format("{} = '{}' is no earlier layer; name one that stands before this one", field, name));
  return layers_[found->second.index];
}

void LayerList::check_input(const Layer &layer, std::size_t line) const {
  const Layer &from = earlier(layer.input, "input", line);
  const std::uint64_t width = std::uint64_t{from.groups} * from.n;
  const Extent wanted = extent_read(layer);
  if (from.m != wanted.rows || width != wanted.cols)
    fail(file_, line,
         fmt::format("input '{}' gives {} x {} elements, but '{}' reads {} x {}{}; correct the shapes or remove input",
                     layer.input, from.m, width, layer.name, wanted.rows, wanted.cols,
                     layer.conv ? " (pixels x channels of its image)" : ""));
}

void LayerList::check_x_of(const Layer &layer, std::size_t line) const {
  const Layer &twin = earlier(layer.x_of, "x_of", line);
  const std::uint64_t width = std::uint64_t{twin.groups} * twin.k, wanted = std::uint64_t{layer.groups} * layer.k;
  if (twin.m != layer.m || width != wanted)
    fail(file_, line,
         fmt::format("x_of '{}' reads {} x {} elements, but '{}' reads {} x {}; correct the shapes or remove x_of",
                     layer.x_of, twin.m, width, layer.name, layer.m, wanted));
  if (twin.conv && layer.conv && !twin.conv->reads_like(*layer.conv))
    fail(file_, line,
         fmt::format("x_of '{}': its convolution reads other pixels than that of '{}'; kernel, stride, padding and "
                     "dilation must agree; remove x_of",
                     layer.x_of, layer.name));
}

void LayerList::check_weights(const Layer &layer, std::size_t line) const {
  const Layer &owner = earlier(layer.weights, "weights", line);
  if (owner.k != layer.k || owner.n != layer.n || owner.groups != layer.groups)
    fail(
        file_, line,
        fmt::format("weights '{}' are {} x {} in {} groups, but '{}' needs {} x {} in {}; correct the shapes or remove "
                    "weights",
                    layer.weights, owner.k, owner.n, owner.groups, layer.name, layer.k, layer.n, layer.groups));
}

} // namespace gradweave::compiler
