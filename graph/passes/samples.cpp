#include "graph/passes/samples.hpp"

#include "graph/build/builder.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace gradweave::graph {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::size_t kRows = 1, kCols = 2; ///< dimensions of an image (NHWC)

Numbers dims_of(const Shape &shape) {
  Numbers dims;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    dims.push_back(shape[axis]);
  return dims;
}

/// Every so many pixels of an image, as Slice's attributes.
Attributes sample_of(const Shape &image, const Numbers &strides) {
  Attributes attributes;
  attributes.set("starts", Numbers{0, 0});
  attributes.set("ends", Numbers{image[kRows], image[kCols]});
  attributes.set("axes", Numbers{kRows, kCols});
  attributes.set("steps", strides);
  return attributes;
}

bool all_are(const Numbers &numbers, std::int64_t value) {
  return std::all_of(numbers.begin(), numbers.end(), [value](std::int64_t n) { return n == value; });
}

class SamplePass {
public:
  SamplePass(Graph &graph, const OperatorSet &operators)
      : graph_(graph), operators_(operators), names_(graph, operators), spread_(graph.tensors.size()) {}

  void run() {
    for (const Op &op : std::vector<Op>(std::move(graph_.ops))) {
      if (const auto strides = sampling_strides(op))
        place_convolution(op, *strides);
      else if (!place_behind_spread(op))
        push(op);
    }
    graph_.ops = std::move(ops_);
  }

private:
  /// A tensor that is another one, and +0 around it.
  struct Spread {
    TensorId sample = kNone;
    Numbers strides;
  };

  bool is(const Op &op, const char *name) const { return op.type->name == name; }

  /// Strides of a convolution, or a gradient of one, that has one tap and no padding; none: it is no such op, or reads
  /// all pixels.
  std::optional<Numbers> sampling_strides(const Op &op) const {
    const bool forward = is(op, "Conv"), dx = is(op, "ConvInputGradient");
    if (!forward && !dx && !is(op, "ConvWeightGradient")) return std::nullopt;
    const Numbers kernel =
        forward || dx ? dims_of(graph_.tensors[op.inputs[1]].shape) : op.attributes.integers("kernel");
    const std::size_t first = forward || dx ? 1 : 0; // weights are [groups, rows, columns, ...]
    const Numbers &strides = op.attributes.integers("strides");
    if (kernel[first] != 1 || kernel[first + 1] != 1 || !all_are(op.attributes.integers("pads"), 0))
      return std::nullopt;
    if (strides.size() != 2 || all_are(strides, 1)) return std::nullopt;
    return strides;
  }

  void place_convolution(Op op, const Numbers &strides) {
    op.attributes.set("strides", Numbers{1, 1});
    if (!is(op, "ConvInputGradient")) {
      op.inputs[0] = sample(op.inputs[0], strides, op);
      push(std::move(op));
      return;
    }
    const TensorId dx = op.outputs[0];
    const Shape &dy = graph_.tensors[op.inputs[0]].shape;
    Numbers image = dims_of(graph_.tensors[dx].shape);
    image[kRows] = dy[kRows];
    image[kCols] = dy[kCols];
    op.attributes.set("image", Numbers{image[kRows], image[kCols]});
    op.outputs[0] = add_tensor(dx, image);
    const TensorId part = op.outputs[0];
    push(std::move(op));
    spread(part, dx, strides);
  }

  /// An operator on what lies in zeros.
  bool place_behind_spread(Op op) {
    if (is(op, "Add")) {
      const Spread &a = spread_[op.inputs[0]], &b = spread_[op.inputs[1]];
      if (a.sample == kNone || b.sample == kNone || a.strides != b.strides || !same_shape(op)) return false;
      op.inputs = {a.sample, b.sample};
      compute_on_sample(std::move(op), Numbers(a.strides));
      return true;
    }
    if (is(op, "ReluGradient") && spread_[op.inputs[0]].sample != kNone) {
      const Spread dy = spread_[op.inputs[0]];
      op.inputs = {dy.sample, sample(op.inputs[1], dy.strides, op)};
      compute_on_sample(std::move(op), dy.strides);
      return true;
    }
    return false;
  }

  bool same_shape(const Op &op) const {
    return graph_.tensors[op.inputs[0]].shape == graph_.tensors[op.inputs[1]].shape;
  }

  /// `op` reads samples already.
  void compute_on_sample(Op op, const Numbers &strides) {
    const TensorId whole = op.outputs[0];
    op.outputs[0] = add_tensor(whole, dims_of(graph_.tensors[op.inputs[0]].shape));
    const TensorId part = op.outputs[0];
    push(std::move(op));
    spread(part, whole, strides);
  }

  void push(Op op) {
    for (const TensorId output : op.outputs)
      if (output != kNone) graph_.tensors[output].producer = static_cast<OpId>(ops_.size());
    ops_.push_back(std::move(op));
  }

  /// A tensor as `like`, of another size.
  TensorId add_tensor(TensorId like, const Numbers &dims) {
    Tensor tensor;
    tensor.name = names_.fresh(graph_.tensors[like].name + ".sample");
    tensor.type = graph_.tensors[like].type;
    tensor.shape = Shape(std::vector<std::uint32_t>(dims.begin(), dims.end()));
    tensor.role = graph_.tensors[like].role == Role::kGradient ? Role::kGradient : Role::kActivation;
    tensor.where = graph_.tensors[like].where;
    tensor.fixed_type = true;
    graph_.tensors.push_back(std::move(tensor));
    spread_.emplace_back();
    return static_cast<TensorId>(graph_.tensors.size() - 1);
  }

  TensorId sample(TensorId image, const Numbers &strides, const Op &reader) {
    const auto [known, is_new] = samples_.try_emplace({image, strides}, kNone);
    if (!is_new) return known->second;
    const Shape shape = graph_.tensors[image].shape;
    Numbers dims = dims_of(shape);
    dims[kRows] = (dims[kRows] - 1) / strides[0] + 1;
    dims[kCols] = (dims[kCols] - 1) / strides[1] + 1;
    const TensorId part = add_tensor(image, dims);
    known->second = part;
    push({operators_.find("Slice"),
          graph_.tensors[part].name,
          {image},
          {part},
          sample_of(shape, strides),
          reader.where});
    return part;
  }

  void spread(TensorId part, TensorId whole, const Numbers &strides) {
    const Shape &shape = graph_.tensors[whole].shape;
    Attributes attributes = sample_of(shape, strides);
    attributes.set("shape", dims_of(shape));
    push({operators_.find("SliceGradient"),
          names_.fresh(graph_.tensors[whole].name + ".spread"),
          {part},
          {whole},
          std::move(attributes),
          graph_.tensors[whole].where});
    spread_[whole] = {part, strides};
  }

  Graph &graph_;
  const OperatorSet &operators_;
  Builder names_;
  std::vector<Spread> spread_; ///< of each tensor, if it is one
  std::map<std::pair<TensorId, Numbers>, TensorId> samples_;
  std::vector<Op> ops_;
};

} // namespace

void read_samples(Graph &graph, const OperatorSet &operators) { SamplePass(graph, operators).run(); }

} // namespace gradweave::graph
