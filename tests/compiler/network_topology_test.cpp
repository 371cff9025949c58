// Lists and topologies in the forms of SCALE-Sim.
#include "tests/compiler/network_text.hpp"

namespace gradweave::compiler {
namespace {

constexpr const char *kHeader =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n";

TEST(NetworkTopology, ReadsConvolutions) {
  const std::string text = std::string(kHeader) + "\nConv1, 224, 224, 7, 7, 3, 64, 2,\n A part of its own,\n,,,,,,,\n"
                                                  "\tConv2, 56,56,3,1,64,192,1\r\nDw, 14, 14, 3, 3, 1, 1, 1,#dw\n"
                                                  "FC6, 1, 1, 1, 1, 1024, 1000, 1, \n";
  const Network n = read(".csv", text);
  ASSERT_EQ(n.layers.size(), 4U);
  EXPECT_EQ(n.description, "SCALE-Sim topology");
  EXPECT_EQ(n.layers[0].name, "Conv1");
  EXPECT_EQ(n.layers[0].m, 109U * 109U); // no padding; the rest of the image is not read
  EXPECT_EQ(n.layers[0].k, 147U);
  EXPECT_FALSE(n.layers[0].dx);
  EXPECT_EQ(n.layers[1].m, 54U * 56U);
  EXPECT_EQ(n.layers[1].k, 192U);
  EXPECT_EQ(n.layers[1].n, 192U);
  EXPECT_TRUE(n.layers[1].dx);
  EXPECT_EQ(n.layers[2].m, 144U);
  EXPECT_EQ(n.layers[3].m, 1U);
  ASSERT_TRUE(n.layers[3].conv);
  EXPECT_EQ(read(".csv", text, 8).layers[3].m, 8U);
}

/// Each column has a value of its own, so that no two can be swapped without a difference.
TEST(NetworkTopology, EachColumnIsAFieldOfItsOwn) {
  const Network n = read(".csv", std::string(kHeader) + "a, 29, 41, 5, 3, 7, 11, 2\n", 13);
  ASSERT_EQ(n.layers.size(), 1U);
  ASSERT_TRUE(n.layers[0].conv);
  const Convolution &conv = *n.layers[0].conv;
  EXPECT_EQ(conv.batch, 13U);
  EXPECT_EQ(conv.height, 29U);
  EXPECT_EQ(conv.width, 41U);
  EXPECT_EQ(conv.kernel_height, 5U);
  EXPECT_EQ(conv.kernel_width, 3U);
  EXPECT_EQ(conv.channels, 7U);
  EXPECT_EQ(conv.out_channels, 11U);
  EXPECT_EQ(conv.stride_height, 2U);
  EXPECT_EQ(conv.stride_width, 2U);
  EXPECT_EQ(n.layers[0].m, 13U * 13U * 20U);
  EXPECT_EQ(n.layers[0].k, 5U * 3U * 7U);
  EXPECT_EQ(n.layers[0].n, 11U);
}

TEST(NetworkTopology, BadRowsNameLineFieldAndForm) {
  const std::string head = kHeader;
  EXPECT_MESSAGE(error_of(".csv", head + "a, 5, 5, 3, 3, 1, 1\n"),
                 ".csv:2: 7 fields where there must be 8; write lines as name, IFMAP height");
  EXPECT_MESSAGE(error_of(".csv", head + "a, 5, 5, 3, 3, 1, 1, 1, 4\n"), "9 fields");
  EXPECT_MESSAGE(error_of(".csv", head + "a, 5, 5, 6, 3, 1, 1, 1\n"), ":2: the kernel's height of 6 is more than");
  EXPECT_MESSAGE(error_of(".csv", head + "a, 5, 5, 3, 3, 1, 0, 1\n"), ":2: Num Filter = 0 is out of range");
  EXPECT_MESSAGE(error_of(".csv", head + "a, 5, 5, 3, x, 1, 1, 1\n"), "Filter Width = 'x' is not a whole number");
  EXPECT_MESSAGE(error_of(".csv", head + "a,5,5,3,3,1,1,1\na,5,5,3,3,1,1,1\n"),
                 ":3: layer name 'a' is taken by line 2");
  EXPECT_MESSAGE(error_of(".csv", head), "no layers");
  EXPECT_MESSAGE(error_of(".csv", head + "a,5,5,3,3,1,1,1\n", 0), "batch = 0 is out of range");
}

TEST(NetworkList, HeaderTellsTheOrder) {
  const Network n = read(".csv", "Layer,M,N,K,\na,1,2,3,\nb,4,5,6\n");
  ASSERT_EQ(n.layers.size(), 2U);
  EXPECT_EQ(n.layers[0].n, 2U);
  EXPECT_EQ(n.layers[0].k, 3U);
  EXPECT_EQ(n.layers[1].k, 6U);
  EXPECT_MESSAGE(error_of(".csv", "Layer,M,N,K\na,1,2\n"), "3 fields where there must be 4; write lines as name,M,N,K");
  EXPECT_MESSAGE(error_of(".csv", "Layer,M,N,K\na,1,2,3,\n"), "5 fields");
}

} // namespace
} // namespace gradweave::compiler
