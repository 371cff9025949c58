// A sweep's file: what it keeps, whom it refuses, and who is at a point.
#include "app/sweep/owner.hpp"
#include "app/sweep/table.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/sweep/example.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace gradweave::sweep {
namespace {

namespace fs = std::filesystem;
using namespace test;

class SweepStore : public testing::Test {
protected:
  fs::path file(const std::string &name = "s.db") const { return scratch_ / name; }
  Store open(const std::string &name = "s.db", const Identity &identity = kIdentity, std::size_t points = 3) const {
    return {file(name), identity, example_points(points), DatabaseAccess::kShared};
  }
  std::string refusal(const Identity &identity) const {
    try {
      open("s.db", identity);
    } catch (const DatabaseError &error) {
      return error.what();
    }
    return {};
  }

private:
  const gradweave::test::ScratchDirectory scratch_;
};

TEST_F(SweepStore, KeepsResultsToTheBit) {
  Result result = example_result(1);
  result["macs"] = 9007199254740991.0; // 2^53 - 1
  result["array_use"] = 0.1 + 0.2;
  result.seconds = 1.5;
  Result refused;
  refused.outcome = Outcome::kInfeasible;
  refused.problem = "does not fit, \"really\"";
  {
    Store store = open();
    EXPECT_EQ(store.missing({"k0", "k1", "k2"}), (std::vector<std::string>{"k0", "k1", "k2"}));
    store.keep("k1", result);
    store.keep("k1", example_result(7)); // comes too late
    store.keep("k2", refused);
    EXPECT_EQ(store.missing({"k2", "k0"}), std::vector<std::string>{"k0"});
  }
  const Table table = read_table(file());
  EXPECT_EQ(table.identity.title, "A study");
  EXPECT_EQ(table.fields, (std::vector<std::string>{"model", "npu.rows"}));
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(to_text(table.rows[2].point), "model=mlp npu.rows=2");
  EXPECT_FALSE(table.rows[0].result);
  EXPECT_EQ(table.rows[1].result->values, result.values);
  EXPECT_EQ(table.rows[1].result->seconds, 1.5);
  EXPECT_EQ(table.rows[2].result->problem, refused.problem);
  EXPECT_EQ(table.missing(), 1U);
  EXPECT_EQ(table.count(Outcome::kInfeasible), 1U);
}

TEST_F(SweepStore, FailedPointsAreTriedAgain) {
  Result failed;
  failed.outcome = Outcome::kFailed;
  failed.problem = "died";
  open().keep("k0", failed);
  EXPECT_EQ(read_table(file()).count(Outcome::kFailed), 1U);
  EXPECT_EQ(open().missing({"k0"}).size(), 1U);
}

TEST_F(SweepStore, RefusesWhatIsNotItsOwn) {
  open().keep("k0", example_result(0));
  EXPECT_NE(
      refusal({"study 2", "", "tool 1"}).find("holds the points of another study, 'A study'; it is left as it is"),
      std::string::npos);
  EXPECT_NE(refusal({"study 1", "", "tool 2"}).find("are of compiler and models tool 1, and these are tool 2"),
            std::string::npos);
  {
    Database database(file(), DatabaseAccess::kShared);
    database.execute("DELETE FROM meta WHERE name = 'tool'");
  }
  EXPECT_NE(refusal(kIdentity).find("is damaged: it does not say whose results it holds"), std::string::npos);
  {
    Database database(file(), DatabaseAccess::kShared);
    database.execute("PRAGMA user_version = 99");
  }
  EXPECT_NE(refusal(kIdentity).find("has the form 99 of a sweep's file, but this gradweave knows 2"),
            std::string::npos);
  {
    Database database(file(), DatabaseAccess::kShared);
    database.execute("PRAGMA user_version = 2; PRAGMA application_id = 5");
  }
  EXPECT_NE(refusal(kIdentity).find("is a database of something else"), std::string::npos);
  {
    Database database(file(), DatabaseAccess::kShared);
    Statement kept(database, "SELECT count(*) FROM results");
    ASSERT_TRUE(kept.step());
    EXPECT_EQ(kept.integer(0), 1); // nothing of this has cost a result
  }
  EXPECT_THROW(read_table(file()), DatabaseError);
}

TEST_F(SweepStore, ResultsThatWereChangedAreMeasuredAnew) {
  Result refused;
  refused.outcome = Outcome::kInfeasible;
  refused.problem = "does not fit";
  for (const char *edit : {"cycles = 7", "energy_mj = 1", "outcome = 'infeasible'", "outcome = 'okay'",
                           "problem = 'none'", "seconds = 3", "key = 'k2'", "sum = ''", "cycles = NULL"}) {
    fs::remove(file());
    {
      Store store = open();
      store.keep("k0", refused);
      store.keep("k1", example_result(1));
      EXPECT_EQ(store.dropped(), 0U);
    }
    {
      Database database(file(), DatabaseAccess::kShared);
      database.execute(std::string("UPDATE results SET ") + edit + " WHERE key = 'k1'");
    }
    EXPECT_THROW(read_table(file()), DatabaseError) << edit;
    {
      Store other = open("other.db");
      EXPECT_EQ(other.merge(file()), 1U) << edit;
      EXPECT_EQ(other.dropped(), 1U) << edit;
    }
    fs::remove(file("other.db"));
    Store store = open();
    EXPECT_EQ(store.dropped(), 1U) << edit;
    EXPECT_EQ(store.missing({"k0", "k1"}), std::vector<std::string>{"k1"}) << edit;
    EXPECT_EQ(read_table(file()).rows[0].result->problem, "does not fit");
  }
}

TEST_F(SweepStore, RefusesTablesThatWereChanged) {
  for (const char *edit : {"UPDATE points SET \"npu.rows\" = 5 WHERE number = 1", "UPDATE points SET key = 'k0'",
                           "DELETE FROM points WHERE number = 2", "UPDATE meta SET value = 'Mine' WHERE name = 'title'",
                           "UPDATE points SET number = -1 WHERE number = 2"}) {
    fs::remove(file());
    open().keep("k1", example_result(1));
    {
      Database database(file(), DatabaseAccess::kShared);
      database.execute(edit);
    }
    EXPECT_THROW(read_table(file()), DatabaseError) << edit;
    EXPECT_THROW(read_points(file()), DatabaseError) << edit;
  }
}

/// A flipped bit anywhere in the file: either it is refused, or what is left of the table is right.
TEST_F(SweepStore, FlippedBitsGiveNoOtherTable) {
  constexpr std::size_t kPoints = 20, kFlips = 400;
  {
    Store store = open("s.db", kIdentity, kPoints);
    for (std::size_t i = 0; i < kPoints; ++i)
      store.keep("k" + std::to_string(i), example_result(i));
  }
  const std::string right = to_csv(read_table(file()));
  std::string bytes;
  {
    std::ostringstream text;
    text << std::ifstream(file(), std::ios::binary).rdbuf();
    bytes = text.str();
  }
  std::size_t refused = 0;
  std::mt19937 random(51);
  for (std::size_t flip = 0; flip < kFlips; ++flip) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1U << random() % 8);
    std::ofstream(file("damaged.db"), std::ios::binary) << damaged;
    try {
      EXPECT_EQ(to_csv(read_table(file("damaged.db"))), right) << "flip " << flip;
    } catch (const DatabaseError &) {
      ++refused;
    }
  }
  EXPECT_GT(refused, kFlips / 10);
}

