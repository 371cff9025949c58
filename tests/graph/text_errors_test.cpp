// Each message for a graph's text that cannot be, whole.
#include "graph/build/builder.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/gradient.hpp"
#include "graph/text/read.hpp"

#include <gtest/gtest.h>

namespace gradweave::graph {
namespace {

std::string error_of(const std::string &text, const Variables &variables = {}) {
  try {
    read_graph(text, "net.graph", operators(), variables);
  } catch (const GraphError &error) {
    return error.what();
  }
  return "accepted";
}

const std::string kX = "input x bf16 [4, 8]\n";

TEST(GraphTextErrors, Words) {
  EXPECT_EQ(error_of("graph \"a\nresult x"), "net.graph:1: the quotes are not closed; end them by \" on the same line");
  EXPECT_EQ(error_of("graph \"\\q\""),
            "net.graph:1: a backslash in quotes stands before n, t, \\, a quote, or x and two "
            "digits 0 to f; write \\\\ for it");
  EXPECT_EQ(error_of("\ny = Relu(h{i)"),
            "net.graph:2: a brace in a name is not closed; write an expression between { and }");
  EXPECT_EQ(error_of("y = Relu(x);"),
            "net.graph:1: ';' is no part of a statement; put names that are not letters, digits, "
            "'_' and '.' in single quotes");
  EXPECT_EQ(error_of("größe = Relu(x)"),
            "net.graph:1: 'ö' is no part of a statement; put names that are not letters, digits, '_' and '.' in single "
            "quotes");
  EXPECT_EQ(error_of("let a = 9223372036854775808"),
            "net.graph:1: '9223372036854775808' is out of range; give a number that 64 bits hold");
}

TEST(GraphTextErrors, Statements) {
  EXPECT_EQ(error_of("input x 4"), "net.graph:1: '4' stands where a type is expected; write fp32, bf16 or int32");
  EXPECT_EQ(error_of("input x bf16 4"), "net.graph:1: '4' stands where a shape is expected; write its dimensions in "
                                        "brackets, as [batch, 784]; [] is a scalar");
  EXPECT_EQ(error_of("input x bf16 [0]"), "net.graph:1: a dimension of 0; give a whole number from 1 to 4294967295");
  EXPECT_EQ(error_of(kX + "y = Relu(x) as\n"),
            "net.graph:2: the end of the line stands where a name is expected; write y = linear(x, 10) as fc1");
  EXPECT_EQ(error_of(kX + "y = Relu x"),
            "net.graph:2: 'x' stands where '(' is expected; write what it is given in parentheses");
  EXPECT_EQ(error_of(kX + "y = Relu(x) axis=1 axis=2"), "net.graph:2: attribute 'axis' is given twice; remove one");
  EXPECT_EQ(error_of("for i in 0..1\n"),
            "net.graph:2: the end of the file stands where 'end' is expected; close each block and each for by end");
  EXPECT_EQ(error_of("end"), "net.graph:1: 'end' stands where a statement is expected; remove the end: no block and no "
                             "for is open");
  EXPECT_EQ(error_of("role forward"),
            "net.graph:1: there is no role 'forward' of what ops compute; write activation, gradient or updated");
  EXPECT_EQ(error_of(kX + "loss x\nloss x"),
            "net.graph:3: the graph has two losses, 'x' and 'x'; add them, or remove one");
  EXPECT_EQ(error_of("return x"), "net.graph:1: return is the last line of a block; move it there");
}

TEST(GraphTextErrors, Expressions) {
  EXPECT_EQ(error_of("let a = 7 / 2"),
            "net.graph:1: 7 / 2 is no whole number; write 1.0 * for a real number, or make it divisible");
  EXPECT_EQ(error_of("let a = 4 / 0"), "net.graph:1: 4 / 0 divides by zero; give another divisor");
  EXPECT_EQ(error_of("let a = 4 % 0"), "net.graph:1: 4 % 0 divides by zero; give another divisor");
  EXPECT_EQ(error_of("let a = 9223372036854775807 + 1"),
            "net.graph:1: 9223372036854775807 + 1 does not fit 64 bits; make it smaller, or write 1.0 * for a real "
            "number");
  EXPECT_EQ(error_of("let a = 0.0 / 0"), "net.graph:1: 0.0 / 0 is no number; correct it");
  EXPECT_EQ(error_of("let a = inf - inf"), "net.graph:1: inf - inf is no number; correct it");
  EXPECT_EQ(error_of("let a = sqrt(-1)"), "net.graph:1: sqrt(-1) is no number; correct it");
  EXPECT_EQ(error_of("let a = floor(2)"), "net.graph:1: there is no function 'floor'; there are dim, min, max, abs and "
                                          "sqrt. Ops and blocks are called in statements of their own: y = floor(...)");
  EXPECT_EQ(error_of(kX + "let a = dim(x, 2)"),
            "net.graph:2: axis 2 is none of 'x', which is [4, 8]; give one from -2 to 1");
  EXPECT_EQ(error_of(kX + "let a = x"),
            "net.graph:2: 'a' would be another name of a tensor; let is for numbers, texts and lists");
  EXPECT_EQ(error_of(kX + "let a = x + 1"), "net.graph:2: a tensor stands where a number is expected; dim(x, -1) is a "
                                            "dimension of a tensor x");
  EXPECT_EQ(error_of("input x bf16 [width]"),
            "net.graph:1: nothing is called 'width'; declare it above, or correct the name");
  EXPECT_EQ(error_of("let a = 1\nlet a = 2"), "net.graph:2: 'a' has two writers; each name is given once: rename one");
  EXPECT_EQ(error_of("let a = [1, x for i in 0..1]"),
            "net.graph:1: a list with 'for' has one element; remove the others");
  EXPECT_EQ(error_of(kX + "y = Relu(3)"),
            "net.graph:2: an input of 'y' (Relu) must be a tensor, not 3; declare numbers "
            "that ops read as a constant");
}

TEST(GraphTextErrors, Blocks) {
  const std::string twice = "block twice(x)\ny = Relu(x)\nreturn y\nend\n";
  EXPECT_EQ(error_of(twice + kX + "y = twice(x, 2)"), "net.graph:6: block 'twice' is given 2 values, and wants 1: x");
  EXPECT_EQ(error_of(twice + kX + "y = twice(x) axis=1"),
            "net.graph:6: block 'twice' has no attribute 'axis'; it is given 1 values in parentheses");
  EXPECT_EQ(error_of(twice + kX + "y, z = twice(x)"), "net.graph:6: block 'twice' gives 1 back, and 2 are named");
  EXPECT_EQ(error_of(twice + twice), "net.graph:5: block 'twice' is taken by line 1; rename one");
  EXPECT_EQ(error_of("block twice(x)\ny = Relu(x)\nend"),
            "net.graph:1: block 'twice' gives nothing back; end it by return y");
  EXPECT_EQ(error_of("block Relu(x)\nreturn x\nend"),
            "net.graph:1: block 'Relu' is called as an operator is; rename it");
  EXPECT_EQ(error_of("block b(x, y, x)\nreturn x\nend"), "net.graph:1: block 'b' has two parameters 'x'; rename one");
  EXPECT_EQ(error_of("block b(x)\ny = b(x)\nreturn y\nend\n" + kX + "y = b(x)"),
            "net.graph:2: blocks call blocks more than 32 deep; none may call itself");
  EXPECT_EQ(error_of("for i in 0..1\nblock b(x)\nreturn x\nend\nend"),
            "net.graph:2: a block inside of another statement; define it outside");
}

/// What makes no graph: node and line are named.
TEST(GraphTextErrors, Graphs) {
  EXPECT_EQ(
      error_of(kX + "a = Add(x, b)\nb = Relu(a)"),
      "net.graph:2: 'b' is read, and line 3 computes it: a cycle, or statements out of order; move line 3 up, or cut "
      "the cycle");
  EXPECT_EQ(
      error_of(kX + "for i in 0..1\nh{i} = Add(x, h{i + 1})\nend"),
      "net.graph:3: 'h1' is read, and line 3 computes it: a cycle, or statements out of order; move line 3 up, or cut "
      "the cycle");
  EXPECT_EQ(error_of(kX + "y = Relu(z)"), "net.graph:2: nothing is called 'z'; declare it above, or correct the name");
  EXPECT_EQ(error_of(kX + "y = Relu(x)\ny = Relu(x)"), "net.graph:3: two ops are called 'y'; rename one");
  EXPECT_EQ(error_of(kX + "y = Relu(x)\ny = Relu(x) as z"),
            "net.graph:3: tensor 'y' has two writers, the other in net.graph:2; each is computed once: rename one");
  EXPECT_EQ(error_of(kX + "y = Gem(x)"), "net.graph:2: there is no operator 'Gem' (node 'y'); `gradweave models "
                                         "--operators` lists those that there are");
  EXPECT_EQ(error_of(kX + "parameter w [7, 10]\ny = Gemm(x, w)"),
            "net.graph:3: op 'y' (Gemm): x is [4, 8] and w [7, 10]: the columns of x must be the rows of w");
  EXPECT_EQ(error_of(kX + "y = Relu(x) axis=1"),
            "net.graph:2: op 'y' (Relu): there is no attribute 'axis'; the operator has none");
  EXPECT_EQ(error_of(kX + "y, z = Relu(x)"), "net.graph:2: op 'y' (Relu): 2 results are named, and it has 1");
  EXPECT_EQ(error_of(kX + "_ = Relu(x) as y"),
            "net.graph:2: op 'y' (Relu): result 0 is left out, and has to be there; name it");
  EXPECT_EQ(error_of(kX + "result y"), "net.graph:2: there is no tensor 'y' above; correct the name");
  EXPECT_EQ(error_of(kX, {{"batch", 3}}),
            "net.graph: there is no variable 'batch' that 3 could replace; add let batch = 3 and use it in shapes");
}

/// What rounding to the type of an edge, or of an attribute, would silently make something else.
TEST(GraphTextErrors, Numbers) {
  EXPECT_EQ(error_of(kX + "y = LeakyRelu(x) alpha=nan"),
            "net.graph:2: op 'y' (LeakyRelu): attribute 'alpha' = nan must be a number");
  EXPECT_EQ(error_of(kX + "y = Scale(x) value=-1e39"),
            "net.graph:2: op 'y' (Scale): attribute 'value' = -1e+39 is beyond fp32, whose largest number is 3.4e38");
  EXPECT_EQ(error_of("constant k int32 [2] = [1, 3000000000]"),
            "net.graph:1: constant 'k' holds 3000000000.0, which is no whole number of 32 bits");
  EXPECT_EQ(error_of("constant k int32 [] = 1.5"),
            "net.graph:1: constant 'k' holds 1.5, which is no whole number of 32 bits");
  EXPECT_EQ(error_of("constant k int32 [] = nan"),
            "net.graph:1: constant 'k' holds nan, which is no whole number of 32 bits");
  EXPECT_EQ(error_of("constant k fp32 [] = 1e300"),
            "net.graph:1: constant 'k' holds 1e+300, which is beyond fp32; its largest number is 3.4e38");
  EXPECT_EQ(error_of("constant k int32 [2] = [-2147483648, 2147483647]\nconstant low fp32 [] = -inf"), "accepted");
}

TEST(GraphTextErrors, NothingAtAll) {
  for (const char *text : {"", "# a comment\n", "graph \"a\"\n"})
    EXPECT_EQ(error_of(text),
              "net.graph: there is no tensor in it; declare inputs and parameters, and compute a loss from them");
}

/// Of a loss that cannot be derived.
TEST(GraphTextErrors, LossesNameTheirLine) {
  const auto gradient_error = [](const std::string &text) {
    Graph graph = read_graph(text, "net.graph", operators());
    try {
      add_gradients(graph, operators());
    } catch (const GraphError &error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(gradient_error("graph \"a\"\n" + kX + "y = Relu(x)"),
            "net.graph:3: graph 'a' has no loss; add one, or run it forward only");
  EXPECT_EQ(gradient_error(kX + "y = Relu(x)\nloss y"),
            "net.graph:2: the loss 'y' is fp32 [4, 8]; it must be one real number, as ReduceMean gives");
  EXPECT_EQ(gradient_error(kX + "y = ReduceMean(x)\nloss y"),
            "net.graph:2: the loss 'y' depends on no parameter that is learned; declare one that it is computed from, "
            "or freeze less");
  const std::string two = kX + "parameter w [8, 2]\nh = Gemm(x, w)\na = ReduceMean(h)\nb = ReduceSum(h)\n";
  EXPECT_EQ(gradient_error(two + "y = Add(a, b)\nloss y"), "accepted"); // [1, 1] is one number
}

TEST(GraphTextErrors, AMissingGradientNamesOpAndLine) {
  Graph graph = read_graph(kX + "input labels int32 [4]\nparameter w [8, 8]\nh = Gemm(x, w)\ny = ReluGradient(h, "
                                "x)\nflat = SoftmaxCrossEntropy(y, labels)\nloss flat\n",
                           "net.graph", operators());
  try {
    add_gradients(graph, operators());
    FAIL() << "passed";
  } catch (const GraphError &error) {
    EXPECT_EQ(
        std::string(error.what()),
        "net.graph:5: op 'y' (ReluGradient): has no derivative, and lies between the loss and a parameter; freeze "
        "the parameters behind it, or take another operator");
  }
}

TEST(GraphTextErrors, NestingAndSizeAreBounded) {
  EXPECT_NE(error_of("let a = " + std::string(100, '(') + "1").find("is nested more than 64 deep"), std::string::npos);
  std::string sum = "let a = 1";
  for (int i = 0; i < 1001; ++i)
    sum += " + 1";
  EXPECT_EQ(error_of(sum), "net.graph:1: more than 1000 operations in a statement; name a part of it");
  EXPECT_NE(error_of("for i in 0..1000000\nfor j in 0..1000000\nend\nend").find("runs too often"), std::string::npos);
  EXPECT_NE(error_of("let a = [1 for i in 0..999999 for j in 0..999999]").find("elements; make it shorter"),
            std::string::npos);
  EXPECT_NE(error_of("let a = [1 for i in 0..1000000000]").find("numbers; make it shorter"), std::string::npos);
}

} // namespace
} // namespace gradweave::graph
