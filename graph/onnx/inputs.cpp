#include "graph/onnx/inputs.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace gradweave::graph::onnx {
namespace {

/// Without a size of its own; some exporters write -1.
bool is_symbolic(const Dimension &dim) { return dim.size <= 0; }

/// Where an input has its batch: a symbolic dimension that is called so, else the first one.
std::size_t batch_axis(const std::vector<Dimension> &dims) {
  const auto named = std::find_if(dims.begin(), dims.end(), [](const Dimension &dim) {
    std::string symbol = dim.symbol;
    std::transform(symbol.begin(), symbol.end(), symbol.begin(), [](unsigned char c) { return std::tolower(c); });
    return is_symbolic(dim) && symbol.find("batch") != std::string::npos;
  });
  return named == dims.end() ? 0 : static_cast<std::size_t>(named - dims.begin());
}

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
    for (const InputSizes &input : inputs_) {
      if (!input.info->dims || input.info->dims->empty()) continue;
      const Dimension &batch = input.info->dims->at(batch_axis(*input.info->dims));
      if (!is_symbolic(batch)) continue;
      has_batch_ = true;
      if (options_.dims.find(batch.symbol) == options_.dims.end() && !batch.symbol.empty())
        batch_symbols_.insert(batch.symbol);
    }
    if (options_.batch && !has_batch_)
      fail("--batch: no input has a symbolic first dimension; export the model with a dynamic batch (dynamic_axes)");
  }

  void size(InputSizes &input) {
    if (!input.info->dims) fail(fmt::format("input '{}' has no shape; export the model with one", input.info->name));
    const std::vector<Dimension> &dims = *input.info->dims;
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
      input.dims.push_back(size(input.info->name, axis, dims[axis], axis == batch_axis(dims)));
    const auto given = options_.dims.find(input.info->name);
    if (given == options_.dims.end() || is_real(input.info->type)) return;
    if (std::any_of(input.dims.begin(), input.dims.end(), [](std::int64_t dim) { return dim != 1; })) return;
    used_.insert(given->first);
    input.value = given->second;
  }

  /// For people to copy into a shell.
  static std::string setting_of(const std::string &name) {
    const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
    });
    return fmt::format(plain ? "net.{}=N" : "'net.{}=N'", name);
  }

  std::int64_t size(const std::string &input, std::size_t axis, const Dimension &dim, bool is_batch) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31U;
    const std::string place = fmt::format("{}.{}", input, axis);
    std::int64_t size = is_symbolic(dim) ? 0 : dim.size;
    for (const std::string &name : {dim.symbol, place})
      if (const auto given = options_.dims.find(name); given != options_.dims.end() && !name.empty()) {
        if (!is_symbolic(dim))
          fail(fmt::format("--set net.{}: dimension {} of input '{}' is fixed to {}", name, axis, input, dim.size));
        used_.insert(name);
        size = given->second;
      }
    if (size == 0 && (is_batch || batch_symbols_.count(dim.symbol) != 0)) size = options_.batch.value_or(1);
    if (size == 0)
      fail(fmt::format("dimension {} of input '{}' is symbolic{}; give its size: --set {}", axis, input,
                       dim.symbol.empty() ? "" : fmt::format(" ('{}')", dim.symbol),
                       setting_of(dim.symbol.empty() ? place : dim.symbol)));
    if (size < 1 || size > kMost)
      fail(fmt::format("dimension {} of input '{}' is {}; 1 to 2^31 are possible", axis, input, size));
    return size;
  }

  void check_all_used() const {
    for (const auto &[name, size] : options_.dims)
      if (used_.count(name) == 0)
        fail(fmt::format("--set net.{}: no input has a symbolic dimension of that name, and none of that name is a "
                         "single whole number",
                         name));
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
