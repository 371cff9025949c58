#include "weave_model/profile.hpp"

#include "graph/frontend/load_network.hpp"

#include <gtest/gtest.h>

namespace gradweave::weave_model {
namespace {

compiler::Network load(const std::string &name, const std::map<std::string, std::string, std::less<>> &values) {
  compiler::NetworkSettings settings;
  settings.values = values;
  return compiler::load_network(GW_SOURCE_DIR "/models/" + name + ".graph", settings);
}

TEST(WeaveProfile, ResultsStayForTheTermsThatTheyHave) {
  compiler::Layer layer;
  layer.m = 33;
  layer.k = 10;
  layer.n = 32;
  const Arrays one{1, 32, 32, 2};
  EXPECT_EQ(layer_seconds(layer, one), 2 * 10 / 2.0);
  layer.groups = 3;
  EXPECT_EQ(layer_seconds(layer, one), 6 * 10 / 2.0);
  EXPECT_EQ(layer_seconds(layer, {4, 32, 32, 2}), 15 / 2.0) << "60 block cycles on 4 arrays";
  EXPECT_EQ(layer_seconds(layer, {7, 32, 32, 2}), 9 / 2.0) << "rounded up to whole cycles";
}

TEST(WeaveProfile, WeightsStayForTheLinesThatPass) {
  compiler::Layer layer;
  layer.m = 5;
  layer.k = 200;
  layer.n = 129;
  EXPECT_EQ(layer_seconds(layer, {1, 128, 128, 1, 2, Stationary::kWeights}), 2 * 2 * 5);
}

TEST(WeaveProfile, PeakIsAllPesInEveryCycle) { EXPECT_EQ((Arrays{48, 32, 32, 1e9}).peak(), 48 * 1024 * 1e9); }

/// Weights of the layers (all parameters without biases, normalisations and embeddings), and all parameters, of the
/// eight networks beside those that were published.
TEST(WeaveProfile, NetworksHaveThePublishedParameters) {
  struct Known {
    const char *name;
    std::size_t layers;
    std::uint64_t weights, parameters;
  };
  // torchvision's InceptionV3 without the auxiliary head, MobileNetV2, ResNet-50, ResNeXt-50 32x4d; the released BERT
  // and XLNet checkpoints; MLPerf's NCF on MovieLens 20M.
  const Known all[] = {{"inception_v3", 95, 23'799'136, 23'834'568},
                       {"mobilenet_v2", 53, 3'469'760, 3'504'872},
                       {"resnet50", 54, 25'502'912, 25'557'032},
                       {"resnext50", 54, 24'959'680, 25'028'904},
                       {"bert_base", 73, 85'524'480, 109'482'240},
                       {"bert_large", 145, 303'038'464, 335'141'888},
                       {"ncf", 4, 106'624, 31'832'577},
                       {"xlnet_large", 168, 327'155'712, 360'267'776}};
  for (const Known &known : all) {
    const compiler::Network network = load(known.name, {});
    const Model model = profile_of(network, {});
    std::uint64_t bytes = 0;
    for (const Layer &layer : model.layers)
      bytes += layer.bytes;
    EXPECT_EQ(model.layers.size(), known.layers) << known.name;
    EXPECT_EQ(bytes, known.weights) << known.name;
    EXPECT_EQ(compiler::count_parameters(network), known.parameters) << known.name;
  }
}

TEST(WeaveProfile, TokensAndSamplesAreLinesOfALayer) {
  const Arrays arrays{1, 1, 1, 1, 1, Stationary::kWeights};
  const auto seconds = [&](const char *batch, const char *sequence) {
    return compute_seconds(profile_of(load("bert_base", {{"batch", batch}, {"sequence", sequence}}), arrays));
  };
  // Twelve encoders for each token, the pooler for each sequence.
  EXPECT_EQ(seconds("1", "4"), 4 * 84'934'656.0 + 589'824);
  EXPECT_EQ(seconds("16", "4"), 16 * (4 * 84'934'656.0 + 589'824));
}

} // namespace
} // namespace gradweave::weave_model
