// Databases say what is wrong with a file and leave it alone.
#include "base/database/database.hpp"

#include "base/file/output_file.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace gradweave::test {
namespace {

class DatabaseTest : public testing::Test {
protected:
  template <typename Error> std::string message(DatabaseAccess access = DatabaseAccess::kShared) const {
    try {
      Database database(file_, access);
      database.execute("CREATE TABLE IF NOT EXISTS t (a)");
    } catch (const Error &error) {
      return error.what();
    }
    return {};
  }

  const ScratchDirectory scratch_;
  std::string file_ = scratch_ / "data.db";
};

TEST_F(DatabaseTest, KeepsValues) {
  {
    Database database(file_, DatabaseAccess::kShared);
    database.execute("CREATE TABLE t (a, b, c, d)");
    Statement insert(database, "INSERT INTO t VALUES (?, ?, ?, ?)");
    insert.bind("it's \"x\"").bind(std::int64_t{1} << 62U).bind(0.1).bind_null();
    insert.run();
    insert.bind("").bind(std::int64_t{-1}).bind(2.0).bind("n");
    insert.run();
  }
  Database database(file_, DatabaseAccess::kRead);
  Statement all(database, "SELECT * FROM t");
  ASSERT_TRUE(all.step());
  EXPECT_EQ(all.text(0), "it's \"x\"");
  EXPECT_EQ(all.integer(1), std::int64_t{1} << 62U);
  EXPECT_EQ(all.number(2), 0.1);
  EXPECT_TRUE(all.is_null(3));
  ASSERT_TRUE(all.step());
  EXPECT_EQ(all.text(3), "n");
  EXPECT_FALSE(all.step());
}

TEST_F(DatabaseTest, ATransactionThatIsNotCommittedLeavesNothing) {
  Database database(file_, DatabaseAccess::kShared);
  database.execute("CREATE TABLE t (a)");
  {
    const Transaction transaction(database);
    database.execute("INSERT INTO t VALUES (1)");
  }
  Statement count(database, "SELECT count(*) FROM t");
  ASSERT_TRUE(count.step());
  EXPECT_EQ(count.integer(0), 0);
}

TEST_F(DatabaseTest, WhatIsNoDatabaseIsLeftAlone) {
  const std::string text(2000, 'x');
  std::ofstream(file_) << text;
  EXPECT_NE(message<DatabaseError>().find("file is not a database; it is left as it is"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(file_), text.size());
}

TEST_F(DatabaseTest, DamageIsTold) {
  {
    Database database(file_, DatabaseAccess::kShared);
    database.execute("CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(100000))");
  }
  std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(100); // behind the head: the tree of tables
  file << std::string(4000, '\x7f');
  file.close();
  EXPECT_NE(message<DatabaseError>().find("it is damaged"), std::string::npos);
}

TEST_F(DatabaseTest, AFullDiskIsAnOutputError) {
  Database database(file_, DatabaseAccess::kShared);
  database.execute("CREATE TABLE t (a); PRAGMA max_page_count = 3");
  try {
    database.execute("INSERT INTO t VALUES (randomblob(100000))");
    FAIL();
  } catch (const OutputError &error) {
    EXPECT_NE(std::string(error.what()).find("make room and run the same command again"), std::string::npos);
  }
}

TEST_F(DatabaseTest, PlacesThatCannotBeWrittenAreTold) {
  file_ = "/proc/no/such/data.db";
  EXPECT_NE(message<OutputError>().find("name another file or change the permissions"), std::string::npos);
  file_ = scratch_ / "absent.db";
  EXPECT_NE(message<DatabaseError>(DatabaseAccess::kRead).find("there is no such file"), std::string::npos);
}

TEST_F(DatabaseTest, OneProcessMayHaveItToItself) {
  const Database database(file_, DatabaseAccess::kExclusive);
  EXPECT_NE(message<DatabaseBusy>(DatabaseAccess::kExclusive).find("another process has it to itself"),
            std::string::npos);
}

/// Whoever turns the log on reads before it writes, and SQLite lets nobody wait who has begun to read.
TEST_F(DatabaseTest, ItIsWaitedForWhoWritesToAFileWithoutALog) {
  Database writer(file_, DatabaseAccess::kShared);
  writer.execute("CREATE TABLE t (a); PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE");
  auto problem = std::async(std::launch::async, [&] { return message<std::runtime_error>(); });
  EXPECT_EQ(problem.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  writer.execute("COMMIT");
  EXPECT_EQ(problem.get(), "");
}

// Who is at the same moment at the same step of opening is chance: hence many new files.
TEST_F(DatabaseTest, ManyProcessesMayOpenANewFileAtOnce) {
  for (int round = 0; round < 60; ++round) {
    file_ = scratch_ / (std::to_string(round) + ".db");
    for (int i = 0; i < 8; ++i)
      if (::fork() == 0) {
        const std::string problem = message<std::runtime_error>();
        std::fputs(problem.c_str(), stderr);
        ::_exit(problem.empty() ? 0 : 1);
      }
    int status = 0;
    while (::wait(&status) > 0)
      EXPECT_EQ(status, 0);
  }
}

TEST(SqlNames, AreQuoted) { EXPECT_EQ(sql_name("a\"b.c"), "\"a\"\"b.c\""); }

} // namespace
} // namespace gradweave::test
