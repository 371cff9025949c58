#include "app/sweep/store.hpp"

#include "app/sweep/checksum.hpp"
#include "app/sweep/owner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>
#include <unordered_set>

namespace gradweave::sweep {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 2;               ///< of the tables
constexpr int kApplication = 0x67775357; ///< "gwSW": what file(1) and others tell the file by

std::vector<std::string> fields_of(const std::vector<KeyedPoint> &points) {
  std::vector<std::string> fields;
  if (!points.empty())
    for (const Field &field : points.front().point)
      fields.push_back(field.name);
  return fields;
}

/// Numbers go in as numbers, so that they are ordered as such; what would come out as another text is text.
void bind_value(Statement &statement, const std::string &text) {
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size() && std::to_string(whole) == text)
    statement.bind(whole);
  else
    statement.bind(text);
}

[[noreturn]] void refuse(const Database &database, const std::string &problem) {
  throw DatabaseError(fmt::format("{}: {}", database.file().string(), problem));
}

/// Throws unless the file is one of sweeps, of this form.
void check_format(Database &database) {
  if (database.pragma("application_id") != kApplication)
    refuse(database, "is a database of something else and is left as it is; name another file");
  if (const std::int64_t format = database.pragma("user_version"); format != kFormat)
    refuse(database, fmt::format("has the form {} of a sweep's file, but this gradweave knows {}; it is left as it is: "
                                 "name another file, or use the gradweave that made it",
                                 format, kFormat));
}

std::string meta(Database &database, const std::string &name) {
  Statement statement(database, "SELECT value FROM meta WHERE name = ?");
  statement.bind(name);
  return statement.step() ? statement.text(0) : std::string();
}

Identity identity_in(Database &database) {
  return {meta(database, "study"), meta(database, "title"), meta(database, "tool")};
}

[[noreturn]] void refuse_damaged(const Database &database, const std::string &what) {
  refuse(database, fmt::format("is damaged: {}; it is left as it is; `sqlite3 FILE .recover` may read the rest of it; "
                               "name another file",
                               what));
}

/// Throws if it is not what was written.
Identity checked_identity(Database &database) {
  Identity there = identity_in(database);
  Statement count(database, "SELECT count(*) FROM points");
  const std::size_t points = count.step() ? static_cast<std::size_t>(count.integer(0)) : 0;
  if (meta(database, "sum") != checksum_of(there, points))
    refuse_damaged(database, "it does not say whose results it holds, or how many points");
  return there;
}

/// Of a row with the fields of a point from column `first` on; throws if it is not as it was written.
KeyedPoint checked_point(Database &database, const Statement &row, std::size_t number, const std::string &key,
                         const std::vector<std::string> &fields, int first, const std::string &sum) {
  KeyedPoint point{key, {}};
  for (const std::string &field : fields)
    point.point.push_back({field, row.text(first++)});
  if (sum != checksum_of(number, point))
    refuse_damaged(database, fmt::format("point {} is not as it was written", number));
  return point;
}

/// Of a row that has outcome, problem, seconds, and the numbers, in this order from column `first` on; none if the row
/// is not as it was written.
std::optional<Result> checked_result(const Statement &row, const std::string &key, int first, const std::string &sum) {
  const std::string outcome = row.text(first);
  Result result;
  for (const Outcome known : {Outcome::kOk, Outcome::kInfeasible, Outcome::kFailed})
    if (to_string(known) == outcome) result.outcome = known;
  result.problem = row.text(first + 1);
  result.seconds = row.number(first + 2);
  for (std::size_t i = 0; i < columns.size(); ++i)
    result.values.at(i) = row.number(first + 3 + static_cast<int>(i));
  if (to_string(result.outcome) != outcome || sum != checksum_of(key, result)) return std::nullopt;
  return result;
}

void check_identity(Database &database, const Identity &wanted) {
  const Identity there = checked_identity(database);
  if (there.tool != wanted.tool)
    refuse(database,
           fmt::format("its results are of compiler and models {}, and these are {}: they could differ. It is "
                       "left as it is; name another file, or read it with `gradweave sweep collect`",
                       there.tool, wanted.tool));
  if (there.study != wanted.study)
    refuse(database, fmt::format("holds the points of another study{}; it is left as it is: name another file with "
                                 "--out, or repeat that study",
                                 there.title.empty() ? std::string() : fmt::format(", '{}'", there.title)));
}

