// Cycles of a network's layers on a systolic array, from their shapes alone: Y. Jang et al., "Deep Partitioned Training
// From Near-Storage Computing to DNN Accelerators", IEEE CAL 2021, section 3.4. What the paper leaves open is a
// Reading.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::partitioned {

/// Processing elements of a systolic array.
struct Array {
  std::uint32_t rows = 0, cols = 0;
};

/// A convolution of one image; a fully connected layer is one of a kernel of 1 x 1 on so many pixels as it has rows.
struct LayerShape {
  std::string name;
  std::uint32_t height = 1, width = 1;         ///< of the input image, pixels
  std::uint32_t channels = 1, filters = 1;     ///< of the input, of the output
  std::uint32_t kernel = 1, stride = 1;        ///< along both sides
  std::uint32_t pad_height = 0, pad_width = 0; ///< zeros on both ends together
};

enum class Dataflow : std::uint8_t {
  kWeightStationary, ///< a block of R x C of the K x N operand stays while M rows stream
  kOutputStationary, ///< a block of R x C of the M x N result stays while K terms stream
};

/// Cycles of a block besides those in which something streams.
enum class Fill : std::uint8_t {
  kNone,
  kLoad,  ///< R: the operand that stays is shifted in
  kWhole, ///< R + C - 2: the array fills along both sides
};

/// Pixels of an output image.
enum class Outputs : std::uint8_t {
  kPadded,  ///< as the network has it
  kScaleSim ///< no padding, and rounded up: (height - kernel) / stride + 1, as topologies of SCALE-Sim are read
};

/// The product that gives an image's gradient.
enum class GradientWalk : std::uint8_t {
  kPixels,  ///< pixels of the input x (taps x filters) x channels: equation 2 at each of them
  kOutputs, ///< pixels of the output x (taps x filters) x channels
  kColumns, ///< pixels of the output x filters x (taps x channels), then col2im
};

/// What the paper does not say of its arrays. The defaults come closest to table 3.
struct Reading {
  Dataflow dataflow = Dataflow::kWeightStationary;
  Fill forward = Fill::kLoad, dx = Fill::kLoad, dw = Fill::kWhole;
  Outputs outputs = Outputs::kScaleSim;
  GradientWalk walk = GradientWalk::kPixels;
  bool first_dx = false; ///< the gradient of the network's input is computed, too
};

/// Y(M, N) = X(M, K) W(K, N).
struct Product {
  std::uint64_t m = 0, k = 0, n = 0;
};

/// Cycles of one product. Throws std::invalid_argument for an array without rows or columns, or an empty product.
double product_cycles(const Array &array, const Product &product, Dataflow dataflow, Fill fill);

/// Cycles of one image.
struct LayerCycles {
  double forward = 0, dx = 0, dw = 0;
};

/// Output pixels along a side. Throws std::invalid_argument naming the layer if the kernel does not fit or a size is 0.
std::uint32_t output_side(const LayerShape &layer, std::uint32_t side, std::uint32_t padding, Outputs outputs);

/// dW(K, N) = X^T(K, M) dY(M, N) is the third product. Throws std::invalid_argument as product_cycles(), and for a
/// network without layers.
std::vector<LayerCycles> network_cycles(const std::vector<LayerShape> &layers, const Array &array,
                                        const Reading &reading);

/// Weights of a layer.
double weights_of(const LayerShape &layer);

} // namespace gradweave::partitioned
