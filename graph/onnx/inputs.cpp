#include "graph/onnx/inputs.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph::onnx {
namespace {

class Sizes {
public:
  Sizes(const Model &model, const std::string &file, const ImportOptions &options)
      : model_(model), file_(file), options_(options) {}

  std::vector<InputSizes> run() {
    std::set<std::string_view> initializers;
    for (const Blob &blob : model_.initializers)
      initializers.insert(blob.name);
    for (const ValueInfo &input : model_.inputs)
      if (initializers.count(input.name) == 0) inputs_.push_back({&input, {}});
    find_batch();
    for (InputSizes &input : inputs_)
      size(input);
    check_all_used();
    return std::move(inputs_);
  }

private:
  [[noreturn]] void fail(std::string_view message) const { throw GraphError(fmt::format("{}: {}", file_, message)); }

  void find_batch() {
    for (const InputSizes &input : inputs_)
      if (input.info->dims && !input.info->dims->empty() && input.info->dims->front().size == 0) {
        has_batch_ = true;
        const std::string &symbol = input.info->dims->front().symbol;
        if (options_.dims.find(symbol) == options_.dims.end() && !symbol.empty()) batch_symbols_.insert(symbol);
      }
    if (options_.batch && !has_batch_)
      fail("--batch: no input has a symbolic first dimension; export the model with a dynamic batch (dynamic_axes)");
  }

  void size(InputSizes &input) {
    if (!input.info->dims) fail(fmt::format("input '{}' has no shape; export the model with one", input.info->name));
    const std::vector<Dimension> &dims = *input.info->dims;
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
      input.dims.push_back(size(input.info->name, axis, dims[axis]));
  }

  std::int64_t size(const std::string &input, std::size_t axis, const Dimension &dim) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31U;
    const std::string place = fmt::format("{}.{}", input, axis);
    std::int64_t size = dim.size;
    for (const std::string &name : {dim.symbol, place})
      if (const auto given = options_.dims.find(name); given != options_.dims.end() && !name.empty()) {
        if (dim.size > 0)
          fail(fmt::format("--set net.{}: dimension {} of input '{}' is fixed to {}", name, axis, input, dim.size));
        used_.insert(name);
        size = given->second;
      }
    const bool of_batch = axis == 0 || batch_symbols_.count(dim.symbol) != 0;
    if (size == 0 && of_batch) size = options_.batch.value_or(1);
    if (size == 0)
      fail(fmt::format("dimension {} of input '{}' is symbolic{}; give its size: --set net.{}=N", axis, input,
                       dim.symbol.empty() ? "" : fmt::format(" ('{}')", dim.symbol),
                       dim.symbol.empty() ? place : dim.symbol));
    if (size < 1 || size > kMost)
      fail(fmt::format("dimension {} of input '{}' is {}; 1 to 2^31 are possible", axis, input, size));
    return size;
  }

  void check_all_used() const {
    for (const auto &[name, size] : options_.dims)
      if (used_.count(name) == 0)
        fail(fmt::format("--set net.{}: no input has a symbolic dimension of that name", name));
  }

  const Model &model_;
  const std::string &file_;
  const ImportOptions &options_;
  std::vector<InputSizes> inputs_;
  std::set<std::string, std::less<>> batch_symbols_, used_;
  bool has_batch_ = false;
};

constexpr std::string_view kReadsImages[] = {
    "Conv",     "ConvTranspose",        "MaxPool", "AveragePool", "Resize", "BatchNormalization", "GlobalAveragePool",
    "Upsample", "InstanceNormalization"};
constexpr std::string_view kPassesOn[] = {"Add",  "Sub", "Mul",       "Div",    "Identity", "Cast",   "Relu",
                                          "Clip", "Pad", "LeakyRelu", "Concat", "Slice",    "Gather", "Dropout"};

template <std::size_t N> bool is_among(std::string_view type, const std::string_view (&types)[N]) {
  return std::find(std::begin(types), std::end(types), type) != std::end(types);
}

} // namespace

std::vector<InputSizes> input_sizes(const Model &model, const std::string &file, const ImportOptions &options) {
  return Sizes(model, file, options).run();
}

std::set<std::string, std::less<>> images_among(const Model &model) {
  std::set<std::string, std::less<>> images;
  for (auto node = model.nodes.rbegin(); node != model.nodes.rend(); ++node) {
    const bool reads = is_among(node->type, kReadsImages);
    const bool passes = is_among(node->type, kPassesOn) &&
                        std::any_of(node->outputs.begin(), node->outputs.end(),
                                    [&](const std::string &output) { return images.count(output) != 0; });
    if (reads && !node->inputs.empty()) images.insert(node->inputs.front());
    if (passes) images.insert(node->inputs.begin(), node->inputs.end());
  }
  return images;
}

} // namespace gradweave::graph::onnx
