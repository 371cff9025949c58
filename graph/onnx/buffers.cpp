#include "graph/onnx/buffers.hpp"

#include "graph/onnx/file/literal.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace gradweave::graph::onnx {
namespace {

template <std::size_t N> bool is_one_of(std::string_view type, const std::string_view (&types)[N]) {
  return std::find(std::begin(types), std::end(types), type) != std::end(types);
}

constexpr std::string_view kNoDerivative[] = {"ArgMax",  "ArgMin",         "Ceil",  "Cos",   "Equal", "Floor",
                                              "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less",  "LessOrEqual",
                                              "Not",     "Round",          "Shape", "Sign",  "Sin",   "Size"};
constexpr std::string_view kLayers[] = {"BatchNormalization",
                                        "Conv",
                                        "ConvTranspose",
                                        "Einsum",
                                        "GRU",
                                        "Gemm",
                                        "GroupNormalization",
                                        "InstanceNormalization",
                                        "LSTM",
                                        "LayerNormalization",
                                        "MatMul",
                                        "PRelu",
                                        "RMSNormalization",
                                        "RNN"};

constexpr std::string_view kMoves[] = {"Cast",  "Expand",  "Gather",    "Identity", "Reshape",
                                       "Slice", "Squeeze", "Transpose", "Unsqueeze"};

std::size_t long_dimensions(const Blob &blob) {
  return static_cast<std::size_t>(std::count_if(blob.dims.begin(), blob.dims.end(), [](auto dim) { return dim > 1; }));
}

/// Whether each column of a table is a sine of the row: v[t + 1] + v[t - 1] = 2 cos(w) v[t].
bool is_wave_table(const std::vector<float> &values, std::size_t rows, std::size_t cols) {
  if (rows < 4) return false;
  bool varies = false;
  for (std::size_t c = 0; c < cols; ++c) {
    const auto at = [&](std::size_t t) { return double{values[t * cols + c]}; };
    double product = 0, square = 0;
    for (std::size_t t = 1; t + 1 < rows; ++t) {
      product += at(t) * (at(t - 1) + at(t + 1));
      square += at(t) * at(t);
      varies = varies || std::abs(at(t) - at(0)) > 0.01;
    }
    const double twice_cosine = square == 0 ? 0 : product / square;
    for (std::size_t t = 1; t + 1 < rows; ++t)
      if (std::abs(at(t - 1) + at(t + 1) - twice_cosine * at(t)) > 1e-3) return false;
  }
  return varies;
}

/// Positions or a mask, by the values.
bool is_made(const Blob &blob) {
  if (!is_real(blob.type) || blob.bytes.empty() || long_dimensions(blob) < 2) return false;
  const std::vector<float> values = floats_of(blob);
  const float first = values[0];
  const auto other = std::find_if(values.begin(), values.end(), [first](float v) { return v != first; });
  if (other == values.end()) return false; // as fresh weights may be
  if (std::all_of(other, values.end(), [=](float v) { return v == first || v == *other; })) return true;
  const auto cols = static_cast<std::size_t>(blob.dims.back());
  // A table for each of several heads or batch elements has rows of its own.
  const auto rows = static_cast<std::size_t>(blob.dims[blob.dims.size() - 2]);
  for (std::size_t begin = 0; begin < values.size(); begin += rows * cols)
    if (!is_wave_table({values.begin() + static_cast<std::ptrdiff_t>(begin),
                        values.begin() + static_cast<std::ptrdiff_t>(begin + rows * cols)},
                       rows, cols))
      return false;
  return true;
}

class Buffers {
public:
  explicit Buffers(const Model &model) : model_(model) {
    for (const ValueInfo &input : model.inputs)
      data_.insert(input.name);
    for (const Blob &blob : model.initializers) {
      data_.erase(blob.name); // old files list them among the inputs
      blobs_.emplace(blob.name, &blob);
      long_.emplace(blob.name, long_dimensions(blob));
    }
    for (const Node &node : model.nodes)
      if (reads_data(node))
        data_.insert(node.outputs.begin(), node.outputs.end());
      else
        pass_on(node);
  }

  std::set<std::string> run() {
    for (auto node = model_.nodes.rbegin(); node != model_.nodes.rend(); ++node)
      follow(*node);
    std::set<std::string> buffers;
    bool learns = false; // of whole numbers, too: they are dequantised
    for (const Blob &blob : model_.initializers) {
      if (blob.elements() <= 1 || read_.count(blob.name) == 0) continue;
      const bool learned = learned_.count(blob.name) != 0;
      learns = learns || learned;
      if (!learned && is_real(blob.type)) buffers.insert(blob.name);
    }
    return learns ? buffers : std::set<std::string>{};
  }

private:
  bool reads_data(const Node &node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [this](const std::string &input) { return data_.count(input) != 0; });
  }

  /// What follows from the file alone: a table that is moved about is the same table.
  void pass_on(const Node &node) {
    std::size_t dims = 0;
    for (const std::string &input : node.inputs)
      if (const auto found = long_.find(input); found != long_.end()) dims = std::max(dims, found->second);
    const auto table = node.inputs.empty() ? blobs_.end() : blobs_.find(node.inputs[0]);
    const bool moved = table != blobs_.end() && is_one_of(node.type, kMoves);
    for (const std::string &output : node.outputs) {
      long_[output] = dims;
      if (moved) blobs_[output] = table->second;
    }
  }

  void follow(const Node &node) {
    read_.insert(node.inputs.begin(), node.inputs.end());
    if (is_one_of(node.type, kNoDerivative)) return;
    const bool with_data = reads_data(node);
    const bool passes = std::any_of(node.outputs.begin(), node.outputs.end(),
                                    [this](const std::string &output) { return learned_.count(output) != 0; });
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (data_.count(node.inputs[i]) == 0 && !is_setting(node, i) && (with_data ? is_learned_by(node, i) : passes))
        learned_.insert(node.inputs[i]);
  }

  /// How an operator computes, rather than of what.
  static bool is_setting(const Node &node, std::size_t input) {
    const bool quantises = node.type == "DequantizeLinear" || node.type == "QuantizeLinear";
    return (quantises && input > 0) || node.type == "OneHot" || (node.type == "RotaryEmbedding" && input > 0) ||
           (node.type == "Attention" && input == 3);
  }

  /// Beside data.
  bool is_learned_by(const Node &node, std::size_t input) const {
    if (is_one_of(node.type, kLayers)) return true;
    const auto blob = blobs_.find(node.inputs[input]);
    const auto dims = long_.find(node.inputs[input]);
    if (node.type == "Sub" || node.type == "Div" || node.type == "Pow") return false;
    if (node.type == "Mul" && dims != long_.end() && dims->second > 1) return false;
    return blob == blobs_.end() || !is_made(*blob->second);
  }

  const Model &model_;
  std::set<std::string> data_;                ///< values that follow from the inputs
  std::map<std::string, const Blob *> blobs_; ///< initializers, and what moves them about
  std::map<std::string, std::size_t> long_;   ///< dimensions beyond 1 of what follows from the file alone
  std::set<std::string> read_, learned_;
};

} // namespace

std::set<std::string> buffers_of(const Model &model) { return Buffers(model).run(); }

} // namespace gradweave::graph::onnx