std::vector<std::string> point_columns(Database &database) {
  std::vector<std::string> names;
  Statement statement(database,
                      "SELECT name FROM pragma_table_info('points') WHERE name NOT IN ('number', 'key', 'sum')");
  while (statement.step())
    names.push_back(statement.text(0));
  return names;
}

std::string result_columns() {
  std::vector<std::string> names;
  for (const Column &column : columns)
    names.emplace_back(column.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void insert_points(Database &database, const std::vector<KeyedPoint> &points) {
  std::string marks;
  for (std::size_t i = 0; i < points.front().point.size(); ++i)
    marks += ", ?";
  Statement insert(database, fmt::format("INSERT INTO points VALUES (?, ?, ?{})", marks));
  for (std::size_t number = 0; number < points.size(); ++number) {
    insert.bind(static_cast<std::int64_t>(number)).bind(points[number].key).bind(checksum_of(number, points[number]));
    for (const Field &field : points[number].point)
      bind_value(insert, field.value);
    insert.run();
  }
}

} // namespace

std::size_t Table::missing() const {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const Row &r) { return !r.result; }));
}

std::size_t Table::count(Outcome outcome) const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const Row &r) { return r.result && r.result->outcome == outcome; }));
}

Store::Store(const fs::path &file, const Identity &identity, const std::vector<KeyedPoint> &points,
             DatabaseAccess access)
    : database_(file, access), identity_(identity), owner_(this_owner()) {
  Transaction transaction(database_);
  if (database_.pragma("application_id") == 0 && database_.pragma("schema_version") == 0) make(identity, points);
  check_format(database_);
  check_identity(database_, identity);
  // Files that a study names may have changed since: then its points have other keys, and other results.
  database_.execute("DELETE FROM points");
  insert_points(database_, points);
  database_.execute("DELETE FROM results WHERE outcome = 'failed'");
  dropped_ = drop_changed();
  transaction.commit();
}

std::size_t Store::drop_changed() {
  std::vector<std::string> changed;
  Statement all(database_,
                fmt::format("SELECT key, sum, outcome, problem, seconds, {} FROM results", result_columns()));
  while (all.step())
    if (!checked_result(all, all.text(0), 2, all.text(1))) changed.push_back(all.text(0));
  Statement drop(database_, "DELETE FROM results WHERE key = ?");
  for (const std::string &key : changed) {
    drop.bind(key);
    drop.run();
  }
  return changed.size();
}

void Store::make(const Identity &identity, const std::vector<KeyedPoint> &points) {
  std::string fields, numbers;
  for (const std::string &field : fields_of(points))
    fields += ", " + sql_name(field);
  for (const Column &column : columns)
    numbers += fmt::format(", {} {}", column.name, column.whole ? "INTEGER" : "REAL");
  database_.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};"
                  "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT);"
                  "CREATE TABLE points (number INTEGER PRIMARY KEY, key TEXT NOT NULL, sum TEXT NOT NULL{});"
                  "CREATE TABLE results (key TEXT PRIMARY KEY, outcome TEXT NOT NULL, problem TEXT NOT "
                  "NULL{}, seconds REAL, ended TEXT, sum TEXT NOT NULL);"
                  "CREATE TABLE claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL);"
                  "CREATE VIEW sweep AS SELECT number{}, outcome, {}, problem FROM points LEFT JOIN "
                  "results USING (key) ORDER BY number",
                  kApplication, kFormat, fields, numbers, fields, result_columns()));
  Statement insert(database_, "INSERT INTO meta VALUES (?, ?)");
  for (const auto &[name, value] : {std::pair("study", identity.study),
                                    {"title", identity.title},
                                    {"tool", identity.tool},
                                    {"sum", checksum_of(identity, points.size())}}) {
    insert.bind(name).bind(value);
    insert.run();
  }
  insert_points(database_, points);
}

std::vector<std::string> Store::missing(const std::vector<std::string> &keys) {
  std::unordered_set<std::string> known;
  Statement all(database_, "SELECT key FROM results");
  while (all.step())
    known.insert(all.text(0));
  std::vector<std::string> missing;
  for (const std::string &key : keys)
    if (known.count(key) == 0) missing.push_back(key);
  return missing;
}

