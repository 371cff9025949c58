// Which faults the mutator finds in SystemVerilog.
#include "tests/mutation_score/mutant.hpp"
#include "tests/mutation_score/sv_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace {

using namespace gradweave::mutation;

/// "kind: original -> mutated" of all faults.
std::multiset<std::string> faults(const std::string &text) {
  std::multiset<std::string> result;
  for (const auto &mutants : make_source("rtl/x.sv", text, sv_places(text)).mutants)
    for (const Mutant &m : mutants)
      result.insert(m.kind + ": " + m.original + " -> " + m.mutated);
  return result;
}

std::string module_with(const std::string &items) {
  return "module m (input logic clk_i);\n" + items + "\nendmodule\n";
}

TEST(SvPlaces, ArithmeticHasOperatorConstantAndWidth) {
  EXPECT_EQ(
      faults(module_with("assign y = a + 8'd3;")),
      (std::multiset<std::string>{"operator: a + 8'd3 -> (a - 8'd3)", "constant: 8'd3 -> (8'd3 + 8'd1)",
                                  "constant: 8'd3 -> (8'd3 - 8'd1)", "width: a + 8'd3 -> (((a + 8'd3) << 1) >> 1)"}));
}

TEST(SvPlaces, OperandsKeepTheirPrecedence) {
  EXPECT_EQ(faults(module_with("assign y = a | b | c;")).count("operator: a | b | c -> ((a | b) & c)"), 1U);
}

TEST(SvPlaces, ConditionsAreInvertedAndStuck) {
  const auto found = faults(module_with("always_comb begin if (go) x = y; end"));
  EXPECT_EQ(found.count("condition: go -> !(go)"), 1U);
  EXPECT_EQ(found.count("condition: go -> 1'b1"), 1U);
  EXPECT_EQ(found.count("condition: go -> 1'b0"), 1U);
}

TEST(SvPlaces, RegistersMissTheirResetOrTheirValue) {
  const auto found = faults(module_with("always_ff @(posedge clk_i or negedge rst_ni) begin\n"
                                        "  if (!rst_ni) x_q <= '0; else x_q <= x_d;\nend"));
  EXPECT_EQ(found.count("reset: '0 -> x_q"), 1U);
  EXPECT_EQ(found.count("hold: x_d -> x_q"), 1U);
  EXPECT_EQ(std::count_if(found.begin(), found.end(), [](const std::string &f) { return f.find("rst_ni") != f.npos; }),
            0);
}

TEST(SvPlaces, CalledTasksAreLeftOut) {
  EXPECT_EQ(faults(module_with("always_ff @(posedge clk_i) begin step; end")).count("drop: step; -> (left out)"), 1U);
}

TEST(SvPlaces, VariablesOfNamedTypesHaveNone) {
  const std::string body = "task automatic t;\n  p_pkg::row_t a, b;\n  row_t c;\n  a = b;\nendtask";
  const auto found = faults(module_with("p_pkg::row_t x;\n" + body));
  EXPECT_EQ(found, faults(module_with("task automatic t; a = b; endtask")));
}

TEST(SvPlaces, ConstantContextsHaveNone) {
  EXPECT_TRUE(
      faults("module m #(parameter int unsigned N = 1 + 2) (input logic [N-1:0] a_i);\n"
             "localparam int unsigned W = N * 2;\n"
             "logic [W-1:0] x;\n"
             "for (genvar i = 0; i < N + 1; i++) begin : gen_x\nif (N > 3) begin : gen_y\nfifo #(.D(N - 1)) u (.a_i);\n"
             "end\nend\n"
             "endmodule\n")
          .empty());
  EXPECT_EQ(faults(module_with("assign y = {4{x[W-1:0]}};")).count("constant: 4 -> (4 + 1)"), 0U);
}

TEST(SvPlaces, AssertionsHaveNone) {
  EXPECT_TRUE(
      faults(module_with("always_ff @(posedge clk_i) begin if (rst_ni) no_overflow: assert (a < b); end")).empty());
}

TEST(SvPlaces, AnUnknownFormNamesItsLine) {
  try {
    sv_places("module m (input logic a_i);\nassign y = @;\nendmodule\n");
    FAIL() << "accepted";
  } catch (const std::exception &e) {
    EXPECT_NE(std::string(e.what()).find("line 2"), std::string::npos) << e.what();
  }
}

} // namespace
