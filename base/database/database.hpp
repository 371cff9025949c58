// SQLite as results are kept in it: files that several processes use at once, and whose errors say what to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace gradweave {

/// A file is no database, is damaged, or holds something else than is looked for. what() names it and the remedy.
class DatabaseError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Other processes keep the file locked.
class DatabaseBusy : public DatabaseError {
public:
  using DatabaseError::DatabaseError;
};

/// How a file is opened.
enum class DatabaseAccess {
  kShared,    ///< read and written by any number of processes of this machine (a write-ahead log beside the file)
  kExclusive, ///< by this process alone, which needs no memory shared with others: for directories of several machines
  kRead       ///< what others write is read
};

/// A connection, for one thread at a time. Whatever goes wrong is a DatabaseError if the file is to blame (no database,
/// damaged, locked by others for too long), else an OutputError (a full disk, no permission). A child process must not
/// use the connection of its parent.
class Database {
public:
  Database(std::filesystem::path file, DatabaseAccess access);
  ~Database();
  Database(const Database &) = delete;
  Database &operator=(const Database &) = delete;

  /// Runs statements that give nothing.
  void execute(const std::string &sql);
  /// A number that the file keeps of itself, as "user_version"; 0 if it has none of that name.
  std::int64_t pragma(const std::string &name);
  const std::filesystem::path &file() const { return file_; }

private:
  friend class Statement;
  [[noreturn]] void fail(int code) const;
  /// Turns the write-ahead log on, waiting for others that do the same.
  void keep_a_log(int wait_milliseconds);

  std::filesystem::path file_;
  sqlite3 *handle_ = nullptr;
};

/// A statement with values in place of its question marks.
class Statement {
public:
  Statement(Database &database, const std::string &sql);
  ~Statement();
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;

  /// The next question mark's value.
  Statement &bind(std::string_view text);
  Statement &bind(std::int64_t number);
  Statement &bind(double number);
  Statement &bind_null();

  /// Goes to the next row of the result; false: there is none.
  bool step();
  /// Of the row: texts are empty, and numbers 0, where there is no value.
  std::string text(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  bool is_null(int column) const;

  /// Runs it to its end, and makes it ready for other values.
  void run();

private:
  Database &database_;
  sqlite3_stmt *handle_ = nullptr;
  int bound_ = 0;
};

/// Statements that take effect all or not at all: at commit(), unless the object is destroyed before. Other processes
/// wait for its end.
class Transaction {
public:
  explicit Transaction(Database &database);
  ~Transaction();
  Transaction(const Transaction &) = delete;
  Transaction &operator=(const Transaction &) = delete;
  void commit();

private:
  Database &database_;
  bool open_ = true;
};

/// A name or a text in quotes, as SQL has them.
std::string sql_name(std::string_view name);

} // namespace gradweave
