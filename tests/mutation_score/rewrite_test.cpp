// Names, samples and texts of mutants.
#include "tests/mutation_score/mutant.hpp"
#include "tests/mutation_score/sv_places.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

using namespace gradweave::mutation;

Source source_of(const std::string &text) { return make_source("rtl/x.sv", text, sv_places(text)); }

std::set<std::string> ids(const Source &source, bool chosen = false) {
  std::set<std::string> result;
  for (const auto &mutants : source.mutants)
    for (const Mutant &m : mutants)
      if (!chosen || m.number != 0) result.insert(m.id);
  return result;
}

const char *const kModule = "module m (input logic a_i);\nassign y = a + b;\nassign z = a + b;\n"
                            "always_ff @(posedge clk_i) begin step; end\nendmodule\n";

TEST(Mutants, IdsSurviveShiftedLinesAndAreUnique) {
  const Source before = source_of(kModule), after = source_of(std::string("// a line more\n\n") + kModule);
  std::size_t all = 0;
  for (const auto &mutants : before.mutants)
    all += mutants.size();
  EXPECT_EQ(ids(before).size(), all);
  EXPECT_EQ(ids(before), ids(after));
}

TEST(Mutants, IdsSurviveAMoveToARoomAndThePrefixOfNames) {
  const std::string text = "module m (input logic a_i);\nassign y = p_pkg::f(a + b);\nendmodule\n";
  const std::string named = "module gw_m (input logic a_i);\nassign y = gw_p_pkg::f(a + b);\nendmodule\n";
  const auto before = ids(source_of(text));
  EXPECT_FALSE(before.empty());
  EXPECT_EQ(before, ids(make_source("rtl/room/gw_x.sv", named, sv_places(named))));
  EXPECT_NE(before, ids(make_source("rtl/room/y.sv", text, sv_places(text)))) << "another file";
  EXPECT_NE(ids(make_source("a/x.cpp", text, sv_places(text))), ids(make_source("b/x.cpp", text, sv_places(text))));
}

TEST(Mutants, IdsChangeWithTheLineAroundThem) {
  const auto before = ids(source_of("module m (input logic a_i);\nassign y = a + b;\nendmodule\n"));
  const auto after = ids(source_of("module m (input logic a_i);\nassign q = a + b;\nendmodule\n"));
  for (const std::string &id : after)
    EXPECT_EQ(before.count(id), 0U);
}

TEST(Mutants, SampleTakesEveryFileAndKindAndIsRepeatable) {
  std::vector<Source> first{source_of(kModule)}, second = first;
  choose_mutants(first, 1, 7, 1);
  choose_mutants(second, 1, 7, 1);
  EXPECT_EQ(ids(first[0], true), ids(second[0], true));
  EXPECT_EQ(ids(first[0], true).size(), 3U); // operator, width, drop
}

TEST(Rewrite, NothingChosenIsTheOriginal) { EXPECT_EQ(with_mutants(source_of(kModule)), kModule); }

TEST(Rewrite, ChoicesNestAndKeepTheOriginalInside) {
  Source source = source_of("module m (input logic a_i);\nassign y = a + 2'd1;\nendmodule\n");
  for (auto &mutants : source.mutants)
    for (Mutant &m : mutants) {
      if (m.kind == "operator") m.number = 5;
      if (m.mutated == "(2'd1 + 2'd1)") m.number = 6;
    }
  EXPECT_EQ(with_mutants(source), "module m (input logic a_i);\nassign y = ((gw_mutant::number == 5) ? ((a - 2'd1)) : "
                                  "(a + ((gw_mutant::number == 6) ? ((2'd1 + 2'd1)) : (2'd1))));\nendmodule\n");
}

TEST(Rewrite, LeavesStatementsOut) {
  Source rtl = source_of("module m (input logic a_i);\nalways_ff @(posedge clk_i) begin step; end\nendmodule\n");
  rtl.mutants[0][0].number = 3;
  EXPECT_NE(with_mutants(rtl).find("begin begin if (!(gw_mutant::number == 3)) step; end end"), std::string::npos);
  const std::string text = "void f() { x += 1; }";
  Source cpp = make_source("isa/x.cpp", text, {{11, 17, "f", {{"drop", ""}, {"operator", "x -= 1"}}}});
  cpp.mutants[0][0].number = 1;
  cpp.mutants[0][1].number = 2;
  EXPECT_EQ(with_mutants(cpp), "void f() { (::gradweave_mutant(1) ? static_cast<void>(0) : static_cast<void>"
                               "((::gradweave_mutant(2) ? (x -= 1) : (x += 1)))); }");
}

} // namespace
