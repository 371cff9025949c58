#include "sw_models/partitioned/cycles.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::partitioned {
namespace {

std::uint64_t blocks(std::uint64_t size, std::uint32_t block) { return (size + block - 1) / block; }

std::uint64_t fill_cycles(const Array &array, Fill fill) {
  if (fill == Fill::kNone) return 0;
  return fill == Fill::kLoad ? array.rows : std::uint64_t{array.rows} + array.cols - 2;
}

void check(const LayerShape &layer) {
  const auto needs = [&layer](bool holds, const char *problem) {
    if (!holds) throw std::invalid_argument(fmt::format("layer '{}': {}", layer.name, problem));
  };
  needs(layer.height > 0 && layer.width > 0, "the image has no pixels; height and width must be above 0");
  needs(layer.channels > 0 && layer.filters > 0, "channels and filters must be above 0");
  needs(layer.kernel > 0 && layer.stride > 0, "kernel and stride must be above 0");
}

Product gradient_product(const LayerShape &layer, std::uint64_t outputs, GradientWalk walk) {
  const std::uint64_t taps = std::uint64_t{layer.kernel} * layer.kernel;
  if (walk == GradientWalk::kColumns) return {outputs, layer.filters, taps * layer.channels};
  const std::uint64_t pixels = walk == GradientWalk::kPixels ? std::uint64_t{layer.height} * layer.width : outputs;
  return {pixels, taps * layer.filters, layer.channels};
}

} // namespace

double product_cycles(const Array &array, const Product &product, Dataflow dataflow, Fill fill) {
  if (array.rows == 0 || array.cols == 0)
    throw std::invalid_argument(
        fmt::format("an array of {} x {}; rows and columns must be above 0", array.rows, array.cols));
  const auto &[m, k, n] = product;
  if (m == 0 || k == 0 || n == 0)
    throw std::invalid_argument(fmt::format("a product of {} x {} x {}; each must be above 0", m, k, n));
  const bool weights_stay = dataflow == Dataflow::kWeightStationary;
  const std::uint64_t stream = (weights_stay ? m : k) + fill_cycles(array, fill);
  return static_cast<double>(blocks(weights_stay ? k : m, array.rows) * blocks(n, array.cols) * stream);
}

std::uint32_t output_side(const LayerShape &layer, std::uint32_t side, std::uint32_t padding, Outputs outputs) {
  check(layer);
  const std::uint32_t room = side + (outputs == Outputs::kPadded ? padding : 0);
  if (room < layer.kernel)
    throw std::invalid_argument(fmt::format("layer '{}': a kernel of {} does not fit {} pixels; make the image larger",
                                            layer.name, layer.kernel, room));
  const std::uint32_t steps = room - layer.kernel;
  return outputs == Outputs::kPadded ? steps / layer.stride + 1 : (steps + layer.stride - 1) / layer.stride + 1;
}

std::vector<LayerCycles> network_cycles(const std::vector<LayerShape> &layers, const Array &array,
                                        const Reading &reading) {
  if (layers.empty()) throw std::invalid_argument("a network without layers; give it at least one");
  std::vector<LayerCycles> all;
  for (const LayerShape &layer : layers) {
    const std::uint64_t outputs = std::uint64_t{output_side(layer, layer.height, layer.pad_height, reading.outputs)} *
                                  output_side(layer, layer.width, layer.pad_width, reading.outputs);
    const std::uint64_t depth = std::uint64_t{layer.kernel} * layer.kernel * layer.channels;
    LayerCycles cycles;
    cycles.forward = product_cycles(array, {outputs, depth, layer.filters}, reading.dataflow, reading.forward);
    if (!all.empty() || reading.first_dx)
      cycles.dx = product_cycles(array, gradient_product(layer, outputs, reading.walk), reading.dataflow, reading.dx);
    cycles.dw = product_cycles(array, {depth, outputs, layer.filters}, reading.dataflow, reading.dw);
    all.push_back(cycles);
  }
  return all;
}

double weights_of(const LayerShape &layer) {
  return static_cast<double>(layer.kernel) * layer.kernel * layer.channels * layer.filters;
}

} // namespace gradweave::partitioned
