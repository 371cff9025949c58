// The networks of models/ against the published numbers of parameters, and against Table 4 of igo_micro23.
#include "graph/frontend/load_network.hpp"
#include "tests/compiler/network_text.hpp"

#include <cmath>

namespace gradweave::compiler {
namespace {

struct Published {
  const char *model;
  std::uint64_t parameters; ///< counted from the published architecture, or its authors' own count
  std::size_t layers;
  double table; ///< Table 4, in the unit below
  double unit;  ///< of the table's last digit
  /// Why the table's number is not the architecture's, neither rounded nor cut off; empty: it is.
  const char *exception;
};

constexpr double kMillion = 1e6, kBillion = 1e9;

const std::vector<Published> kTable4 = {
    {"faster_rcnn", 19'386'354, 79, 19, kMillion, ""},
    {"googlenet", 6'998'552, 58, 62, kMillion, "GoogLeNet has 7 million, 13 million with its auxiliary classifiers"},
    {"ncf", 31'832'577, 4, 3, kBillion, "NeuMF on MovieLens 20M has 32 million, on its 16 x 32 expansion 586 million"},
    {"resnet50", 25'557'032, 54, 25, kMillion, ""},
    {"dlrm", 24'036'595'969, 8, 25, kBillion, "the table has what 100 GB of fp32 hold; its rows are fewer"},
    {"mobilenet", 4'231'976, 28, 13, kMillion, "MobileNet v1 has 4.2 million, v2 3.5, v3 large 5.5"},
    {"yolov5", 46'563'709, 104, 47, kMillion, ""},
    {"yolov2_tiny", 11'232'057, 9, 11, kMillion, ""},
    {"bert_large", 335'141'888, 145, 34, 10 * kMillion, ""},
    {"bert_tiny", 14'350'248, 25, 14, kMillion, ""},
    {"t5_large", 737'668'096, 385, 77, 10 * kMillion, "the table counts the shared embeddings twice"},
    {"t5_small", 60'506'624, 97, 6, 10 * kMillion, ""},
};

/// The other networks of flexer_cgo23, beside ResNet-50.
const std::vector<Published> kFlexer = {{"vgg16", 138'357'544, 16, 0, 1, ""},
                                        {"squeezenet", 1'248'424, 26, 0, 1, ""},
                                        {"yolov2", 50'983'561 - 2 * 10'336, 23, 0, 1, ""}};

std::string file_of(const char *model) { return std::string("models/") + model + ".graph"; }
Network load(const char *model) { return load_network(file_of(model)); }

bool fits_table(const Published &p, double parameters) {
  return std::round(parameters / p.unit) == p.table || std::floor(parameters / p.unit) == p.table;
}

TEST(Models, HaveThePublishedParameters) {
  for (const Published &p : kTable4) {
    const Network n = load(p.model);
    EXPECT_EQ(n.layers.size(), p.layers) << p.model;
    EXPECT_EQ(n.parameters, p.parameters) << p.model;
    EXPECT_EQ(count_parameters(n), p.parameters) << p.model;
    EXPECT_FALSE(n.source.empty()) << p.model;
    for (const OtherParameters &other : n.other_parameters)
      EXPECT_FALSE(other.what.empty()) << p.model;
  }
}

/// Counted from all parameters of the graph, those of the heads that losses bring apart.
TEST(Models, GraphsHaveThePublishedParameters) {
  for (const Published &p : kTable4) {
    const graph::Graph graph = load_graph(file_of(p.model));
    const bool has_head = std::string(p.model).substr(0, 4) == "bert";
    const std::uint64_t head = graph::count_head_parameters(graph);
    EXPECT_EQ(graph::count_parameters(graph) - head, p.parameters) << p.model;
    EXPECT_EQ(head > 0, has_head) << p.model;
    EXPECT_NE(graph.loss, graph::kNone) << p.model;
  }
  EXPECT_EQ(graph::count_head_parameters(load_graph("models/bert_tiny.graph")), 312 * 2 + 2U);
  EXPECT_EQ(graph::count_parameters(load_graph("models/lenet.graph")), 61'706U);
}

TEST(Models, OfFlexerHaveTheirPublishedParameters) {
  for (const Published &p : kFlexer) {
    const Network n = load(p.model);
    EXPECT_EQ(n.layers.size(), p.layers) << p.model;
    EXPECT_EQ(n.parameters, p.parameters) << p.model;
    EXPECT_EQ(graph::count_parameters(load_graph(file_of(p.model))), p.parameters) << p.model;
  }
}

TEST(Models, FitTable4OrTellWhyNot) {
  for (const Published &p : kTable4)
    EXPECT_EQ(fits_table(p, static_cast<double>(p.parameters)), *p.exception == '\0') << p.model << ": " << p.exception;
  EXPECT_TRUE(fits_table(kTable4[10], 737'668'096.0 + 32128 * 1024)) << "T5-large with a second matrix of embeddings";
}

/// A layer that is missing or has a wrong size shows in the count, so the check above is one.
TEST(Models, AWrongLayerShowsInTheCount) {
  Network n = load("resnet50");
  n.layers[20].n += 1;
  EXPECT_NE(count_parameters(n), n.parameters);
  n = load("faster_rcnn");
  for (Layer &layer : n.layers)
    layer.weights.clear(); // the proposal network three times
  EXPECT_NE(count_parameters(n), n.parameters);
}

TEST(Models, TakeTheBatchOfBothNpus) {
  for (const Published &p : kTable4)
    for (const std::uint32_t batch : {4U, 8U, 64U}) {
      const Network one = load_network(file_of(p.model), 1);
      const Network many = load_network(file_of(p.model), batch);
      for (std::size_t i = 0; i < one.layers.size(); ++i)
        ASSERT_EQ(many.layers[i].m, one.layers[i].m * batch) << p.model << " " << one.layers[i].name;
    }
}

/// Sizes along a network of convolutions follow from one another: an image's height is the one an earlier layer gave,
/// the network's input or, after pooling or enlarging, half or twice of such.
TEST(Models, ImagesFitTogether) {
  for (const char *model :
       {"googlenet", "resnet50", "mobilenet", "yolov5", "yolov2_tiny", "faster_rcnn", "vgg16", "yolov2"}) {
    std::vector<std::uint32_t> heights;
    for (const Layer &layer : load(model).layers) {
      if (!layer.conv) continue;
      const std::uint32_t h = layer.conv->height;
      bool known = heights.empty();
      for (const std::uint32_t before : heights)
        known = known || h == before || h == (before + 1) / 2 || h == 2 * before;
      EXPECT_TRUE(known) << model << " " << layer.name;
      heights.push_back(layer.conv->out_height());
    }
  }
}

TEST(Models, Resnet50HasTheMultiplyAddsOfItsPaper) {
  double forward = 0;
  for (const Layer &layer : load_network("models/resnet50.graph", 1).layers)
    forward += macs(layer);
  EXPECT_EQ(forward, 3'857'973'248.0) << "3.8 x 10^9, table 1 of the paper";
}

TEST(Models, MobilenetHasTheMultiplyAddsOfItsPaper) {
  double forward = 0;
  for (const Layer &layer : load_network("models/mobilenet.graph", 1).layers)
    forward += macs(layer);
  EXPECT_EQ(std::round(forward / 1e6), 569) << "569 million, table 4 of the paper";
}

} // namespace
} // namespace gradweave::compiler
