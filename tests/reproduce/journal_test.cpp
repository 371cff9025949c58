// The journal survives what an interruption can do to it.
#include "runtime/journal.hpp"
#include "runtime/output_file.hpp"
#include "runtime/reproduce/unit.hpp"
#include "tests/runtime/command_line.hpp"

#include <stdexcept>

namespace gradweave::test {
namespace {

using runtime::Journal;

class JournalTest : public CommandLineTest {
protected:
  std::filesystem::path file() const { return work() / "journal.jsonl"; }
};

} // namespace

TEST_F(JournalTest, KeepsWhatWasAppended) {
  {
    Journal journal(file(), "use another one");
    EXPECT_EQ(journal.find("a"), nullptr);
    journal.append("a", "{\"x\":1}");
    journal.append("b \"q\"\n", "2");
    journal.append("a", "{\"x\":3}");
    EXPECT_EQ(*journal.find("a"), "{\"x\":3}");
  }
  const Journal journal(file(), "use another one");
  EXPECT_EQ(journal.size(), 2U);
  EXPECT_EQ(journal.damaged_lines(), 0U);
  EXPECT_EQ(*journal.find("a"), "{\"x\":3}");
  EXPECT_EQ(*journal.find("b \"q\"\n"), "2");
}

TEST_F(JournalTest, SkipsALastLineThatIsNotWholeAtAnyByte) {
  {
    Journal journal(file(), "use another one");
    journal.append("a", "1");
    journal.append("b", "{\"long\":[1,2,3]}");
  }
  const std::string whole = read_file(file());
  const std::size_t first = whole.find('\n') + 1;
  for (std::size_t length = first; length < whole.size(); ++length) {
    write("journal.jsonl", whole.substr(0, length));
    {
      Journal journal(file(), "use another one");
      EXPECT_NE(journal.find("a"), nullptr) << length;
      EXPECT_EQ(journal.find("b"), nullptr) << length;
      EXPECT_EQ(journal.damaged_lines(), length == first ? 0U : 1U) << length;
      journal.append("c", "3");
    }
    const Journal again(file(), "use another one");
    EXPECT_NE(again.find("a"), nullptr) << length;
    EXPECT_NE(again.find("c"), nullptr) << length;
  }
}

TEST_F(JournalTest, SkipsALineNestedSoDeeplyThatWritingItWouldExhaustTheStack) {
  const auto nested = [](std::size_t depth) {
    return R"({"key":"a","value":)" + std::string(depth, '[') + std::string(depth, ']') + "}\n";
  };
  write("journal.jsonl", nested(2'000'000) + nested(10));
  const Journal journal(file(), "use another one");
  EXPECT_EQ(journal.damaged_lines(), 1U);
  EXPECT_EQ(*journal.find("a"), "[[[[[[[[[[]]]]]]]]]]");
}

TEST_F(JournalTest, SkipsLinesThatAreSomethingElse) {
  write("journal.jsonl", "garbage\n{\"key\":1,\"value\":2}\n[]\n{\"key\":\"a\",\"value\":7}\n{\"key\":\"b\"}\n\n");
  const Journal journal(file(), "use another one");
  EXPECT_EQ(journal.size(), 1U);
  EXPECT_EQ(*journal.find("a"), "7");
  EXPECT_EQ(journal.damaged_lines(), 5U);
}

TEST_F(JournalTest, ForgetsWhatWasCleared) {
  {
    Journal journal(file(), "use another one");
    journal.append("a", "1");
    journal.clear();
    EXPECT_EQ(journal.find("a"), nullptr);
    journal.append("b", "2");
  }
  const Journal journal(file(), "use another one");
  EXPECT_EQ(journal.size(), 1U);
  EXPECT_EQ(*journal.find("b"), "2");
}

TEST_F(JournalTest, IsOpenOnlyOnce) {
  const Journal journal(file(), "use another one");
  EXPECT_THROW(Journal second(file(), "use another one"), runtime::OutputError);
}

TEST_F(JournalTest, SaysIfItCannotBeWritten) {
  EXPECT_THROW(Journal journal(work() / "missing" / "journal.jsonl", "use another one"), runtime::OutputError);
}

TEST(UnitResult, ReadsWhatItWrites) {
  reproduce::UnitResult result;
  result.cycles = 123456789012;
  result.compute_bound = 4;
  result.traffic_bound = 5;
  result.moved[2] = {1, 2, 3};
  const reproduce::UnitResult read = reproduce::from_text(reproduce::to_text(result));
  EXPECT_EQ(read.cycles, result.cycles);
  EXPECT_EQ(read.compute_bound, 4U);
  EXPECT_EQ(read.traffic_bound, 5U);
  EXPECT_EQ(read.of(compiler::Tensor::kDY).spilled, 3U);
  EXPECT_EQ(read.bytes(), 3U);
  EXPECT_EQ(read.read_bytes(), 1U);
  result.problem = "does not fit \"x\"";
  EXPECT_EQ(reproduce::from_text(reproduce::to_text(result)).problem, result.problem);
  for (const char *bad :
       {"", "{}", "7", "{\"cycles\":-1}", "{\"cycles\":1,\"compute_bound\":1,\"traffic_bound\":1,\"moved\":[]}"})
    EXPECT_THROW(reproduce::from_text(bad), std::invalid_argument) << bad;
}

} // namespace gradweave::test
