// The journal survives what an interruption can do to it.
#include "app/evaluation/unit/unit.hpp"
#include "base/file/journal.hpp"
#include "base/file/output_file.hpp"
#include "tests/cli/command_line.hpp"

#include <stdexcept>

namespace gradweave::test {
namespace {

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
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  write("journal.jsonl",
        R"({"key":"a","value":)" + nested(2'000'000) + R"(,"sum":""})" + "\n" + Journal::line("a", nested(10)));
  const Journal journal(file(), "use another one");
  EXPECT_EQ(journal.damaged_lines(), 1U);
  EXPECT_EQ(*journal.find("a"), "[[[[[[[[[[]]]]]]]]]]");
}

TEST_F(JournalTest, SkipsLinesThatAreSomethingElse) {
  write("journal.jsonl", "garbage\n{\"key\":1,\"value\":2}\n[]\n" + Journal::line("a", "7") + "{\"key\":\"b\"}\n\n");
  const Journal journal(file(), "use another one");
  EXPECT_EQ(journal.size(), 1U);
  EXPECT_EQ(*journal.find("a"), "7");
  EXPECT_EQ(journal.damaged_lines(), 5U);
}

/// Whatever becomes of a byte: the line is left out, or says what it said.
TEST_F(JournalTest, TakesNoLineThatWasChanged) {
  const std::string line = Journal::line("k 1", R"({"read_bytes":1228800,"check":"ok","part":0.25})");
  const auto entry = Journal::parse_line(line);
  ASSERT_TRUE(entry);
  std::size_t taken = 0;
  for (std::size_t at = 0; at < line.size(); ++at)
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = line;
      changed[at] = static_cast<char>(byte);
      if (const auto other = Journal::parse_line(changed)) {
        EXPECT_EQ(*other, *entry) << changed;
        ++taken;
      }
    }
  EXPECT_GE(taken, line.size()) << "those that are as they were";
  std::string shorter = line;
  shorter.erase(shorter.find("1228800"), 2);
  EXPECT_FALSE(Journal::parse_line(shorter));
  EXPECT_FALSE(Journal::parse_line(R"({"key":"k 1","value":1})")) << "no checksum";
}

TEST_F(JournalTest, AValueBelongsToItsKey) {
  const std::string line = Journal::line("a", "1");
  std::string other = line;
  other.replace(other.find("\"a\""), 3, "\"b\"");
  EXPECT_FALSE(Journal::parse_line(other));
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
  EXPECT_THROW(Journal second(file(), "use another one"), OutputError);
}

TEST_F(JournalTest, SaysIfItCannotBeWritten) {
  EXPECT_THROW(Journal journal(work() / "missing" / "journal.jsonl", "use another one"), OutputError);
}

TEST(UnitResult, ReadsWhatItWrites) {
  evaluation::UnitResult result;
  result.cycles = 123456789012;
  result.compute_bound = 4;
  result.traffic_bound = 5;
  result.moved[2] = {1, 2, 3};
  const evaluation::UnitResult read = evaluation::from_text(evaluation::to_text(result));
  EXPECT_EQ(read.cycles, result.cycles);
  EXPECT_EQ(read.compute_bound, 4U);
  EXPECT_EQ(read.traffic_bound, 5U);
  EXPECT_EQ(read.of(compiler::Tensor::kDY).spilled, 3U);
  EXPECT_EQ(read.bytes(), 3U);
  EXPECT_EQ(read.read_bytes(), 1U);
  result.problem = "does not fit \"x\"";
  EXPECT_EQ(evaluation::from_text(evaluation::to_text(result)).problem, result.problem);
  for (const char *bad :
       {"", "{}", "7", "{\"cycles\":-1}", "{\"cycles\":1,\"compute_bound\":1,\"traffic_bound\":1,\"moved\":[]}"})
    EXPECT_THROW(evaluation::from_text(bad), std::invalid_argument) << bad;
}

} // namespace gradweave::test
