// ONNX files that cannot be: each message as a whole.
#include "graph/onnx/file/parse.hpp"
#include "tests/graph/onnx_models.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace gradweave::graph::onnx {
namespace {

namespace fs = std::filesystem;

std::string bytes_of_file(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string parsing(const std::string &bytes) {
  return message([&] { parse_model(bytes, "net.onnx"); });
}

/// Of a file of tests/graph/onnx, read whole.
std::string reading(const fs::path &file, const ImportOptions &options = {}) {
  return message([&] { read_onnx(file, operators(), options); });
}

TEST(OnnxFiles, AreTruncatedOrNone) {
  const std::string whole = bytes_of_file("tests/graph/onnx/external.onnx");
  EXPECT_EQ(parsing(whole), "nothing is wrong");
  EXPECT_EQ(parsing(whole.substr(0, whole.size() - 10)),
            "net.onnx: field 'graph' at byte 13 takes 149 bytes, and the file ends after 145 of them: it is truncated; "
            "export the model again");
  EXPECT_EQ(parsing(""), "net.onnx: field 'graph' is missing: this is no ONNX model");
  EXPECT_EQ(parsing("not a network"),
            "net.onnx: field '13' at byte 0 is of a kind that ONNX does not have; export the model again");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string text = parsing(whole.substr(0, size));
    EXPECT_EQ(text.rfind("net.onnx: ", 0), 0U) << size << ": " << text;
  }
}

TEST(OnnxFiles, SayTheirOpset) {
  EXPECT_EQ(reading("tests/graph/onnx/new_opset.onnx"),
            "tests/graph/onnx/new_opset.onnx: field 'opset_import': opset 99 is not read, 1 to 24 are; export the "
            "model with one of these");
}

TEST(OnnxFiles, LackValues) {
  ImportOptions structure;
  structure.values = false;
  EXPECT_EQ(reading("tests/graph/onnx/stripped.onnx", structure), "nothing is wrong");
  EXPECT_EQ(
      reading("tests/graph/onnx/stripped.onnx"),
      "tests/graph/onnx/stripped.onnx: initializer 'w': its values are missing, dims [3, 4] of float: the file was "
      "stripped of them; export the model with its weights");
}

/// Of whole numbers, too: quantised weights.
TEST(OnnxFiles, MayBeWithoutTheFileOfTheirWeights) {
  ImportOptions structure;
  structure.values = false;
  EXPECT_EQ(reading("tests/graph/onnx/left_behind.onnx", structure), "nothing is wrong");
  EXPECT_EQ(
      reading("tests/graph/onnx/left_behind.onnx"),
      "tests/graph/onnx/left_behind.onnx: tensor 'w': cannot read 'weights.bin' beside the model: No such file or "
      "directory");
}

TEST(OnnxFiles, HaveFunctionsThatEnd) {
  EXPECT_EQ(reading("tests/graph/onnx/recursion.onnx"),
            "tests/graph/onnx/recursion.onnx: node 'y/z' (own.Loop): its function calls itself, by others or at once; "
            "ONNX has no recursion");
}

TEST(OnnxFiles, HaveTensorsOfTheirSize) {
  EXPECT_EQ(
      reading("tests/graph/onnx/huge_dims.onnx"),
      "tests/graph/onnx/huge_dims.onnx: initializer 'w': dims [2147483648, 2147483648] are more than 2^40 elements");
  EXPECT_EQ(reading("tests/graph/onnx/two_gb.onnx"), "tests/graph/onnx/two_gb.onnx: tensor 'w': its 2147483648 bytes "
                                                     "from byte 0 on are more than 'external.bin' has, 64");
}

/// A folder with external.onnx, whose 12 letters that name the other file are replaced, and beside it what it must not
/// read.
class OnnxExternal : public testing::Test {
protected:
  void SetUp() override {
    fs::create_directories(root_ / "model");
    fs::copy("tests/graph/onnx/external.bin", root_ / "other.bin");
  }

  std::string reading_with(const std::string &location) {
    std::string bytes = bytes_of_file("tests/graph/onnx/external.onnx");
    bytes.replace(bytes.find("external.bin"), 12, location);
    const fs::path file = root_ / "model" / "net.onnx";
    std::ofstream(file, std::ios::binary) << bytes;
    std::string text = reading(file);
    for (std::size_t at = 0; (at = text.find(root_.string())) != std::string::npos;)
      text.replace(at, root_.string().size(), "ROOT");
    return text;
  }

