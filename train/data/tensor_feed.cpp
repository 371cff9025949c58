#include "train/data/tensor_feed.hpp"

#include "graph/ir/operator.hpp"
#include "train/data/arrangement.hpp"
#include "train/data/computed_inputs.hpp"
#include "train/data/dropout_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace gradweave::runtime::train {
namespace {

using graph::Graph;
using graph::kNone;
using graph::TensorId;

/// What the loss compares its first operand with, if that is an input.
TensorId target_of(const Graph &forward) {
  if (forward.loss == kNone || !forward.tensors[forward.loss].computed()) return kNone;
  const graph::Op &loss = forward.ops[forward.tensors[forward.loss].producer];
  if (loss.inputs.size() < 2 || loss.inputs[1] == kNone) return kNone;
  return forward.tensors[loss.inputs[1]].role == graph::Role::kInput ? loss.inputs[1] : kNone;
}

class TensorFeed final : public Feed {
public:
  TensorFeed(const Graph &forward, const TensorSource &input, const TensorSource &target)
      : forward_(forward), keys_(dropout_keys(forward)), target_(target_of(forward)) {
    if (input.there()) read(input, false);
    if (target.there()) read(target, true);
    for (TensorId id = 0; id < forward.tensors.size(); ++id)
      if (is_given(id) && values_.count(id) == 0 && !is_key(id))
        throw DataError(fmt::format("input '{}' of graph '{}' is given nowhere; give it by {}",
                                    forward.tensors[id].name, forward.name, id == target_ ? "--target" : "--input"));
  }

  std::vector<Fed> batch(std::uint64_t number) const override {
    std::vector<Fed> all;
    for (const auto &[id, values] : values_) {
      const graph::Tensor &tensor = forward_.tensors[id];
      const std::size_t count = tensor.shape.elements(), first = number % batches_ * count;
      Fed &fed = all.emplace_back();
      fed.input = id;
      if (graph::is_real(tensor.type))
        fed.values.real = slice(tensor, values.real, first, count);
      else
        fed.values.index = slice(tensor, values.index, first, count);
    }
    add_computed(forward_, all);
    return all;
  }

  std::uint64_t batches_an_epoch() const override { return batches_; }

private:
  /// Of an input: it does not follow from others.
  bool is_given(TensorId id) const {
    return forward_.tensors[id].role == graph::Role::kInput && !forward_.tensors[id].function;
  }
  bool is_key(TensorId id) const { return std::find(keys_.begin(), keys_.end(), id) != keys_.end(); }

  template <typename T>
  static std::vector<T> slice(const graph::Tensor &tensor, const std::vector<T> &all, std::size_t first,
                              std::size_t count) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return from_file(tensor, std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(count)));
  }

  void read(const TensorSource &source, bool target) {
    const std::string &where = source.name();
    for (const graph::FileTensor &tensor :
         source.read([&](const graph::TensorEntry &e) { accept(e, where, target); })) {
      const TensorId id = input_of(tensor.name, target);
      graph::Buffer<graph::Contract> &values = values_[id];
      try {
        if (graph::is_real(forward_.tensors[id].type))
          values.real = floats_of(tensor);
        else
          values.index = indices_of(tensor);
      } catch (const std::invalid_argument &error) {
        throw DataError(fmt::format("{}: tensor '{}' {}", where, tensor.name, error.what()));
      }
    }
  }

  /// The input of the name; of a name that no input has the target, or the only other input there is.
  TensorId input_of(const std::string &name, bool target) const {
    TensorId only = kNone;
    for (TensorId id = 0; id < forward_.tensors.size(); ++id) {
      if (!is_given(id)) continue;
      if (forward_.tensors[id].name == name) return id;
      if (!target && id != target_ && !is_key(id)) only = only == kNone ? id : forward_.tensors.size();
    }
    if (target) return target_;
    return only < forward_.tensors.size() ? only : kNone;
  }

  void accept(const graph::TensorEntry &entry, const std::string &where, bool target) {
    const TensorId id = input_of(entry.name, target);
    if (id == kNone)
      throw DataError(fmt::format("{}: tensor '{}' is no input of graph '{}'; its inputs are {}", where, entry.name,
                                  forward_.name, names()));
    if (!taken_.insert(id).second)
      throw DataError(fmt::format("{}: tensor '{}': input '{}' has been given already", where, entry.name,
                                  forward_.tensors[id].name));
    std::vector<std::uint64_t> wanted = shape_in_file(forward_.tensors[id]);
    const bool fits = !wanted.empty() && entry.shape.size() == wanted.size() &&
                      std::equal(entry.shape.begin() + 1, entry.shape.end(), wanted.begin() + 1) &&
                      entry.shape.front() >= wanted.front();
    if (!fits)
      throw DataError(fmt::format("{}: tensor '{}' is {}; input '{}' takes [{}], and more along the first dimension",
                                  where, entry.name, entry.shape_text(), forward_.tensors[id].name,
                                  fmt::join(wanted, ", ")));
    const std::uint64_t batches = entry.shape.front() / wanted.front();
    if (batches_ != 0 && batches != batches_)
      throw DataError(fmt::format("{}: tensor '{}' has {} batches of {}, and another input {}", where, entry.name,
                                  batches, wanted.front(), batches_));
    batches_ = batches;
  }

  std::string names() const {
    std::string text;
    for (TensorId id = 0; id < forward_.tensors.size(); ++id)
      if (is_given(id)) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", forward_.tensors[id].name);
    return text;
  }

  const Graph &forward_;
  std::vector<TensorId> keys_;
  TensorId target_;
  std::uint64_t batches_ = 0;
  std::set<TensorId> taken_;
  std::map<TensorId, graph::Buffer<graph::Contract>> values_;
};

} // namespace

std::unique_ptr<Feed> tensor_feed(const graph::Graph &forward, const TensorSource &input, const TensorSource &target,
                                  std::uint64_t seed) {
  return with_dropout_keys(forward, seed, std::make_unique<TensorFeed>(forward, input, target));
}

} // namespace gradweave::runtime::train
