// Convolutions for golden execution, in both arithmetics. Clause numbers are those of docs/numerics.md.
#pragma once

#include "sw_models/numerics/convolution.hpp"

namespace gradweave::graph {

// Images are dense NHWC; weights are [groups, kernel rows, kernel columns, channels / groups, out channels / groups].
// Instances for V = float (the contract; values of bf16, widened) and double.

/// y = the convolution (N15, N16). `y` need not be filled.
template <class V> void convolve(const Convolution &conv, const V *image, const V *w, V *y, unsigned threads);

/// dx = the image's gradient (N24): of each element one sum, over the taps that meet it, ascending, and the output
/// channels. `dx` need not be filled.
template <class V> void convolve_back(const Convolution &conv, const V *dy, const V *w, V *dx, unsigned threads);

/// dw goes on with the chains that it holds, over all output pixels ascending.
template <class V>
void accumulate_weight_gradient(const Convolution &conv, const V *image, const V *dy, V *dw, unsigned threads);

/// The same three where each group has one channel in and one out.
inline bool is_depthwise(const Convolution &conv) { return conv.group_channels() == 1 && conv.n() == 1; }
template <class V> void convolve_depthwise(const Convolution &conv, const V *image, const V *w, V *y, unsigned threads);
template <class V>
void convolve_depthwise_back(const Convolution &conv, const V *dy, const V *w, V *dx, unsigned threads);
template <class V>
void accumulate_depthwise_gradient(const Convolution &conv, const V *image, const V *dy, V *dw, unsigned threads);

} // namespace gradweave::graph
