// Network descriptions: a list of layers, each the GEMM Y(M,N) = X(M,K) W(K,N) and its backward products, or several
// such GEMMs of one shape (a grouped convolution).
#pragma once

#include "sw_models/numerics/convolution.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::compiler {

using gradweave::Convolution;

/// Which products a layer stands for: a layer whose Y and gradients read X in different forms is compiled as two, one
/// behind the other, of one name.
enum class Products : std::uint8_t { kAll, kForward, kGradients };

/// A layer of G groups has G independent products of M, K and N. X and dX are M x G K matrices, W and dW G K x N, Y and
/// dY M x G N; group g has the columns from g K and g N on, and the rows of W from g K on.
struct Layer {
  std::string name;
  std::uint32_t m = 0, k = 0, n = 0; ///< of one group
  bool dx = true;                    ///< the layer's input gradient is needed
  std::uint32_t index = 0;           ///< position in the network, from 0
  std::uint32_t groups = 1;          ///< products of this shape
  /// Name of the layer whose Y, through element-wise operations only, is this layer's X, or the image that its
  /// convolution reads; empty: none, or not known.
  std::string input = {};
  std::string x_of = {};                ///< name of an earlier layer that reads the same X; empty: none
  std::optional<Convolution> conv = {}; ///< what the layer's matrices were made from by im2col
  /// Whether the products read the convolution's images where they lie (docs/convolution.md): X is the image, a row a
  /// pixel and a column a channel, and dX its gradient (N24). M, K and N are those of im2col all the same.
  bool image = false;
  /// Of an image: whether X is packed (N15's images as docs/convolution.md packs them), a row a block of stride x
  /// stride pixels, their channels side by side, row by row. A layer that is packed has one group and no dX.
  bool packed = false;
  /// Whether the vector unit computes the products, from images: a depthwise convolution (compiler/depthwise).
  bool vector = false;
  /// Whether it is computed together with the layer before it, whose result, which nobody else reads, never is in
  /// memory (compiler/depthwise/fused).
  bool fused = false;
  /// Name of an earlier layer whose weights these are; empty: the layer has its own.
  std::string weights = {};
  /// Whether Y, or dX, leaves as the fp32 sum it is: an operator that takes sums follows, and no product. Else it is
  /// rounded to bf16 (N8).
  bool y_fp32 = false, dx_fp32 = false;
  /// Whether a schedule may take the channels that Y and dX sum over in blocks, where images are read (N25). Without,
  /// bits depend on no schedule.
  bool channel_blocks = true;
  /// Whether Y alone reads the image, which `image` does not say then.
  bool forward_image = false;
  Products products = Products::kAll;
};

/// Rows and columns.
struct Extent {
  std::uint64_t rows = 0, cols = 0;
};
/// What the layer reads before any im2col: a convolution's image, a row a pixel and a column a channel, or X.
Extent extent_read(const Layer &layer);

/// Multiply-adds of one of the layer's products, all groups.
double macs(const Layer &layer);

/// Parameters that no layer's W holds: biases, normalisations, embeddings.
struct OtherParameters {
  std::string what;
  std::uint64_t count = 0;
};

/// Products of the forward pass that are no layers, as they have no weights or read them another way round.
struct OtherProducts {
  std::string op; ///< "MatMul", "ConvTranspose"
  std::uint64_t count = 0;
  double multiply_adds = 0;
};

struct Network {
  std::string name;
  std::string description;
  std::string source;                           ///< where the shapes were published; empty: not told
  std::optional<std::uint64_t> parameters = {}; ///< of the published model
  std::vector<OtherParameters> other_parameters = {};
  std::vector<OtherProducts> other_products = {};
  std::vector<Layer> layers;
};

/// Parameters of the network: the weights of its layers, each once, and the others.
std::uint64_t count_parameters(const Network &network);

} // namespace gradweave::compiler
