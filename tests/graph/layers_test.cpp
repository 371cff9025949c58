// Lists of layers that are made from graphs.
#include "graph/frontend/load_network.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gradweave::compiler {
namespace {

const char *const kModels[] = {"mlp",         "resnet50", "googlenet", "mobilenet", "faster_rcnn",
                               "yolov2_tiny", "yolov5",   "bert_tiny", "ncf",       "bert_large",
                               "t5_small",    "t5_large", "dlrm"};

TEST(GraphLayers, AreThoseOfTheLists) {
  for (const std::string model : kModels)
    for (const std::optional<std::uint32_t> batch : {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(8)}) {
      SCOPED_TRACE(model);
      Network graph, list;
      try {
        list = load_network("models/" + model + ".toml", batch);
        graph = load_network("models/" + model + ".graph", batch);
      } catch (const std::exception &error) {
        ADD_FAILURE() << error.what();
        continue;
      }
      EXPECT_EQ(graph.name, list.name);
      EXPECT_EQ(graph.description, list.description);
      EXPECT_EQ(graph.source, list.source);
      EXPECT_EQ(graph.parameters, list.parameters);
      EXPECT_EQ(count_parameters(graph), count_parameters(list));
      EXPECT_EQ(graph.layers.size(), list.layers.size());
      for (std::size_t i = 0; i < std::min(graph.layers.size(), list.layers.size()); ++i) {
        const auto &[name, m, k, n, dx, index, groups, input, x_of, conv, weights] = list.layers[i];
        const Layer &layer = graph.layers[i];
        ASSERT_EQ(layer.name, name) << i;
        EXPECT_EQ(layer.m, m) << name;
        EXPECT_EQ(layer.k, k) << name;
        EXPECT_EQ(layer.n, n) << name;
        EXPECT_EQ(layer.dx, dx) << name;
        EXPECT_EQ(layer.index, index) << name;
        EXPECT_EQ(layer.groups, groups) << name;
        EXPECT_EQ(layer.input, input) << name;
        EXPECT_EQ(layer.x_of, x_of) << name;
        EXPECT_EQ(layer.weights, weights) << name;
        ASSERT_EQ(layer.conv.has_value(), conv.has_value()) << name;
        if (conv) {
          EXPECT_TRUE(layer.conv->reads_like(*conv)) << name;
          EXPECT_EQ(layer.conv->out_channels, conv->out_channels) << name;
        }
      }
    }
}

} // namespace
} // namespace gradweave::compiler
