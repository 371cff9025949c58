// Explanations of survivors, and what the score makes of them.
#include "tests/mutation_score/explained.hpp"
#include "tests/mutation_score/score.hpp"
#include "tests/mutation_score/sv_places.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace {

using namespace gradweave::mutation;

Source source() {
  const std::string text = "module m (input logic a_i);\nassign y = a + b;\nendmodule\n";
  return make_source("rtl/x.sv", text, sv_places(text));
}

const Mutant &a_mutant(const Source &source) { return source.mutants[0][0]; }

TEST(Explained, OfAFaultThatIsThereIsNotStale) {
  const Source from = source();
  const Mutant &m = a_mutant(from);
  EXPECT_TRUE(stale_explanations({{m.id, {m.file, fault_text(m), "why"}}}, {from}).empty());
}

TEST(Explained, StaleOnesAreFound) {
  const Source from = source();
  const Mutant &m = a_mutant(from);
  EXPECT_EQ(stale_explanations({{m.id, {m.file, "a -> b", "why"}}}, {from}).size(), 1U) << "another fault";
  EXPECT_EQ(stale_explanations({{"rtl-00000000", {m.file, fault_text(m), "why"}}}, {from}).size(), 1U) << "no such id";
  EXPECT_TRUE(stale_explanations({{"rtl-00000000", {"rtl/y.sv", "a -> b", "why"}}}, {from}).empty()) << "not asked for";
}

TEST(Explained, FilesNameLineAndField) {
  const std::string file = gradweave::test::scratch_file("explained.toml");
  std::ofstream(file) << "[[mutant]]\nid = \"a\"\nfile = \"f\"\nfault = \"x -> y\"\n";
  try {
    read_explained(file);
    ADD_FAILURE() << "accepted";
  } catch (const std::exception &e) {
    EXPECT_NE(std::string(e.what()).find("toml:1: a [[mutant]] needs the text 'why'"), std::string::npos) << e.what();
  }
}

TEST(Score, CountsWhatIsExplainedApart) {
  const Source from = source();
  Mutant killed = a_mutant(from), late = killed, known = killed, survivor = killed;
  killed.id = "k";
  late.id = "l";
  known.id = "e";
  survivor.id = "s";
  const std::map<std::string, Explanation> explained = {{"e", {"rtl/x.sv", "", "no one reads it"}}};
  const Score score({{killed, {Outcome::kFailed, "t", "exit code 1", 0}},
                     {late, {Outcome::kTimeout, "t", "", 0}},
                     {known, {}},
                     {survivor, {}}},
                    explained);
  const Tally tally = score.all("rtl");
  EXPECT_EQ(tally.total(), 4U);
  EXPECT_DOUBLE_EQ(tally.raw(), 0.5);
  EXPECT_DOUBLE_EQ(tally.score(), 2.0 / 3);
  EXPECT_EQ(score.unexplained(), 1U);
  EXPECT_NE(score.text().find("UNEXPLAINED"), std::string::npos);
  EXPECT_NE(score.text().find("explained: no one reads it"), std::string::npos);
}

TEST(Score, AnExplainedMutantThatDiesIsDisproved) {
  const Source from = source();
  const Mutant &m = a_mutant(from);
  const std::map<std::string, Explanation> explained = {{m.id, {m.file, fault_text(m), "why"}}};
  EXPECT_EQ(Score({{m, {Outcome::kFailed, "t", "exit code 1", 0}}}, explained).disproved().size(), 1U);
  EXPECT_TRUE(Score({{m, {}}}, explained).disproved().empty());
}

} // namespace
