// Convolutions, groups, inputs and parameter counts in network files.
#include "graph/frontend/load_network.hpp"
#include "tests/compiler/network_text.hpp"

namespace gradweave::compiler {
namespace {

/// A network of one convolution, with this inside its table.
std::string conv(const std::string &fields) { return "batch = 2\n[[layer]]\nname = 'c'\nconv = { " + fields + " }\n"; }

Layer conv_layer(const std::string &fields) { return read(".toml", conv(fields)).layers.front(); }

std::string conv_error(const std::string &fields) { return error_of(".toml", conv(fields)); }

constexpr const char *kSmall = "height = 5, width = 7, channels = 6, out_channels = 8, ";

TEST(NetworkConv, DerivesTheProduct) {
  const Layer l = conv_layer("height = 224, width = 224, channels = 3, out_channels = 64, kernel = 7, stride = 2, "
                             "padding = 3");
  EXPECT_EQ(l.m, 2U * 112 * 112);
  EXPECT_EQ(l.k, 147U);
  EXPECT_EQ(l.n, 64U);
  EXPECT_EQ(l.groups, 1U);
  ASSERT_TRUE(l.conv);
  EXPECT_EQ(l.conv->pad_right, 3U);
  const Layer grouped = conv_layer(std::string(kSmall) + "kernel = [3, 2], stride = [2, 1], dilation = [1, 3], "
                                                         "padding = [0, 1, 2, 3], groups = 2");
  EXPECT_EQ(grouped.m, 2U * 2 * 9); // rows (5 + 1 - 3) / 2 + 1, columns 7 + 5 - 4 + 1
  EXPECT_EQ(grouped.k, 3U * 2 * 3);
  EXPECT_EQ(grouped.n, 4U);
  EXPECT_EQ(grouped.groups, 2U);
  EXPECT_EQ(macs(grouped), 2.0 * 36 * 18 * 4);
}

TEST(NetworkConv, PaddingMayBeGivenInFourWays) {
  const auto padding = [](const std::string &text) {
    const Convolution c = *conv_layer(std::string(kSmall) + text).conv;
    return std::vector<std::uint32_t>{c.pad_top, c.pad_bottom, c.pad_left, c.pad_right};
  };
  using Numbers = std::vector<std::uint32_t>;
  EXPECT_EQ(padding("kernel = 3"), (Numbers{0, 0, 0, 0}));
  EXPECT_EQ(padding("kernel = 3, padding = 2"), (Numbers{2, 2, 2, 2}));
  EXPECT_EQ(padding("kernel = 3, padding = [1, 2]"), (Numbers{1, 1, 2, 2}));
  EXPECT_EQ(padding("kernel = 3, padding = [1, 2, 3, 4]"), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(padding("kernel = [3, 4], padding = 'same'"), (Numbers{1, 1, 1, 2}));
  EXPECT_EQ(padding("kernel = 3, stride = 2, padding = 'same'"), (Numbers{1, 1, 1, 1}));
  EXPECT_EQ(padding("kernel = 3, dilation = 2, padding = 'same'"), (Numbers{2, 2, 2, 2}));
  EXPECT_EQ(padding("kernel = 1, stride = 3, padding = 'same'"), (Numbers{0, 0, 0, 0}));
}

TEST(NetworkConv, SamePaddingGivesRoundedUpSizes) {
  for (int stride = 1; stride <= 4; ++stride)
    for (int kernel = 1; kernel <= 6; ++kernel)
      for (int dilation = 1; dilation <= 3; ++dilation) {
        const Layer l = conv_layer(std::string(kSmall) + "kernel = " + std::to_string(kernel) +
                                   ", padding = 'same', stride = " + std::to_string(stride) +
                                   ", dilation = " + std::to_string(dilation));
        EXPECT_EQ(l.conv->out_height(), (5U + static_cast<unsigned>(stride) - 1) / static_cast<unsigned>(stride));
        EXPECT_EQ(l.conv->out_width(), (7U + static_cast<unsigned>(stride) - 1) / static_cast<unsigned>(stride));
      }
}

TEST(NetworkConv, BatchCountsImages) {
  const std::string text = conv(std::string(kSmall) + "kernel = 1");
  EXPECT_EQ(read(".toml", text).layers[0].m, 70U);
  EXPECT_EQ(read(".toml", text, 3).layers[0].m, 105U);
  EXPECT_EQ(read(".toml", text, 3).layers[0].conv->batch, 3U);
}

TEST(NetworkConv, BadConvolutionsNameLineFieldAndRemedy) {
  const std::string small = kSmall;
  EXPECT_MESSAGE(conv_error(small + "kernel = 6"),
                 ":4: the kernel's height of 6 is more than the image's 5 with its padding of 0; make the kernel");
  EXPECT_MESSAGE(conv_error(small + "kernel = [1, 3], dilation = 4, padding = [0, 0, 1, 0]"),
                 "the kernel's width of 9 (dilation 4) is more than the image's 7 with its padding of 1");
  EXPECT_MESSAGE(conv_error(small + "kernel = 1, groups = 4"), ":4: channels = 6 cannot be cut into 4 groups; make");
  EXPECT_MESSAGE(conv_error(small + "kernel = 1, groups = 3"), "out_channels = 8 cannot be cut into 3 groups");
  EXPECT_MESSAGE(conv_error(small + "kernel = 0"), ":4: conv's kernel = 0 is out of range; give a whole number or");
  EXPECT_MESSAGE(conv_error(small + "kernel = 1, stride = 0"), "conv's stride = 0 is out of range");
  EXPECT_MESSAGE(conv_error(small + "kernel = 1, dilation = [1, 0]"), "conv's dilation = 0 is out of range");
  EXPECT_MESSAGE(conv_error(small + "kernel = 1, padding = -1"), "conv's padding = -1 is out of range");
  EXPECT_MESSAGE(conv_error(small + "kernel = 1, padding = [1, 2, 3]"), "'padding' in conv is a list of 3; it must be");
  EXPECT_MESSAGE(conv_error(small + "kernel = 1, padding = 'valid'"), "'padding' in conv must be a whole number, [hei");
  EXPECT_MESSAGE(conv_error(small + "kernel = 1.5"), "'kernel' in conv must be a whole number or [height, width]");
  EXPECT_MESSAGE(conv_error(small + "kernel = 1, strides = 1"), "unknown key 'strides' in conv; known keys: height");
  EXPECT_MESSAGE(conv_error("height = 1, width = 1, channels = 1, out_channels = 1"),
                 ":4: conv has no 'kernel'; add kernel =");
  EXPECT_MESSAGE(conv_error("height = 1, width = 1, channels = 1, kernel = 1"), "conv has no 'out_channels'; add");
  EXPECT_MESSAGE(conv_error("height = 0, width = 1, channels = 1, out_channels = 1, kernel = 1"),
                 ":4: height = 0 is out of range; give a whole number from 1");
  EXPECT_MESSAGE(conv_error("height = 16777216, width = 1, channels = 1, out_channels = 1, kernel = 1"),
                 "batch x output height x output width = 33554432 is more than 16777216; reduce one of them");
  EXPECT_MESSAGE(conv_error("height = 5000, width = 5000, channels = 2, out_channels = 1, kernel = 5000"),
                 "kernel height x kernel width x channels / groups = 50000000 is more than");
}

TEST(NetworkConv, WhatAConvolutionImpliesMustNotBeGiven) {
  const std::string text = conv(std::string(kSmall) + "kernel = 1");
  for (const char *key : {"m", "m_per_sample", "k", "n"})
    EXPECT_MESSAGE(error_of(".toml", text + key + " = 1\n"),
                   std::string(":5: the layer has both 'conv' and '") + key + "', which follows from it; remove");
  EXPECT_MESSAGE(error_of(".toml", text + "groups = 1\n"), "remove 'groups' or move it into conv");
  EXPECT_MESSAGE(error_of(".toml", "batch = 1\n[[layer]]\nname = 'c'\nconv = 3\n"),
                 ":4: 'conv' in a layer must be a table; write conv = {");
  EXPECT_MESSAGE(error_of(".toml", text.substr(text.find('\n') + 1)), "a 'conv' but the network no 'batch'; add");
}

TEST(NetworkGroups, ArePartOfALayer) {
  const std::string head = "[[layer]]\nname = 'a'\nm = 4\nk = 3\nn = 5\n";
  EXPECT_EQ(read(".toml", head + "groups = 7\n").layers[0].groups, 7U);
  EXPECT_MESSAGE(error_of(".toml", head + "groups = 0\n"), ":6: groups = 0 is out of range");
  EXPECT_MESSAGE(error_of(".toml", head + "groups = 5000000\n"), ":1: groups x N = 25000000 is more than 16777216");
}

TEST(NetworkInput, IsAnEarlierLayerOfTheRightShape) {
  const std::string a = "batch = 2\n[[layer]]\nname = 'a'\nm = 8\nk = 3\nn = 6\n";
  const auto b = [](const std::string &shape) { return "[[layer]]\nname = 'b'\ninput = 'a'\n" + shape; };
  const std::string image = "conv = { height = 2, width = 2, channels = 6, out_channels = 6, ";
  EXPECT_EQ(read(".toml", a + b("m = 8\nk = 6\nn = 1\n")).layers[1].input, "a");
  EXPECT_EQ(read(".toml", a + b("m = 8\nk = 3\nn = 1\ngroups = 2\n")).layers[1].input, "a");
  EXPECT_EQ(read(".toml", a + b(image + "kernel = 1 }\n")).layers[1].input, "a");
  EXPECT_MESSAGE(error_of(".toml", a + b("m = 8\nk = 5\nn = 1\n")),
                 ":7: input 'a' gives 8 x 6 elements, but 'b' reads 8 x 5; correct the shapes or remove input");
  EXPECT_MESSAGE(error_of(".toml", a + b("m = 4\nk = 6\nn = 1\n")), "but 'b' reads 4 x 6");
  EXPECT_EQ(read(".toml", a + b(image + "kernel = 1, groups = 2 }\n")).layers[1].input, "a");
  EXPECT_EQ(read(".toml", a + b(image + "kernel = 3, padding = 1 }\n")).layers[1].input, "a");
  EXPECT_MESSAGE(
      error_of(".toml", a + b("conv = { height = 2, width = 2, channels = 3, out_channels = 6, kernel = 2 }\n")),
      "but 'b' reads 8 x 3 (pixels x channels of its image)");
  EXPECT_MESSAGE(error_of(".toml", b("m = 8\nk = 6\nn = 1\n") + a.substr(a.find('\n') + 1)),
                 ":1: input = 'a' is no earlier layer; name one that stands before this one");
  EXPECT_MESSAGE(error_of(".toml", "[[layer]]\nname='b'\ninput='b'\nm=1\nk=1\nn=1\n"), "input = 'b' is no earlier");
}

TEST(NetworkParameters, AreCountedOnceAndWithTheOthers) {
  const std::string text =
      "parameters = 1234\nsource = 'a book'\n"
      "other_parameters = [{ what = 'biases', count = 11 }, { count = 5_000_000_000 }]\n"
      "layer = [{ name = 'a', m = 1, k = 2, n = 3 }, { name = 'b', m = 9, k = 2, n = 3, groups = 5 "
      "}, { name = 'c', m = 4, k = 2, n = 3, weights = 'a' }]\n";
  const Network n = read(".toml", text);
  EXPECT_EQ(n.parameters, 1234U);
  EXPECT_EQ(n.source, "a book");
  EXPECT_EQ(n.layers[2].weights, "a");
  EXPECT_EQ(count_parameters(n), 6U + 30 + 11 + 5'000'000'000U);
}

TEST(NetworkParameters, BadEntriesNameLineAndRemedy) {
  const std::string layer = "[[layer]]\nname = 'a'\nm = 1\nk = 2\nn = 3\n";
  EXPECT_MESSAGE(error_of(".toml", "parameters = -1\n" + layer), ":1: parameters = -1 is negative; give a count");
  EXPECT_MESSAGE(error_of(".toml", "parameters = '1M'\n" + layer),
                 "'parameters' in the network must be a whole number");
  EXPECT_MESSAGE(error_of(".toml", "other_parameters = 3\n" + layer), "must be a list of tables; write other_paramet");
  EXPECT_MESSAGE(error_of(".toml", "other_parameters = [{ what = 'x' }]\n" + layer), ":1: an entry of other_parameters "
                                                                                     "has no 'count'; add count");
  EXPECT_MESSAGE(error_of(".toml", layer + "[[layer]]\nname = 'b'\nm = 1\nk = 2\nn = 2\nweights = 'a'\n"),
                 ":6: weights 'a' are 2 x 3 in 1 groups, but 'b' needs 2 x 2 in 1; correct the shapes or remove");
  EXPECT_MESSAGE(error_of(".toml", layer + "[[layer]]\nname = 'b'\nm = 1\nk = 2\nn = 2\nweights = 'z'\n"),
                 "weights = 'z' is no earlier layer");
}

} // namespace
} // namespace gradweave::compiler