bool Store::claim(const std::string &key) {
  Transaction transaction(database_);
  Statement result(database_, "SELECT 1 FROM results WHERE key = ?");
  if (result.bind(key).step()) return false;
  Statement claim(database_, "SELECT owner FROM claims WHERE key = ?");
  if (claim.bind(key).step() && claim.text(0) != owner_ && lives(claim.text(0))) return false;
  Statement take(database_, "INSERT OR REPLACE INTO claims VALUES (?, ?)");
  take.bind(key).bind(owner_);
  take.run();
  transaction.commit();
  return true;
}

void Store::release(const std::string &key) {
  Statement statement(database_, "DELETE FROM claims WHERE key = ? AND owner = ?");
  statement.bind(key).bind(owner_);
  statement.run();
}

void Store::keep(const std::string &key, const Result &result) {
  Transaction transaction(database_);
  std::string marks;
  for (std::size_t i = 0; i < columns.size(); ++i)
    marks += ", ?";
  Statement insert(database_, fmt::format("INSERT OR IGNORE INTO results VALUES (?, ?, ?{}, ?, "
                                          "strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?)",
                                          marks));
  insert.bind(key).bind(to_string(result.outcome)).bind(result.problem);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (result.outcome != Outcome::kOk)
      insert.bind_null();
    else if (columns.at(i).whole)
      insert.bind(static_cast<std::int64_t>(result.values.at(i)));
    else
      insert.bind(result.values.at(i));
  insert.bind(result.seconds).bind(checksum_of(key, result));
  insert.run();
  release(key);
  transaction.commit();
}

std::size_t Store::merge(const fs::path &other) {
  {
    Database source(other, DatabaseAccess::kRead);
    check_format(source);
    check_identity(source, identity_);
  }
  Statement attach(database_, "ATTACH ? AS other");
  attach.bind(other.string());
  attach.run();
  std::size_t merged = 0;
  try {
    Transaction transaction(database_);
    database_.execute("INSERT OR IGNORE INTO results SELECT * FROM other.results WHERE outcome <> 'failed'");
    Statement changes(database_, "SELECT changes()");
    if (changes.step()) merged = static_cast<std::size_t>(changes.integer(0));
    database_.execute("INSERT OR IGNORE INTO results SELECT * FROM other.results");
    const std::size_t changed = drop_changed();
    dropped_ += changed;
    merged -= std::min(merged, changed);
    transaction.commit();
  } catch (const DatabaseError &error) {
    throw DatabaseError(fmt::format("{}, merging {}", error.what(), other.string()));
  }
  database_.execute("DETACH other");
  return merged;
}

std::pair<Identity, std::vector<KeyedPoint>> read_points(const fs::path &file) {
  Database database(file, DatabaseAccess::kRead);
  check_format(database);
  Identity identity = checked_identity(database);
  const std::vector<std::string> fields = point_columns(database);
  std::vector<KeyedPoint> points;
  Statement all(database, "SELECT * FROM points ORDER BY number");
  while (all.step())
    points.push_back(checked_point(database, all, points.size(), all.text(1), fields, 3, all.text(2)));
  return {std::move(identity), std::move(points)};
}

Table read_table(const fs::path &file) {
  Database database(file, DatabaseAccess::kRead);
  check_format(database);
  Table table{checked_identity(database), point_columns(database), {}};
  std::vector<std::string> names;
  for (const std::string &field : table.fields)
    names.push_back(sql_name(field));
  Statement all(database,
                fmt::format("SELECT points.key, points.sum, results.sum, outcome, problem, seconds, {}, {} FROM "
                            "points LEFT JOIN results USING (key) ORDER BY number",
                            result_columns(), fmt::join(names, ", ")));
  constexpr int kResult = 3, kPoint = kResult + 3 + static_cast<int>(kColumns);
  while (all.step()) {
    const std::size_t number = table.rows.size();
    const std::string key = all.text(0);
    Row row{number, checked_point(database, all, number, key, table.fields, kPoint, all.text(1)).point, std::nullopt};
    if (!all.is_null(2) && !(row.result = checked_result(all, key, kResult, all.text(2))))
      refuse(database,
             fmt::format("the result of point {} ({}) is not as it was written; run the sweep again with this "
                         "file, which measures it anew",
                         number, to_text(row.point)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

} // namespace gradweave::sweep
