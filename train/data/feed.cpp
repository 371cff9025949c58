#include "train/data/feed.hpp"

#include "base/random/keyed_random.hpp"
#include "graph/ir/operator.hpp"
#include "train/data/computed_inputs.hpp"
#include "train/data/dropout_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::runtime::train {
namespace {

using graph::Graph;
using graph::kNone;
using graph::TensorId;

/// Inputs that are data.
std::vector<TensorId> inputs_of(const Graph &graph) {
  const std::vector<TensorId> keys = dropout_keys(graph);
  std::vector<TensorId> inputs;
  for (TensorId id = 0; id < graph.tensors.size(); ++id)
    if (graph.tensors[id].role == graph::Role::kInput && !graph.tensors[id].function &&
        std::find(keys.begin(), keys.end(), id) == keys.end())
      inputs.push_back(id);
  return inputs;
}

class ImageFeed final : public Feed {
public:
  ImageFeed(const Graph &forward, const Dataset &data, std::uint64_t seed, bool shuffle)
      : forward_(forward), data_(data), seed_(seed), shuffle_(shuffle) {
    for (const TensorId id : inputs_of(forward)) {
      TensorId &place = graph::is_real(forward.tensors[id].type) || is_pixels(id) ? images_ : labels_;
      if (place != kNone)
        throw DataError(fmt::format("graph '{}' has inputs '{}' and '{}'; images and labels fill one each: use --data "
                                    "synthetic for it",
                                    forward.name, forward.tensors[place].name, forward.tensors[id].name));
      place = id;
    }
    if (images_ == kNone || labels_ == kNone)
      throw DataError(fmt::format("graph '{}' has no input for {}; use --data synthetic for it", forward.name,
                                  images_ == kNone ? "images (fp32)" : "labels (int32)"));
    check(forward);
  }

  std::vector<Fed> batch(std::uint64_t number) const override {
    std::vector<Fed> fed(2);
    fed[0].input = images_;
    fed[1].input = labels_;
    const std::size_t each = data_.pixels_each();
    const bool pixels = is_pixels(images_);
    if (pixels)
      fed[0].values.index.resize(batch_ * each);
    else
      fed[0].values.real.resize(batch_ * each);
    fed[1].values.index.resize(batch_);
    const std::vector<std::uint32_t> &order = order_of(number / batches_an_epoch());
    for (std::size_t i = 0; i < batch_; ++i) {
      const std::size_t image =
          shuffle_ ? order[number % batches_an_epoch() * batch_ + i] : (number * batch_ + i) % data_.count();
      const std::uint8_t *bytes = data_.pixels.data() + image * each;
      if (pixels)
        std::copy(bytes, bytes + each, fed[0].values.index.data() + i * each);
      else
        std::transform(bytes, bytes + each, fed[0].values.real.data() + i * each, as_real);
      fed[1].values.index[i] = data_.labels[image];
    }
    add_computed(forward_, fed);
    return fed;
  }

  std::uint64_t batches_an_epoch() const override {
    return shuffle_ ? data_.count() / batch_ : (data_.count() + batch_ - 1) / batch_;
  }

private:
  /// Whether an input takes bytes as an image has them.
  bool is_pixels(TensorId id) const { return forward_.tensors[id].below == 256; }

  void check(const Graph &forward) {
    const graph::Tensor &images = forward.tensors[images_], &labels = forward.tensors[labels_];
    batch_ = labels.shape.elements();
    if (images.shape.elements() != batch_ * data_.pixels_each())
      throw DataError(
          fmt::format("input '{}' is {}, and '{}' {}: a batch of {} images of {} x {} pixels has {} elements",
                      images.name, images.shape.text(), labels.name, labels.shape.text(), batch_, data_.height,
                      data_.width, batch_ * data_.pixels_each()));
    if (batch_ > data_.count())
      throw DataError(fmt::format("a batch of {} is larger than the data, {} images of {}; take a smaller --batch",
                                  batch_, data_.count(), data_.name));
    if (const Classifier c = classifier_of(forward);
        c.labels == labels_ && forward.tensors[c.logits].shape.cols() < data_.classes)
      throw DataError(fmt::format("'{}' tells {} classes apart, and the labels of {} are up to {}",
                                  forward.tensors[c.logits].name, forward.tensors[c.logits].shape.cols(), data_.name,
                                  data_.classes - 1));
  }

