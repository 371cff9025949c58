#include "train/data/dropout_keys.hpp"

#include "graph/ir/operator.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::runtime::train {
namespace {

using graph::Graph;
using graph::Op;
using graph::TensorId;

constexpr std::size_t kKey = 1; ///< which input of Dropout

bool is_key(const Graph &graph, TensorId id) {
  bool is_read = false;
  for (const Op &op : graph.ops)
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] != id) continue;
      if (op.type->name != "Dropout" || i != kKey) return false;
      is_read = true;
    }
  return is_read;
}

class KeyFeed final : public Feed {
public:
  KeyFeed(std::vector<TensorId> keys, std::uint64_t seed, std::unique_ptr<Feed> feed)
      : keys_(std::move(keys)), seed_(seed), feed_(std::move(feed)) {}

  std::vector<Fed> batch(std::uint64_t number) const override {
    std::vector<Fed> all = feed_->batch(number);
    for (const TensorId key : keys_) {
      if (std::any_of(all.begin(), all.end(), [key](const Fed &fed) { return fed.input == key; })) continue;
      Fed &fed = all.emplace_back();
      fed.input = key;
      fed.values.index = {low_bits(seed_), low_bits(number)};
    }
    return all;
  }

  std::uint64_t batches_an_epoch() const override { return feed_->batches_an_epoch(); }

private:
  static std::int32_t low_bits(std::uint64_t number) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
  }

  std::vector<TensorId> keys_;
  std::uint64_t seed_;
  std::unique_ptr<Feed> feed_;
};

} // namespace

std::vector<TensorId> dropout_keys(const Graph &forward) {
  std::vector<TensorId> keys;
  for (TensorId id = 0; id < forward.tensors.size(); ++id)
    if (forward.tensors[id].role == graph::Role::kInput && is_key(forward, id)) keys.push_back(id);
  return keys;
}

std::unique_ptr<Feed> with_dropout_keys(const Graph &forward, std::uint64_t seed, std::unique_ptr<Feed> feed) {
  std::vector<TensorId> keys = dropout_keys(forward);
  if (keys.empty()) return feed;
  return std::make_unique<KeyFeed>(std::move(keys), seed, std::move(feed));
}

} // namespace gradweave::runtime::train
