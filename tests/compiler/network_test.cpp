// Network frontends and layer selection: what they read, and what they say about bad files.
#include "graph/frontend/load_network.hpp"
#include "sw_models/config/config_error.hpp"
#include "tests/compiler/network_text.hpp"

namespace gradweave::compiler {
namespace {

TEST(NetworkToml, ReadsAllFields) {
  const Network n = read(".toml", "name = 'net'\ndescription = 'two layers'\nbatch = 4\nsequence = 8\n"
                                  "[[layer]]\nname = 'a'\nk = 3\nn = 5\n"
                                  "[[layer]]\nname = 'b'\nm = 2\nk = 5\nn = 7\ndx = false\n"
                                  "[[layer]]\nname = 'c'\nk = 5\nn = 7\n");
  EXPECT_EQ(n.name, "net");
  EXPECT_EQ(n.description, "two layers");
  ASSERT_EQ(n.layers.size(), 3U);
  EXPECT_EQ(n.layers[0].m, 32U);
  EXPECT_FALSE(n.layers[0].dx);
  EXPECT_EQ(n.layers[1].m, 2U);
  EXPECT_FALSE(n.layers[1].dx);
  EXPECT_TRUE(n.layers[2].dx);
  EXPECT_EQ(n.layers[2].index, 2U);
}

TEST(NetworkToml, ReadsTheExample) {
  const Network n = load_network("tests/compiler/lists/example.toml");
  ASSERT_EQ(n.layers.size(), 7U);
  EXPECT_EQ(n.source, "made up");
  EXPECT_EQ(n.parameters, count_parameters(n));
  EXPECT_EQ(n.layers[2].input, "conv2");
  EXPECT_EQ(n.layers[3].weights, "point");
  EXPECT_EQ(n.layers[4].m, 12U);
  EXPECT_FALSE(n.layers[4].dx);
  EXPECT_EQ(n.layers[5].x_of, "query");
  EXPECT_EQ(n.layers[6].groups, 4U);
  EXPECT_EQ(load_network("tests/compiler/lists/example.toml", 2).layers[4].m, 6U);
}

TEST(NetworkToml, BatchCountsSamples) {
  const TempFile file(".toml", "batch = 4\nsequence = 8\n"
                               "layer = [{ name = 'a', k = 1, n = 1 },\n"
                               "         { name = 'b', m_per_sample = 9, k = 1, n = 1 },\n"
                               "         { name = 'c', m = 5, k = 1, n = 1 }]\n");
  const auto rows = [&](std::optional<std::uint32_t> batch) {
    std::vector<std::uint32_t> ms;
    for (const Layer &l : load_network(file.path(), batch).layers)
      ms.push_back(l.m);
    return ms;
  };
  EXPECT_EQ(rows({}), (std::vector<std::uint32_t>{32, 36, 5}));
  EXPECT_EQ(rows(2), (std::vector<std::uint32_t>{16, 18, 5}));
  EXPECT_MESSAGE(error_of(".toml", "batch = 4\n[[layer]]\nname='a'\nk=1\nn=1\n", 0), ".toml: batch = 0 is out of range")
      << "it is in no line of the file";
}

TEST(NetworkToml, ABatchThatChangesNothingIsRefused) {
  const auto error = [](const std::string &ending, const std::string &text) -> std::string {
    const TempFile file(ending, text);
    try {
      load_network(file.path(), 8);
    } catch (const ConfigError &e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_MESSAGE(error(".toml", "[[layer]]\nname='a'\nm=1\nk=1\nn=1\n"), "no 'batch' that 8 could replace; add batch");
  EXPECT_MESSAGE(error(".csv", "a,1,1,1\n"), "no batch of 8 can be set");
}

TEST(NetworkToml, FirstLayerMayAskForDx) {
  EXPECT_TRUE(read(".toml", "[[layer]]\nname='a'\nm=1\nk=1\nn=1\ndx=true\n").layers[0].dx);
}

TEST(NetworkToml, BadFilesNameLineFieldAndRemedy) {
  const std::string head = "[[layer]]\nname = 'a'\n";
  EXPECT_MESSAGE(error_of(".toml", head + "m = 0\nk = 1\nn = 1\n"),
                 ".toml:3: m = 0 is out of range; give a whole number");
  EXPECT_MESSAGE(error_of(".toml", head + "m = 1\nk = -2\nn = 1\n"), ":4: k = -2 is out of range");
  EXPECT_MESSAGE(error_of(".toml", head + "m = 1\nk = 1\nn = 16777217\n"), ":5: n = 16777217 is out of range");
  EXPECT_MESSAGE(error_of(".toml", head + "m = 1.5\nk = 1\nn = 1\n"), ":3: 'm' in a layer must be a whole number");
  EXPECT_MESSAGE(error_of(".toml", head + "m = 1\nk = 1\n"), ":1: a layer has no 'n'; add n = ");
  EXPECT_MESSAGE(error_of(".toml", head + "k = 1\nn = 1\n"), "no 'm' and the network no 'batch'");
  EXPECT_MESSAGE(error_of(".toml", "batch = 2\n" + head + "m = 1\nm_per_sample = 1\nk = 1\nn = 1\n"),
                 ":2: the layer has both 'm' and 'm_per_sample'");
  EXPECT_MESSAGE(error_of(".toml", head + "m = 1\nk = 1\nn = 1\nq = 1\n"),
                 ":6: unknown key 'q' in a layer; known keys");
  EXPECT_MESSAGE(error_of(".toml", "speed = 1\n"), ":1: unknown key 'speed' in the network");
  EXPECT_MESSAGE(error_of(".toml", head + "m = 1\nk = 1\nn = 1\ndx = 1\n"),
                 ":6: 'dx' in a layer must be true or false");
  EXPECT_MESSAGE(error_of(".toml", "[[layer]]\nm = 1\nk = 1\nn = 1\n"), ":1: the layer's name is empty");
  EXPECT_MESSAGE(error_of(".toml", "[[layer]]\nname='x,y'\nm = 1\nk = 1\nn = 1\n"), "has a comma");
  EXPECT_MESSAGE(error_of(".toml", head + "m=1\nk=1\nn=1\n" + head + "m=1\nk=1\nn=1\n"),
                 ":6: layer name 'a' is taken by line 1");
  EXPECT_MESSAGE(error_of(".toml", "layer = 3\n"), ":1: 'layer' must be a list of tables");
  EXPECT_MESSAGE(error_of(".toml", "batch = 65536\nsequence = 65536\n" + head + "k=1\nn=1\n"),
                 "batch x sequence = 4294967296");
  EXPECT_MESSAGE(error_of(".toml", "[[layer\n"), ":1: not valid TOML");
  EXPECT_MESSAGE(error_of(".toml", "name = 'none'\n"), ".toml: no layers; describe at least one");
  EXPECT_MESSAGE(error_of(".toml", ""), "no layers");
}

TEST(NetworkCsv, ReadsWithAndWithoutHeader) {
  for (const char *head : {"", "name,M,K,N\n", "# a comment\n\nLayer, m, k, n\r\n"}) {
    const Network n = read(".csv", std::string(head) + "a,1,2,3\r\nb, 4 ,5,6");
    ASSERT_EQ(n.layers.size(), 2U);
    EXPECT_EQ(n.layers[0].name, "a");
    EXPECT_FALSE(n.layers[0].dx);
    EXPECT_TRUE(n.layers[1].dx);
    EXPECT_EQ(n.layers[1].m, 4U);
    EXPECT_EQ(n.layers[1].k, 5U);
    EXPECT_EQ(n.layers[1].n, 6U);
  }
}

TEST(NetworkCsv, BadFilesNameLineFieldAndRemedy) {
  EXPECT_MESSAGE(error_of(".csv", "a,1,2,3\nb,1,2\n"),
                 ".csv:2: 3 fields where there must be 4; write lines as name,M,K,N");
  EXPECT_MESSAGE(error_of(".csv", "a,1,2,3,4\n"), ":1: 5 fields");
  EXPECT_MESSAGE(error_of(".csv", "a,1,x,3\n"), ":1: K = 'x' is not a whole number");
  EXPECT_MESSAGE(error_of(".csv", "a,1,2,0\n"), ":1: N = 0 is out of range");
  EXPECT_MESSAGE(error_of(".csv", "a,-1,2,1\n"), ":1: M = -1 is out of range");
  EXPECT_MESSAGE(error_of(".csv", "a,1,2,99999999999999999999\n"), ":1: N = 99999999999999999999 is out of range");
  EXPECT_MESSAGE(error_of(".csv", ",1,2,3\n"), ":1: the layer's name is empty");
  EXPECT_MESSAGE(error_of(".csv", "a,1,2,3\na,1,2,3\n"), ":2: layer name 'a' is taken by line 1");
  EXPECT_MESSAGE(error_of(".csv", "name,M,K,N\n"), "no layers");
}

TEST(NetworkCsv, ManyLayers) {
  std::string text;
  for (int i = 0; i < 100'000; ++i)
    text += "layer" + std::to_string(i) + ",1,2,3\n";
  EXPECT_EQ(read(".csv", text).layers.size(), 100'000U);
}

TEST(Network, MissingOrUnknownFiles) {
  const auto message = [](const std::filesystem::path &p) -> std::string {
    try {
      load_network(p);
    } catch (const ConfigError &e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_MESSAGE(message("no/such.toml"), "no/such.toml: no such file");
  EXPECT_MESSAGE(message("models/bert_tiny.json"), "must end in .graph or .onnx (a whole network), .toml");
  const std::filesystem::path directory = test::scratch_file("directory.csv");
  std::filesystem::create_directory(directory);
  EXPECT_MESSAGE(message(directory), "is a directory");
  std::filesystem::remove(directory);
}

std::string names(const Network &n, const std::string &selection) {
  std::string text;
  for (const Layer &l : select_layers(n, selection))
    text += l.name;
  return text;
}

TEST(Network, TheExtensionMayBeInCapitals) { EXPECT_EQ(read(".CSV", "a,1,1,1\n").layers.size(), 1U); }

TEST(SelectLayers, ByNameNumberAndRange) {
  const Network n = read(".csv", "a,1,1,1\nb,1,1,1\nc,1,1,1\nd,1,1,1\n7,1,1,1\n");
  EXPECT_EQ(names(n, ""), "abcd7");
  EXPECT_EQ(names(n, "c"), "c");
  EXPECT_EQ(names(n, "3, a"), "ad");
  EXPECT_EQ(names(n, "1-2"), "bc");
  EXPECT_EQ(names(n, "1..2,2..3"), "bcd");
  EXPECT_EQ(names(n, "7"), "7") << "a name goes before a number";
  for (const auto &[bad, part] :
       std::vector<std::pair<std::string, std::string>>{{"x", "no layer 'x'; network"},
                                                        {"x", "has layers 0 to 4, 'a' to '7'"},
                                                        {"5", "'5' is beyond the last layer"},
                                                        {"2-1", "'2-1' runs backwards"},
                                                        {"a,,b", "no layer ''"},
                                                        {"0-9", "beyond the last layer"},
                                                        {"1-", "no layer '1-'"}})
    try {
      select_layers(n, bad);
      ADD_FAILURE() << bad;
    } catch (const std::invalid_argument &e) {
      EXPECT_MESSAGE(e.what(), part);
    }
}

} // namespace
} // namespace gradweave::compiler
