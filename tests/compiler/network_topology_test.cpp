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
  EXPECT_EQ(n.layers[0].m, 110U * 110U); // no padding; what is left of the image makes an output more
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
  EXPECT_EQ(n.layers[0].m, 13U * 13U * 20U); // whole steps: nothing is left
  EXPECT_EQ(n.layers[0].k, 5U * 3U * 7U);
  EXPECT_EQ(n.layers[0].n, 11U);
}

/// A column of SCALE-Sim v3.
TEST(NetworkTopology, SparsityMustBeDense) {
  const std::string head = "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
                           "Strides, Sparsity,\n";
  const Network n = read(".csv", head + "a, 5, 5, 3, 3, 1, 1, 1, 1:1,\nb, 5, 5, 3, 3, 1, 1, 2, 4:4,\n");
  ASSERT_EQ(n.layers.size(), 2U);
  EXPECT_EQ(n.layers[1].conv->stride_width, 2U);
  EXPECT_MESSAGE(error_of(".csv", head + "a, 5, 5, 3, 3, 1, 1, 1, 1:1,\nb, 5, 5, 3, 3, 1, 1, 1, 2:4,\n"),
                 ".csv:3: Sparsity = 2:4: layers are computed dense; write 1:1, or leave the column Sparsity out");
}

TEST(NetworkTopology, BadRowsNameLineFieldAndForm) {
  const std::string head = kHeader;
  EXPECT_MESSAGE(error_of(".csv", head + "a, 5, 5, 3, 3, 1, 1\n"),
                 ".csv:2: 7 fields where there must be 8, or 9 with a stride for the width; write lines as Layer name, "
                 "IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides");
  EXPECT_MESSAGE(error_of(".csv", head + "a, 5, 5, 3, 3, 1, 1, 1, 4, 5\n"), "10 fields");
  EXPECT_MESSAGE(error_of(".csv", head + "a, 5, 5, 6, 3, 1, 1, 1\n"), ":2: the kernel's height of 6 is more than");
  EXPECT_MESSAGE(error_of(".csv", head + "a, 5, 5, 3, 3, 1, 0, 1\n"), ":2: Num Filter = 0 is out of range");
  EXPECT_MESSAGE(error_of(".csv", head + "a, 5, 5, 3, x, 1, 1, 1\n"), "Filter Width = 'x' is not a whole number");
  EXPECT_MESSAGE(error_of(".csv", head + "aDP, 5, 5, 3, 3, 70000, 70000, 1\n"),
                 ":2: Channels x Num Filter = 4900000000 is more than 16777216");
  EXPECT_MESSAGE(error_of(".csv", "Layer name,IFMAP height,IFMAP width,Filter height,Filter width,Channels,Num filter,"
                                  "Strides,batch size\na,5,5,3,3,1,1,1,4\n"),
                 ":2: a ninth field is the stride along the width, but the heading says batch; leave it out and give "
                 "--batch");
  EXPECT_MESSAGE(error_of(".csv", head), "no layers");
  EXPECT_MESSAGE(error_of(".csv", head + "a,5,5,3,3,1,1,1\n", 0), "batch = 0 is out of range");
}

TEST(NetworkTopology, RepeatedNamesGetTheLowestNumberThatIsFree) {
  const Network n = read(".csv", std::string(kHeader) + "a,5,5,3,3,1,1,1\na,5,5,3,3,1,1,1\na_2,5,5,3,3,1,1,1\n"
                                                        "a,5,5,3,3,1,1,1\n");
  ASSERT_EQ(n.layers.size(), 4U);
  EXPECT_EQ(n.layers[1].name, "a_3");
  EXPECT_EQ(n.layers[2].name, "a_2");
  EXPECT_EQ(n.layers[3].name, "a_4");
}

TEST(NetworkTopology, DepthwiseLayersAreGroups) {
  const Network n = read(".csv", std::string(kHeader) + "Conv2_DP,16,12,3,3,24,2,2\n", 4);
  ASSERT_EQ(n.layers.size(), 1U);
  EXPECT_EQ(n.layers[0].groups, 24U);
  EXPECT_EQ(n.layers[0].m, 4U * 8U * 6U);
  EXPECT_EQ(n.layers[0].k, 9U);
  EXPECT_EQ(n.layers[0].n, 2U);
}

TEST(NetworkTopology, NineColumnsHaveTwoStrides) {
  const Network n = read(".csv", "Layer name,IFMAP height,IFMAP width,Filter height,Filter width,Channels,Num filter,"
                                 "Stride height,Stride width,\na,29,41,5,3,7,11,2,3,\n");
  ASSERT_TRUE(n.layers.at(0).conv);
  EXPECT_EQ(n.layers[0].conv->stride_height, 2U);
  EXPECT_EQ(n.layers[0].conv->stride_width, 3U);
  EXPECT_EQ(n.layers[0].m, 13U * 14U); // 38 / 3: a step is begun
}

TEST(NetworkList, HeadingsOfNeitherFormAreRefusedWithBothForms) {
  EXPECT_MESSAGE(error_of(".csv", "Layer,Height,Width\na,1,2\n"),
                 ".csv:1: heading 'Layer,Height,Width' is not known; expected 'name,M,K,N' or 'name,M,N,K' (a list of "
                 "products), or 'Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num "
                 "Filter, Strides' (a topology of SCALE-Sim)");
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