TEST_F(SweepStore, PointsWhoseFilesHaveChangedHaveOtherResults) {
  open().keep("k0", example_result(0));
  auto points = example_points(3);
  points[0].key = "changed";
  Store store(file(), kIdentity, points, DatabaseAccess::kShared);
  EXPECT_FALSE(read_table(file()).rows[0].result);
}

TEST_F(SweepStore, PointsOfOneKeyHaveOneResult) {
  auto points = example_points(2);
  points[1].key = "k0";
  Store store(file(), kIdentity, points, DatabaseAccess::kShared);
  store.keep("k0", example_result(5));
  const Table table = read_table(file());
  EXPECT_EQ(table.rows[0].result->values, table.rows[1].result->values);
}

TEST_F(SweepStore, AProcessTakesAPointOnce) {
  Store mine = open();
  EXPECT_TRUE(mine.claim("k0"));
  const pid_t child = ::fork();
  if (child == 0) {
    Store theirs = open();
    ::_exit((theirs.claim("k0") ? 1 : 0) + (theirs.claim("k1") ? 2 : 0)); // dies with k1
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_TRUE(mine.claim("k1")) << "its owner is no more";
  mine.keep("k1", example_result(1));
  EXPECT_FALSE(mine.claim("k1"));
  mine.release("k0");
  EXPECT_TRUE(mine.claim("k0"));
}

TEST_F(SweepStore, OwnersAreToldFromThoseOfTheSameNumber) {
  EXPECT_TRUE(lives(this_owner()));
  std::string other_time = this_owner();
  other_time.back() = other_time.back() == '1' ? '2' : '1';
  EXPECT_FALSE(lives(other_time));
  std::string other_machine = this_owner();
  other_machine.front() = other_machine.front() == '1' ? '2' : '1';
  EXPECT_FALSE(lives(other_machine));
  EXPECT_FALSE(lives(""));
}

TEST_F(SweepStore, MergesOthers) {
  Result failed;
  failed.outcome = Outcome::kFailed;
  Store all = open();
  all.keep("k0", example_result(0));
  {
    Store other = open("other.db");
    other.keep("k0", example_result(9));
    other.keep("k1", example_result(1));
    other.keep("k2", failed);
  }
  EXPECT_EQ(all.merge(file("other.db")), 1U);
  EXPECT_EQ(all.merge(file("other.db")), 0U);
  const Table table = read_table(file());
  EXPECT_EQ((*table.rows[0].result)["cycles"], 1000);
  EXPECT_EQ((*table.rows[1].result)["cycles"], 1001);
  EXPECT_EQ(table.count(Outcome::kFailed), 1U);
  open("third.db", {"study 3", "", "tool 1"});
  EXPECT_THROW(all.merge(file("third.db")), DatabaseError);
  EXPECT_THROW(all.merge(file("absent.db")), DatabaseError);
  std::ofstream(file("text.db")) << std::string(1000, 't');
  EXPECT_THROW(all.merge(file("text.db")), DatabaseError);
}

TEST_F(SweepStore, ManyProcessesMayOpenANewFileAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      try {
        Store store = open();
        for (int k = 0; k < 3; ++k)
          store.keep("k" + std::to_string(k), example_result(static_cast<std::size_t>(k)));
        ::_exit(0);
      } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(1);
      }
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read_table(file()).missing(), 0U);
}

} // namespace
} // namespace gradweave::sweep
