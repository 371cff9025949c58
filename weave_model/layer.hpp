// What Layerweaver (Y. H. Oh et al., HPCA 2021) knows of networks and of the NPU that runs them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::weave_model {

/// A layer's profile (section III-B): what it computes, and the weights that have to be fetched for it.
struct Layer {
  double seconds = 0;
  std::uint64_t bytes = 0;
};

/// A network's layers in their order.
struct Model {
  std::string name;
  std::vector<Layer> layers;
};

/// A generic NPU (section III-A): weights are fetched into a buffer in order, as long as it has room, and layers are
/// computed in order, each when its weights are there; then they are freed. Activations never leave the chip.
struct Npu {
  std::uint64_t buffer = 0; ///< bytes of weights
  double bandwidth = 0;     ///< bytes/s

  double fetch_seconds(std::uint64_t bytes) const { return static_cast<double>(bytes) / bandwidth; }
};

/// Of all layers, one after the other, without waits.
double compute_seconds(const Model &model);
double fetch_seconds(const Model &model, const Npu &npu);

/// A layer whose weights do not fit cannot be fetched before it computes. Such layers are computed in parts of at most
/// half of the buffer, so that one is fetched while another computes: the paper does not say what happens to them.
/// Throws std::invalid_argument for an NPU without buffer or bandwidth, a buffer of less than 2 bytes, a model without
/// layers, or a layer that takes no time, or less, or no end of it.
Model fitted(const Model &model, const Npu &npu);

/// The largest part of a layer that is scheduled at once.
struct TileLimits {
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// The model in tiles: each layer in as few equal parts as have at most so many bytes and seconds each. Parts are cut
/// along the layer's results, so each has weights of its own; that an array may be used less well is left out.
Model tiled(const Model &model, const TileLimits &limits);

} // namespace gradweave::weave_model
