// If of ONNX files: the branch that is known takes its place.
#include "tests/graph/onnx_models.hpp"

#include <gtest/gtest.h>

namespace gradweave::graph::onnx {
namespace {

Blob whole(const std::string &name, std::int64_t value) {
  Blob blob{name, DataType::kInt64, {}, std::string(8, '\0')};
  for (std::size_t i = 0; i < 8; ++i)
    blob.bytes[i] = static_cast<char>(static_cast<std::uint64_t>(value) >> 8U * i & 0xffU);
  return blob;
}

Blob truth(const std::string &name, bool value) {
  return {name, DataType::kBool, {}, std::string(1, value ? '\1' : '\0')};
}

std::shared_ptr<Branch> branch(std::vector<Node> nodes, std::string output, std::vector<Blob> initializers = {}) {
  return std::make_shared<Branch>(Branch{std::move(nodes), std::move(initializers), {std::move(output)}});
}

Node choice(const std::string &condition, std::shared_ptr<Branch> yes, std::shared_ptr<Branch> no) {
  Node result = node("If", {condition}, {"y"}, "choice");
  result.attributes["then_branch"] = std::move(yes);
  result.attributes["else_branch"] = std::move(no);
  return result;
}

/// Operators of the graph.
std::string ops_of(const Model &model, const ImportOptions &options = {}) {
  std::string ops;
  for (const Op &op : import_model(model, "net.onnx", operators(), options).ops)
    ops += (ops.empty() ? "" : " ") + std::string(op.type->name);
  return ops;
}

TEST(OnnxBranches, AreTakenWhereTheConditionIsKnown) {
  const Node either = choice("c", branch({node("Relu", {"x"}, {"r"}, "relu")}, "r"),
                             branch({node("Det", {"x"}, {"d"}, "unread")}, "d"));
  EXPECT_EQ(ops_of(model_of({either}, {truth("c", true)})), "Relu");
  const std::string error = importing(model_of({either}, {truth("c", false)}));
  EXPECT_EQ(error.rfind("net.onnx: node 'unread' (Det), opset 13: the operator is not read", 0), 0U) << error;
}

TEST(OnnxBranches, AreTakenByShapes) {
  const Node rank = node("Size", {"s"}, {"n"}, ""), shape = node("Shape", {"h"}, {"s"}, "");
  const Node hidden = node("Relu", {"x"}, {"h"}, ""), same = node("Equal", {"n", "four"}, {"c"}, "");
  const Node either = choice("c", branch({node("Tanh", {"h"}, {"t"}, "")}, "t"), branch({}, "x"));
  EXPECT_EQ(ops_of(model_of({hidden, shape, rank, same, either}, {whole("four", 4)})), "Relu Tanh");
}

TEST(OnnxBranches, MayPassAValueOn) {
  const Node either = choice("c", branch({}, "h"), branch({}, "x"));
  const Node hidden = node("Relu", {"x"}, {"h"}, "");
  EXPECT_EQ(ops_of(model_of({hidden, either}, {truth("c", true)})), "Relu");
  EXPECT_EQ(ops_of(model_of({hidden, either}, {truth("c", false)})), "Reshape");
}

TEST(OnnxBranches, LieWithinEachOther) {
  const Node inner = [] {
    Node result =
        choice("d", branch({node("Relu", {"h"}, {"r"}, "")}, "r"), branch({node("Exp", {"h"}, {"e"}, "")}, "e"));
    result.outputs = {"z"};
    return result;
  }();
  const Node outer = choice("c", branch({node("Tanh", {"x"}, {"h"}, ""), inner}, "z"), branch({}, "x"));
  EXPECT_EQ(ops_of(model_of({outer}, {truth("c", true), truth("d", false)})), "Tanh Exp");
}

/// Both branches may call a value as the other one does, or as one that the network has behind the If.
TEST(OnnxBranches, HaveWeightsAndNamesOfTheirOwn) {
  Node either = choice("c", branch({node("Conv", {"x", "w"}, {"h"}, "")}, "h", {weights("w", {4, 3, 1, 1})}),
                       branch({node("Conv", {"x", "w"}, {"h"}, "")}, "h", {weights("w", {2, 3, 1, 1})}));
  either.outputs = {"a"};
  const auto parameters = [&](bool condition) {
    const Model model = model_of({either, node("Relu", {"a"}, {"h"}, ""), node("ReduceMean", {"h"}, {"m"}, ""),
                                  node("Mul", {"m", "w"}, {"y"}, "")},
                                 {truth("c", condition), weights("w", {5})});
    return count_parameters(import_model(model, "net.onnx", operators()));
  };
  EXPECT_EQ(parameters(true), 12U + 5);
  EXPECT_EQ(parameters(false), 6U + 5);
}

TEST(OnnxBranches, FollowFromAnInputThatIsGiven) {
  Model model =
      model_of({node("Equal", {"rate", "known"}, {"c"}, ""), choice("c", branch({node("Relu", {"x"}, {"r"}, "")}, "r"),
                                                                    branch({node("Tanh", {"x"}, {"t"}, "")}, "t"))},
               {whole("known", 16000)});
  model.inputs.push_back({"rate", DataType::kInt64, std::vector<Dimension>{}});
  EXPECT_EQ(importing(model),
            "net.onnx: node 'choice' (If): its condition 'c' depends on the input 'rate', and only a branch that is "
            "known when the file is read is taken; export without control flow, or give an input that is one number: "
            "--set net.rate=NUMBER");
  ImportOptions options;
  options.dims = {{"rate", 16000}};
  EXPECT_EQ(ops_of(model, options), "Relu");
  options.dims = {{"rate", 8000}};
  EXPECT_EQ(ops_of(model, options), "Tanh");
}

TEST(OnnxBranches, AreRefusedWhereTheyDependOnTheData) {
  const Node zero = node("ReduceSum", {"x"}, {"s"}, ""), large = node("Greater", {"s", "one"}, {"c"}, "");
  const Node either = choice("c", branch({}, "x"), branch({node("Relu", {"x"}, {"r"}, "")}, "r"));
  EXPECT_EQ(importing(model_of({zero, large, either}, {weights("one", {1})})),
            "net.onnx: node 'choice' (If): its condition 'c' depends on the data, and only a branch that is known when "
            "the file is read is taken; export without control flow");
}

TEST(OnnxBranches, HaveTheOutputsOfTheirIf) {
  Node either = choice("c", branch({}, "x"), branch({}, "x"));
  either.outputs.emplace_back("z");
  EXPECT_EQ(importing(model_of({either}, {truth("c", true)})),
            "net.onnx: node 'choice' (If): attribute 'then_branch' is no graph of 2 outputs; export the model again");
  either.attributes.erase("then_branch");
  EXPECT_EQ(importing(model_of({either}, {truth("c", true)})),
            "net.onnx: node 'choice' (If): attribute 'then_branch' is no graph of 2 outputs; export the model again");
}

} // namespace
} // namespace gradweave::graph::onnx