  const test::ScratchDirectory scratch_;
  const fs::path root_ = scratch_.path();
};

TEST_F(OnnxExternal, IsMissing) {
  EXPECT_EQ(reading_with("external.bin"),
            "ROOT/model/net.onnx: tensor 'w': cannot read 'external.bin' beside the model: No such file or directory");
  ImportOptions structure;
  structure.values = false;
  EXPECT_EQ(reading(root_ / "model" / "net.onnx", structure), "nothing is wrong"); // where no values are asked for
}

TEST_F(OnnxExternal, MayLieInAFolderBelow) {
  fs::create_directories(root_ / "model" / "data");
  fs::copy("tests/graph/onnx/external.bin", root_ / "model" / "data" / "abc.bin");
  EXPECT_EQ(reading_with("data/abc.bin"), "nothing is wrong");
}

TEST_F(OnnxExternal, IsTooShort) {
  std::ofstream(root_ / "model" / "external.bin") << "too short";
  EXPECT_EQ(reading_with("external.bin"),
            "ROOT/model/net.onnx: tensor 'w': its 48 bytes from byte 16 on are more than 'external.bin' has, 9");
}

TEST_F(OnnxExternal, StaysInTheFolder) {
  EXPECT_EQ(reading_with("../other.bin"), "ROOT/model/net.onnx: tensor 'w': its external_data's location "
                                          "'../other.bin' must be a file within the model's folder");
  EXPECT_EQ(reading_with("/tmp/abc.bin"), "ROOT/model/net.onnx: tensor 'w': its external_data's location "
                                          "'/tmp/abc.bin' must be a file within the model's folder");
  EXPECT_EQ(reading_with(std::string("external\0bin", 12)),
            "ROOT/model/net.onnx: tensor 'w': its external_data's location has a byte 0");
  fs::create_symlink(root_ / "other.bin", root_ / "model" / "external.bin");
  EXPECT_EQ(reading_with("external.bin"), "ROOT/model/net.onnx: tensor 'w': its external_data's location "
                                          "'external.bin' is a link that leads out of the model's folder");
  fs::create_directory_symlink(root_, root_ / "model" / "up");
  EXPECT_EQ(reading_with("up/other.bin"), "ROOT/model/net.onnx: tensor 'w': its external_data's location "
                                          "'up/other.bin' is a link that leads out of the model's folder");
}

TEST_F(OnnxExternal, IsAFile) {
  fs::create_directories(root_ / "model" / "external.bin");
  EXPECT_EQ(reading_with("external.bin"), "ROOT/model/net.onnx: tensor 'w': 'external.bin' is no regular file");
}

TEST(OnnxGraphs, AreNoCircles) {
  EXPECT_EQ(importing(model_of({node("Add", {"x", "b"}, {"a"}, "first"), node("Relu", {"a"}, {"b"}, "second"),
                                node("Relu", {"b"}, {"y"}, "last")})),
            "net.onnx: node 'first' (Add): reads 'b', which is computed by node 'second' (Relu) behind it: a cycle, or "
            "nodes out of order");
}

TEST(OnnxGraphs, AreConnected) {
  EXPECT_EQ(importing(model_of({node("Relu", {"z"}, {"y"}, "last")})),
            "net.onnx: node 'last' (Relu): reads 'z', which is no input, no initializer and no node's output");
  EXPECT_EQ(importing(model_of({node("Relu", {"x"}, {"z"}, "last")})), "net.onnx: output 'y' is computed by no node");
  EXPECT_EQ(importing(model_of({node("Relu", {"x"}, {"y"}, "one"), node("Tanh", {"x"}, {"y"}, "two")})),
            "net.onnx: node 'two' (Tanh): 'y' is an output of node 'one' (Relu), too; each value is computed once");
}

TEST(OnnxGraphs, NameOperatorsThatAreNotRead) {
  const Model model = model_of(
      {node("Relu", {"x"}, {"a"}, "first"), node("Unique", {"a"}, {"b"}, "best"), node("Det", {"b"}, {"y"}, "")});
  EXPECT_EQ(importing(model),
            "net.onnx: node 'best' (Unique), opset 13: the operator is not read, nor are Det; `gradweave models "
            "--operators` lists those that are, and --until NODE ends the network before it");
  ImportOptions until;
  until.until = "first";
  EXPECT_EQ(importing(model, until), "nothing is wrong");
  until.until = "nowhere";
  EXPECT_EQ(importing(model, until),
            "net.onnx: --until nowhere: there is no node of that name, and none computes a value of it");
  Node own = node("Relu", {"x"}, {"y"}, "own");
  own.domain = "com.example";
  EXPECT_EQ(
      importing(model_of({own})),
      "net.onnx: node 'own' (com.example.Relu), opset 13: the operator is not read; the file has no function of its "
      "domain and name: export the model with one, or before operators are fused; `gradweave models --operators` "
      "lists those that are, and --until NODE ends the network before it");
  own.domain = {};
  own.type = "QLinearConv";
  EXPECT_EQ(importing(model_of({own})),
            "net.onnx: node 'own' (QLinearConv): is read of activations that the network quantises, with weights and "
            "scales that the file has; export the model before it is quantised, or with QuantizeLinear and "
            "DequantizeLinear around real operators (QDQ)");
}

/// Between real operators the rounding is left out; a result would be another one.
TEST(OnnxErrors, QuantisedResults) {
  Model model = model_of({node("Relu", {"x"}, {"r"}, "r"), node("QuantizeLinear", {"r", "scale"}, {"y"}, "q")},
                         {weights("scale", {})});
  EXPECT_EQ(importing(model),
            "net.onnx: node 'q' (QuantizeLinear): its output 'y', whole numbers, is a result, and numbers are not "
            "rounded to so few; end the network before it, with --until NODE");
  model.nodes[1].outputs = {"w"};
  model.nodes.push_back(node("DequantizeLinear", {"w", "scale"}, {"y"}, "d"));
  EXPECT_EQ(importing(model), "nothing is wrong");
}

TEST(OnnxGraphs, HaveSizes) {
  Model model = model_of({node("Relu", {"x"}, {"y"}, "relu")});
  ImportOptions options;
  options.batch = 4;
  EXPECT_EQ(importing(model, options), "nothing is wrong");
  options.dims = {{"m", 4}};
  EXPECT_EQ(importing(model, options),
            "net.onnx: --set net.m: no input has a symbolic dimension of that name, and none of that "
            "name is a single whole number");
  options.dims = {{"x.1", 4}};
  EXPECT_EQ(importing(model, options), "net.onnx: --set net.x.1: dimension 1 of input 'x' is fixed to 3");
  options.dims = {};
  model.inputs[0].dims->at(0).size = 2;
  EXPECT_EQ(importing(model, options), "net.onnx: --batch: no input has a symbolic first dimension; export the model "
                                       "with a dynamic batch (dynamic_axes)");
  model.inputs[0].dims->at(2) = {0, "height"};
  EXPECT_EQ(importing(model),
            "net.onnx: dimension 2 of input 'x' is symbolic ('height'); give its size: --set net.height=N");
  options = {};
  options.dims = {{"height", 0}};
  EXPECT_EQ(importing(model, options),
            "net.onnx: dimension 2 of input 'x' is symbolic ('height'); give its size: --set net.height=N");
  options.dims = {{"height", 6}};
  EXPECT_EQ(importing(model, options), "nothing is wrong");
  model.inputs[0].dims->at(3) = {0, ""};
  EXPECT_EQ(importing(model, options),
            "net.onnx: dimension 3 of input 'x' is symbolic; give its size: --set net.x.3=N");
  model.inputs[0].dims->at(3) = {0, "time steps"};
  EXPECT_EQ(importing(model, options),
            "net.onnx: dimension 3 of input 'x' is symbolic ('time steps'); give its size: --set 'net.time steps=N'");
  model.inputs[0].dims.reset();
  EXPECT_EQ(importing(model), "net.onnx: input 'x' has no shape; export the model with one");
}

TEST(OnnxGraphs, HaveABatchByItsName) {
  Model model = model_of({node("Relu", {"x"}, {"y"}, "relu")});
  model.inputs[0].dims = std::vector<Dimension>{{-1, ""}, {0, "Batch_size"}, {8, ""}};
  EXPECT_EQ(importing(model), "net.onnx: dimension 0 of input 'x' is symbolic; give its size: --set net.x.0=N");
  ImportOptions options;
  options.dims = {{"x.0", 5}};
  options.batch = 2;
  const auto shape = [&] { return import_model(model, "net.onnx", operators(), options).tensors[0].shape; };
  EXPECT_EQ(shape(), (Shape{5, 2, 8}));
  model.inputs[0].dims = std::vector<Dimension>{{-1, ""}, {3, ""}}; // as Paddle writes it
  options.dims = {};
  EXPECT_EQ(shape(), (Shape{2, 3}));
}

TEST(OnnxNodes, HaveInputsThatFit) {
  const auto conv = [](std::vector<std::int64_t> dims) {
    return importing(model_of({node("Conv", {"x", "w"}, {"y"}, "conv")}, {weights("w", std::move(dims))}));
  };
  EXPECT_EQ(conv({4, 3, 3, 3}), "nothing is wrong");
  EXPECT_EQ(conv({4, 2, 3, 3}),
            "net.onnx: node 'conv' (Conv): input 'x' has 3 channels, and weights 'w' take 2 in 1 groups");
  EXPECT_EQ(conv({4, 3, 3}), "net.onnx: node 'conv' (Conv): weights 'w' are [4, 3, 3], and input 'x' [1, 3, 8, 8]: "
                             "both need as many dimensions");
  EXPECT_EQ(conv({4, 3, 9, 9}), "net.onnx: node 'conv' (Conv): op 'conv' (Conv): the kernel spans 9 x 9 pixels and the "
                                "padded image has 8 x 8; pad more, or take a smaller kernel or dilation");
  EXPECT_EQ(importing(model_of({node("Conv", {"x"}, {"y"}, "conv")})),
            "net.onnx: node 'conv' (Conv): input 1 is missing");
  EXPECT_EQ(importing(model_of({node("Add", {"x", "w"}, {"y"}, "")}, {weights("w", {7})})),
            "net.onnx: node 'y' (Add): inputs of [1, 3, 8, 8] and [7] do not fit: dimensions must be equal or 1");
  EXPECT_EQ(importing(model_of({node("Relu", {"x"}, {"y"}, "relu")}, {}, DataType::kInt64)),
            "net.onnx: node 'relu' (Relu): input 0 'x' has whole numbers; real ones are wanted");
  EXPECT_EQ(importing(model_of({node("Relu", {"x"}, {"y"}, "relu")}, {}, DataType::kString)),
            "net.onnx: input 'x' is of string, which is not read");
}

TEST(OnnxNodes, KeepLeadingOnes) {
  Model model =
      model_of({node("Add", {"x", "p"}, {"s"}, "sum"), node("LayerNormalization", {"s", "g", "g"}, {"y"}, "norm")},
               {weights("p", {1, 4, 6}), weights("g", {6})});
  model.inputs[0].dims = std::vector<Dimension>{{4, ""}, {6, ""}};
  ShapeReport shapes;
  const Graph graph = import_model(std::move(model), "net.onnx", operators(), {}, &shapes);
  EXPECT_EQ(graph.tensors[graph.results[0]].shape, (Shape{1, 4, 6}));
  EXPECT_EQ(shapes.at("s"), (std::vector<std::int64_t>{1, 4, 6}));
}

TEST(OnnxNodes, CastMasks) {
  Node cast = node("Cast", {"x"}, {"y"}, "cast");
  cast.attributes["to"] = std::int64_t{1};
  EXPECT_EQ(importing(model_of({cast}, {}, DataType::kInt64)), "nothing is wrong");
  cast.outputs = {"mask"};
  EXPECT_EQ(importing(model_of({cast, node("Add", {"mask", "x"}, {"y"}, "sum")}, {}, DataType::kInt64)),
            "net.onnx: node 'sum' (Add): input 1 'x' has whole numbers; real ones are wanted");
}

TEST(OnnxNodes, HaveAttributesThatFit) {
  Node conv = node("Conv", {"x", "w"}, {"y"}, "conv");
  conv.attributes["strides"] = 2.0;
  EXPECT_EQ(importing(model_of({conv}, {weights("w", {4, 3, 3, 3})})),
            "net.onnx: node 'conv' (Conv): attribute 'strides' is no list of whole numbers");
  conv.attributes["strides"] = std::vector<std::int64_t>{1, 1, 1};
  EXPECT_EQ(importing(model_of({conv}, {weights("w", {4, 3, 3, 3})})),
            "net.onnx: node 'conv' (Conv): attribute 'strides' = [1, 1, 1] must be 2 whole numbers from 1 to 65535");
  conv.attributes["strides"] = std::vector<std::int64_t>{1, 0};
  EXPECT_EQ(importing(model_of({conv}, {weights("w", {4, 3, 3, 3})})),
            "net.onnx: node 'conv' (Conv): attribute 'strides' = [1, 0] must be 2 whole numbers from 1 to 65535");
  Node soft = node("Softmax", {"x"}, {"y"}, "soft");
  soft.attributes["axis"] = std::int64_t{4};
  EXPECT_EQ(importing(model_of({soft})), "net.onnx: node 'soft' (Softmax): axis 4 is none of a tensor of 4 dimensions");
}

TEST(OnnxNodes, HaveKernelsThatFitTheirWeights) {
  for (const char *type : {"Conv", "ConvTranspose"}) {
    Node conv = node(type, {"x", "w"}, {"y"}, "conv");
    conv.attributes["kernel_shape"] = std::vector<std::int64_t>{3, 5};
    EXPECT_EQ(importing(model_of({conv}, {weights("w", {3, 3, 3, 3})})),
              std::string("net.onnx: node 'conv' (") + type +
                  "): attribute 'kernel_shape' = [3, 5] and weights 'w', [3, 3, 3, 3], do not agree; export the model "
                  "again");
  }
}

TEST(OnnxGraphs, ComputeMoreThanWholeNumbers) {
  const Node mask = node("Equal", {"x", "x"}, {"y"}, "mask");
  EXPECT_EQ(importing(model_of({mask}, {}, DataType::kInt64)),
            "net.onnx: nothing is computed: all outputs are whole numbers or truth values that follow from the inputs "
            "alone");
  Model model = model_of({mask, node("Cast", {"y"}, {"z"}, "cast")}, {}, DataType::kInt64);
  model.nodes.back().attributes["to"] = std::int64_t{1};
  model.outputs.push_back({"z", DataType::kFloat, std::nullopt});
  const Graph graph = import_model(std::move(model), "net.onnx", operators());
  ASSERT_EQ(graph.results.size(), 1U);
  EXPECT_EQ(graph.tensors[graph.results[0]].name, "z");
  EXPECT_EQ(graph.notes,
            std::vector<std::string>{"output 'y' is left out: its truth values follow from the inputs alone"});
}

/// Names of parameters that are.
std::string learned(const Model &model, const ImportOptions &options = {}) {
  std::string names;
  for (const Tensor &tensor : import_model(model, "net.onnx", operators(), options).tensors)
    if (tensor.role == Role::kParameter && !tensor.frozen) names += tensor.name;
  return names;
}

/// A table of small whole numbers is none of waves.
TEST(OnnxGraphs, ReadTablesOfBytes) {
  const Blob table{"w", DataType::kInt8, {1024, 4096}, std::string(std::size_t{1} << 22U, '\1')};
  EXPECT_EQ(importing(model_of({node("Gather", {"w", "x"}, {"y"}, "")}, {table}, DataType::kInt64)),
            "net.onnx: nothing is computed: all outputs are whole numbers or truth values that follow from the inputs "
            "alone");
}

/// A scale of each channel is learned and a table of pixels is not, with dimensions of 1 that a node gives them.
TEST(OnnxGraphs, TellScalesFromTables) {
  Node scale = node("Unsqueeze", {"g"}, {"g3"}, ""), table = node("Unsqueeze", {"t"}, {"t3"}, "");
  scale.attributes["axes"] = std::vector<std::int64_t>{1, 2};
  table.attributes["axes"] = std::vector<std::int64_t>{0};
  Model model = model_of({scale, table, node("Mul", {"x", "g3"}, {"a"}, ""), node("Mul", {"a", "t3"}, {"b"}, ""),
                          node("Conv", {"b", "w"}, {"y"}, "")},
                         {weights("g", {3}), weights("t", {8, 8}), weights("w", {4, 3, 3, 3})});
  model.opsets[""] = 12;
  EXPECT_EQ(learned(model), "gw");
}

TEST(OnnxGraphs, FreezeWhatTheyAreTold) {
  const Model model = model_of({node("Sub", {"x", "m"}, {"c"}, "centre"), node("Conv", {"c", "w"}, {"y"}, "conv")},
                               {weights("m", {1, 3, 1, 1}), weights("w", {4, 3, 3, 3})});
  ImportOptions options;
  EXPECT_EQ(learned(model, options), "w");
  EXPECT_EQ(import_model(model, "net.onnx", operators()).notes,
            std::vector<std::string>{"not learned, as no layer reads them as weights: 'm'; --learned NAME if one is"});
  options.learned = {"m"};
  EXPECT_EQ(learned(model, options), "mw");
  options.frozen = {"w"};
  EXPECT_EQ(learned(model, options), "m");
  options.frozen = {"v"};
  EXPECT_EQ(importing(model, options), "net.onnx: --frozen v: there is no initializer of that name with real numbers");
}

/// Such a network has no values that anybody would keep in a file.
TEST(OnnxGraphs, HaveConstantWeightsOfAnySize) {
  Blob shape{"s", DataType::kInt64, {2}, std::string(16, '\0')};
  shape.bytes[0] = 8;
  shape.bytes[10] = 16; // 2^20
  Node fill = node("ConstantOfShape", {"s"}, {"w"}, "fill");
  fill.attributes["value"] = Blob{"", DataType::kFloat, {1}, std::string("\0\0\x80\x3e", 4)}; // 0.25
  const Graph graph =
      import_model(model_of({fill, node("MatMul", {"x", "w"}, {"y"}, "product")}, {shape}), "net.onnx", operators());
  const Tensor &weights = graph.tensors[graph.find("w")];
  EXPECT_EQ(weights.role, Role::kParameter);
  EXPECT_EQ(weights.shape, (Shape{8, 1U << 20U}));
  EXPECT_EQ(weights.initial, "constant:0.25");
}

/// The first state of a recurrent layer in files of opsets below 9.
TEST(OnnxGraphs, FillConstantsAsOldExportersDo) {
  Blob shape{"s", DataType::kInt64, {2}, std::string(16, '\0')};
  shape.bytes[0] = 8;
  shape.bytes[8] = 2;
  Node fill = node("ConstantFill", {"s"}, {"h"}, "fill");
  fill.attributes["value"] = 0.25;
  const auto read = [&](std::int64_t as_shape) {
    fill.attributes["input_as_shape"] = as_shape;
    return importing(model_of({fill, node("MatMul", {"x", "h"}, {"y"}, "product")}, {shape}), {});
  };
  EXPECT_EQ(read(1), "nothing is wrong");
  EXPECT_EQ(read(0),
            "net.onnx: node 'fill' (ConstantFill): is taken with input_as_shape = 1, dtype = 1 (float), and no "
            "extra_shape");
}

/// Constants without a name, or with the same one, are not one parameter.
TEST(OnnxGraphs, TellConstantsApart) {
  Node first = node("Constant", {}, {"a"}, ""), second = node("Constant", {}, {"b"}, "");
  first.attributes["value"] = weights("value", {4, 3, 3, 3});
  second.attributes["value"] = weights("value", {2, 4, 3, 3});
  const Graph graph =
      import_model(model_of({first, second, node("Conv", {"x", "a"}, {"h"}, ""), node("Conv", {"h", "b"}, {"y"}, "")}),
                   "net.onnx", operators());
  EXPECT_EQ(count_parameters(graph), 4U * 27 + 2 * 36);
}

TEST(OnnxNodes, TakeShapesThatAreKnown) {
  EXPECT_EQ(importing(model_of({node("Cast", {"x"}, {"s"}, "")})), "net.onnx: output 'y' is computed by no node");
  Node flat = node("Flatten", {"x"}, {"f"}, "flat");
  EXPECT_EQ(importing(model_of({flat, node("Reshape", {"x", "f"}, {"y"}, "reshape")})),
            "net.onnx: node 'reshape' (Reshape): input 1 'f' is shape and depends on the data; only what is known from "
            "the file is taken");
  Blob shape{"s", DataType::kInt64, {2}, std::string(16, '\0')};
  shape.bytes[0] = 5;
  shape.bytes[8] = 7;
  EXPECT_EQ(importing(model_of({node("Reshape", {"x", "s"}, {"y"}, "reshape")}, {shape})),
            "net.onnx: node 'reshape' (Reshape): [1, 3, 8, 8] cannot be reshaped to [5, 7]");
  EXPECT_EQ(importing(model_of({node("Range", {"s", "s", "s"}, {"y"}, "range")}, {shape})),
            "net.onnx: node 'range' (Range): start, limit and delta must be single numbers of one type");
}

} // namespace
} // namespace gradweave::graph::onnx