  const std::vector<std::uint32_t> &order_of(std::uint64_t epoch) const {
    if (shuffle_ && (order_.empty() || epoch != epoch_)) order_ = shuffled(data_.count(), seed_, epoch_ = epoch);
    return order_;
  }

  const Graph &forward_;
  const Dataset &data_;
  std::uint64_t seed_;
  bool shuffle_;
  TensorId images_ = kNone, labels_ = kNone;
  std::size_t batch_ = 1;
  mutable std::uint64_t epoch_ = 0; ///< that `order_` is of
  mutable std::vector<std::uint32_t> order_;
};

/// What an index may be, by an op that takes it: a row of what is looked up, or a column of what is judged.
std::uint32_t range_by(const Graph &graph, const graph::Op &op) {
  const graph::Shape &shape = graph.tensors[op.inputs[0]].shape;
  if (!op.attributes.has("axis") || shape.rank() == 0) return shape.cols();
  const std::int64_t axis = op.attributes.integer("axis");
  return shape[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.rank()) : axis)];
}

class SyntheticFeed final : public Feed {
public:
  SyntheticFeed(const Graph &forward, std::uint64_t seed)
      : forward_(forward), seed_(seed), inputs_(inputs_of(forward)) {
    for (const TensorId id : inputs_)
      range_.push_back(graph::is_real(forward.tensors[id].type) ? 0 : range_of(id));
  }

  std::vector<Fed> batch(std::uint64_t number) const override {
    // What is computed of whole numbers must be within the range of its readers: smaller ones, until it is.
    for (std::uint32_t divisor = 1;; divisor *= 2) {
      std::vector<Fed> fed = drawn(number, divisor);
      add_computed(forward_, fed);
      const auto off = std::find_if(fed.begin(), fed.end(), [this](const Fed &f) { return !in_range(f); });
      if (off == fed.end()) return fed;
      if (divisor > largest_range())
        throw DataError(fmt::format("input '{}' is computed of others and is beyond what its readers take, be these 0; "
                                    "give data by --input",
                                    forward_.tensors[off->input].name));
    }
  }

  std::uint64_t batches_an_epoch() const override { return 0; }

private:
  /// Random values of what is fed; whole numbers of their range, divided by so much.
  std::vector<Fed> drawn(std::uint64_t number, std::uint32_t divisor) const {
    std::vector<Fed> fed(inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const graph::Tensor &tensor = forward_.tensors[inputs_[i]];
      const KeyedRandom random(seed_, fmt::format("{} {}", tensor.name, number));
      const std::size_t count = tensor.shape.elements();
      fed[i].input = inputs_[i];
      if (range_[i] == 0) {
        fed[i].values.real.resize(count);
        for (std::size_t e = 0; e < count; ++e)
          fed[i].values.real[e] = static_cast<float>(random.bell(e));
      } else {
        fed[i].values.index.resize(count);
        for (std::size_t e = 0; e < count; ++e)
          fed[i].values.index[e] =
              static_cast<std::int32_t>(random.below(std::max<std::uint32_t>(1, range_[i] / divisor), e));
      }
    }
    return fed;
  }

  bool in_range(const Fed &fed) const {
    if (!forward_.tensors[fed.input].function) return true;
    const auto range = static_cast<std::int64_t>(range_by_readers(fed.input));
    return range == 0 || std::all_of(fed.values.index.begin(), fed.values.index.end(),
                                     [range](std::int32_t v) { return v >= 0 && v < range; });
  }

