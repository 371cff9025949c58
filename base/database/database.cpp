#include "base/database/database.hpp"

#include "base/file/output_file.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace gradweave {
namespace {

// How long others, each of whom keeps a file for a moment, are waited for.
constexpr int kWaitMilliseconds = 60'000, kReadMilliseconds = 2'000;

int wait_milliseconds(DatabaseAccess access) {
  switch (access) {
  case DatabaseAccess::kShared:
    return kWaitMilliseconds;
  case DatabaseAccess::kRead:
    return kReadMilliseconds;
  case DatabaseAccess::kExclusive:
    return 0;
  }
  return 0;
}

bool blames_file(int code) {
  switch (code & 0xff) {
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
  case SQLITE_ERROR:
  case SQLITE_CONSTRAINT:
  case SQLITE_SCHEMA:
    return true;
  default:
    return false;
  }
}

const char *remedy(int code) {
  switch (code & 0xff) {
  case SQLITE_FULL:
    return "make room and run the same command again: what it holds is kept";
  case SQLITE_CORRUPT:
    return "it is damaged and left as it is; `sqlite3 FILE .recover` may read the rest of it; name another file";
  case SQLITE_NOTADB:
    return "it is left as it is; name another file";
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return "another process has it to itself; wait for that one or name another file";
  case SQLITE_CANTOPEN:
  case SQLITE_READONLY:
  case SQLITE_PERM:
    return "name another file or change the permissions of it and its directory";
  default:
    return "what it holds is kept; make room, or name another file";
  }
}

} // namespace

Database::Database(std::filesystem::path file, DatabaseAccess access) : file_(std::move(file)) {
  std::error_code ignored;
  if (access == DatabaseAccess::kRead && !std::filesystem::is_regular_file(file_, ignored))
    throw DatabaseError(fmt::format("{}: there is no such file; name the file of a sweep", file_.string()));
  const int flags = access == DatabaseAccess::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(file_.c_str(), &handle_, flags | SQLITE_OPEN_EXRESCODE, nullptr);
  try {
    if (code != SQLITE_OK) fail(code);
    sqlite3_busy_timeout(handle_, wait_milliseconds(access));
    if (access == DatabaseAccess::kRead) {
      execute("SELECT count(*) FROM sqlite_master");
      return;
    }
    if (access == DatabaseAccess::kExclusive) execute("PRAGMA locking_mode = EXCLUSIVE");
    keep_a_log(wait_milliseconds(access));
    // The operating system has what is committed even if the process is killed; a power cut may cost the last points.
    execute("PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE; COMMIT");
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Database::~Database() { sqlite3_close(handle_); }

void Database::fail(int code) const {
  const std::string problem = fmt::format(
      "{}: {}; {}", file_.string(), handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_), remedy(code));
  if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED) throw DatabaseBusy(problem);
  if (blames_file(code)) throw DatabaseError(problem);
  throw OutputError(problem);
}

void Database::execute(const std::string &sql) {
  if (const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr); code != SQLITE_OK) fail(code);
}

void Database::keep_a_log(int wait_milliseconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(wait_milliseconds);
  // The busy timeout doesn't hold here: whoever has begun to read, as this does, is told at once that others write. Of
  // several processes that open a new file together some would end so.
  const auto log = [&] { return sqlite3_exec(handle_, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr); };
  int code = log();
  for (; (code & 0xff) == SQLITE_BUSY && Clock::now() < end; code = log())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Database::pragma(const std::string &name) {
  Statement statement(*this, "PRAGMA " + name);
  return statement.step() ? statement.integer(0) : 0;
}

Statement::Statement(Database &database, const std::string &sql) : database_(database) {
  const int code = sqlite3_prepare_v2(database_.handle_, sql.c_str(), -1, &handle_, nullptr);
  if (code != SQLITE_OK) database_.fail(code);
}

Statement::~Statement() { sqlite3_finalize(handle_); }

Statement &Statement::bind(std::string_view text) {
  sqlite3_bind_text(handle_, ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  return *this;
}

Statement &Statement::bind(std::int64_t number) {
  sqlite3_bind_int64(handle_, ++bound_, number);
  return *this;
}

Statement &Statement::bind(double number) {
  sqlite3_bind_double(handle_, ++bound_, number);
  return *this;
}

Statement &Statement::bind_null() {
  sqlite3_bind_null(handle_, ++bound_);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.fail(code);
  return false;
}

std::string Statement::text(int column) const {
  const auto *bytes = reinterpret_cast<const char *>(sqlite3_column_text(handle_, column));
  return bytes == nullptr ? std::string()
                          : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)));
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }
double Statement::number(int column) const { return sqlite3_column_double(handle_, column); }
bool Statement::is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

void Statement::run() {
  while (step()) {
  }
  sqlite3_reset(handle_);
  bound_ = 0;
}

Transaction::Transaction(Database &database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const std::runtime_error &) { // SQLite has undone it already, as on a full disk
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

std::string sql_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

} // namespace gradweave
