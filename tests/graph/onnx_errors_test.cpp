// ONNX files that cannot be: each message as a whole.
#include "graph/onnx/import.hpp"
#include "graph/onnx/parse.hpp"
#include "graph/operators/table.hpp"
#include "tests/support/scratch_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace gradweave::graph::onnx {
namespace {

namespace fs = std::filesystem;

std::string bytes_of_file(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string message(const std::function<void()> &act) {
  try {
    act();
  } catch (const GraphError &error) {
    return error.what();
  }
  return "nothing is wrong";
}

std::string parsing(const std::string &bytes) {
  return message([&] { parse_model(bytes, "net.onnx"); });
}

/// Of a file of tests/graph/onnx, read whole.
std::string reading(const fs::path &file, const ImportOptions &options = {}) {
  return message([&] { read_onnx(file, operators(), options); });
}

Node node(std::string type, std::vector<std::string> inputs, std::vector<std::string> outputs, std::string name) {
  Node result;
  result.name = std::move(name);
  result.type = std::move(type);
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  return result;
}

Blob weights(const std::string &name, std::vector<std::int64_t> dims) {
  Blob blob{name, DataType::kFloat, std::move(dims), {}};
  blob.bytes.assign(blob.elements() * 4, '\x3f'); // 0.747
  return blob;
}

/// y of x [n, 3, 8, 8] by the nodes.
Model model_of(std::vector<Node> nodes, std::vector<Blob> initializers = {}, DataType type = DataType::kFloat) {
  Model model;
  model.opsets[""] = 13;
  model.nodes = std::move(nodes);
  model.inputs = {{"x", type, std::vector<Dimension>{{0, "n"}, {3, ""}, {8, ""}, {8, ""}}}};
  model.outputs = {{"y", DataType::kFloat, std::nullopt}};
  model.initializers = std::move(initializers);
  return model;
}

std::string importing(Model model, const ImportOptions &options = {}) {
  return message([&] { import_model(std::move(model), "net.onnx", operators(), options); });
}

TEST(OnnxFiles, AreTruncatedOrNone) {
  const std::string whole = bytes_of_file("tests/graph/onnx/external.onnx");
  EXPECT_EQ(parsing(whole), "nothing is wrong");
  EXPECT_EQ(parsing(whole.substr(0, whole.size() - 10)), "");
  EXPECT_EQ(parsing(""), "");
  EXPECT_EQ(parsing("not a network"), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string text = parsing(whole.substr(0, size));
    EXPECT_EQ(text.rfind("net.onnx: ", 0), 0U) << size << ": " << text;
  }
}

TEST(OnnxFiles, SayTheirOpset) {
  EXPECT_EQ(reading("tests/graph/onnx/old_opset.onnx"), "");
  EXPECT_EQ(reading("tests/graph/onnx/new_opset.onnx"), "");
}

TEST(OnnxFiles, HaveTensorsOfTheirSize) {
  EXPECT_EQ(reading("tests/graph/onnx/huge_dims.onnx"), "");
  EXPECT_EQ(reading("tests/graph/onnx/two_gb.onnx"), "");
}

/// A folder with external.onnx, whose 12 letters that name the other file are replaced, and beside it what it must not
/// read.
class OnnxExternal : public testing::Test {
protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("gw_onnx_" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "model");
    fs::copy("tests/graph/onnx/external.bin", root_ / "other.bin");
  }
  void TearDown() override { fs::remove_all(root_); }

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

  fs::path root_;
};

TEST_F(OnnxExternal, IsMissing) { EXPECT_EQ(reading_with("external.bin"), ""); }

TEST_F(OnnxExternal, MayLieInAFolderBelow) {
  fs::create_directories(root_ / "model" / "data");
  fs::copy("tests/graph/onnx/external.bin", root_ / "model" / "data" / "abc.bin");
  EXPECT_EQ(reading_with("data/abc.bin"), "nothing is wrong");
}

TEST_F(OnnxExternal, IsTooShort) {
  std::ofstream(root_ / "model" / "external.bin") << "too short";
  EXPECT_EQ(reading_with("external.bin"), "");
}

TEST_F(OnnxExternal, StaysInTheFolder) {
  EXPECT_EQ(reading_with("../other.bin"), "");
  EXPECT_EQ(reading_with("/tmp/abc.bin"), "");
  fs::create_symlink(root_ / "other.bin", root_ / "model" / "external.bin");
  EXPECT_EQ(reading_with("external.bin"), "");
  fs::create_directory_symlink(root_, root_ / "model" / "up");
  EXPECT_EQ(reading_with("up/other.bin"), "");
}

TEST_F(OnnxExternal, IsAFile) {
  fs::create_directories(root_ / "model" / "external.bin");
  EXPECT_EQ(reading_with("external.bin"), "");
}

TEST(OnnxGraphs, AreNoCircles) {
  EXPECT_EQ(importing(model_of({node("Add", {"x", "b"}, {"a"}, "first"), node("Relu", {"a"}, {"b"}, "second"),
                                node("Relu", {"b"}, {"y"}, "last")})),
            "");
}

TEST(OnnxGraphs, AreConnected) {
  EXPECT_EQ(importing(model_of({node("Relu", {"z"}, {"y"}, "last")})), "");
  EXPECT_EQ(importing(model_of({node("Relu", {"x"}, {"z"}, "last")})), "");
  EXPECT_EQ(importing(model_of({node("Relu", {"x"}, {"y"}, "one"), node("Tanh", {"x"}, {"y"}, "two")})), "");
}

TEST(OnnxGraphs, NameOperatorsThatAreNotRead) {
  const Model model = model_of({node("Relu", {"x"}, {"a"}, "first"), node("TopK", {"a"}, {"b"}, "best"),
                                node("NonZero", {"b"}, {"y"}, "")});
  EXPECT_EQ(importing(model), "");
  ImportOptions until;
  until.until = "first";
  EXPECT_EQ(importing(model, until), "nothing is wrong");
  until.until = "nowhere";
  EXPECT_EQ(importing(model, until), "");
  Node own = node("Relu", {"x"}, {"y"}, "own");
  own.domain = "com.example";
  EXPECT_EQ(importing(model_of({own})), "");
}

TEST(OnnxGraphs, HaveSizes) {
  Model model = model_of({node("Relu", {"x"}, {"y"}, "relu")});
  ImportOptions options;
  options.batch = 4;
  EXPECT_EQ(importing(model, options), "nothing is wrong");
  options.dims = {{"m", 4}};
  EXPECT_EQ(importing(model, options), "");
  options.dims = {{"x.1", 4}};
  EXPECT_EQ(importing(model, options), "");
  options.dims = {};
  model.inputs[0].dims->at(0).size = 2;
  EXPECT_EQ(importing(model, options), "");
  model.inputs[0].dims->at(2) = {0, "height"};
  EXPECT_EQ(importing(model), "");
  options = {};
  options.dims = {{"height", 0}};
  EXPECT_EQ(importing(model, options), "");
  options.dims = {{"height", 6}};
  EXPECT_EQ(importing(model, options), "nothing is wrong");
  model.inputs[0].dims->at(3) = {0, ""};
  EXPECT_EQ(importing(model, options), "");
  model.inputs[0].dims.reset();
  EXPECT_EQ(importing(model), "");
}

TEST(OnnxNodes, HaveInputsThatFit) {
  const auto conv = [](std::vector<std::int64_t> dims) {
    return importing(model_of({node("Conv", {"x", "w"}, {"y"}, "conv")}, {weights("w", std::move(dims))}));
  };
  EXPECT_EQ(conv({4, 3, 3, 3}), "nothing is wrong");
  EXPECT_EQ(conv({4, 2, 3, 3}), "");
  EXPECT_EQ(conv({4, 3, 3}), "");
  EXPECT_EQ(conv({4, 3, 9, 9}), "");
  EXPECT_EQ(importing(model_of({node("Conv", {"x"}, {"y"}, "conv")})), "");
  EXPECT_EQ(importing(model_of({node("Add", {"x", "w"}, {"y"}, "")}, {weights("w", {7})})), "");
  EXPECT_EQ(importing(model_of({node("Relu", {"x"}, {"y"}, "relu")}, {}, DataType::kInt64)), "");
  EXPECT_EQ(importing(model_of({node("Relu", {"x"}, {"y"}, "relu")}, {}, DataType::kString)), "");
}

TEST(OnnxNodes, HaveAttributesThatFit) {
  Node conv = node("Conv", {"x", "w"}, {"y"}, "conv");
  conv.attributes["strides"] = 2.0;
  EXPECT_EQ(importing(model_of({conv}, {weights("w", {4, 3, 3, 3})})), "");
  conv.attributes["strides"] = std::vector<std::int64_t>{1, 1, 1};
  EXPECT_EQ(importing(model_of({conv}, {weights("w", {4, 3, 3, 3})})), "");
  conv.attributes["strides"] = std::vector<std::int64_t>{1, 0};
  EXPECT_EQ(importing(model_of({conv}, {weights("w", {4, 3, 3, 3})})), "");
  Node soft = node("Softmax", {"x"}, {"y"}, "soft");
  soft.attributes["axis"] = std::int64_t{4};
  EXPECT_EQ(importing(model_of({soft})), "");
}

TEST(OnnxNodes, TakeShapesThatAreKnown) {
  EXPECT_EQ(importing(model_of({node("Cast", {"x"}, {"s"}, "")})), "");
  Node flat = node("Flatten", {"x"}, {"f"}, "flat");
  EXPECT_EQ(importing(model_of({flat, node("Reshape", {"x", "f"}, {"y"}, "reshape")})), "");
  Blob shape{"s", DataType::kInt64, {2}, std::string(16, '\0')};
  shape.bytes[0] = 5;
  shape.bytes[8] = 7;
  EXPECT_EQ(importing(model_of({node("Reshape", {"x", "s"}, {"y"}, "reshape")}, {shape})), "");
  EXPECT_EQ(importing(model_of({node("Range", {"s", "s", "s"}, {"y"}, "range")}, {shape})), "");
}

} // namespace
} // namespace gradweave::graph::onnx