  std::uint32_t largest_range() const { return *std::max_element(range_.begin(), range_.end()); }

  /// The smallest of all its readers', and of what is computed of it; 0: none tells.
  std::uint32_t range_by_readers(TensorId id) const {
    std::uint32_t range = 0;
    const auto take = [&](std::uint32_t found) {
      if (found > 0) range = range == 0 ? found : std::min(range, found);
    };
    for (const graph::Op &op : forward_.ops)
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        if (op.inputs[i] != id) continue;
        const auto &spec = op.type->inputs[std::min(i, op.type->inputs.size() - 1)];
        if (spec.takes != graph::Takes::kIndex) continue;
        if (op.type->name == "Where") take(2);                                         // the condition
        const bool passes_on = op.type->outputs.front().gives == graph::Gives::kIndex; // as parts of a batch are
        if (!passes_on && i > 0 && op.inputs[0] != kNone) take(range_by(forward_, op));
        for (const TensorId output : op.outputs)
          if (passes_on && output != kNone) take(range_by_readers(output));
      }
    for (const TensorId computed : computed_of(id))
      take(range_by_readers(computed));
    return range;
  }

  /// Inputs that follow from one.
  std::vector<TensorId> computed_of(TensorId id) const {
    std::vector<TensorId> computed;
    for (TensorId other = 0; other < forward_.tensors.size(); ++other) {
      if (!forward_.tensors[other].function) continue;
      const std::vector<std::string> &sources = forward_.tensors[other].function->sources();
      if (std::find(sources.begin(), sources.end(), forward_.tensors[id].name) != sources.end())
        computed.push_back(other);
    }
    return computed;
  }

  std::uint32_t range_of(TensorId id) const {
    const graph::Tensor &tensor = forward_.tensors[id];
    if (const std::uint32_t range = range_by_readers(id); range != 0)
      return tensor.below == 0 ? range : std::min(range, tensor.below);
    if (tensor.below != 0) return tensor.below;
    if (!computed_of(id).empty()) return 2; // no ids: a mask
    throw DataError(fmt::format("{}input '{}' holds whole numbers, and no reader tells which: none looks them up or "
                                "takes them for labels; use it in the network, or remove it",
                                tensor.where.empty() ? "" : tensor.where + ": ", tensor.name));
  }

  const Graph &forward_;
  std::uint64_t seed_;
  std::vector<TensorId> inputs_;
  std::vector<std::uint32_t> range_; ///< of whole numbers; 0: the input is real
};

} // namespace

Classifier classifier_of(const Graph &forward) {
  if (forward.loss == kNone || !forward.tensors[forward.loss].computed()) return {};
  const graph::Op &loss = forward.ops[forward.tensors[forward.loss].producer];
  if (loss.inputs.size() < 2 || loss.type->inputs[1].takes != graph::Takes::kIndex) return {};
  return {loss.inputs[0], loss.inputs[1]};
}

std::unique_ptr<Feed> image_feed(const Graph &forward, const Dataset &data, std::uint64_t seed, bool shuffle) {
  return with_dropout_keys(forward, seed, std::make_unique<ImageFeed>(forward, data, seed, shuffle));
}

std::unique_ptr<Feed> synthetic_feed(const Graph &forward, std::uint64_t seed) {
  return with_dropout_keys(forward, seed, std::make_unique<SyntheticFeed>(forward, seed));
}

std::size_t count_right(const Graph &forward, const graph::Buffer<graph::Contract> &logits,
                        const Classifier &classifier, const std::vector<std::int32_t> &labels, std::size_t rows) {
  const std::size_t cols = forward.tensors[classifier.logits].shape.cols();
  std::size_t right = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const auto row = logits.real.begin() + static_cast<std::ptrdiff_t>(r * cols);
    const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(cols));
    right += best - row == labels[r] ? 1 : 0;
  }
  return right;
}

} // namespace gradweave::runtime::train
