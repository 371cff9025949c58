#include "train/tensors.hpp"

#include "base/text/split.hpp"
#include "train/data/arrangement.hpp"
#include "train/data/idx_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace gradweave::runtime::train {
namespace {

using graph::Graph;
using graph::kNone;
using graph::Role;
using graph::TensorId;

bool is_weight(const graph::Tensor &tensor) { return tensor.role == Role::kParameter || tensor.role == Role::kState; }

/// The parameters and running averages of a network that a source may have.
class WantedWeights {
public:
  WantedWeights(const Graph &forward, std::string where) : where_(std::move(where)) {
    for (const graph::Tensor &tensor : forward.tensors)
      if (is_weight(tensor)) wanted_.emplace(tensor.name, &tensor);
  }

  void accept(const graph::TensorEntry &entry) {
    const auto found = wanted_.find(entry.name);
    if (found == wanted_.end())
      throw DataError(fmt::format("{}: tensor '{}' is no parameter of the network; remove it, or correct its name{}",
                                  where_, entry.name, nearest(entry.name)));
    if (!seen_.insert(found->first).second)
      throw DataError(fmt::format("{}: tensor '{}' stands in it twice", where_, entry.name));
    const std::vector<std::uint64_t> shape = shape_in_file(*found->second);
    if (entry.shape != shape)
      throw DataError(fmt::format("{}: tensor '{}' is {}; the network's is [{}]", where_, entry.name,
                                  entry.shape_text(), fmt::join(shape, ", ")));
  }

  void check_complete() const {
    std::vector<std::string_view> missing;
    for (const auto &[name, tensor] : wanted_)
      if (tensor->role == Role::kParameter && seen_.count(name) == 0) missing.push_back(name);
    if (missing.empty()) return;
    constexpr std::size_t kShown = 8;
    const std::size_t more = missing.size() - std::min(missing.size(), kShown);
    missing.resize(missing.size() - more);
    throw DataError(fmt::format("{}: parameters of the network are missing: {}{}", where_, fmt::join(missing, ", "),
                                more == 0 ? std::string() : fmt::format(" and {} more", more)));
  }

  std::vector<float> values(const graph::FileTensor &tensor) const {
    const graph::Tensor &own = *wanted_.find(tensor.name)->second;
    try {
      return from_file(own, floats_of(tensor));
    } catch (const std::invalid_argument &error) {
      throw DataError(fmt::format("{}: tensor '{}' {}", where_, tensor.name, error.what()));
    }
  }

private:
  /// A parameter that another framework may mean by a name: the one that ends alike.
  std::string nearest(const std::string &name) const {
    for (const auto &[own, tensor] : wanted_)
      if (name.size() > own.size() && name.compare(name.size() - own.size(), own.size(), own) == 0)
        return fmt::format(" (the network has '{}')", own);
    return {};
  }

  std::string where_;
  std::map<std::string_view, const graph::Tensor *> wanted_;
  std::set<std::string_view> seen_;
};

void add_all(const Graph &graph, std::vector<TensorId> &watched) {
  for (TensorId id = 0; id < graph.tensors.size(); ++id)
    if (graph.tensors[id].computed()) watched.push_back(id);
}

graph::FileTensor file_tensor_of(const graph::Tensor &tensor, const graph::Tensor &arranged, std::string name,
                                 const graph::Buffer<graph::Contract> &values) {
  std::vector<std::uint64_t> shape = shape_in_file(tensor, arranged);
  if (!graph::is_real(tensor.type))
    return graph::file_tensor(std::move(name), std::move(shape), to_file(arranged, values.index));
  const graph::FileType type =
      tensor.type == graph::ElementType::kBf16 ? graph::FileType::kBf16 : graph::FileType::kFp32;
  return graph::file_tensor(std::move(name), type, std::move(shape), to_file(arranged, values.real));
}

} // namespace

void load_weights(const Graph &forward, const graph::TrainingGraph &step, const TensorSource &source, Living &living) {
  WantedWeights weights(forward, source.name());
  const auto tensors = source.read([&](const graph::TensorEntry &entry) { weights.accept(entry); });
  weights.check_complete();
  for (const graph::FileTensor &tensor : tensors)
    if (const TensorId id = step.graph.find(tensor.name); id != kNone) living[id] = weights.values(tensor);
}

Dump parse_dump(const Graph &forward, const graph::TrainingGraph &step, const std::string &what) {
  Dump dump;
  for (const std::string &item : split(what, ',')) {
    if (item == "weights") {
      dump.weights = true;
    } else if (item == "gradients") {
      if (step.gradients.empty()) throw std::invalid_argument("--dump gradients: the step goes forward only");
      for (const graph::ParameterGradient &g : step.gradients)
        dump.watched.push_back(g.gradient);
    } else if (item == "outputs") {
      for (const TensorId result : forward.results)
        if (const TensorId id = step.of_forward(forward, result); id != kNone) dump.watched.push_back(id);
      dump.watched.push_back(step.micro_batches.front().loss);
    } else if (item == "all") {
      add_all(step.graph, dump.watched);
    } else if (const TensorId id = step.graph.find(item); id != kNone) {
      dump.watched.push_back(id);
    } else {
      throw std::invalid_argument(
          fmt::format("--dump {}: the step has no tensor '{}'; use weights, gradients, outputs, "
                      "all, or a name that --dump all writes",
                      what, item));
    }
  }
  std::sort(dump.watched.begin(), dump.watched.end());
  dump.watched.erase(std::unique(dump.watched.begin(), dump.watched.end()), dump.watched.end());
  return dump;
}

std::size_t dumped_count(const Graph &forward, const graph::TrainingGraph &step, const Dump &dump) {
  const auto weights = std::count_if(forward.tensors.begin(), forward.tensors.end(), [&](const graph::Tensor &own) {
    return is_weight(own) && step.graph.find(own.name) != kNone;
  });
  return dump.watched.size() + (dump.weights ? static_cast<std::size_t>(weights) : 0);
}

std::vector<graph::FileTensor> dumped(const Graph &forward, const graph::TrainingGraph &step, const Dump &dump,
                                      const std::vector<graph::Buffer<graph::Contract>> &watched,
                                      const Living &living) {
  std::map<TensorId, TensorId> parameter_of;
  for (const graph::ParameterGradient &g : step.gradients)
    parameter_of.emplace(g.gradient, g.parameter);
  std::vector<graph::FileTensor> tensors;
  if (dump.weights)
    for (const graph::Tensor &own : forward.tensors)
      if (const TensorId id = is_weight(own) ? step.graph.find(own.name) : kNone; id != kNone)
        tensors.push_back(file_tensor_of(step.graph.tensors[id], own, own.name, {living[id], {}}));
  for (std::size_t i = 0; i < dump.watched.size(); ++i) {
    const graph::Tensor &tensor = step.graph.tensors[dump.watched[i]];
    if (const auto parameter = parameter_of.find(dump.watched[i]); parameter != parameter_of.end()) {
      const graph::Tensor &of = step.graph.tensors[parameter->second];
      tensors.push_back(file_tensor_of(tensor, of, of.name + ".grad", watched[i]));
    } else {
      tensors.push_back(file_tensor_of(tensor, tensor, tensor.name, watched[i]));
    }
  }
  return tensors;
}

} // namespace gradweave::runtime::train
