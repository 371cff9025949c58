// auto_pad of ONNX nodes: each value that it may have, over sizes, kernels, strides and dilations.
#include "graph/ir/error.hpp"
#include "graph/onnx/import.hpp"
#include "graph/operators/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::graph::onnx {
namespace {

using Sizes = std::vector<std::int64_t>;

/// A convolution or a pooling of x [1, 1, size, size + 1].
struct Padded {
  std::string type, auto_pad;
  std::int64_t size, kernel, stride, dilation;
};

Graph import_padded(const Padded &p) {
  Node node;
  node.type = p.type;
  node.inputs = {"x"};
  node.outputs = {"y"};
  node.attributes["auto_pad"] = p.auto_pad;
  node.attributes["strides"] = Sizes{p.stride, p.stride};
  node.attributes["dilations"] = Sizes{p.dilation, p.dilation};
  node.attributes["kernel_shape"] = Sizes{p.kernel, p.kernel};
  Model model;
  model.opsets[""] = 13;
  model.inputs = {{"x", DataType::kFloat, std::vector<Dimension>{{1, ""}, {1, ""}, {p.size, ""}, {p.size + 1, ""}}}};
  model.outputs = {{"y", DataType::kFloat, std::nullopt}};
  if (p.type == "Conv") {
    node.inputs.emplace_back("w");
    Blob w{"w", DataType::kFloat, {1, 1, p.kernel, p.kernel}, {}};
    w.bytes.assign(w.elements() * 4, '\x3f');
    model.initializers = {w};
  }
  model.nodes = {node};
  return import_model(std::move(model), "net.onnx", operators(), {});
}

/// Rows before and behind the image, by trying: as few as make ceil(size / stride) windows, the odd one on the side
/// that the name says.
std::pair<std::int64_t, std::int64_t> wanted_pads(const Padded &p, std::int64_t size) {
  const std::int64_t outputs = (size + p.stride - 1) / p.stride, reach = p.dilation * (p.kernel - 1) + 1;
  std::int64_t before = 0, behind = 0;
  while (before + size + behind < (outputs - 1) * p.stride + reach)
    ++((before + behind) % 2 == (p.auto_pad == "SAME_LOWER" ? 0 : 1) ? before : behind);
  return {before, behind};
}

void expect_pads(const Padded &p) {
  const Graph graph = import_padded(p);
  const auto op = std::find_if(graph.ops.begin(), graph.ops.end(), [&](const Op &o) { return o.type->name == p.type; });
  ASSERT_NE(op, graph.ops.end());
  const auto [top, bottom] = wanted_pads(p, p.size);
  const auto [left, right] = wanted_pads(p, p.size + 1);
  EXPECT_EQ(op->attributes.integers("pads"), (Sizes{top, left, bottom, right}))
      << p.type << " " << p.auto_pad << " size " << p.size << " kernel " << p.kernel << " stride " << p.stride
      << " dilation " << p.dilation;
}

TEST(OnnxAutoPad, PutsTheOddPixelWhereItsNameSays) {
  EXPECT_EQ(wanted_pads({"", "SAME_UPPER", 4, 2, 1, 1}, 4), (std::pair<std::int64_t, std::int64_t>{0, 1}));
  EXPECT_EQ(wanted_pads({"", "SAME_LOWER", 4, 2, 1, 1}, 4), (std::pair<std::int64_t, std::int64_t>{1, 0}));
  for (const char *type : {"Conv", "MaxPool"})
    for (const char *how : {"SAME_UPPER", "SAME_LOWER"})
      for (std::int64_t size = 4; size < 9; ++size)
        for (std::int64_t kernel = 2; kernel < 5; ++kernel)
          for (std::int64_t stride = 1; stride <= kernel; ++stride)
            expect_pads({type, how, size, kernel, stride, 1});
  for (const char *how : {"SAME_UPPER", "SAME_LOWER"})
    expect_pads({"Conv", how, 7, 2, 1, 3});
}

TEST(OnnxAutoPad, ValidHasNoneAndOtherNamesAreRefused) {
  EXPECT_EQ(import_padded({"MaxPool", "VALID", 7, 3, 2, 1}).tensors.back().shape.elements(), 3U * 3U);
  try {
    import_padded({"MaxPool", "SAME", 7, 3, 2, 1});
    ADD_FAILURE() << "SAME is no value";
  } catch (const GraphError &error) {
    EXPECT_NE(std::string(error.what()).find("attribute 'auto_pad' = 'SAME' is not known"), std::string::npos)
        << error.what();
  }
}

} // namespace
} // namespace gradweave::graph::onnx
